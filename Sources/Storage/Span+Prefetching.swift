public import CKernels

extension Span {
    /// Fetches an element that is about to be read, without waiting for it; nothing if there is none.
    @inlinable @inline(__always)
    public func prefetch(_ index: Int) {
        guard UInt(bitPattern: index) < UInt(bitPattern: self.count) else { return }
        // Sound: the place is within the elements, and nothing is read.
        unsafe self.withUnsafeBufferPointer { elements in
            if let start = elements.baseAddress { unsafe ckernels_prefetch(start + index) }
        }
    }
}
