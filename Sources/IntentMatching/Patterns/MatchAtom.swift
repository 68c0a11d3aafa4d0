package import WidgetModel

/// One condition on one value: a leaf of a match pattern.
package enum MatchAtom: Hashable, Sendable {
    case equals(MatchLiteral)
    case prefix(UTF8Text)
    case suffix(UTF8Text)
    /// Letters A to Z are the same as a to z; all other bytes count as they are. The text is in lower case.
    case equalsIgnoreCase(UTF8Text)
    case wildcard(Wildcard)
    /// Any value that is none of these.
    case anythingBut([MatchLiteral])
    /// Any value that is no string with this prefix.
    case anythingButPrefix(UTF8Text)
    case numeric(NumericRange)
    /// Whether the parameter has a value, be it an empty array.
    case exists(Bool)

    /// Whether a present value satisfies the condition, or of an array one of its elements.
    package func matches(_ value: ParameterValue) -> Bool {
        switch value {
        case .string(let string): return self.matches(text: string.utf8.span)
        case .int(let int): return self.matches(number: ExactNumber(int))
        case .double(let double): return ExactNumber(double).map { self.matches(number: $0) } ?? false
        case .bool(let bool): return self.matches(bool: bool)
        case .date(let date): return self.matches(date: date)
        case .array(let elements):
            if case .exists(let exists) = self { return exists }
            return elements.contains { self.matches($0) }
        }
    }

    func matches(text: Span<UInt8>) -> Bool {
        switch self {
        case .equals(let literal): literal.equals(text: text)
        case .prefix(let prefix): Self.has(prefix, text)
        case .suffix(let suffix):
            text.count >= suffix.bytes.count && text.starts(with: suffix.bytes, at: text.count - suffix.bytes.count)
        case .equalsIgnoreCase(let folded): Self.equalsIgnoringCase(text, folded.bytes)
        case .wildcard(let wildcard): wildcard.matches(text)
        case .anythingBut(let literals): Self.none(of: literals) { $0.equals(text: text) }
        case .anythingButPrefix(let prefix): !Self.has(prefix, text)
        case .numeric: false
        case .exists(let exists): exists
        }
    }

    func matches(number: ExactNumber) -> Bool {
        switch self {
        case .equals(let literal): literal.equals(number: number)
        case .anythingBut(let literals): Self.none(of: literals) { $0.equals(number: number) }
        case .numeric(let range): range.contains(number)
        case .exists(let exists): exists
        case .anythingButPrefix: true
        case .prefix, .suffix, .equalsIgnoreCase, .wildcard: false
        }
    }

    func matches(bool: Bool) -> Bool {
        switch self {
        case .equals(let literal): literal.equals(bool: bool)
        case .anythingBut(let literals): Self.none(of: literals) { $0.equals(bool: bool) }
        case .exists(let exists): exists
        case .anythingButPrefix: true
        case .prefix, .suffix, .equalsIgnoreCase, .wildcard, .numeric: false
        }
    }

    func matches(date: Instant) -> Bool {
        switch self {
        case .equals(let literal): literal.equals(date: date)
        case .anythingBut(let literals): Self.none(of: literals) { $0.equals(date: date) }
        case .exists(let exists): exists
        case .anythingButPrefix: true
        case .prefix, .suffix, .equalsIgnoreCase, .wildcard, .numeric: false
        }
    }

    private static func has(_ prefix: UTF8Text, _ text: Span<UInt8>) -> Bool {
        text.count >= prefix.bytes.count && text.starts(with: prefix.bytes, at: 0)
    }

    private static func none(of literals: [MatchLiteral], _ isEqual: (MatchLiteral) -> Bool) -> Bool {
        for literal in literals where isEqual(literal) { return false }
        return true
    }

    private static func equalsIgnoringCase(_ text: Span<UInt8>, _ folded: [UInt8]) -> Bool {
        guard text.count == folded.count else { return false }
        for index in folded.indices where Self.folded(text[index]) != folded[index] { return false }
        return true
    }

    /// The byte of the lower-case letter for one of an upper-case letter, any other byte itself.
    static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension MatchAtom: ByteCoded {
    package func encode(into writer: inout ByteWriter) {
        switch self {
        case .equals(let literal): writer.write(tag: 0, literal)
        case .prefix(let text): writer.write(tag: 1, text)
        case .suffix(let text): writer.write(tag: 2, text)
        case .equalsIgnoreCase(let text): writer.write(tag: 3, text)
        case .wildcard(let wildcard): writer.write(tag: 4, wildcard.segments)
        case .anythingBut(let literals): writer.write(tag: 5, literals)
        case .anythingButPrefix(let text): writer.write(tag: 6, text)
        case .numeric(let range): writer.write(tag: 7, range)
        case .exists(let exists): writer.write(tag: 8, exists)
        }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        switch try reader.readByte() {
        case 0: self = .equals(try MatchLiteral(from: &reader))
        case 1: self = .prefix(try UTF8Text(from: &reader))
        case 2: self = .suffix(try UTF8Text(from: &reader))
        case 3: self = .equalsIgnoreCase(try UTF8Text(from: &reader))
        case 4:
            let segments = try [UTF8Text](from: &reader)
            guard !segments.isEmpty else { throw .invalid(offset: start) }
            self = .wildcard(Wildcard(segments: segments))
        case 5: self = .anythingBut(try Array(from: &reader))
        case 6: self = .anythingButPrefix(try UTF8Text(from: &reader))
        case 7: self = .numeric(try NumericRange(from: &reader))
        case 8: self = .exists(try reader.readBool())
        default: throw .invalid(offset: start)
        }
    }
}
