import WidgetModel

/// A literal of a pattern, compared by value: 1 equals 1.0, strings are bytes.
package enum MatchLiteral: Hashable, Sendable {
    /// Equals nothing: a null parameter is an absent one, and an absent one satisfies only `{"exists": false}`.
    case null
    case bool(Bool)
    case number(ExactNumber)
    /// Equals that string, or the date that it spells by RFC 3339.
    case string(UTF8Text)

    func equals(text: Span<UInt8>) -> Bool {
        if case .string(let string) = self { text.equals(string.bytes) } else { false }
    }

    func equals(number: ExactNumber) -> Bool {
        self == .number(number)
    }

    func equals(bool: Bool) -> Bool {
        self == .bool(bool)
    }

    func equals(date: Instant) -> Bool {
        self.date == date
    }

    /// The date that a string spells.
    var date: Instant? {
        guard case .string(let text) = self else { return nil }
        return try? RFC3339.parse(text.bytes)
    }

    func encode(into writer: inout ByteWriter) {
        switch self {
        case .null: writer.write(byte: 0)
        case .bool(let bool):
            writer.write(byte: 1)
            writer.write(bool)
        case .number(let number):
            writer.write(byte: 2)
            number.encode(into: &writer)
        case .string(let text):
            writer.write(byte: 3)
            writer.write(text.bytes)
        }
    }

    init(from reader: inout ByteReader) throws(ByteFault) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .null
        case 1: self = .bool(try reader.readBool())
        case 2: self = .number(try ExactNumber(from: &reader))
        case 3: self = .string(UTF8Text(bytes: try reader.readBytes()))
        default: throw .invalid(offset: start)
        }
    }
}
