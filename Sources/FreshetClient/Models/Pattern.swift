/// A match pattern: which widget instances a push is about, by their configurations.
///
/// ```swift
/// let near: Pattern = ["team": ["seahawks", .prefix("sea")], "margin": .number(1..<4), .family: "systemLarge"]
/// let either: Pattern = .anyOf([["league": "wnba"], ["margin": .number(..<2)]])
/// ```
///
/// Every key has to match. The gateway refuses a pattern that names a parameter that the kind does not have, and one that costs more
/// than it allows.
public struct Pattern: Sendable, Hashable {
    private var members: [String: JSONValue]

    private init(_ members: [String: JSONValue]) {
        self.members = members
    }

    /// One of the patterns has to match.
    public static func anyOf(_ patterns: [Pattern]) -> Pattern { Pattern(["$or": .array(patterns.map(\.json))]) }

    /// All of the patterns have to match: for what one object cannot say, as two alternatives.
    public static func allOf(_ patterns: [Pattern]) -> Pattern { Pattern(["$and": .array(patterns.map(\.json))]) }

    /// The pattern as JSON.
    public var json: JSONValue { .object(self.members) }
}

extension Pattern {
    /// What a condition is about.
    public struct Key: Sendable, Hashable, ExpressibleByStringLiteral {
        let name: String

        /// A parameter of the configuration, by its name.
        public static func parameter(_ name: String) -> Key { Key(stringLiteral: name) }

        /// The widget's family, as `systemSmall`.
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
    /// Conditions by what they are about; a key that comes twice is a programming error.
    public init(dictionaryLiteral elements: (Key, Condition)...) {
        self.init(Dictionary(uniqueKeysWithValues: elements.map { ($0.0.name, $0.1.json) }))
    }
}

extension Pattern: Codable {
    /// Reads a pattern as the gateway gives it.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([String: JSONValue].self))
    }

    /// Writes the pattern.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.members)
    }
}

/// What a pattern asks of one value. A literal stands for that value, a list for one of its members.
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
    /// One of the conditions, of which none is a list.
    public static func oneOf(_ conditions: [Condition]) -> Condition { Condition(.array(conditions.map(\.json))) }
    /// A text that begins so, compared as UTF-8 bytes.
    public static func prefix(_ text: String) -> Condition { .operator("prefix", .string(text)) }
    /// A text that ends so.
    public static func suffix(_ text: String) -> Condition { .operator("suffix", .string(text)) }
    /// A text in which each `*` stands for any text.
    public static func wildcard(_ text: String) -> Condition { .operator("wildcard", .string(text)) }
    /// A text, with ASCII letters in either case.
    public static func equalsIgnoringCase(_ text: String) -> Condition {
        .operator("equals-ignore-case", .string(text))
    }
    /// Present, and none of these values.
    public static func anythingBut(_ values: [JSONValue]) -> Condition { .operator("anything-but", .array(values)) }
    /// Present, and no text that begins so.
    public static func anythingBut(prefix: String) -> Condition {
        .operator("anything-but", .object(["prefix": .string(prefix)]))
    }
    /// Whether there is a value at all.
    public static func exists(_ exists: Bool) -> Condition { .operator("exists", .bool(exists)) }

    private static func numeric(_ bounds: (String, Double)...) -> Condition {
        .operator("numeric", .array(bounds.flatMap { [.string($0.0), .double($0.1)] }))
    }

    /// A number in the range, its end left out.
    public static func number(_ range: Range<Double>) -> Condition {
        .numeric((">=", range.lowerBound), ("<", range.upperBound))
    }
    /// A number in the range, its end included.
    public static func number(_ range: ClosedRange<Double>) -> Condition {
        .numeric((">=", range.lowerBound), ("<=", range.upperBound))
    }
    /// A number from here on.
    public static func number(_ range: PartialRangeFrom<Double>) -> Condition { .numeric((">=", range.lowerBound)) }
    /// A number below this one.
    public static func number(_ range: PartialRangeUpTo<Double>) -> Condition { .numeric(("<", range.upperBound)) }
    /// A number up to this one.
    public static func number(_ range: PartialRangeThrough<Double>) -> Condition { .numeric(("<=", range.upperBound)) }
    /// A number above this one.
    public static func number(above bound: Double) -> Condition { .numeric((">", bound)) }
}

extension Condition: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral
{
    /// `null`
    public init(nilLiteral: ()) { self.init(.null) }
    /// That truth value.
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
