/// Hex digits, in either case.
enum Base16 {
    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x61...0x66: byte - 0x61 + 10
        case 0x41...0x46: byte - 0x41 + 10
        default: nil
        }
    }

    /// Whether every byte is a hex digit. No early exit, so that the loop is vectorised.
    static func isHex(_ bytes: Span<UInt8>) -> Bool {
        var isHex = true
        for index in bytes.indices {
            let byte = bytes[index]
            isHex = isHex && ((byte &- 0x30 <= 9) || ((byte | 0x20) &- 0x61 <= 5))
        }
        return isHex
    }
}
