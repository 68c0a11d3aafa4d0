package import WidgetModel

extension MatchPattern {
    /// The pattern as JSON, which parses to one that matches the same. Nested names come dotted.
    package var json: JSONValue {
        switch self {
        case .all(let parts): Self.object(parts)
        case .any, .field: Self.object([self])
        }
    }

    /// An object of which every member must hold, one for each part.
    private static func object(_ parts: [MatchPattern]) -> JSONValue {
        var members: [JSONValue.Member] = []
        // What cannot be a member of its own: alternatives, and a second condition on one field.
        var rest: [MatchPattern] = []
        for part in parts {
            switch part {
            case .field(let field, let atoms) where !members.contains(where: { $0.name == field.description }):
                let leaves = atoms.map(\.json)
                let value = leaves.count == 1 ? leaves[0] : .array(leaves)
                members.append(JSONValue.Member(name: field.description, value: value))
            case .all(let inner): rest += inner
            case .any, .field: rest.append(part)
            }
        }
        if let first = rest.first {
            let others = Array(rest.dropFirst())
            let branches: [MatchPattern] = if case .any(let branches) = first { branches } else { [first] }
            // An object has one list of alternatives, so that further ones go into each branch.
            let alternatives = branches.map { Self.object([$0] + others) }
            members.append(JSONValue.Member(name: "$or", value: .array(alternatives)))
        }
        return .object(members)
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
    /// As a sender writes it.
    fileprivate var text: String {
        self.segments.map { segment in
            segment.description.map { $0 == "*" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
        }.joined(separator: "*")
    }
}
