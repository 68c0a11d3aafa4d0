package import WidgetModel

extension MatchPattern {
    /// The pattern that a JSON value states.
    ///
    /// `{}` matches everything; an empty list, an empty nested object and an empty `$or` are refused, since no sender
    /// means them. Whether the parameters exist is for ``check(against:kind:)``.
    package static func parse(
        _ json: JSONValue,
        at path: String = "match",
        limits: PatternLimits = PatternLimits()
    ) throws(PatternError) -> MatchPattern {
        guard case .object(let members) = json else {
            throw PatternError(.malformed, path, "expected an object, got \(json.typeName)")
        }
        var parser = PatternParser(limits: limits)
        let pattern = Self.joining(try parser.parts(of: members, prefix: "", path: path, depth: 1))
        let cost = pattern.cost
        guard cost <= limits.costMax else {
            let sentence = """
                costs \(cost) steps, at most \(limits.costMax) are allowed (\(limits.costSetting)): each condition on \
                a parameter costs 1, \(Self.judging) more if it is not a list of literals, \(Self.wildcard) more for \
                each wildcard; use fewer conditions, or literals
                """
            throw PatternError(.limit, path, sentence)
        }
        return pattern
    }

    /// All of the parts, without a level of its own for a single one.
    fileprivate static func joining(_ parts: [MatchPattern]) -> MatchPattern {
        parts.count == 1 ? parts[0] : .all(parts)
    }
}

/// Reads one pattern and counts its parts.
private struct PatternParser {
    static let depthCeiling = 24

    let limits: PatternLimits
    private var atomCount = 0

    init(limits: PatternLimits) {
        self.limits = limits
    }

    /// The conditions of an object's members.
    ///
    /// - Parameters:
    ///   - members: The object.
    ///   - prefix: The dotted name of the object with a dot at its end, empty for the pattern itself.
    ///   - path: The place of the object in the text.
    ///   - depth: How many objects there are from the pattern down to this one.
    mutating func parts(
        of members: [JSONValue.Member],
        prefix: String,
        path: String,
        depth: Int
    ) throws(PatternError) -> [MatchPattern] {
        let depthMax = min(self.limits.depthMax, Self.depthCeiling)
        guard depth <= depthMax else {
            throw PatternError(.limit, path, "objects are nested deeper than \(depthMax)")
        }
        var parts: [MatchPattern] = []
        for member in members {
            let path = "\(path).\(member.name)"
            if member.name == "$or" || member.name == "$and" {
                let patterns = try self.patterns(member.value, prefix: prefix, path: path, depth: depth)
                if member.name == "$or" { parts.append(.any(patterns)) } else { parts += patterns }
                continue
            }
            let field = try self.field(member.name, prefix: prefix, path: path)
            switch member.value {
            case .array(let elements):
                try self.checkList(elements.count, path: path)
                var atoms: [MatchAtom] = []
                atoms.reserveCapacity(elements.count)
                for (index, element) in elements.enumerated() {
                    atoms.append(try self.atom(element, path: "\(path)[\(index)]"))
                }
                parts.append(.field(field, atoms))
            case .object(let inner) where !inner.contains(where: { MatchOperator(rawValue: $0.name) != nil }):
                guard case .parameter(let name) = field else {
                    throw PatternError(.malformed, path, "expected a string or one of \(MatchOperator.phrase)")
                }
                guard !inner.isEmpty else { throw PatternError(.malformed, path, "the object has no members") }
                parts += try self.parts(of: inner, prefix: "\(name).", path: path, depth: depth + 1)
            case let leaf:
                parts.append(.field(field, [try self.atom(leaf, path: path)]))
            }
        }
        return parts
    }

    /// The patterns of a list, of which one must hold or all.
    private mutating func patterns(
        _ json: JSONValue,
        prefix: String,
        path: String,
        depth: Int
    ) throws(PatternError) -> [MatchPattern] {
        guard case .array(let elements) = json else {
            throw PatternError(.malformed, path, "expected a list of objects, got \(json.typeName)")
        }
        try self.checkList(elements.count, path: path)
        var patterns: [MatchPattern] = []
        for (index, element) in elements.enumerated() {
            let path = "\(path)[\(index)]"
            guard case .object(let members) = element else {
                throw PatternError(.malformed, path, "expected an object, got \(element.typeName)")
            }
            guard !members.isEmpty else { throw PatternError(.malformed, path, "the object has no members") }
            let parts = try self.parts(of: members, prefix: prefix, path: path, depth: depth + 1)
            patterns.append(.joining(parts))
        }
        return patterns
    }

    private func field(_ name: String, prefix: String, path: String) throws(PatternError) -> MatchField {
        guard name.utf8.first == UInt8(ascii: "$") else {
            let full = prefix + name
            guard !name.isEmpty, full.utf8.count <= KindSchema.nameBytesMax else {
                let sentence = "expected a parameter's name of 1 to \(KindSchema.nameBytesMax) bytes"
                throw PatternError(.malformed, path, sentence)
            }
            return .parameter(UTF8Text(full))
        }
        guard prefix.isEmpty else {
            throw PatternError(.malformed, path, "only $or and $and may be inside another object")
        }
        switch name {
        case "$family": return .family
        case "$host": return .host
        case "$tags": return .tags
        default: throw PatternError(.malformed, path, "expected one of $family, $host, $tags, $or, $and")
        }
    }

    private func checkList(_ count: Int, path: String) throws(PatternError) {
        guard count > 0 else { throw PatternError(.malformed, path, "the list is empty") }
        guard count <= self.limits.listMax else {
            throw PatternError(.limit, path, "expected at most \(self.limits.listMax) elements, got \(count)")
        }
    }

    private mutating func countAtom(path: String) throws(PatternError) {
        self.atomCount += 1
        guard self.atomCount <= self.limits.atomsMax else {
            throw PatternError(.limit, path, "more than \(self.limits.atomsMax) conditions in one pattern")
        }
    }

    private func text(_ string: String, path: String) throws(PatternError) -> UTF8Text {
        let count = string.utf8.count
        guard count <= self.limits.stringBytesMax else {
            let limit = self.limits.stringBytesMax
            throw PatternError(.limit, path, "expected at most \(limit) bytes, got a string of \(count)")
        }
        return UTF8Text(string)
    }

    private func number(_ json: JSONValue) -> ExactNumber? {
        switch json {
        case .int(let int): ExactNumber(int)
        case .unsigned(let unsigned): ExactNumber(unsigned)
        case .double(let double): ExactNumber(double)
        default: nil
        }
    }

    private mutating func literal(_ json: JSONValue, path: String) throws(PatternError) -> MatchLiteral {
        try self.countAtom(path: path)
        switch json {
        case .null: return .null
        case .bool(let bool): return .bool(bool)
        case .string(let string): return .string(try self.text(string, path: path))
        case .int, .unsigned, .double:
            guard let number = self.number(json) else {
                throw PatternError(.malformed, path, "expected a finite number")
            }
            return .number(number)
        case .array, .object:
            throw PatternError(.malformed, path, "expected a string, a number, a boolean or null, got \(json.typeName)")
        }
    }

    private mutating func atom(_ json: JSONValue, path: String) throws(PatternError) -> MatchAtom {
        guard case .object(let members) = json else {
            guard case .array = json else { return .equals(try self.literal(json, path: path)) }
            throw PatternError(.malformed, path, "a list inside a list")
        }
        guard members.count == 1 else {
            throw PatternError(.malformed, path, "expected one operator, got \(members.count) members")
        }
        guard let named = MatchOperator(rawValue: members[0].name) else {
            let sentence = "\(members[0].name) is not an operator; expected one of \(MatchOperator.phrase)"
            throw PatternError(.malformed, path, sentence)
        }
        return try self.operation(named, members[0].value, path: "\(path).\(named.rawValue)")
    }

    private mutating func operation(
        _ named: MatchOperator,
        _ operand: JSONValue,
        path: String
    ) throws(PatternError) -> MatchAtom {
        switch named {
        case .anythingBut: return try self.anythingBut(operand, path: path)
        case .numeric:
            try self.countAtom(path: path)
            return .numeric(try self.range(operand, path: path))
        case .exists:
            try self.countAtom(path: path)
            guard case .bool(let exists) = operand else {
                throw PatternError(.malformed, path, "expected true or false, got \(operand.typeName)")
            }
            return .exists(exists)
        case .prefix, .suffix, .equalsIgnoreCase, .wildcard:
            try self.countAtom(path: path)
            guard case .string(let string) = operand else {
                throw PatternError(.malformed, path, "expected a string, got \(operand.typeName)")
            }
            let text = try self.text(string, path: path)
            switch named {
            case .prefix: return .prefix(text)
            case .suffix: return .suffix(text)
            case .equalsIgnoreCase: return .equalsIgnoreCase(UTF8Text(bytes: text.bytes.map(MatchAtom.folded)))
            default: return .wildcard(try self.wildcard(string, path: path))
            }
        }
    }

    private func wildcard(_ string: String, path: String) throws(PatternError) -> Wildcard {
        guard let wildcard = Wildcard(string) else {
            throw PatternError(.malformed, path, "a backslash may only come before a star or a backslash")
        }
        guard wildcard.starCount <= self.limits.starsMax else {
            let sentence = "expected at most \(self.limits.starsMax) stars, got \(wildcard.starCount)"
            throw PatternError(.limit, path, sentence)
        }
        return wildcard
    }

    private mutating func anythingBut(_ operand: JSONValue, path: String) throws(PatternError) -> MatchAtom {
        switch operand {
        case .array(let elements):
            try self.checkList(elements.count, path: path)
            var literals: [MatchLiteral] = []
            for (index, element) in elements.enumerated() {
                literals.append(try self.literal(element, path: "\(path)[\(index)]"))
            }
            return .anythingBut(literals)
        case .object(let members):
            guard members.count == 1, members[0].name == MatchOperator.prefix.rawValue else {
                throw PatternError(.malformed, path, "expected a literal, a list of literals or a prefix")
            }
            let path = "\(path).prefix"
            try self.countAtom(path: path)
            guard case .string(let string) = members[0].value else {
                throw PatternError(.malformed, path, "expected a string, got \(members[0].value.typeName)")
            }
            return .anythingButPrefix(try self.text(string, path: path))
        case let literal:
            return .anythingBut([try self.literal(literal, path: path)])
        }
    }

    private func range(_ operand: JSONValue, path: String) throws(PatternError) -> NumericRange {
        let form = "expected a comparison as in [\"=\", 5], or a lower and an upper one as in [\">\", 5, \"<=\", 9]"
        guard case .array(let elements) = operand else {
            throw PatternError(.malformed, path, "\(form), got \(operand.typeName)")
        }
        guard elements.count == 2 || elements.count == 4 else {
            throw PatternError(.malformed, path, "\(form), got \(elements.count) elements")
        }
        var range = NumericRange()
        for index in stride(from: 0, to: elements.count, by: 2) {
            guard case .string(let comparison) = elements[index] else {
                let sentence = "expected one of =, <, <=, >, >=, got \(elements[index].typeName)"
                throw PatternError(.malformed, "\(path)[\(index)]", sentence)
            }
            guard let number = self.number(elements[index + 1]) else {
                let sentence = "expected a number, got \(elements[index + 1].typeName)"
                throw PatternError(.malformed, "\(path)[\(index + 1)]", sentence)
            }
            let isLower = range.lower == nil
            let isUpper = range.upper == nil
            switch comparison {
            case "=" where isLower && isUpper && elements.count == 2:
                range.lower = NumericRange.Bound(number, isInclusive: true)
                range.upper = range.lower
            case ">" where isLower: range.lower = NumericRange.Bound(number, isInclusive: false)
            case ">=" where isLower: range.lower = NumericRange.Bound(number, isInclusive: true)
            case "<" where isUpper: range.upper = NumericRange.Bound(number, isInclusive: false)
            case "<=" where isUpper: range.upper = NumericRange.Bound(number, isInclusive: true)
            case "=", ">", ">=", "<", "<=": throw PatternError(.malformed, path, form)
            default:
                throw PatternError(.malformed, "\(path)[\(index)]", "expected one of =, <, <=, >, >=")
            }
        }
        guard !range.isEmpty else {
            let sentence = """
                no number fits both; if one of them is enough, give two elements, as in [{"numeric": ["<", 5]}, \
                {"numeric": [">", 9]}]
                """
            throw PatternError(.malformed, path, sentence)
        }
        return range
    }
}
