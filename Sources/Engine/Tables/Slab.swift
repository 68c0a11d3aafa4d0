/// Rows that keep their number until they are released; numbers are used again, the last released first.
///
/// Kept in chunks, so that a table that grows never copies what it holds: doubling one array of a million rows stops
/// the partition for tens of milliseconds and touches each page anew. `none` is the number that no row has. The free
/// list is part of the state: a replay numbers rows alike.
struct Slab<Row: Sendable>: Sendable {
    static var none: UInt32 { .max }

    /// Rows of a chunk: a power of two, large enough that the list of chunks stays short.
    private static var chunkRows: Int { 1 << Self.chunkShift }
    private static var chunkShift: Int { 13 }

    private var chunks: [[Row]] = []
    /// Numbers that were ever given out.
    private var used = 0
    private(set) var free: [UInt32] = []

    /// No rows.
    init() {}

    /// Rows that are to be read back, each of them `blank` until it is set.
    ///
    /// - Parameters:
    ///   - end: How many numbers were ever given out.
    ///   - free: Those that are not in use, in the order in which they were given back.
    ///   - blank: Any row.
    init(end: Int, free: [UInt32], blank: Row) {
        self.used = end
        self.free = free
        var first = 0
        while first < end {
            let count = min(Self.chunkRows, end - first)
            var chunk: [Row] = []
            chunk.reserveCapacity(Self.chunkRows)
            for _ in 0..<count { chunk.append(blank) }
            self.chunks.append(chunk)
            first += count
        }
    }

    /// All numbers are below this; some of them may be free.
    var end: Int { self.used }
    /// How many rows are in use.
    var count: Int { self.used - self.free.count }

    @inline(__always)
    subscript(slot: UInt32) -> Row {
        _read { yield self.chunks[Int(slot) >> Self.chunkShift][Int(slot) & (Self.chunkRows - 1)] }
        _modify { yield &self.chunks[Int(slot) >> Self.chunkShift][Int(slot) & (Self.chunkRows - 1)] }
    }

    mutating func insert(_ row: consuming Row) -> UInt32 {
        guard let slot = self.free.popLast() else {
            let slot = self.used
            if slot & (Self.chunkRows - 1) == 0 {
                var chunk: [Row] = []
                chunk.reserveCapacity(Self.chunkRows)
                self.chunks.append(chunk)
            }
            self.chunks[slot >> Self.chunkShift].append(row)
            self.used += 1
            return UInt32(slot)
        }
        self[slot] = row
        return slot
    }

    /// Gives a number back. The row keeps its last value until the number is used again.
    mutating func release(_ slot: UInt32) {
        self.free.append(slot)
    }

    /// Every number in use, ascending. O(rows).
    func usedSlots() -> [UInt32] {
        var isFree = Array(repeating: false, count: self.used)
        for slot in self.free { isFree[Int(slot)] = true }
        return isFree.indices.filter { !isFree[$0] }.map { UInt32($0) }
    }
}
