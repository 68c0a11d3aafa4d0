import Storage
import WidgetModel

/// The hash for the engine's decisions and records: it is the same in every process, so that a replay agrees. Tables in memory have
/// Storage's `SeededHash`, whose seed peers do not know.
enum ReplayHash {
    /// The hash of bytes, eight at a time.
    ///
    /// - Parameter seed: A number for each use, so that equal bytes of different meanings have different hashes.
    @inline(__always)
    static func of(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        var state = StableHash.mix(seed ^ UInt64(bytes.count))
        var index = 0
        while index &+ 8 <= bytes.count {
            state = self.mix(state ^ bytes.word(at: index))
            index &+= 8
        }
        guard index < bytes.count else { return state }
        var rest: UInt64 = 0
        while index < bytes.count {
            rest = rest << 8 | UInt64(bytes[index])
            index &+= 1
        }
        return self.mix(state ^ rest)
    }

    @inline(__always)
    static func of(_ bytes: [UInt8], in range: Range<Int>, seed: UInt64) -> UInt64 {
        self.of(bytes.span.extracting(range), seed: seed)
    }

    static func of(_ string: String, seed: UInt64) -> UInt64 {
        self.of(string.utf8.span, seed: seed)
    }

    /// The SplitMix64 finaliser, here a second time so that it inlines.
    @inline(__always)
    static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

extension String {
    /// Whether the string is these bytes.
    @inline(__always)
    func equals(_ bytes: [UInt8], in range: Range<Int>) -> Bool {
        let text = self.utf8.span
        guard text.count == range.count else { return false }
        for index in text.indices where text[index] != bytes[range.lowerBound &+ index] { return false }
        return true
    }
}
