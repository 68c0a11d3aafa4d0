/// Comparing and reading eight bytes at a time: the one place in this target that leaves safe element access.
///
/// Building the index compares each configured value with one that is known already; byte by byte that is a fifth of the
/// whole.
extension Span where Element == UInt8 {
    /// Eight bytes from `offset` as a little-endian number. Precondition: they lie within the span.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        // Sound: RawSpan checks the bounds, and every bit pattern is a UInt64.
        unsafe UInt64(littleEndian: self.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The last `count % 8` bytes as a number that depends on each of them.
    @inline(__always)
    var lastPartialWord: UInt64 {
        let rest = self.count & 7
        guard rest > 0 else { return 0 }
        if self.count >= 8 { return self.word(at: self.count - 8) >> UInt64(8 * (8 - rest)) }
        var word: UInt64 = 0
        for index in 0..<rest { word |= UInt64(self[index]) << UInt64(8 * index) }
        return word
    }

    /// Whether both spans hold the same bytes.
    @inline(__always)
    func equals(_ other: Span<UInt8>) -> Bool {
        guard self.count == other.count else { return false }
        var offset = 0
        while offset + 8 <= self.count {
            guard self.word(at: offset) == other.word(at: offset) else { return false }
            offset += 8
        }
        return self.lastPartialWord == other.lastPartialWord
    }
}
