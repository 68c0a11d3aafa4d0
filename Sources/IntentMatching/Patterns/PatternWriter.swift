package import WidgetModel

extension MatchPattern {
    /// The pattern as JSON, which parses to one that matches the same. Nested names come dotted.
    package var json: JSONValue {
        switch self {
        case .all(let parts): Self.object(parts)
        case .any, .field: Self.object([self])
        }
    }

    /// An object of which every member must hold, one for each part. O(parts).
    private static func object(_ parts: [MatchPattern]) -> JSONValue {
        var members: [JSONValue.Member] = []
        var named: Set<MatchField> = []
        var alternatives: [[JSONValue]] = []
        // Parts that cannot be members of their own: a second condition on one field, and further alternatives.
        var others: [JSONValue] = []
        func add(_ part: MatchPattern) {
            switch part {
            case .all(let inner): for part in inner { add(part) }
            case .any(let branches): alternatives.append(branches.map(\.json))
            case .field(let field, let atoms) where named.insert(field).inserted:
                let leaves = atoms.map(\.json)
                let value = leaves.count == 1 ? leaves[0] : .array(leaves)
                members.append(JSONValue.Member(name: field.description, value: value))
            case .field: others.append(self.object([part]))
            }
        }
        for part in parts { add(part) }
        // An object has one list of alternatives: the deepest, so that the written pattern is no deeper than the one
        // that was read.
        alternatives.sort { Self.depth($0) > Self.depth($1) }
        if let deepest = alternatives.first { members.append(Self.member("$or", deepest)) }
        others += alternatives.dropFirst().map { .object([Self.member("$or", $0)]) }
        if !others.isEmpty { members.append(Self.member("$and", others)) }
        return .object(members)
    }

    private static func member(_ name: String, _ patterns: [JSONValue]) -> JSONValue.Member {
        JSONValue.Member(name: name, value: .array(patterns))
    }

    /// How deep objects lie inside one another.
    private static func depth(_ patterns: [JSONValue]) -> Int {
        patterns.reduce(0) { deepest, pattern in
            guard case .object(let members) = pattern else { return deepest }
            return members.reduce(deepest) { deepest, member in
                guard case .array(let inner) = member.value else { return max(deepest, 1) }
                return max(deepest, 1 + Self.depth(inner))
            }
        }
    }
}

extension MatchAtom {
    fileprivate var json: JSONValue {
        switch self {
        case .equals(let literal): literal.json
        case .prefix(let text): Self.operation(.prefix, .string(text.description))
        case .suffix(let text): Self.operation(.suffix, .string(text.description))
        case .equalsIgnoreCase(let text): Self.operation(.equalsIgnoreCase, .string(text.description))
        case .wildcard(let wildcard): Self.operation(.wildcard, .string(wildcard.text))
        case .anythingBut(let literals): Self.operation(.anythingBut, .array(literals.map(\.json)))
        case .anythingButPrefix(let text):
            Self.operation(.anythingBut, Self.operation(.prefix, .string(text.description)))
        case .numeric(let range): Self.operation(.numeric, .array(range.json))
        case .exists(let exists): Self.operation(.exists, .bool(exists))
        }
    }

    private static func operation(_ named: MatchOperator, _ operand: JSONValue) -> JSONValue {
        .object([JSONValue.Member(name: named.rawValue, value: operand)])
    }
}

extension MatchLiteral {
    fileprivate var json: JSONValue {
        switch self {
        case .null: .null
        case .bool(let bool): .bool(bool)
        case .number(let number): number.json
        case .string(let text): .string(text.description)
        }
    }
}

extension ExactNumber {
    fileprivate var json: JSONValue {
        switch self {
        case .int(let int): .int(int)
        case .unsigned(let unsigned): .unsigned(unsigned)
        case .double(let double): .double(double)
        }
    }
}

extension NumericRange {
    fileprivate var json: [JSONValue] {
        if let lower, lower == self.upper, lower.isInclusive { return [.string("="), lower.number.json] }
        var parts: [JSONValue] = []
        if let lower { parts += [.string(lower.isInclusive ? ">=" : ">"), lower.number.json] }
        if let upper { parts += [.string(upper.isInclusive ? "<=" : "<"), upper.number.json] }
        return parts
    }
}

extension Wildcard {
    /// As a sender writes it. By scalars, as it is read: a star with an accent behind it is one character.
    fileprivate var text: String {
        self.segments.map { segment in
            segment.description.unicodeScalars.map { $0 == "*" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
        }.joined(separator: "*")
    }
}
