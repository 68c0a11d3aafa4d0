public import WidgetModel

extension Span where Element == UInt32 {
    /// The same four bytes each as typed numbers.
    @inlinable @_lifetime(copy self)
    public func numbers<Tag>(_ tag: Tag.Type = Tag.self) -> Span<Number<Tag>> {
        // Sound: a number is its four bytes, and every pattern is one.
        unsafe Span<Number<Tag>>(_bytes: self.bytes)
    }
}

extension Span {
    /// Typed numbers as their four bytes, for functions that count and compare bits.
    @inlinable @_lifetime(copy self)
    public func raw<Tag>() -> Span<UInt32> where Element == Number<Tag> {
        // Sound: as above.
        unsafe Span<UInt32>(_bytes: self.bytes)
    }
}
