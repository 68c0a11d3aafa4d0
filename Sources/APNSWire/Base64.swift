/// The base64 that JSON Web Tokens come in (RFC 4648).
///
/// RFC 7515 asks for the URL alphabet without padding; some senders (a2) use the standard alphabet with padding, so
/// both are read. Only the former is written.
enum Base64 {
    /// The bytes that a text spells, in either alphabet, with the right padding or none; nil for anything else.
    /// Bits that do not fill a byte must be zero, so that a value has one spelling per alphabet.
    static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        var end = text.count
        while end > 0, text[end - 1] == UInt8(ascii: "="), text.count - end < 2 { end -= 1 }
        let isPadded = end == text.count || text.count.isMultiple(of: 4)
        guard isPadded && end % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(end * 3 / 4)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for index in 0..<end {
            guard let value = Self.value(text[index]) else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
                bits &= (1 << bitCount) - 1
            }
        }
        return bits == 0 ? bytes : nil
    }

    private static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x61 + 26
        case 0x30...0x39: byte - 0x30 + 52
        case UInt8(ascii: "-"), UInt8(ascii: "+"): 62
        case UInt8(ascii: "_"), UInt8(ascii: "/"): 63
        default: nil
        }
    }

    /// Appends the URL-alphabet spelling of `bytes`, without padding.
    static func encode(_ bytes: Span<UInt8>, into text: inout [UInt8]) {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var bits: UInt32 = 0
        var bitCount: UInt32 = 0
        for index in bytes.indices {
            bits = bits << 8 | UInt32(bytes[index])
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(alphabet[Int(bits >> bitCount & 63)])
            }
            bits &= (1 << bitCount) - 1
        }
        if bitCount > 0 { text.append(alphabet[Int(bits << (6 - bitCount) & 63)]) }
    }
}
