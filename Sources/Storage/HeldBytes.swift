extension Array {
    /// Bytes of memory held, without the memory that elements refer to.
    @inlinable
    public var heldBytes: Int { self.capacity * MemoryLayout<Element>.stride }
}

extension Dictionary {
    /// Bytes of memory held, about, without the memory that keys and values refer to.
    @inlinable
    public var heldBytes: Int { self.capacity * (MemoryLayout<Key>.stride + MemoryLayout<Value>.stride) }
}
