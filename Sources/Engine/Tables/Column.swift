public import CKernels

/// Rows that only ever become more, in chunks: a table that grows never copies what it holds.
///
/// Doubling one array of a million rows stops the partition for tens of milliseconds and touches each page anew; here a new
/// chunk is all that it takes. Appending and reading are O(1).
///
/// A value as an `Array` is: copies share their memory until one of them changes, and then all of it is copied. This file
/// is the one place in this target that leaves safe element access.
@safe struct RowChunks<Row: Sendable>: RandomAccessCollection, MutableCollection, Sendable {
    /// Rows of a chunk: a power of two, large enough that the list of chunks stays short.
    fileprivate static var chunkRows: Int { 1 << Self.chunkShift }
    fileprivate static var chunkShift: Int { 13 }

    private var memory: RowMemory<Row>
    /// The memory's: here a second time, since whoever reads a row need not hold on to the memory.
    nonisolated(unsafe) private var chunks: UnsafeMutablePointer<UnsafeMutablePointer<Row>>
    private(set) var count: Int

    /// No rows.
    init() {
        self.memory = RowMemory()
        unsafe self.chunks = self.memory.chunks
        self.count = 0
    }

    var startIndex: Int { 0 }
    var endIndex: Int { self.count }

    @inline(__always)
    subscript(index: Int) -> Row {
        _read {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: self.count), "beyond the rows")
            // Sound: the memory holds `count` rows, and self keeps it.
            yield unsafe self.chunks[index &>> Self.chunkShift][index & (Self.chunkRows &- 1)]
        }
        _modify {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: self.count), "beyond the rows")
            self.makeUnique()
            // Sound: as above, and the memory is this value's alone.
            yield unsafe &self.chunks[index &>> Self.chunkShift][index & (Self.chunkRows &- 1)]
        }
    }

    /// Fetches a row that is about to be read, without waiting for it. Precondition: it is there.
    @inline(__always)
    func prefetch(_ index: Int) {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: self.count), "beyond the rows")
        // Sound: the places lie within the row, and nothing is read.
        let row = unsafe UnsafeRawPointer(self.chunks[index &>> Self.chunkShift] + (index & (Self.chunkRows &- 1)))
        var offset = 0
        while offset < MemoryLayout<Row>.size {
            unsafe ckernels_prefetch(row + offset)
            offset &+= 64
        }
        // Rows begin anywhere in a line, unless they are whole lines.
        if MemoryLayout<Row>.stride % 64 != 0 { unsafe ckernels_prefetch(row + (MemoryLayout<Row>.size - 1)) }
    }

    @inline(__always)
    mutating func append(_ row: consuming Row) {
        self.makeUnique()
        self.beginChunkIfFull()
        // Sound: the last chunk has room for one more.
        unsafe (self.chunks[self.count &>> Self.chunkShift] + (self.count & (Self.chunkRows &- 1)))
            .initialize(to: row)
        self.count &+= 1
        self.memory.count = self.count
    }

    /// Says that so many rows are about to come, one after the other: the memory of each chunk of them is then had in one
    /// call, where each of its pages would else be a fault of its own. Makes no other difference. Precondition: no rows yet.
    mutating func expect(_ rows: Int) {
        precondition(self.count == 0, "rows are expected before the first one")
        self.makeUnique()
        self.memory.expectedRows = rows
    }

    /// Appends so many rows that are alike.
    mutating func append(repeating row: Row, count: Int) {
        for _ in 0..<count { self.append(row) }
    }

    /// Makes sure that the last chunk has room for a row.
    @inline(__always)
    private mutating func beginChunkIfFull() {
        guard self.count & (Self.chunkRows &- 1) == 0 else { return }
        self.memory.addChunk()
        unsafe self.chunks = self.memory.chunks
    }

    @inline(__always)
    private mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&self.memory) { self.copy() }
    }

    @inline(never)
    private mutating func copy() {
        self.memory = RowMemory(copying: self.memory)
        unsafe self.chunks = self.memory.chunks
    }
}

extension Span {
    /// Fetches an element that is about to be read, without waiting for it; nothing if there is none. Public, since what has
    /// package access is not inlined into other targets (Swift 6.3).
    @inlinable @inline(__always)
    public func prefetch(_ index: Int) {
        guard UInt(bitPattern: index) < UInt(bitPattern: self.count) else { return }
        // Sound: the place is within the elements, and nothing is read.
        unsafe self.withUnsafeBufferPointer { elements in
            if let start = elements.baseAddress { unsafe ckernels_prefetch(start + index) }
        }
    }
}

extension RowChunks<UInt64> {
    /// Lends the bytes of words that lie together.
    ///
    /// - Parameters:
    ///   - start: The first word's place.
    ///   - count: How many bytes there are. Precondition: the words that they take lie in one chunk.
    ///   - body: Reads them.
    @inline(__always)
    func withBytes<Result>(from start: Int, count: Int, _ body: (Span<UInt8>) -> Result) -> Result {
        let words = (count &+ 7) &>> 3
        let place = start & (Self.chunkRows &- 1)
        precondition(start >= 0 && count >= 0 && start &+ words <= self.count && place &+ words <= Self.chunkRows)
        guard words > 0 else { return body(Span()) }
        // Sound: so many words of the chunk are initialized, which is looked at above, and self keeps it.
        let bytes = unsafe UnsafeRawBufferPointer(start: self.chunks[start &>> Self.chunkShift] + place, count: count)
        return body(unsafe Span(_unsafeBytes: bytes))
    }

    /// Writes bytes over words that lie together. Precondition: as for ``withBytes(from:count:_:)``.
    mutating func replace(from start: Int, with bytes: Span<UInt8>) {
        let words = (bytes.count &+ 7) &>> 3
        let place = start & (Self.chunkRows &- 1)
        precondition(start >= 0 && start &+ words <= self.count && place &+ words <= Self.chunkRows)
        guard words > 0 else { return }
        self.makeUnique()
        // Sound: as above, and the memory is this value's alone.
        let target = unsafe UnsafeMutableRawPointer(self.chunks[start &>> Self.chunkShift] + place)
        unsafe bytes.withUnsafeBytes { source in
            guard let base = source.baseAddress else { return }
            unsafe target.copyMemory(from: base, byteCount: source.count)
        }
    }

    /// Appends words that lie together, and others before them if else they would not.
    ///
    /// - Returns: The first one's place.
    mutating func appendTogether(_ count: Int) -> Int {
        let place = self.count & (Self.chunkRows &- 1)
        if place + count > Self.chunkRows { self.append(repeating: 0, count: Self.chunkRows - place) }
        self.append(repeating: 0, count: count)
        return self.count - count
    }
}

/// The memory of rows, freed with the last value that shares it.
///
/// Sound as `Sendable`: it is written only by a value that is its single owner.
@safe private final class RowMemory<Row: Sendable>: @unchecked Sendable {
    /// How many are initialized.
    var count = 0
    private(set) var chunks: UnsafeMutablePointer<UnsafeMutablePointer<Row>>
    private var chunkCount = 0
    /// How many chunks the list has room for.
    private var chunkCapacity = 8
    /// How many rows are known to come from the beginning.
    var expectedRows = 0

    private static var chunkRows: Int { RowChunks<Row>.chunkRows }

    init() {
        unsafe self.chunks = .allocate(capacity: 8)
    }

    init(copying other: RowMemory) {
        unsafe self.chunks = .allocate(capacity: 8)
        while self.count < other.count {
            self.addChunk()
            let rows = min(Self.chunkRows, other.count - self.count)
            // Sound: both chunks have room for so many rows, and those of `other` are initialized.
            unsafe self.chunks[self.chunkCount - 1].initialize(from: other.chunks[self.chunkCount - 1], count: rows)
            self.count += rows
        }
    }

    deinit {
        // Sound: nobody else has the memory, and the first `count` rows are initialized.
        var left = self.count
        for index in 0..<self.chunkCount {
            unsafe self.chunks[index].deinitialize(count: min(left, Self.chunkRows))
            unsafe UnsafeMutableRawPointer(self.chunks[index]).deallocate()
            left -= min(left, Self.chunkRows)
        }
        unsafe self.chunks.deallocate()
    }

    /// Makes room for as many rows as a chunk has.
    func addChunk() {
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
        unsafe self.chunks[self.chunkCount] = chunk
        self.chunkCount += 1
    }

    private func growList() {
        let larger = UnsafeMutablePointer<UnsafeMutablePointer<Row>>.allocate(capacity: self.chunkCapacity * 2)
        // Sound: the new list has room for all of the old one, whose entries are plain.
        unsafe larger.initialize(from: self.chunks, count: self.chunkCount)
        unsafe self.chunks.deallocate()
        unsafe self.chunks = larger
        self.chunkCapacity *= 2
    }
}
