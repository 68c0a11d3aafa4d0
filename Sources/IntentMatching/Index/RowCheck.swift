import WidgetModel

/// A match pattern in terms of one segment: conditions on codes instead of values.
indirect enum RowCheck: Sendable {
    case never
    case always
    /// The row's code in the column, or one of its codes, passes.
    case column(Int, CodeTest)
    case all([RowCheck])
    case any([RowCheck])
}

/// A condition on the codes of one column.
struct CodeTest: Sendable {
    enum Form: Sendable {
        /// One of these, ascending, at least one.
        case codes([UInt32])
        /// None of these, ascending, and not absent.
        case except([UInt32])
        /// By code: 1 if it passes. With the codes that pass if they are few and 0 is not among them.
        case table([UInt8], passing: [UInt32]?)
        /// Those whose values satisfy an atom: for columns with many values, where few rows will be asked.
        case values([MatchAtom])
    }

    var form: Form
    /// Whether an array without elements passes.
    var acceptsEmpty = false

    /// The codes whose rows are all that pass, if they are known and few.
    var drivers: [UInt32]? {
        guard !self.acceptsEmpty else { return nil }
        switch self.form {
        case .codes(let codes): return codes[0] == 0 ? nil : codes
        case .table(_, let passing): return passing
        case .except, .values: return nil
        }
    }
}

extension KindSegment {
    /// Columns with more distinct values are not evaluated ahead of the rows.
    static let eagerValuesMax = 4096
    /// More codes than this are not looked up list by list.
    static let driverCodesMax = 1024

    /// Translates a pattern.
    ///
    /// - Parameters:
    ///   - pattern: The pattern.
    ///   - isNamed: Whether the query names this kind: then a parameter that no row has is absent, not undeclared.
    func check(_ pattern: MatchPattern, isNamed: Bool) -> RowCheck {
        switch pattern {
        case .all(let parts):
            var checks: [RowCheck] = []
            for part in parts {
                switch self.check(part, isNamed: isNamed) {
                case .never: return .never
                case .always: break
                case .all(let inner): checks += inner
                case let check: checks.append(check)
                }
            }
            return checks.isEmpty ? .always : checks.count == 1 ? checks[0] : .all(checks)
        case .any(let parts):
            var checks: [RowCheck] = []
            for part in parts {
                switch self.check(part, isNamed: isNamed) {
                case .never: break
                case .always: return .always
                case .any(let inner): checks += inner
                case let check: checks.append(check)
                }
            }
            return checks.isEmpty ? .never : checks.count == 1 ? checks[0] : .any(checks)
        case .field(let field, let atoms):
            return self.check(field, atoms, isNamed: isNamed)
        }
    }

    private func check(_ field: MatchField, _ atoms: [MatchAtom], isNamed: Bool) -> RowCheck {
        let index: Int?
        switch field {
        case .family: index = Self.familyColumn
        case .host: index = Self.hostColumn
        case .tags:
            // While nobody has tags, everybody has the empty array of them.
            guard let tags = self.tagsColumn else { return atoms.contains(.exists(true)) ? .always : .never }
            index = tags
        case .parameter(let text):
            let name = text.description
            index = self.column(named: name)
            if let schema = self.schema {
                guard schema[name] != nil else { return .never }
            } else {
                guard isNamed || index != nil else { return .never }
            }
        }
        guard let index else { return atoms.contains(.exists(false)) ? .always : .never }
        return self.columns[index].test(atoms).map { .column(index, $0) } ?? .never
    }
}

extension ValueColumn {
    /// The condition on codes that a list of atoms is, or nil if no value passes.
    func test(_ atoms: [MatchAtom]) -> CodeTest? {
        if atoms.contains(.exists(true)) {
            // Whatever else is asked for, every present value passes.
            let form: CodeTest.Form =
                atoms.contains(.exists(false)) ? .table(self.ones, passing: nil) : .except([])
            return CodeTest(form: form, acceptsEmpty: true)
        }
        if atoms.count == 1, case .anythingBut(let literals) = atoms[0] {
            return CodeTest(form: .except(self.codes(equalTo: literals)))
        }
        var literals: [MatchLiteral] = []
        var acceptsAbsent = false
        for atom in atoms {
            switch atom {
            case .equals(let literal): literals.append(literal)
            case .exists(false): acceptsAbsent = true
            default: return self.evaluated(atoms)
            }
        }
        let codes = (acceptsAbsent ? [0] : []) + self.codes(equalTo: literals)
        return codes.isEmpty ? nil : CodeTest(form: .codes(codes))
    }

    /// The codes of the values that equal one of the literals, ascending.
    private func codes(equalTo literals: [MatchLiteral]) -> [UInt32] {
        var codes: [UInt32] = []
        for literal in literals { codes += self.dictionary.codes(equalTo: literal) }
        guard codes.count > 1 else { return codes }
        codes.sort()
        var distinct: [UInt32] = []
        for code in codes where distinct.last != code { distinct.append(code) }
        return distinct
    }

    private var ones: [UInt8] { [UInt8](repeating: 1, count: self.dictionary.count + 1) }

    private func evaluated(_ atoms: [MatchAtom]) -> CodeTest? {
        guard self.dictionary.count <= KindSegment.eagerValuesMax else { return CodeTest(form: .values(atoms)) }
        return self.table(atoms)
    }

    /// Evaluates the atoms once for each value.
    func table(_ atoms: [MatchAtom]) -> CodeTest? {
        var table = [UInt8](repeating: 0, count: self.dictionary.count + 1)
        var passing: [UInt32] = []
        for code in table.indices where self.dictionary.satisfies(UInt32(code), atoms) {
            table[code] = 1
            passing.append(UInt32(code))
        }
        guard !passing.isEmpty else { return nil }
        let isDriver = passing[0] != 0 && passing.count <= KindSegment.driverCodesMax
        return CodeTest(form: .table(table, passing: isDriver ? passing : nil))
    }

    /// The number of rows with one of the codes; counts a row of an array twice if it has two.
    func listLength(_ codes: [UInt32]) -> Int {
        var length = 0
        for code in codes { length += self.lists.count(of: code) }
        return length
    }
}
