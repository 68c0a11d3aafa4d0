import WidgetModel

// Eight digits at a time, for device tokens.
extension Base16 {
    /// Whether every byte is a hex digit.
    static func isHex(_ bytes: Span<UInt8>) -> Bool {
        guard bytes.count >= 8 else {
            for index in bytes.indices where Self.digit(bytes[index]) == nil { return false }
            return true
        }
        var faults: UInt64 = 0
        var offset = 0
        while offset + 8 <= bytes.count {
            faults |= Self.values(of: bytes.word(at: offset)).faults
            offset += 8
        }
        // The last eight again: some of them for the first time.
        return faults | Self.values(of: bytes.word(at: bytes.count - 8)).faults == 0
    }

    /// Eight characters' values as hex digits, a byte each, and bits where a character is none. No branches.
    @inline(__always)
    static func values(of characters: UInt64) -> (values: UInt64, faults: UInt64) {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let letters = characters >> 6 & ones
        let values = (characters & (ones &* 0x0F)) &+ letters &* 9
        // The values' spelling in lower case, against the characters.
        let spelling = values &+ ones &* 0x30 &+ ((values &+ ones &* 6) >> 4 & ones) &* 39
        return (values, (characters | letters << 5) ^ spelling | values & (ones &* 0x10))
    }

    /// The bytes that sixteen digits' values spell, the first one lowest.
    @inline(__always)
    static func word(_ first: UInt64, _ second: UInt64) -> UInt64 { Self.half(first) | Self.half(second) << 32 }

    @inline(__always)
    private static func half(_ values: UInt64) -> UInt64 {
        let pairs = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
        let fours = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF
        return (fours | fours >> 16) & 0xFFFF_FFFF
    }
}
