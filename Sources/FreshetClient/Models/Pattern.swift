/// A match pattern: the widget instances that a push is for, by their configurations.
///
/// ```swift
/// let near: Pattern = ["team": ["seahawks", .prefix("sea")], "margin": .number(1..<4), .family: "systemLarge"]
/// let either: Pattern = .anyOf([["league": "wnba"], ["margin": .number(..<2)]])
/// ```
///
/// Every key must match. The gateway refuses a pattern with a parameter that the kind does not have, and one above its
/// limit of cost.
public struct Pattern: Sendable, Hashable {
    private var members: [String: JSONValue]

    private init(_ members: [String: JSONValue]) {
        self.members = members
    }

    /// One of the patterns must match.
    public static func anyOf(_ patterns: [Pattern]) -> Pattern { Pattern(["$or": .array(patterns.map(\.json))]) }

    /// All of the patterns must match: for a second set of alternatives, which one object cannot have.
    public static func allOf(_ patterns: [Pattern]) -> Pattern { Pattern(["$and": .array(patterns.map(\.json))]) }

    /// The pattern as JSON.
    public var json: JSONValue { .object(self.members) }
}

extension Pattern {
    /// The subject of a condition.
    public struct Key: Sendable, Hashable, ExpressibleByStringLiteral {
        let name: String

        /// A parameter of the configuration, by its name.
        public static func parameter(_ name: String) -> Key { Key(stringLiteral: name) }

        /// The widget's family, such as `systemSmall`.
        public static let family: Key = "$family"
        /// The id of the widget's host.
        public static let host: Key = "$host"
        /// The widget's tags.
        public static let tags: Key = "$tags"

        /// A parameter of the configuration.
        public init(stringLiteral name: String) { self.name = name }
    }
}

extension Pattern: ExpressibleByDictionaryLiteral {
    /// Conditions by their subject. A key that occurs twice is a programming error.
    public init(dictionaryLiteral elements: (Key, Condition)...) {
        self.init(Dictionary(uniqueKeysWithValues: elements.map { ($0.0.name, $0.1.json) }))
    }
}

extension Pattern: Codable {
    /// Reads a pattern in the gateway's form.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([String: JSONValue].self))
    }

    /// Writes the pattern.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.members)
    }
}

/// A condition on one value. A literal matches that value, a list one of its members.
public struct Condition: Sendable, Hashable {
    let json: JSONValue

    private init(_ json: JSONValue) {
        self.json = json
    }

    private static func `operator`(_ name: String, _ operand: JSONValue) -> Condition {
        Condition(.object([name: operand]))
    }

    /// That value; 1 is 1.0, whole numbers are exact.
    public static func equals(_ value: JSONValue) -> Condition { Condition(value) }
    /// That text.
    public static func equals(_ text: String) -> Condition { .equals(.string(text)) }
    /// One of the conditions; none of them may be a list.
    public static func oneOf(_ conditions: [Condition]) -> Condition { Condition(.array(conditions.map(\.json))) }
    /// A text with this beginning, compared as UTF-8 bytes.
    public static func prefix(_ text: String) -> Condition { .operator("prefix", .string(text)) }
    /// A text with this end.
    public static func suffix(_ text: String) -> Condition { .operator("suffix", .string(text)) }
    /// A text in which each `*` stands for any text.
    public static func wildcard(_ text: String) -> Condition { .operator("wildcard", .string(text)) }
    /// A text, with ASCII letters in either case.
    public static func equalsIgnoringCase(_ text: String) -> Condition {
        .operator("equals-ignore-case", .string(text))
    }
    /// Present, and none of these values.
    public static func anythingBut(_ values: [JSONValue]) -> Condition { .operator("anything-but", .array(values)) }
    /// Present, and not a text with this beginning.
    public static func anythingBut(prefix: String) -> Condition {
        .operator("anything-but", .object(["prefix": .string(prefix)]))
    }
    /// Whether there is a value.
    public static func exists(_ exists: Bool) -> Condition { .operator("exists", .bool(exists)) }

    private static func numeric(_ bounds: (String, Double)...) -> Condition {
        .operator("numeric", .array(bounds.flatMap { [.string($0.0), .double($0.1)] }))
    }

    /// A number in the range, without its end.
    public static func number(_ range: Range<Double>) -> Condition {
        .numeric((">=", range.lowerBound), ("<", range.upperBound))
    }
    /// A number in the range, with its end.
    public static func number(_ range: ClosedRange<Double>) -> Condition {
        .numeric((">=", range.lowerBound), ("<=", range.upperBound))
    }
    /// This number or a larger one.
    public static func number(_ range: PartialRangeFrom<Double>) -> Condition { .numeric((">=", range.lowerBound)) }
    /// A smaller number.
    public static func number(_ range: PartialRangeUpTo<Double>) -> Condition { .numeric(("<", range.upperBound)) }
    /// This number or a smaller one.
    public static func number(_ range: PartialRangeThrough<Double>) -> Condition { .numeric(("<=", range.upperBound)) }
    /// A larger number.
    public static func number(above bound: Double) -> Condition { .numeric((">", bound)) }
}

extension Condition: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral
{
    /// `null`
    public init(nilLiteral: ()) { self.init(.null) }
    /// That Boolean.
    public init(booleanLiteral value: Bool) { self.init(.bool(value)) }
    /// That number.
    public init(integerLiteral value: Int64) { self.init(.int(value)) }
    /// That number.
    public init(floatLiteral value: Double) { self.init(.double(value)) }
    /// That text.
    public init(stringLiteral value: String) { self.init(.string(value)) }
    /// One of the conditions.
    public init(arrayLiteral elements: Condition...) { self = .oneOf(elements) }
}
