/// The form of ``ByteWriter``, for writers that make room once for several values: a value written to an array costs a check of its room.
///
/// Public for the reason that ``ByteWriter`` has. Each traps if the span has no room left.
extension OutputSpan where Element == UInt8 {
    /// Appends a byte, 1 or 0.
    @inlinable @inline(__always)
    public mutating func append(_ value: Bool) {
        self.append(value ? 1 as UInt8 : 0)
    }

    /// Appends a LEB128 varint of one to ten bytes.
    @inlinable @inline(__always)
    public mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            self.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        self.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a number of either sign, zigzag and as a varint.
    @inlinable @inline(__always)
    public mutating func append(signed value: Int64) {
        self.append(varint: UInt64(bitPattern: (value << 1) ^ (value >> 63)))
    }

    /// Appends eight bytes, little-endian.
    @inlinable @inline(__always)
    public mutating func append(fixed64 value: UInt64) {
        for shift in 0..<UInt64(8) { self.append(UInt8(truncatingIfNeeded: value >> (shift * 8))) }
    }

    /// Appends the bytes of a span.
    @inlinable @inline(__always)
    public mutating func append(copying bytes: Span<UInt8>) {
        for index in bytes.indices { self.append(bytes[index]) }
    }

    /// Appends a length and bytes.
    @inlinable @inline(__always)
    public mutating func append(counted bytes: Span<UInt8>) {
        self.append(varint: UInt64(bytes.count))
        self.append(copying: bytes)
    }
}
