package import WidgetModel

extension JSONValue {
    /// The value as JSON text without white space, in UTF-8. An infinite number or NaN becomes `null`.
    package var jsonText: [UInt8] {
        var text: [UInt8] = []
        self.append(to: &text)
        return text
    }

    /// Appends the value as JSON text.
    package func append(to text: inout [UInt8]) {
        switch self {
        case .null: text.append(contentsOf: "null".utf8)
        case .bool(let bool): text.append(contentsOf: (bool ? "true" : "false").utf8)
        case .int(let int): text.append(contentsOf: String(int).utf8)
        case .unsigned(let int): text.append(contentsOf: String(int).utf8)
        case .double(let double): text.append(contentsOf: (double.isFinite ? "\(double)" : "null").utf8)
        case .string(let string): Self.append(string, to: &text)
        case .array(let elements):
            text.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                element.append(to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                Self.append(member.name, to: &text)
                text.append(UInt8(ascii: ":"))
                member.value.append(to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }

    private static func append(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        let bytes = string.utf8.span
        // Nearly all texts are appended as they are, with one check for room.
        if Self.isPlain(bytes) { text.append(copying: bytes) } else { Self.append(escaping: bytes, to: &text) }
        text.append(UInt8(ascii: "\""))
    }

    /// Whether no byte has to be escaped.
    private static func isPlain(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices {
            let byte = bytes[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
        }
        return true
    }

    private static func append(escaping bytes: Span<UInt8>, to text: inout [UInt8]) {
        for index in bytes.indices {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text.append(UInt8(ascii: "\\"))
                text.append(byte)
            case 0x0A: text.append(contentsOf: "\\n".utf8)
            case 0x0D: text.append(contentsOf: "\\r".utf8)
            case 0x09: text.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                let hex = String(byte, radix: 16)
                text.append(contentsOf: "\\u00\(hex.count == 1 ? "0" : "")\(hex)".utf8)
            default: text.append(byte)
            }
        }
    }
}
