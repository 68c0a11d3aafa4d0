/// A member that makes its type live at an address, and be passed by it. It has no size.
///
/// Swift 6.3 passes a value to a method that borrows it as its fields. Where they do not fit into registers, it copies them to the
/// stack at every call: three kilobytes of an engine.
@_rawLayout(size: 0, alignment: 1)
@frozen public struct Pinned: ~Copyable {
    /// The member.
    @inlinable @inline(__always)
    public init() {}
}

// Sound: there is nothing in it that two threads could share.
extension Pinned: @unchecked Sendable {}
