/// Bytes as hexadecimal digits: read in either case, written in lower case.
package enum Base16 {
    private static let digits = Array("0123456789abcdef".utf8)

    /// The value of a digit, or nil.
    package static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x61...0x66: byte - 0x61 + 10
        case 0x41...0x46: byte - 0x41 + 10
        default: nil
        }
    }

    /// The bytes that digits spell, or nil if there are an odd number of them, or other characters.
    package static func bytes(of text: Span<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = Self.digit(text[index]), let low = Self.digit(text[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Two digits for each byte.
    package static func text(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(Self.digits[Int(byte >> 4)])
            text.append(Self.digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Sixteen digits, so that programs whose integers end at 2^53 can read any number.
    package static func text(of word: UInt64) -> String {
        var rest = word
        var text = [UInt8](repeating: UInt8(ascii: "0"), count: 16)
        for index in stride(from: 15, through: 0, by: -1) {
            text[index] = Self.digits[Int(rest & 15)]
            rest >>= 4
        }
        return String(decoding: text, as: UTF8.self)
    }
}
