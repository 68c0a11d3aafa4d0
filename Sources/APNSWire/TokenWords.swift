package import WidgetModel

/// A device token as words of eight bytes: how tables hash and compare tokens without making an array of each.
///
/// Reused from push to push, so that decoding allocates nothing.
package struct TokenWords: Hashable, Sendable {
    /// The token's bytes, the first one lowest; the last word is filled up with zeroes.
    private var words: [UInt64] = []
    private var byteCount = 0

    /// An empty token.
    package init() {}

    package init(_ token: DeviceToken) {
        let bytes = token.bytes.span
        self.byteCount = bytes.count
        self.words.reserveCapacity((bytes.count + 7) / 8)
        var offset = 0
        while offset + 8 <= bytes.count {
            self.words.append(bytes.word(at: offset))
            offset += 8
        }
        if offset < bytes.count { self.words.append(bytes.lastPartialWord) }
    }

    /// Becomes the token that hex digits spell, in either case.
    ///
    /// - Returns: false if there are no digits, an odd number of them, or other characters; the value is then
    ///   undefined.
    package mutating func decode(hex: Span<UInt8>) -> Bool {
        guard !hex.isEmpty, hex.count.isMultiple(of: 2) else { return false }
        self.byteCount = hex.count / 2
        let count = (hex.count + 15) / 16
        // Nearly every token is as long as the one before.
        if self.words.count != count { self.words = Array(repeating: 0, count: count) }
        var faults: UInt64 = 0
        var offset = 0
        while offset + 16 <= hex.count {
            let first = Base16.values(of: hex.word(at: offset))
            let second = Base16.values(of: hex.word(at: offset + 8))
            faults |= first.faults | second.faults
            self.words[offset / 16] = Base16.word(first.values, second.values)
            offset += 16
        }
        var last: UInt64 = 0
        var shift: UInt64 = 0
        while offset < hex.count {
            guard let high = Base16.digit(hex[offset]), let low = Base16.digit(hex[offset + 1]) else { return false }
            last |= UInt64(high << 4 | low) << shift
            shift += 8
            offset += 2
        }
        if shift > 0 { self.words[count - 1] = last }
        return faults == 0
    }

    /// A hash for tables in memory; differs per seed. O(bytes / 8).
    package func hash(seed: UInt64) -> UInt64 {
        var hash = seed ^ UInt64(truncatingIfNeeded: self.byteCount) &* 0x9E37_79B9_7F4A_7C15
        for word in self.words { hash = Self.mix(hash, word, seed) }
        return StableHash.mix(hash)
    }

    /// The hash of a token's bytes, see ``hash(seed:)``, without its words being made.
    package static func hash(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        var hash = seed ^ UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = Self.mix(hash, bytes.word(at: offset), seed)
            offset += 8
        }
        if offset < bytes.count { hash = Self.mix(hash, bytes.lastPartialWord, seed) }
        return StableHash.mix(hash)
    }

    @inline(__always)
    private static func mix(_ hash: UInt64, _ word: UInt64, _ seed: UInt64) -> UInt64 {
        let product = (hash ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return seed ^ product.high ^ product.low
    }

    /// Whether these are the token's bytes.
    package func isSpelled(by bytes: Span<UInt8>) -> Bool {
        guard bytes.count == self.byteCount else { return false }
        let whole = bytes.count / 8
        for index in 0..<whole where bytes.word(at: 8 * index) != self.words[index] { return false }
        return whole == self.words.count || bytes.lastPartialWord == self.words[whole]
    }

    package static func == (left: TokenWords, right: TokenWords) -> Bool {
        guard left.byteCount == right.byteCount, left.words.count == right.words.count else { return false }
        for index in left.words.indices where left.words[index] != right.words[index] { return false }
        return true
    }
}
