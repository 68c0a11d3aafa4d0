/// The two spellings of a P-256 ECDSA signature.
package enum EllipticSignature {
    /// R || S of a signature that is 64 raw bytes or strict DER; nil for anything else.
    ///
    /// DER comes from Apple's own shell recipe, apnotic and a2. Strict: shortest lengths, shortest positive integers,
    /// nothing left over. 64 bytes are always taken as raw: a DER signature that short needs R and S both to begin
    /// with three zero bytes.
    package static func raw(_ bytes: [UInt8]) -> [UInt8]? {
        bytes.count == 64 ? bytes : Self.raw(fromDER: bytes)
    }

    private static func raw(fromDER bytes: [UInt8]) -> [UInt8]? {
        // SEQUENCE, one length byte (P-256 never needs two), then two INTEGERs.
        guard bytes.count >= 8, bytes[0] == 0x30, bytes[1] < 0x80, Int(bytes[1]) == bytes.count - 2 else { return nil }
        var position = 2
        guard let r = Self.integer(bytes, &position), let s = Self.integer(bytes, &position),
            position == bytes.count
        else { return nil }
        return r + s
    }

    /// Reads an INTEGER and pads it to 32 bytes.
    private static func integer(_ bytes: [UInt8], _ position: inout Int) -> [UInt8]? {
        guard position + 2 <= bytes.count, bytes[position] == 0x02 else { return nil }
        let count = Int(bytes[position + 1])
        let start = position + 2
        guard (1...33).contains(count), start + count <= bytes.count, bytes[start] < 0x80 else { return nil }
        var digits = bytes[start..<(start + count)]
        if digits.first == 0, count > 1 {
            // A leading zero byte only where the next would make the number negative.
            guard bytes[start + 1] >= 0x80 else { return nil }
            digits = digits.dropFirst()
        }
        guard digits.count <= 32 else { return nil }
        position = start + count
        return Array(repeating: 0, count: 32 - digits.count) + digits
    }
}
