public import CKernels

/// Rows that only ever become more, in chunks that never move: a table that grows copies none of its rows.
///
/// Doubling one array of a million rows stops the partition for tens of milliseconds and touches each page anew. Here a
/// new chunk is all that it takes. Rows may hold references, unlike those of a ``Column``. Appending and reading are O(1).
///
/// It owns its memory, and nothing copies it.
@frozen @safe public struct RowChunks<Row>: ~Copyable {
    /// Rows of a chunk: a power of two, large enough that the list of chunks stays short.
    @inlinable @inline(__always)
    static var chunkRows: Int { 1 &<< Self.chunkShift }
    @inlinable @inline(__always)
    static var chunkShift: Int { 13 }

    /// Room for ``chunkCapacity`` chunks, of which the first ``chunkCount`` are there; nil while there is no room.
    @usableFromInline var chunks: UnsafeMutablePointer<UnsafeMutablePointer<Row>>?
    @usableFromInline var chunkCount = 0
    @usableFromInline var chunkCapacity = 0
    /// How many rows are known to come from the beginning.
    @usableFromInline var expectedRows = 0
    @usableFromInline var length = 0
    @usableFromInline let pinned = Pinned()

    /// No rows, and no memory.
    @inlinable
    public init() { unsafe self.chunks = nil }

    // Sound: only this value has the memory, and the first `length` rows are initialized.
    @inlinable
    deinit {
        guard let chunks = unsafe self.chunks else { return }
        var left = self.length
        for index in 0..<self.chunkCount {
            unsafe chunks[index].deinitialize(count: min(left, Self.chunkRows))
            unsafe UnsafeMutableRawPointer(chunks[index]).deallocate()
            left -= min(left, Self.chunkRows)
        }
        unsafe chunks.deallocate()
    }

    /// How many rows there are.
    @inlinable @inline(__always)
    public var count: Int { self.length }

    /// Bytes of memory held, without the memory that rows refer to.
    @inlinable
    public var byteCount: Int {
        self.chunkCount * Self.chunkRows * MemoryLayout<Row>.stride
            + self.chunkCapacity * MemoryLayout<UInt>.stride
    }

    /// The places of all rows.
    @inlinable @inline(__always)
    public var indices: Range<Int> { 0..<self.length }

    /// A row. Precondition: it is there.
    @inlinable
    public subscript(index: Int) -> Row {
        @inline(__always)
        unsafeAddress { unsafe UnsafePointer(self.address(index)) }
        @inline(__always)
        unsafeMutableAddress { unsafe self.address(index) }
    }

    @inlinable @inline(__always)
    func address(_ index: Int) -> UnsafeMutablePointer<Row> {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: self.length), "beyond the rows")
        // Sound: the chunks hold `length` rows, and self keeps them.
        return unsafe self.chunks.unsafelyUnwrapped[index &>> Self.chunkShift] + (index & (Self.chunkRows &- 1))
    }

    /// Fetches a row that is about to be read, without waiting for it. Precondition: it is there.
    @inlinable @inline(__always)
    public func prefetch(_ index: Int) {
        // Sound: the places lie within the row, and nothing is read.
        let row = unsafe UnsafeRawPointer(self.address(index))
        var offset = 0
        while offset < MemoryLayout<Row>.size {
            unsafe ckernels_prefetch(row + offset)
            offset &+= 64
        }
        // Rows begin anywhere in a line, unless they are whole lines.
        if MemoryLayout<Row>.stride % 64 != 0 { unsafe ckernels_prefetch(row + (MemoryLayout<Row>.size - 1)) }
    }

    /// Adds a row at the end.
    @inlinable @inline(__always)
    public mutating func append(_ row: consuming Row) {
        if self.length & (Self.chunkRows &- 1) == 0 { self.addChunk() }
        self.length &+= 1
        // Sound: the last chunk has room for one more.
        unsafe self.address(self.length &- 1).initialize(to: row)
    }

    /// Adds `count` equal rows.
    @inlinable
    public mutating func append(repeating row: Row, count: Int) {
        for _ in 0..<count { self.append(row) }
    }

    /// Announces a number of rows that will follow one after the other: one call then gets the memory of each chunk,
    /// instead of a fault for each of its pages. It makes no other difference. Precondition: no rows yet.
    @inlinable
    public mutating func expect(_ rows: Int) {
        precondition(self.length == 0, "rows are expected before the first one")
        self.expectedRows = rows
    }

    /// Makes room for as many rows as a chunk has.
    @inlinable @inline(never)
    mutating func addChunk() {
        if self.chunkCount == self.chunkCapacity { self.growList() }
        // Rows of whole lines of memory begin with one.
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: Self.chunkRows * MemoryLayout<Row>.stride,
            alignment: max(64, MemoryLayout<Row>.alignment)
        )
        let chunk = unsafe memory.bindMemory(to: Row.self, capacity: Self.chunkRows)
        let rows = min(Self.chunkRows, self.expectedRows - self.chunkCount * Self.chunkRows)
        // Sound: the chunk has room for so many rows, and nothing is in it yet.
        if rows > 0 { unsafe ckernels_populate(chunk, rows * MemoryLayout<Row>.stride) }
        unsafe self.chunks.unsafelyUnwrapped[self.chunkCount] = chunk
        self.chunkCount += 1
    }

    @inlinable
    mutating func growList() {
        let capacity = max(8, self.chunkCapacity * 2)
        let larger = UnsafeMutablePointer<UnsafeMutablePointer<Row>>.allocate(capacity: capacity)
        if let chunks = unsafe self.chunks {
            // Sound: the new list has room for all of the old one, whose entries are plain.
            unsafe larger.initialize(from: chunks, count: self.chunkCount)
            unsafe chunks.deallocate()
        }
        unsafe self.chunks = larger
        self.chunkCapacity = capacity
    }
}

// Sound: the memory is this value's alone.
extension RowChunks: @unchecked Sendable where Row: Sendable {}
