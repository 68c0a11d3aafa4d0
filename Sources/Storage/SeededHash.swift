/// The hash by which tables in memory find their rows: words and bytes under a seed, a multiplication for each eight
/// bytes.
///
/// Peers choose keys, and must not be able to make them collide. So the seed is the process's own, and nothing that
/// leaves a table may depend on it. Stored values, and values that processes compare, use `StableHash`.
public enum SeededHash {
    /// A seed of this process, from the standard library's own.
    public static let processSeed: UInt64 = {
        var hasher = Hasher()
        hasher.combine(0)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }()

    /// The hash of a word. The caller has XORed it with a seed, or with the hash of the words before it.
    @inlinable @inline(__always)
    public static func fold(_ word: UInt64) -> UInt64 {
        let product = (word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }

    /// The hash of two words.
    @inlinable @inline(__always)
    public static func of(_ first: UInt64, _ second: UInt64, seed: UInt64) -> UInt64 {
        Self.fold(Self.fold(seed ^ first) ^ second)
    }

    /// The hash of bytes.
    @inlinable @inline(__always)
    public static func of(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        var hash = Self.fold(seed ^ UInt64(bytes.count))
        var offset = 0
        while offset < bytes.count {
            hash = Self.fold(hash ^ bytes.word(at: offset))
            offset += 8
        }
        return hash
    }
}
