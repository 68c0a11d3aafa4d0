/// Parts of a JSON Schema that describes the contents of a YAML file, for editors.
///
/// A schema is never stricter than the reader of the file, so an editor marks nothing that is right. It may be wider:
/// the reader decides.
package enum JSONSchema {
    /// The dialect that editors know best.
    private static let dialect = "http://json-schema.org/draft-07/schema#"

    /// Values of these types, of a file that a program writes; numbers are not below zero.
    package static func value(_ types: String...) -> JSONValue {
        .object(of: [("type", .strings(types)), ("minimum", .int(0))])
    }

    package static let flag = JSONValue.object(of: [("type", .string("boolean"))])

    /// Any text: a text that looks like a number or a boolean needs no quotes.
    package static let anyText = JSONValue.object(of: [("type", .strings(["string", "number", "boolean"]))])

    /// Texts that a regular expression matches; of numbers only whole ones from `least` to `most`.
    package static func text(_ pattern: String, orIntegersIn range: ClosedRange<Int>? = nil) -> JSONValue {
        guard let range else { return .object(of: [("type", .string("string")), ("pattern", .string(pattern))]) }
        return .object(of: [
            ("type", .strings(["integer", "string"])), ("minimum", .int(Int64(range.lowerBound))),
            ("maximum", .int(Int64(range.upperBound))), ("pattern", .string(pattern)),
        ])
    }

    /// Digits that are grouped with underscores are a text to editors.
    package static func integer(_ range: ClosedRange<Int>) -> JSONValue { Self.text("^[0-9_]+$", orIntegersIn: range) }

    package static func number(_ range: ClosedRange<Double>) -> JSONValue {
        .object(of: [
            ("type", .strings(["number", "string"])), ("minimum", .double(range.lowerBound)),
            ("maximum", .double(range.upperBound)), ("pattern", .string("^[0-9_.]+$")),
        ])
    }

    /// One of a few values.
    package static func choice(_ values: [JSONValue]) -> JSONValue { .object(of: [("enum", .array(values))]) }

    package static func either(_ schemas: JSONValue...) -> JSONValue { .object(of: [("anyOf", .array(schemas))]) }

    /// A list whose elements all have one schema.
    package static func list(of element: JSONValue, least: Int = 0, mayBeEmpty: Bool = false) -> JSONValue {
        .object(of: [
            ("type", Self.type("array", mayBeEmpty)), ("items", element),
            ("minItems", least == 0 ? nil : .count(least)),
        ])
    }

    /// A section: these keys and no others.
    ///
    /// - Parameters:
    ///   - members: The keys' schemas.
    ///   - required: The keys that have no default.
    ///   - oneOf: Keys of which exactly one must be there; empty for no such rule.
    ///   - mayBeEmpty: Whether the section may be empty.
    package static func section(
        _ members: [JSONValue.Member],
        required: [String] = [],
        oneOf: [String] = [],
        mayBeEmpty: Bool = false
    ) -> JSONValue {
        .object(of: [
            ("type", Self.type("object", mayBeEmpty)), ("properties", .object(members)),
            ("additionalProperties", .bool(false)), ("required", required.isEmpty ? nil : .strings(required)),
            ("oneOf", oneOf.isEmpty ? nil : .array(oneOf.map { .object(of: [("required", .strings([$0]))]) })),
        ])
    }

    /// A section that has all of these keys and no others, as a program writes it.
    package static func record(_ members: [(String, JSONValue)]) -> JSONValue {
        Self.section(members.map { .init(name: $0.0, value: $0.1) }, required: members.map(\.0))
    }

    /// The schema of a whole file.
    package static func file(_ schema: JSONValue, title: String) -> JSONValue {
        guard case .object(let members) = schema else { return schema }
        let head = [("$schema", Self.dialect), ("title", title)]
        return .object(head.map { .init(name: $0.0, value: .string($0.1)) } + members)
    }

    private static func type(_ name: String, _ mayBeEmpty: Bool) -> JSONValue {
        mayBeEmpty ? .strings([name, "null"]) : .string(name)
    }
}

extension JSONValue {
    /// The same schema with a description and a default, as an editor shows them.
    ///
    /// - Parameter phrase: Continues "has to be".
    package func described(as phrase: String, default fallback: JSONValue? = nil) -> JSONValue {
        guard case .object(let members) = self else { return self }
        let sentence = phrase.prefix(1).uppercased() + phrase.dropFirst()
        var own = [Member(name: "description", value: .string(sentence + "."))]
        if let fallback { own.append(Member(name: "default", value: fallback)) }
        return .object(members + own)
    }

    /// The same schema with sentences before those that it has.
    package func explained(by sentences: String) -> JSONValue {
        guard case .object(let members) = self else { return self }
        var text = sentences
        if case .string(let own)? = self["description"] { text += " " + own }
        let others = members.filter { $0.name != "description" }
        return .object(others + [Member(name: "description", value: .string(text))])
    }
}
