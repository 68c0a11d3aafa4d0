package import WidgetModel

/// The parameters that a kind of widget can be configured with.
///
/// Valid by construction: names are unique and addressable by a match pattern, and every default fits its type.
package struct KindSchema: ByteCoded, Hashable, Sendable {
    /// The most parameters of one kind.
    package static let parametersMax = 256
    /// The longest name of a parameter in bytes, dots included.
    package static let nameBytesMax = 128
    /// The most cases of one enumeration.
    package static let casesMax = 1024

    package let kind: WidgetKind
    /// Sorted by name.
    package let parameters: [ParameterSchema]

    /// Checks the parameters and sorts them; throws the first fault.
    package init(kind: WidgetKind, parameters: [ParameterSchema] = []) throws(SchemaError) {
        guard parameters.count <= Self.parametersMax else {
            throw SchemaError(
                kind,
                nil,
                "has \(parameters.count) parameters, at most \(Self.parametersMax) are allowed"
            )
        }
        let sorted = parameters.sorted { $0.name < $1.name }
        for parameter in sorted {
            if let sentence = Self.nameFault(parameter.name) ?? Self.typeFault(parameter) {
                throw SchemaError(kind, parameter.name, sentence)
            }
        }
        // Two names that differ in normalisation only would be one key to a dictionary of strings: refused with `==`.
        for index in sorted.indices.dropFirst() where sorted[index - 1].name == sorted[index].name {
            throw SchemaError(kind, sorted[index].name, "is declared twice")
        }
        for parameter in sorted {
            if let parent = sorted.first(where: { parameter.name.utf8.starts(with: ($0.name + ".").utf8) }) {
                throw SchemaError(kind, parameter.name, "is inside \(parent.name), which is itself a parameter")
            }
        }
        self.kind = kind
        self.parameters = sorted
    }

    /// The parameter of that name, byte for byte, or nil. O(parameters).
    package subscript(name: String) -> ParameterSchema? {
        self.parameters.first { $0.name.hasSameBytes(as: name) }
    }

    /// Whether there is a parameter of that name. O(parameters).
    func declares(_ name: UTF8Text) -> Bool { self.parameters.contains { $0.name.hasSameBytes(as: name) } }

    /// Whether a stored configuration still fits: every parameter declared and of its type, none required missing.
    ///
    /// A parameter with a default may be absent: it may be younger than the configuration.
    package func accepts(_ configuration: Configuration) -> Bool {
        for parameter in configuration.parameters {
            guard let schema = self[parameter.name], schema.accepts(parameter.value) else { return false }
        }
        return self.parameters.allSatisfy { schema in
            !schema.isRequired || schema.defaultValue != nil || configuration[schema.name] != nil
        }
    }

    /// A stored configuration with the defaults of the parameters that it does not have.
    package func filled(_ configuration: Configuration) -> Configuration {
        let missing = self.parameters.compactMap { schema -> Configuration.Parameter? in
            guard configuration[schema.name] == nil, let value = schema.defaultValue else { return nil }
            return Configuration.Parameter(name: schema.name, value: value)
        }
        return missing.isEmpty ? configuration : Configuration(configuration.parameters + missing)
    }

    /// The fault of a name; nil if it has none.
    private static func nameFault(_ name: String) -> String? {
        guard name.utf8.count <= Self.nameBytesMax else { return "has a name of more than \(Self.nameBytesMax) bytes" }
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if part.isEmpty { return "has a name with an empty part" }
            if part.first == UInt8(ascii: "$") { return "has a name with a part that starts with $" }
            // {"venue": {"prefix": …}} could mean either.
            if index > 0, let match = MatchOperator(rawValue: String(Substring(part))) {
                return "has a name with the part \(match.rawValue), which is an operator of match patterns"
            }
        }
        return nil
    }

    /// The fault of a parameter's cases or default; nil if there is none.
    private static func typeFault(_ parameter: ParameterSchema) -> String? {
        if parameter.type == .enumeration {
            guard !parameter.cases.isEmpty else { return "is an enumeration without cases" }
            guard parameter.cases.count <= Self.casesMax else { return "has more than \(Self.casesMax) cases" }
            guard Set(parameter.cases.map { UTF8Text($0) }).count == parameter.cases.count else {
                return "lists a case twice"
            }
        } else if !parameter.cases.isEmpty {
            return "lists cases but is not an enumeration"
        }
        guard let value = parameter.defaultValue else { return nil }
        guard parameter.accepts(value) else {
            let expected = parameter.isArray ? "an array of \(parameter.type.name)" : parameter.type.phrase
            return "has a default that is not \(expected)"
        }
        return nil
    }

    package func encode(into writer: inout ByteWriter) {
        self.kind.encode(into: &writer)
        self.parameters.encode(into: &writer)
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        let kind = try WidgetKind(from: &reader)
        let parameters = try [ParameterSchema](from: &reader)
        do throws(SchemaError) {
            try self.init(kind: kind, parameters: parameters)
        } catch {
            throw .invalid(offset: start)
        }
    }
}

/// Why a kind cannot be declared so.
package struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
    package let kind: WidgetKind
    /// The parameter at fault, or nil if it is the kind as a whole.
    package let parameter: String?
    /// The fault; continues a sentence that starts with the parameter's name.
    package let sentence: String

    init(_ kind: WidgetKind, _ parameter: String?, _ sentence: String) {
        self.kind = kind
        self.parameter = parameter
        self.sentence = sentence
    }

    package var description: String {
        guard let parameter else { return "kind \(self.kind) \(self.sentence)" }
        return "parameter \(parameter) of kind \(self.kind) \(self.sentence)"
    }
}
