/// A value of one or two words as a ``ValueDictionary`` keeps it, and its hash: what is made of many values at once, before
/// they are looked up one after the other.
struct SoughtValue: BitwiseCopyable {
    /// The most bytes of a text that has a key.
    static let textMax = 12
    let first: UInt64
    let second: UInt64
    let hash: UInt64

    /// Whether it says all of the value; no tag is all ones.
    var isKey: Bool { self.first != .max }

    /// Whether the value has a second word: its length is above its tag.
    @inline(__always)
    var hasSecond: Bool { self.first & 0xFFFF_FF00 > 4 << 8 }

    /// That of a longer value, or of none: it is looked up by itself.
    init(hash: UInt64) {
        self.first = .max
        self.second = 0
        self.hash = hash
    }

    @inline(__always)
    init(_ first: UInt64, seed: UInt64) {
        self.first = first
        self.second = 0
        self.hash = HashSlots.fold(seed ^ first)
    }

    @inline(__always)
    init(_ first: UInt64, _ second: UInt64, seed: UInt64) {
        self.first = first
        self.second = second
        self.hash = HashSlots.fold(HashSlots.fold(seed ^ first) ^ second)
    }
}
