/// A keyed 64-bit hash of bytes for tables in memory.
///
/// Folds sixteen bytes per step through one 64 x 64 -> 128-bit multiplication. A secret seed keeps untrusted peers from
/// choosing keys that collide; the value differs per seed, so it is never stored. The construction follows the
/// multiply-fold family (Wang Yi, "Modern Non-Cryptographic Hash Function and Pseudorandom Number Generator").
struct ByteHash: Sendable {
    private let first: UInt64
    /// Not private for the sake of a test that makes two keys collide.
    let second: UInt64

    init(seed: UInt64) {
        self.first = seed ^ 0x9E37_79B9_7F4A_7C15
        self.second = Self.fold(self.first, 0xD6E8_FEB8_6659_FD93) | 1
    }

    func hash(_ bytes: Span<UInt8>) -> UInt64 {
        var state = Self.fold(self.first ^ UInt64(bytes.count), self.second)
        var offset = 0
        while offset + 16 <= bytes.count {
            state = Self.fold(bytes.word(at: offset) ^ self.second, bytes.word(at: offset + 8) ^ state)
            offset += 16
        }
        if offset + 8 <= bytes.count {
            state = Self.fold(bytes.word(at: offset) ^ self.second, state ^ self.first)
        }
        return Self.fold(bytes.lastPartialWord ^ self.second, state ^ self.first)
    }

    /// The hash of hex digits, the same for capital and small letters. O(digits / 8).
    func hash(hex digits: Span<UInt8>) -> UInt64 {
        // The bit makes capital letters small and is set in the digits anyway.
        let small: UInt64 = 0x2020_2020_2020_2020
        var state = Self.fold(self.first ^ UInt64(digits.count), self.second)
        var offset = 0
        while offset + 8 <= digits.count {
            state = Self.fold((digits.word(at: offset) | small) ^ self.second, state ^ self.first)
            offset += 8
        }
        return Self.fold((digits.lastPartialWord | small) ^ self.second, state ^ self.first)
    }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
