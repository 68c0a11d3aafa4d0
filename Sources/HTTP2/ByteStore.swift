/// A growable piece of memory that a stream slot owns.
///
/// An array would do, but not its checks: this is written to for every header field of every request, from a callback
/// that reaches its slot through a pointer. `deallocate()` is called by the slab, exactly once for each store.
@safe struct ByteStore {
    private(set) var base: UnsafeMutablePointer<UInt8>?
    private(set) var count: Int32 = 0
    private(set) var capacity: Int32 = 0

    /// No store needs less at first than a request head.
    private static let capacityMin: Int32 = 1024

    init() {
        unsafe self.base = nil
    }

    mutating func removeAll() {
        self.count = 0
    }

    /// Moves everything behind the first `length` bytes to the front.
    mutating func removeFirst(_ length: Int32) {
        guard let base = unsafe self.base else { return }
        // Sound: `length` is at most `count`; the ranges may overlap, which `update` allows.
        unsafe base.update(from: base + Int(length), count: Int(self.count - length))
        self.count -= length
    }

    mutating func deallocate() {
        unsafe self.base?.deallocate()
        self = ByteStore()
    }

    /// Appends bytes. The caller has bounded the total far below 2 GiB.
    @inline(__always)
    mutating func append(_ source: UnsafePointer<UInt8>?, _ length: Int) {
        guard length > 0, let source = unsafe source else { return }
        let needed = self.count + Int32(length)
        if needed > self.capacity {
            self.grow(to: needed)
        }
        // Sound: `grow` has made room for `needed` bytes, and the source is not inside this store.
        unsafe (self.base! + Int(self.count)).update(from: source, count: length)
        self.count = needed
    }

    /// Appends the two lengths that stand before a header field in a slot's store.
    @inline(__always)
    mutating func appendLengths(_ first: UInt32, _ second: UInt32) {
        var lengths = (first, second)
        unsafe withUnsafeBytes(of: &lengths) { bytes in
            unsafe self.append(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), 8)
        }
    }

    private mutating func grow(to needed: Int32) {
        let capacity = max(Self.capacityMin, max(needed, self.capacity &* 2))
        let base = UnsafeMutablePointer<UInt8>.allocate(capacity: Int(capacity))
        if let old = unsafe self.base {
            // Sound: the first `count` bytes of the old memory are initialized, and the new memory is larger.
            unsafe base.update(from: old, count: Int(self.count))
            unsafe old.deallocate()
        }
        unsafe self.base = base
        self.capacity = capacity
    }
}
