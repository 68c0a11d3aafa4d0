package import WidgetModel

/// Prints the values of a configuration as one JSON object, every key with its value, secrets left out.
struct SettingsPrinter: SettingsVisitor {
    /// The members of the sections that are open, the innermost last.
    private var open: [[JSONValue.Member]] = [[]]

    var object: JSONValue { .object(self.open[0]) }

    private mutating func add(_ key: String, _ value: JSONValue) {
        self.open[self.open.count - 1].append(JSONValue.Member(name: key, value: value))
    }

    private mutating func members(of body: (inout Self) -> Void) -> JSONValue {
        self.open.append([])
        body(&self)
        return .object(self.open.removeLast())
    }

    mutating func scalar<Value>(_ key: String, _ value: inout Value, _ type: SettingType<Value>, isRequired: Bool) {
        self.add(key, type.json(value))
    }

    mutating func optional<Value>(_ key: String, _ value: inout Value?, _ type: SettingType<Value>) {
        if let value { self.add(key, type.json(value)) }
    }

    mutating func file(_ key: String, _ value: inout String, _ purpose: FilePurpose, isRequired: Bool) {
        self.add(key, .string(value))
    }

    mutating func optionalFile(_ key: String, _ value: inout String?, _ purpose: FilePurpose) {
        if let value { self.add(key, .string(value)) }
    }

    mutating func scalars<Value>(_ key: String, _ values: inout [Value], _ type: SettingType<Value>) {
        self.add(key, .array(values.map(type.json)))
    }

    mutating func optionalScalars<Value>(
        _ key: String,
        _ values: inout [Value]?,
        _ type: SettingType<Value>,
        mayBeEmpty: Bool
    ) {
        if let values { self.add(key, .array(values.map(type.json))) }
    }

    mutating func secrets(_ key: String, _ values: inout [Secret]) {}

    mutating func json(_ key: String, _ value: inout JSONValue?) {
        if let value { self.add(key, value) }
    }

    mutating func section(_ key: String, _ body: (inout Self) -> Void) {
        let members = self.members(of: body)
        self.add(key, members)
    }

    mutating func optionalSection<Value>(
        _ key: String,
        _ value: inout Value?,
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        guard var inner = value else { return }
        self.section(key) { body(&inner, &$0) }
    }

    mutating func records<Value>(
        _ key: String,
        _ values: inout [Value],
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        var elements: [JSONValue] = []
        for index in values.indices {
            elements.append(self.members { body(&values[index], &$0) })
        }
        self.add(key, .array(elements))
    }

    mutating func nameOrSection<Value>(
        _ key: String,
        _ name: inout String?,
        _ value: inout Value?,
        empty: Value,
        _ body: (inout Value, inout Self) -> Void
    ) {
        if value != nil { return self.optionalSection(key, &value, empty: empty, body) }
        if let name { self.add(key, .string(name)) }
    }
}

extension JSONValue {
    /// The value as YAML, two spaces a level, texts in double quotes where they need them.
    package var yamlText: String {
        var text = ""
        self.writeYAML(into: &text, indentation: 0)
        return text
    }

    private func writeYAML(into text: inout String, indentation: Int) {
        switch self {
        case .object(let members) where !members.isEmpty:
            for (index, member) in members.enumerated() {
                // The first key of a list's element stands on the hyphen's line.
                if index > 0 || !text.hasSuffix("- ") { text += String(repeating: " ", count: indentation) }
                text += "\(Self.scalar(member.name)):"
                member.value.writeYAMLValue(into: &text, indentation: indentation)
            }
        case .array(let elements) where !elements.isEmpty:
            for element in elements {
                text += String(repeating: " ", count: indentation) + "- "
                if element.isBlock {
                    element.writeYAML(into: &text, indentation: indentation + 2)
                } else {
                    text += "\(element.flowText)\n"
                }
            }
        default: text += "\(self.flowText)\n"
        }
    }

    private func writeYAMLValue(into text: inout String, indentation: Int) {
        guard self.isBlock else {
            text += " \(self.flowText)\n"
            return
        }
        text += "\n"
        self.writeYAML(into: &text, indentation: indentation + 2)
    }

    /// Whether it needs lines of its own.
    private var isBlock: Bool {
        switch self {
        case .object(let members): !members.isEmpty
        case .array(let elements): elements.contains { if case .object = $0 { true } else { false } }
        default: false
        }
    }

    private var flowText: String {
        switch self {
        case .null: "null"
        case .bool(let bool): String(bool)
        case .int(let int): String(int)
        case .unsigned(let unsigned): String(unsigned)
        case .double(let double): String(double)
        case .string(let string): Self.scalar(string)
        case .array(let elements): "[\(elements.map(\.flowText).joined(separator: ", "))]"
        case .object(let members):
            "{\(members.map { "\(Self.scalar($0.name)): \($0.value.flowText)" }.joined(separator: ", "))}"
        }
    }

    /// The text as a YAML scalar: plain where that is safe beyond doubt, else as JSON has it.
    private static func scalar(_ text: String) -> String {
        let isPlain =
            text.utf8.first.map { SettingRules.isLetter($0) || $0 == UInt8(ascii: "/") } ?? false
            && text.utf8.allSatisfy { SettingRules.isLetterOrDigit($0) || "-_./".utf8.contains($0) }
            && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
        if isPlain { return text }
        // A length of time cannot be taken for anything else.
        if SettingType<Interval>.duration(text) != nil, text.utf8.last.map(SettingRules.isLetter) == true {
            return text
        }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0xFEFF:
                let hex = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
