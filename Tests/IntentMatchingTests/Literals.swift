import IntentMatching
package import WidgetModel

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .int(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(nilLiteral: ()) { self = .null }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member(name: $0.0, value: $0.1) })
    }
}

extension Configuration {
    /// A configuration from names and values.
    init(_ values: KeyValuePairs<String, ParameterValue>) {
        self.init(values.map { Parameter(name: $0.key, value: $0.value) })
    }
}

extension KindSchema {
    /// A kind with a parameter of every type, one nested, one required.
    static func sample(_ kind: String = "scores") throws -> KindSchema {
        try KindSchema(
            kind: WidgetKind(kind),
            parameters: [
                ParameterSchema("team", .entity, isRequired: true),
                ParameterSchema("league", .enumeration, defaultValue: .string("nfl"), cases: ["nfl", "nba", "mlb"]),
                ParameterSchema("alliances", .string, isArray: true),
                ParameterSchema("health", .int, defaultValue: .int(100)),
                ParameterSchema("ratio", .double),
                ParameterSchema("premium", .bool),
                ParameterSchema("kickoff", .date),
                ParameterSchema("dates", .date, isArray: true),
                ParameterSchema("venue.city", .string),
                ParameterSchema("venue.seats", .int),
                ParameterSchema("title", .string),
            ]
        )
    }
}
