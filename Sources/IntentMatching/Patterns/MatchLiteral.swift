import Storage
package import WidgetModel

/// A literal of a pattern, compared by value: 1 equals 1.0, strings are bytes.
package enum MatchLiteral: ByteCoded, Hashable, Sendable {
    /// Equals nothing: a null parameter is an absent one, and an absent one satisfies only `{"exists": false}`.
    case null
    case bool(Bool)
    case number(ExactNumber)
    /// Equals that string, or the date that it spells by RFC 3339.
    case string(UTF8Text)

    func equals(text: Span<UInt8>) -> Bool {
        if case .string(let string) = self { text.equals(string.bytes.span) } else { false }
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

    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .null: writer.write(byte: 0)
        case .bool(let bool): writer.write(tag: 1, bool)
        case .number(let number): writer.write(tag: 2, number)
        case .string(let text): writer.write(tag: 3, text)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .null
        case 1: self = .bool(try reader.readBool())
        case 2: self = .number(try ExactNumber(from: &reader))
        case 3: self = .string(try UTF8Text(from: &reader))
        default: throw .invalid(offset: start)
        }
    }
}
