/// Comparisons and loads of many bytes at once: the one place in this target that leaves safe element access.
///
/// A header value is looked at two or three times per push; byte by byte that costs more than everything else.
extension Span where Element == UInt8 {
    /// Eight bytes from `offset` as a little-endian number. Precondition: they lie within the span.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        // Sound: RawSpan checks the bounds, and every bit pattern is a UInt64.
        unsafe UInt64(littleEndian: self.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The last `count % 8` bytes as a little-endian number, padded with zeroes.
    @inline(__always)
    var lastPartialWord: UInt64 {
        let rest = self.count & 7
        guard rest > 0 else { return 0 }
        if self.count >= 8 { return self.word(at: self.count - 8) >> UInt64(8 * (8 - rest)) }
        var word: UInt64 = 0
        for index in 0..<rest { word |= UInt64(self[index]) << UInt64(8 * index) }
        return word
    }

    /// Whether both spans hold the same bytes. Takes as long for any two of one length: their common bytes cannot
    /// be learned from the time.
    @inline(__always)
    func equalsInConstantTime(_ other: Span<UInt8>) -> Bool {
        guard self.count == other.count else { return false }
        var difference = self.lastPartialWord ^ other.lastPartialWord
        var offset = 0
        while offset + 8 <= self.count {
            difference |= self.word(at: offset) ^ other.word(at: offset)
            offset += 8
        }
        return difference == 0
    }

    /// Where a byte stands first from `start` on, or nil. Looks at eight bytes at once.
    @inline(__always)
    func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        let wanted = UInt64(byte) &* 0x0101_0101_0101_0101
        var offset = start
        while offset + 8 <= self.count {
            // A byte that agrees becomes zero; the lowest bit that this leaves is its (Mycroft, "strlen", 1987).
            let difference = self.word(at: offset) ^ wanted
            let zeroes = (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
            if zeroes != 0 { return offset + zeroes.trailingZeroBitCount / 8 }
            offset += 8
        }
        while offset < self.count {
            if self[offset] == byte { return offset }
            offset += 1
        }
        return nil
    }

    /// Whether the span holds just the bytes of a literal.
    @inline(__always)
    func spells(_ text: StaticString) -> Bool {
        self.count == text.utf8CodeUnitCount && self.holds(text, at: 0)
    }

    /// Whether the bytes of a literal stand at `start`. False if they would not fit.
    @inline(__always)
    func holds(_ text: StaticString, at start: Int) -> Bool {
        let length = text.utf8CodeUnitCount
        guard start >= 0, length <= self.count - start else { return false }
        // Sound: a static string lives for ever and is `length` bytes long; loads stay below that.
        let characters = unsafe UnsafeRawPointer(text.utf8Start)
        var offset = 0
        while offset + 8 <= length {
            let expected = unsafe UInt64(
                littleEndian: characters.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            )
            guard self.word(at: start + offset) == expected else { return false }
            offset += 8
        }
        while offset < length {
            let expected = unsafe characters.load(fromByteOffset: offset, as: UInt8.self)
            guard self[start + offset] == expected else { return false }
            offset += 1
        }
        return true
    }

    /// Whether the span holds the letters of a lower-case literal, in either case.
    func spellsIgnoringCase(_ letters: StaticString) -> Bool {
        guard self.count == letters.utf8CodeUnitCount else { return false }
        // Sound: a static string lives for ever and is as long as the span.
        let characters = unsafe UnsafeRawPointer(letters.utf8Start)
        var isEqual = true
        for index in self.indices {
            let expected = unsafe characters.load(fromByteOffset: index, as: UInt8.self)
            isEqual = isEqual && (self[index] | 0x20) == expected
        }
        return isEqual
    }
}
