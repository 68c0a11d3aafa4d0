import Storage

/// A value of one or two words as a ``ValueDictionary`` keeps it.
struct ValueWords: BitwiseCopyable {
    /// The most bytes of a text that has no more words.
    static let textMax = 12
    let first: UInt64
    /// 0 if there is none.
    let second: UInt64

    /// Whether the value has a second word: its length is above its tag.
    @inline(__always)
    var hasSecond: Bool { self.first & 0xFFFF_FF00 > 4 << 8 }

    @inline(__always)
    func hash(seed: UInt64) -> UInt64 {
        let hash = SeededHash.fold(seed ^ self.first)
        return self.hasSecond ? SeededHash.fold(hash ^ self.second) : hash
    }
}

/// A value that is looked for, and its hash. Many values get theirs at once, before they are looked up one after the
/// other.
struct SoughtValue: BitwiseCopyable {
    let words: ValueWords
    let hash: UInt64

    /// Whether ``words`` say all of the value; no tag is all ones.
    @inline(__always)
    var isKey: Bool { self.words.first != .max }

    /// That of a longer value, or of none: it is looked up by itself.
    init(hash: UInt64) {
        self.words = ValueWords(first: .max, second: 0)
        self.hash = hash
    }

    @inline(__always)
    init(_ words: ValueWords, seed: UInt64) {
        self.words = words
        self.hash = words.hash(seed: seed)
    }
}
