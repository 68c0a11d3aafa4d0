package import WidgetModel

extension MatchPattern {
    /// Checks parameters and types against the schemas of an app.
    ///
    /// With a kind, every parameter must be one of that kind's; without, of some kind's. A condition that the
    /// parameter's type can never satisfy is a fault, unless another kind in question has the parameter with a type
    /// that can.
    ///
    /// - Parameters:
    ///   - schemas: All kinds of the app.
    ///   - kind: The kind that a push names, if it names one.
    package func check(against schemas: [KindSchema], kind: WidgetKind?) throws(PatternError) {
        let candidates = kind.map { kind in schemas.filter { $0.kind == kind } } ?? schemas
        if let kind, candidates.isEmpty {
            throw PatternError(.unknownParameter, "match", "the app has no kind \(kind)")
        }
        try PatternChecker(schemas: candidates, kind: kind).check(self, path: "match")
    }
}

private struct PatternChecker {
    let schemas: [KindSchema]
    let kind: WidgetKind?

    func check(_ pattern: MatchPattern, path: String) throws(PatternError) {
        switch pattern {
        case .all(let parts):
            for part in parts { try self.check(part, path: path) }
        case .any(let branches):
            for (index, branch) in branches.enumerated() { try self.check(branch, path: "\(path).$or[\(index)]") }
        case .field(let field, let atoms):
            let path = "\(path).\(field)"
            let parameters = try self.parameters(of: field, path: path)
            for (index, atom) in atoms.enumerated() {
                let path = atoms.count == 1 ? path : "\(path)[\(index)]"
                var first: PatternError?
                var fits = false
                for parameter in parameters where !fits {
                    do throws(PatternError) {
                        try Self.check(atom, against: parameter, path: path)
                        fits = true
                    } catch {
                        first = first ?? error
                    }
                }
                if !fits, let first { throw first }
            }
        }
    }

    /// The declarations of a field, at least one.
    private func parameters(of field: MatchField, path: String) throws(PatternError) -> [ParameterSchema] {
        switch field {
        case .family:
            return [ParameterSchema("$family", .enumeration, cases: WidgetFamily.allCases.map(\.name))]
        case .host: return [ParameterSchema("$host", .string)]
        case .tags: return [ParameterSchema("$tags", .string, isArray: true)]
        case .parameter(let text):
            let name = text.description
            let found = self.schemas.compactMap { $0[name] }
            guard found.isEmpty else { return found }
            let owner = self.kind.map { "kind \($0)" } ?? "the app"
            // {"team": {"prefx": …}} reads as a nested parameter.
            if let dot = name.lastIndex(of: "."), self.schemas.contains(where: { $0[String(name[..<dot])] != nil }) {
                let last = name[name.index(after: dot)...]
                let sentence = "\(last) is not an operator; expected one of \(MatchOperator.phrase)"
                throw PatternError(.unknownParameter, path, sentence)
            }
            if self.schemas.contains(where: { $0.hasParameters(inside: name) }) {
                throw PatternError(
                    .wrongType,
                    path,
                    "expected an object: \(name) is not a parameter, but contains parameters"
                )
            }
            throw PatternError(.unknownParameter, path, "\(owner) has no such parameter\(self.known)")
        }
    }

    private var known: String {
        guard self.kind != nil, let schema = self.schemas.first else { return "" }
        let names = schema.parameters.map(\.name)
        return names.isEmpty ? "; it has none" : "; it has \(names.phrase(limit: 16))"
    }

    private static func check(
        _ atom: MatchAtom,
        against parameter: ParameterSchema,
        path: String
    ) throws(PatternError) {
        switch atom {
        case .exists: return
        case .equals(let literal): try Self.check(literal, against: parameter, path: path)
        case .anythingBut(let literals):
            for (index, literal) in literals.enumerated() {
                let path = literals.count == 1 ? "\(path).anything-but" : "\(path).anything-but[\(index)]"
                try Self.check(literal, against: parameter, path: path)
            }
        case .prefix: try Self.checkText(.prefix, against: parameter, path: path)
        case .suffix: try Self.checkText(.suffix, against: parameter, path: path)
        case .equalsIgnoreCase: try Self.checkText(.equalsIgnoreCase, against: parameter, path: path)
        case .wildcard: try Self.checkText(.wildcard, against: parameter, path: path)
        case .anythingButPrefix: try Self.checkText(.prefix, against: parameter, path: "\(path).anything-but")
        case .numeric:
            guard parameter.type == .int || parameter.type == .double else {
                throw Self.fault("\(path).numeric", parameter, "no numbers")
            }
        }
    }

    private static func checkText(
        _ named: MatchOperator,
        against parameter: ParameterSchema,
        path: String
    ) throws(PatternError) {
        switch parameter.type {
        case .string, .enumeration, .entity: return
        case .int, .double, .bool, .date: throw Self.fault("\(path).\(named.rawValue)", parameter, "no text")
        }
    }

    private static func check(
        _ literal: MatchLiteral,
        against parameter: ParameterSchema,
        path: String
    ) throws(PatternError) {
        switch (literal, parameter.type) {
        case (.null, _), (.bool, .bool), (.number, .int), (.number, .double), (.string, .string), (.string, .entity):
            return
        case (.string(let text), .enumeration):
            guard !parameter.cases.contains(where: { $0.hasSameBytes(as: text) }) else { return }
            throw PatternError(.wrongType, path, "expected one of \(parameter.casesPhrase)")
        case (.string(let text), .date):
            do throws(RFC3339.ParseError) {
                _ = try RFC3339.parse(text.bytes)
            } catch {
                let sentence = "expected an RFC 3339 date with an offset, got a string that \(error.sentence)"
                throw PatternError(.wrongType, path, sentence)
            }
        case (.string, _): throw Self.mismatch(path, parameter, "a string")
        case (.number, _): throw Self.mismatch(path, parameter, "a number")
        case (.bool, _): throw Self.mismatch(path, parameter, "a boolean")
        }
    }

    private static func mismatch(_ path: String, _ parameter: ParameterSchema, _ came: String) -> PatternError {
        PatternError(.wrongType, path, "expected \(parameter.type.phrase), got \(came)")
    }

    private static func fault(_ path: String, _ parameter: ParameterSchema, _ holds: String) -> PatternError {
        let element = parameter.isArray ? "an array of \(parameter.type.name)" : parameter.type.name
        return PatternError(.wrongType, path, "\(parameter.name) is \(element) and holds \(holds)")
    }
}
