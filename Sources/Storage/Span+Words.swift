extension Span where Element == UInt8 {
    /// Up to eight bytes from `offset` as a little-endian number; bytes beyond the end count as 0.
    @inlinable @inline(__always)
    public func word(at offset: Int) -> UInt64 {
        // Sound: RawSpan checks the bounds, and every bit pattern is a number. So are those below.
        if offset + 8 <= self.count {
            return unsafe UInt64(littleEndian: self.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        guard offset < self.count else { return 0 }
        if self.count >= 8 {
            // The last eight bytes, less those that come before.
            let last = self.count - 8
            return unsafe UInt64(littleEndian: self.bytes.unsafeLoadUnaligned(fromByteOffset: last, as: UInt64.self))
                &>> UInt64(8 * (offset - last))
        }
        return self.shortWord &>> UInt64(8 * offset)
    }

    /// All bytes, of which there are one to seven; some are read twice.
    @inlinable @inline(__always)
    var shortWord: UInt64 {
        guard self.count >= 4 else {
            let (middle, last) = (self.count / 2, self.count - 1)
            return UInt64(self[0]) | UInt64(self[middle]) &<< UInt64(8 * middle)
                | UInt64(self[last]) &<< UInt64(8 * last)
        }
        let first = unsafe self.bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
        let last = unsafe self.bytes.unsafeLoadUnaligned(fromByteOffset: self.count - 4, as: UInt32.self)
        return UInt64(UInt32(littleEndian: first)) | UInt64(UInt32(littleEndian: last)) &<< UInt64(8 * (self.count - 4))
    }

    /// Whether both spans have the same bytes. The time depends on their common beginning: do not compare a secret with
    /// it that the other side could guess byte by byte.
    @inlinable @inline(__always)
    public func equals(_ other: Span<UInt8>) -> Bool {
        guard self.count == other.count else { return false }
        var offset = 0
        while offset < self.count {
            guard self.word(at: offset) == other.word(at: offset) else { return false }
            offset += 8
        }
        return true
    }
}
