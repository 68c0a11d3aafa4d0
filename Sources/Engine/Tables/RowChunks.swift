/// Rows that only ever become more, in chunks: a table that grows never copies what it holds.
///
/// Doubling one array of a million rows stops the partition for tens of milliseconds and touches each page anew; here a new
/// chunk is all that it takes. Appending and reading are O(1).
struct RowChunks<Row: Sendable>: RandomAccessCollection, MutableCollection, Sendable {
    /// Rows of a chunk: a power of two, large enough that the list of chunks stays short.
    private static var chunkRows: Int { 1 << Self.chunkShift }
    private static var chunkShift: Int { 13 }

    private var chunks: [[Row]] = []
    private(set) var count = 0

    /// No rows.
    init() {}

    /// So many rows that are alike. One chunk stands for all full ones, and becomes several where rows are set.
    init(repeating row: Row, count: Int) {
        let chunk = Array(repeating: row, count: Self.chunkRows)
        self.chunks = Array(repeating: chunk, count: count >> Self.chunkShift)
        self.count = count
        let rest = count & (Self.chunkRows - 1)
        guard rest > 0 else { return }
        var last: [Row] = []
        last.reserveCapacity(Self.chunkRows)
        for _ in 0..<rest { last.append(row) }
        self.chunks.append(last)
    }

    var startIndex: Int { 0 }
    var endIndex: Int { self.count }

    @inline(__always)
    subscript(index: Int) -> Row {
        _read { yield self.chunks[index >> Self.chunkShift][index & (Self.chunkRows - 1)] }
        _modify { yield &self.chunks[index >> Self.chunkShift][index & (Self.chunkRows - 1)] }
    }

    mutating func append(_ row: consuming Row) {
        if self.count & (Self.chunkRows - 1) == 0 {
            var chunk: [Row] = []
            chunk.reserveCapacity(Self.chunkRows)
            self.chunks.append(chunk)
        }
        self.chunks[self.count >> Self.chunkShift].append(row)
        self.count += 1
    }
}
