public import CKernels

// Declarations that other targets use in their inner loops are public and inlinable. Swift 6.3 does not inline declarations with package
// access into other targets, nor specialise generic code that they cannot see.

/// A growing array of plain values that grows without being copied once it is large: an `Array` of forty megabytes
/// would stop everything for ten milliseconds each time it doubles, and hold twice the memory that it needs.
///
/// It owns its memory, and nothing copies it.
@frozen @safe public struct Column<Element: BitwiseCopyable>: ~Copyable {
    /// Room for ``capacity`` elements, of which ``length`` have a value; nil while there is no room.
    @usableFromInline var memory: UnsafeMutablePointer<Element>?
    @usableFromInline var capacity = 0
    @usableFromInline var length = 0

    /// An empty column, without memory.
    @inlinable @inline(__always)
    public init() { unsafe self.memory = nil }

    /// A column of equal elements.
    @inlinable
    public init(repeating element: Element, count: Int) {
        self.init()
        self.append(repeating: element, count: count)
    }

    /// `count` elements whose bits are all 0. Large columns cost nothing until they are used.
    @inlinable
    public init(zeros count: Int) {
        self.init()
        self.resize(to: count)
        self.zeroNewMemory()
        self.length = count
    }

    /// `count` elements of no particular value.
    @inlinable
    public init(undefined count: Int) {
        self.init()
        self.resize(to: count)
        self.length = count
    }

    // Sound: only this column has the memory, and all of it was allocated for so many elements, which are plain.
    @inlinable
    deinit { unsafe ckernels_free(self.memory, self.capacity * MemoryLayout<Element>.stride) }

    /// How many elements there are.
    @inlinable @inline(__always)
    public var count: Int { self.length }

    /// Bytes of memory held.
    @inlinable
    public var byteCount: Int { MemoryLayout<Element>.stride * self.capacity }

    /// An element. Precondition: it is there.
    @inlinable
    public subscript(index: Int) -> Element {
        @inline(__always)
        unsafeAddress {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: self.length), "beyond the column")
            // Sound: memory holds `length` elements, and self keeps it.
            return unsafe UnsafePointer(self.memory.unsafelyUnwrapped + index)
        }
        @inline(__always)
        unsafeMutableAddress {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: self.length), "beyond the column")
            // Sound: as above, and the memory is this column's alone.
            return unsafe self.memory.unsafelyUnwrapped + index
        }
    }

    /// All elements.
    @inlinable
    public var span: Span<Element> {
        @_lifetime(borrow self)
        @inline(__always)
        get {
            // Sound: memory holds `length` elements, and stays while self is lent.
            let elements = unsafe UnsafeBufferPointer(start: UnsafePointer(self.memory), count: self.length)
            return unsafe _overrideLifetime(Span(_unsafeElements: elements), borrowing: self)
        }
    }

    /// All elements, to be changed.
    @inlinable
    public var mutableSpan: MutableSpan<Element> {
        @_lifetime(&self)
        @inline(__always)
        mutating get {
            // Sound: as above, and the memory is this column's alone.
            let elements = unsafe UnsafeMutableBufferPointer(start: self.memory, count: self.length)
            return unsafe _overrideLifetime(MutableSpan(_unsafeElements: elements), mutating: &self)
        }
    }

    /// Fetches an element that is about to be read, if it is there.
    @inlinable @inline(__always)
    public func prefetch(_ index: Int) {
        guard UInt(bitPattern: index) < UInt(bitPattern: self.length) else { return }
        // Sound: nothing is read, and the place is within the memory.
        unsafe ckernels_prefetch(self.memory.unsafelyUnwrapped + index)
    }

    /// The same for several.
    @inlinable @inline(__always)
    public func prefetch(_ indices: Span<UInt32>) {
        for place in indices.indices { self.prefetch(Int(indices[place])) }
    }

    // MARK: Changing

    /// Adds an element at the end.
    @inlinable @inline(__always)
    public mutating func append(_ element: Element) {
        self.reserve(self.length + 1)
        // Sound: there is room for one more.
        unsafe self.memory.unsafelyUnwrapped[self.length] = element
        self.length += 1
    }

    /// Adds equal elements at the end.
    @inlinable
    public mutating func append(repeating element: Element, count: Int) {
        guard count > 0 else { return }
        self.reserve(self.length + count)
        // Sound: there is room for `count` more. Elements are plain, so memory has no state to initialise.
        unsafe (self.memory.unsafelyUnwrapped + self.length).update(repeating: element, count: count)
        self.length += count
    }

    /// Adds elements at the end.
    @inlinable
    public mutating func append(_ elements: Span<Element>) {
        let start = self.length
        self.append(undefined: elements.count)
        self.write(elements, at: start)
    }

    /// Adds `count` elements of no particular value at the end.
    @inlinable
    public mutating func append(undefined count: Int) {
        self.reserve(self.length + count)
        self.length += count
    }

    /// Adds elements at the end until there is one at `index`.
    @inlinable
    public mutating func extend(to index: Int, repeating element: Element) {
        if index >= self.length { self.append(repeating: element, count: index + 1 - self.length) }
    }

    /// Removes the last element. Precondition: there is one.
    @inlinable
    public mutating func removeLast() {
        precondition(self.length > 0, "an empty column")
        self.length -= 1
        // Gives memory back when three quarters of it have become useless.
        if self.capacity > 64, self.length * 4 < self.capacity { self.resize(to: self.length * 2) }
    }

    /// Removes the last element and returns it; nil if there is none.
    @inlinable
    public mutating func popLast() -> Element? {
        guard self.length > 0 else { return nil }
        let last = self[self.length - 1]
        self.removeLast()
        return last
    }

    /// Removes all elements, and gives the memory back.
    @inlinable
    public mutating func removeAll() { self = Column() }

    /// Copies `count` elements from one place to another; the places may overlap. Precondition: both are there.
    @inlinable
    public mutating func move(from source: Int, to target: Int, count: Int) {
        precondition(source >= 0 && target >= 0 && count >= 0, "before the column")
        precondition(max(source, target) + count <= self.length, "beyond the column")
        guard count > 0 else { return }
        // Sound: both places lie within the elements, and `update` allows them to overlap.
        let memory = unsafe self.memory.unsafelyUnwrapped
        unsafe (memory + target).update(from: memory + source, count: count)
    }

    /// Overwrites elements from a place on. Precondition: they are there.
    @inlinable
    public mutating func write(_ elements: Span<Element>, at place: Int) {
        precondition(place >= 0 && place + elements.count <= self.length, "beyond the column")
        unsafe elements.withUnsafeBufferPointer { source in
            guard let start = source.baseAddress else { return }
            // Sound: the place lies within the elements, and the source is not this column's memory, which is never
            // lent.
            unsafe (self.memory.unsafelyUnwrapped + place).update(from: start, count: source.count)
        }
    }

    // MARK: Memory

    /// Makes room for `count` elements.
    @inlinable @inline(__always)
    public mutating func reserve(_ count: Int) {
        if count > self.capacity { self.grow(to: count) }
    }

    @inlinable @inline(never)
    mutating func grow(to count: Int) {
        let larger = self.capacity < 4096 ? max(8, 2 * self.capacity) : self.capacity + self.capacity / 8
        self.resize(to: max(count, larger))
    }

    @inlinable
    mutating func resize(to capacity: Int) {
        let capacity = max(8, capacity)
        let stride = MemoryLayout<Element>.stride
        // Sound: the block is this column's, of the size that it says.
        guard let memory = unsafe ckernels_resize(self.memory, self.capacity * stride, capacity * stride) else {
            preconditionFailure("out of memory")
        }
        unsafe self.memory = memory.assumingMemoryBound(to: Element.self)
        self.capacity = capacity
    }

    /// Sets every bit to 0. Precondition: the memory was made just now.
    @inlinable
    mutating func zeroNewMemory() {
        let size = self.byteCount
        // New blocks from this size on are zero as they are. Sound: writes the whole block, whose elements are plain.
        guard size < 1 << 20, let memory = unsafe self.memory else { return }
        unsafe UnsafeMutableRawPointer(memory).initializeMemory(as: UInt8.self, repeating: 0, count: size)
    }
}

// Sound: the memory is this column's alone.
extension Column: @unchecked Sendable where Element: Sendable {}

extension Column<UInt64> {
    /// The bytes of words, each word's lowest byte first, from the byte `offset` on. Precondition: they are there.
    @inlinable
    public func withBytes<Result>(at offset: Int, count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        precondition(offset >= 0 && count >= 0 && offset + count <= self.count * 8, "beyond the column")
        // Sound: the bytes lie within the words, and a byte has no alignment and no invalid pattern. The machines
        // this runs on are little-endian, as the words are.
        return unsafe self.span.withUnsafeBytes { bytes in
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
            return unsafe bytes.withMemoryRebound(to: UInt8.self) { body(unsafe Span(_unsafeElements: $0)) }
        }
    }
}

extension Column<UInt64> {
    /// Writes bytes over words, each word's lowest byte first, from the word `place` on. Bytes of the last word that are not
    /// written stay as they are. Precondition: the words are there.
    public mutating func write(bytes: Span<UInt8>, at place: Int) {
        precondition(place >= 0 && place + (bytes.count + 7) / 8 <= self.count, "beyond the column")
        unsafe bytes.withUnsafeBufferPointer { source in
            guard let start = source.baseAddress else { return }
            // Sound: the bytes lie within the words, and the source is not this column's memory, which is never lent.
            unsafe UnsafeMutableRawPointer(self.memory.unsafelyUnwrapped + place)
                .copyMemory(from: start, byteCount: source.count)
        }
    }
}

extension Column {
    /// Where blocks, in use or free, leave a gap, overlap or end elsewhere than the elements do; empty if they tile them.
    @inlinable
    func checkTiling(_ blocks: [Range<Int>]) -> [String] {
        var faults: [String] = []
        var end = 0
        for block in blocks.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if block.lowerBound != end { faults.append("the store has a gap or an overlap at \(end)") }
            end = block.upperBound
        }
        if end != self.count { faults.append("the store ends at \(self.count), its blocks at \(end)") }
        return faults
    }
}
