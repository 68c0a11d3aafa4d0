/// The two spellings of an ECDSA signature over P-256.
///
/// JWS has R and S as 32 bytes each, one after the other (RFC 7518 section 3.4); OpenSSL has them as a DER sequence of
/// two integers (RFC 3279 section 2.2.3).
enum ES256Signature {
    static let rawBytes = 64
    /// Sequence header, and two integers with header, sign byte and 32 bytes.
    static let derBytesMax = 72

    private static let sequenceTag: UInt8 = 0x30
    private static let integerTag: UInt8 = 0x02

    /// Appends the DER spelling. Preconditions: 64 bytes, and room for ``derBytesMax``.
    static func appendDER(ofRaw raw: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        precondition(raw.count == Self.rawBytes)
        let r = Self.firstDigit(raw, 0..<32)
        let s = Self.firstDigit(raw, 32..<64)
        let rSign = raw[r] >= 0x80 ? 1 : 0
        let sSign = raw[s] >= 0x80 ? 1 : 0
        let rCount = 32 - r + rSign
        let sCount = 64 - s + sSign
        output.append(Self.sequenceTag)
        output.append(UInt8(4 + rCount + sCount))
        output.append(Self.integerTag)
        output.append(UInt8(rCount))
        if rSign == 1 { output.append(0) }
        for index in r..<32 { output.append(raw[index]) }
        output.append(Self.integerTag)
        output.append(UInt8(sCount))
        if sSign == 1 { output.append(0) }
        for index in s..<64 { output.append(raw[index]) }
    }

    /// The JWS spelling, or nil if the bytes are not two integers of at most 32 bytes and nothing else.
    static func raw(fromDER der: Span<UInt8>) -> [UInt8]? {
        guard der.count >= 8, der[0] == Self.sequenceTag, Int(der[1]) == der.count - 2 else { return nil }
        var raw = [UInt8](repeating: 0, count: Self.rawBytes)
        var offset = 2
        for end in [32, 64] {
            guard offset + 2 <= der.count, der[offset] == Self.integerTag else { return nil }
            var start = offset + 2
            offset = start + Int(der[offset + 1])
            guard offset <= der.count, start < offset, der[start] < 0x80 else { return nil }
            if der[start] == 0 { start += 1 }
            guard offset - start <= 32 else { return nil }
            for index in start..<offset { raw[end - offset + index] = der[index] }
        }
        return offset == der.count ? raw : nil
    }

    /// The index of the first byte of the number that is not zero, or of the last byte.
    private static func firstDigit(_ raw: Span<UInt8>, _ range: Range<Int>) -> Int {
        range.first { raw[$0] != 0 } ?? range.upperBound - 1
    }
}
