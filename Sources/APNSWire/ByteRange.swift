/// A place in another owner's byte buffer, in eight bytes.
///
/// The transport keeps the header values of many requests in one arena; a head only remembers their places.
package struct ByteRange: Hashable, Sendable {
    package let offset: UInt32
    package let count: UInt32

    package static let empty = ByteRange(offset: 0, count: 0)

    package init(offset: UInt32, count: UInt32) {
        self.offset = offset
        self.count = count
    }

    /// Precondition: both bounds fit in 32 bits.
    package init(_ bounds: Range<Int>) {
        self.offset = UInt32(bounds.lowerBound)
        self.count = UInt32(bounds.count)
    }

    /// For `Span.extracting(_:)`.
    package var bounds: Range<Int> { Int(self.offset)..<(Int(self.offset) + Int(self.count)) }
    package var isEmpty: Bool { self.count == 0 }

    /// This range without its first `count` bytes. Precondition: it has that many.
    func dropping(first count: Int) -> ByteRange {
        ByteRange(offset: self.offset + UInt32(count), count: self.count - UInt32(count))
    }

    /// The first `count` bytes of this range. Precondition: it has that many.
    func keeping(first count: Int) -> ByteRange {
        precondition(count <= Int(self.count))
        return ByteRange(offset: self.offset, count: UInt32(count))
    }
}
