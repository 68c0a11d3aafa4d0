import WidgetModel

/// A fast hash of bytes, eight at a time. With a secret seed for tables, with a fixed one where replay must agree.
enum ByteHash {
    /// The hash of bytes under a seed.
    @inline(__always)
    static func of(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
        var state = StableHash.mix(seed ^ UInt64(bytes.count))
        var index = 0
        while index &+ 8 <= bytes.count {
            state = self.mix(state ^ Self.word(bytes, at: index))
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

    /// Whether two runs of bytes are alike.
    @inline(__always)
    static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        var index = 0
        while index &+ 8 <= left.count {
            guard Self.word(left, at: index) == Self.word(right, at: index) else { return false }
            index &+= 8
        }
        while index < left.count {
            guard left[index] == right[index] else { return false }
            index &+= 1
        }
        return true
    }

    /// Eight bytes as a little-endian number.
    @inline(__always)
    static func word(_ bytes: Span<UInt8>, at index: Int) -> UInt64 {
        // Bounds are looked at once here, and the eight loads become one.
        let bytes = bytes.extracting(index..<index &+ 8)
        var word: UInt64 = 0
        for offset in 0..<8 { word |= UInt64(bytes[offset]) << UInt64(8 &* offset) }
        return word
    }

    /// The SplitMix64 finaliser, here a second time so that it inlines.
    @inline(__always)
    static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A seed of this process, from the standard library's own: keys that untrusted peers choose cannot be made to collide.
    /// It decides where rows are found, never which, so a replay does not depend on it.
    static func processSeed() -> UInt64 {
        UInt64(bitPattern: Int64(Hasher().finalize()))
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
