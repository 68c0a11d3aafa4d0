/// Rows that keep their number until they are released; numbers are used again, the last released first.
///
/// `none` is the number that no row has. The free list is part of the state: a replay numbers rows alike.
struct Slab<Row: Sendable>: Sendable {
    static var none: UInt32 { .max }

    /// Those that were ever given out.
    private var rows = RowChunks<Row>()
    private(set) var free: [UInt32] = []

    /// No rows.
    init() {}

    /// Room for rows that are read back, see ``restore(_:_:blank:)``.
    ///
    /// - Parameters:
    ///   - free: The numbers that are not in use, in the order in which they were given back.
    ///   - rows: About how many rows will come.
    init(free: [UInt32], expecting rows: Int = 0) {
        self.free = free
        self.rows.expect(rows)
    }

    /// All numbers are below this; some of them may be free.
    var end: Int { self.rows.count }
    /// How many rows are in use.
    var count: Int { self.end - self.free.count }

    @inline(__always)
    subscript(slot: UInt32) -> Row {
        _read { yield self.rows[Int(slot)] }
        _modify { yield &self.rows[Int(slot)] }
    }

    /// Fetches a row that is about to be read, without waiting for it.
    @inline(__always)
    func prefetch(_ slot: UInt32) { self.rows.prefetch(Int(slot)) }

    mutating func insert(_ row: consuming Row) -> UInt32 {
        guard let slot = self.free.popLast() else {
            self.rows.append(row)
            return UInt32(self.end - 1)
        }
        self[slot] = row
        return slot
    }

    /// Gives a number back. The row keeps its last value until the number is used again.
    mutating func release(_ slot: UInt32) {
        self.free.append(slot)
    }

    /// Takes back a row under its number. Rows come in the order of their numbers; what is left out is `blank`.
    /// Precondition: no number as high was taken back before.
    @inline(__always)
    mutating func restore(_ slot: UInt32, _ row: consuming Row, blank: @autoclosure () -> Row) {
        precondition(slot >= self.end, "rows are read back in their order")
        if slot > self.end { self.rows.append(repeating: blank(), count: Int(slot) - self.end) }
        self.rows.append(row)
    }

    /// Makes the table as long as it was, once its last row was taken back. Does nothing if it is.
    ///
    /// - Parameter end: How many numbers were ever given out.
    mutating func finishRestoring(end: Int, blank: @autoclosure () -> Row) {
        guard end > self.end else { return }
        self.rows.append(repeating: blank(), count: end - self.end)
    }

    /// Every number in use, ascending. O(rows).
    func usedSlots() -> [UInt32] {
        var isFree = Array(repeating: false, count: self.end)
        for slot in self.free { isFree[Int(slot)] = true }
        return isFree.indices.filter { !isFree[$0] }.map { UInt32($0) }
    }
}
