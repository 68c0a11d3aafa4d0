/// Where a span is in a distributed trace: W3C Trace Context's `traceparent` (https://www.w3.org/TR/trace-context/, 3.2).
package struct TraceContext: Hashable, Sendable {
    /// The trace's id, the first eight bytes of sixteen.
    package let high: UInt64
    /// The other eight.
    package let low: UInt64
    /// The span's id, `parent-id` in an outgoing header. Never 0.
    package let spanID: UInt64
    /// Whether the sender that began the trace records it.
    package let isSampled: Bool

    /// - Returns: Nil if one of the ids is zero, which means none.
    package init?(high: UInt64, low: UInt64, spanID: UInt64, isSampled: Bool) {
        guard high | low != 0, spanID != 0 else { return nil }
        self.high = high
        self.low = low
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// Reads the value of a `traceparent` header.
    ///
    /// - Returns: Nil for a value that 3.2.2 of the specification tells to ignore: version ff, characters other than
    ///   lower-case hex digits, an id of zeros, and more characters than version 00 has. For an unknown version, the
    ///   part of version 00 is read if the value ends there or a hyphen follows (4.3).
    package init?(traceparent text: Span<UInt8>) {
        guard text.count >= 55, let version = Self.hex(text.extracting(0..<2)), version != 0xFF,
            version == 0 ? text.count == 55 : text.count == 55 || text[55] == UInt8(ascii: "-"),
            text[2] == UInt8(ascii: "-"), text[35] == UInt8(ascii: "-"), text[52] == UInt8(ascii: "-"),
            let high = Self.hex(text.extracting(3..<19)), let low = Self.hex(text.extracting(19..<35)),
            let spanID = Self.hex(text.extracting(36..<52)), let flags = Self.hex(text.extracting(53..<55))
        else { return nil }
        self.init(high: high, low: low, spanID: spanID, isSampled: flags & 1 == 1)
    }

    /// The value of a `traceparent` header, in version 00.
    package var traceparent: String {
        "00-\(self.traceID)-\(Base16.text(of: self.spanID))-\(self.isSampled ? "01" : "00")"
    }

    /// The trace's id in 32 hex digits.
    package var traceID: String { Base16.text(of: self.high) + Base16.text(of: self.low) }

    private static func hex(_ text: Span<UInt8>) -> UInt64? {
        var word: UInt64 = 0
        for index in text.indices {
            let digit: UInt8
            switch text[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = text[index] - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = text[index] - UInt8(ascii: "a") + 10
            default: return nil
            }
            word = word << 4 | UInt64(digit)
        }
        return word
    }
}
