import IntentMatching
import TestSupport
import WidgetModel

/// The model of the index: a list of instances, each asked by itself.
struct IntentIndexModel {
    struct Instance {
        var app: BundleID
        var subject: MatchSubject
        var kind: WidgetKind
        var pushEnabled: Bool
        var when: MatchPattern?
    }

    var instances: [UInt32: Instance] = [:]

    func matches(
        app: BundleID,
        kind: WidgetKind?,
        pattern: MatchPattern?,
        attributes: Configuration? = nil
    ) -> [UInt32] {
        self.instances.filter { _, instance in
            instance.app == app && (kind == nil || instance.kind == kind) && instance.pushEnabled
                && pattern?.matches(instance.subject) ?? true
                && (attributes.map { attributes in instance.when?.holds(for: attributes) ?? true } ?? true)
        }.keys.sorted()
    }
}

/// Draws schemas, configurations and patterns from small sets of values, so that they meet.
struct Dice {
    var random: SplitMix64

    /// The last ones are around the lengths at which texts are kept otherwise.
    static let strings = [
        "", "a", "A", "ab", "abc", "b", "ba", "\u{E9}", "e\u{301}", "a*b", "seahawks", "Seahawks", "eleven byte",
        "twelve bytes", "bytes: 13 of ", "a text: fifteen", "a text: sixteen.", "seahawks of Seattle",
    ]
    static let dates: [Int64] = [0, 1, 1_795_280_400_000, 1_795_280_400_001]
    static let ints: [Int64] = [0, 1, -1, 2, 3, 7, 100, 1 << 53, 1 << 53 + 1, .max, .min]
    static let doubles: [Double] = [0, -0.0, 1, 2, 0.5, 2.5, -1, 0x1p53, 0x1p63, 1e300]
    static let tags = ["beta", "eu", "us", "a"]

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self.random) }
    mutating func chance(_ numerator: UInt64, in denominator: UInt64) -> Bool {
        self.random.chance(numerator, in: denominator)
    }
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[self.below(elements.count)] }

    mutating func schema(_ kind: WidgetKind) throws -> KindSchema {
        let names = ["p", "q", "r", "s.with.many.bytes", "t", "u.v", "u.w"]
        var parameters: [ParameterSchema] = []
        for name in names where self.chance(3, in: 4) {
            let type = self.pick(ParameterType.allCases)
            parameters.append(
                ParameterSchema(
                    name,
                    type,
                    isArray: self.chance(1, in: 3),
                    cases: type == .enumeration ? ["a", "ab", "b"] : []
                )
            )
        }
        return try KindSchema(kind: kind, parameters: parameters)
    }

    mutating func configuration(_ schema: KindSchema) -> Configuration {
        var parameters: [Configuration.Parameter] = []
        for parameter in schema.parameters where self.chance(4, in: 5) {
            let value: ParameterValue =
                parameter.isArray
                ? .array((0..<self.below(4)).map { _ in self.value(parameter) }) : self.value(parameter)
            parameters.append(Configuration.Parameter(name: parameter.name, value: value))
        }
        return Configuration(parameters)
    }

    private mutating func value(_ parameter: ParameterSchema) -> ParameterValue {
        switch parameter.type {
        case .string, .entity: .string(self.chance(1, in: 4) ? "n\(self.below(400))" : self.pick(Self.strings))
        case .enumeration: .string(self.pick(parameter.cases))
        case .int: .int(self.chance(1, in: 4) ? Int64(self.below(400)) : self.pick(Self.ints))
        case .double: .double(self.pick(Self.doubles))
        case .bool: .bool(self.chance(1, in: 2))
        case .date: .date(Instant(milliseconds: self.pick(Self.dates)))
        }
    }

    /// A pattern as a sender would write it; not always one that fits the types.
    mutating func pattern(depth: Int = 0) -> JSONValue {
        var members: [JSONValue.Member] = []
        for _ in 0..<self.pick([1, 1, 1, 2, 2, 3]) {
            let name = self.pick([
                "p", "q", "r", "s.with.many.bytes", "t", "u.v", "u.w", "$family", "$host", "$tags", "$or", "$or",
                "$and",
            ])
            guard !members.contains(where: { $0.name == name }) else { continue }
            if name == "$or" || name == "$and" {
                guard depth < 2 else { continue }
                let branches = (0..<self.pick([1, 2, 3])).map { _ in self.pattern(depth: depth + 1) }
                members.append(JSONValue.Member(name: name, value: .array(branches)))
            } else {
                members.append(JSONValue.Member(name: name, value: self.leaves(name)))
            }
        }
        if members.isEmpty { members.append(JSONValue.Member(name: "p", value: self.leaves("p"))) }
        return .object(members)
    }

    private mutating func leaves(_ name: String) -> JSONValue {
        if self.chance(1, in: 2) { return self.leaf(name) }
        return .array((0..<self.pick([1, 2, 3, 8])).map { _ in self.leaf(name) })
    }

    private static func isBelow(_ low: JSONValue, _ high: Int64) -> Bool {
        switch low {
        case .int(let int): int < high
        case .double(let double): double < Double(high)
        default: false
        }
    }

    private mutating func leaf(_ name: String) -> JSONValue {
        let operation = self.pick([
            "", "", "", "", "prefix", "suffix", "equals-ignore-case", "wildcard", "anything-but", "numeric", "exists",
        ])
        let operand: JSONValue
        switch operation {
        case "": return self.literal(name)
        case "exists": operand = .bool(self.chance(1, in: 2))
        case "numeric":
            let low: JSONValue = self.chance(1, in: 2) ? .int(self.pick(Self.ints)) : .double(self.pick(Self.doubles))
            let high = self.pick(Self.ints)
            // A range without a number in it is refused.
            operand =
                self.chance(1, in: 2) || !Self.isBelow(low, high)
                ? [.string(self.pick(["=", "<", "<=", ">", ">="])), low]
                : [.string(self.pick([">", ">="])), low, .string(self.pick(["<", "<="])), .int(high)]
        case "wildcard":
            let texts = ["*", "a*", "*a", "*b*", "s*h*s", #"a\*b"#, "n1*", "system*", "h*1", "*-1*"]
            operand = .string(self.pick(texts))
        case "anything-but":
            if self.chance(1, in: 4) {
                operand = ["prefix": .string(self.pick(["", "a", "n1", "sys", "h-", "h-1"]))]
            } else if self.chance(1, in: 2) {
                operand = self.literal(name)
            } else {
                operand = .array((0..<self.pick([1, 2, 5])).map { _ in self.literal(name) })
            }
        default: operand = .string(self.pick(Self.strings + ["n1", "h-", "h-2", "H-1", "9", "sea", "HAWKS"]))
        }
        return .object([JSONValue.Member(name: operation, value: operand)])
    }

    mutating func host() -> HostID { HostID("\(self.pick(["h-", "h-", "H-"]))\(self.below(20))") }

    private mutating func literal(_ name: String) -> JSONValue {
        switch name {
        case "$family": return .string(self.pick(WidgetFamily.allCases).name)
        case "$host": return .string(self.host().rawValue)
        case "$tags": return .string(self.pick(Self.tags))
        default:
            switch self.below(7) {
            case 0, 1: return .string(self.chance(1, in: 3) ? "n\(self.below(400))" : self.pick(Self.strings))
            case 2: return .int(self.chance(1, in: 3) ? Int64(self.below(400)) : self.pick(Self.ints))
            case 3: return .double(self.pick(Self.doubles))
            case 4: return .bool(self.chance(1, in: 2))
            case 5: return .string(RFC3339.text(of: Instant(milliseconds: self.pick(Self.dates))) ?? "")
            default: return self.chance(1, in: 4) ? .null : .unsigned(1 << 63)
            }
        }
    }
}
