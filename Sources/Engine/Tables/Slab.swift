import WidgetModel

/// Rows that keep their number until they are released; numbers are used again, the last released first.
///
/// The free list is part of the state: a replay numbers rows alike.
struct Slab<Tag, Row: Sendable>: Sendable {
    /// Those that were ever given out.
    private var rows = RowChunks<Row>()
    private(set) var free: [Number<Tag>] = []

    /// No rows.
    init() {}

    /// Room for rows that are read back, see ``restore(_:_:blank:)``.
    ///
    /// - Parameters:
    ///   - free: The numbers that are not in use, in the order in which they were given back.
    ///   - rows: About how many rows will come.
    init(free: [Number<Tag>], expecting rows: Int = 0) {
        self.free = free
        self.rows.expect(rows)
    }

    /// All numbers are below this; some of them may be free.
    var end: Int { self.rows.count }
    /// All numbers that were ever given out.
    var numbers: Range<Number<Tag>> { Number(0)..<Number(self.end) }
    /// Some of them.
    ///
    /// - Parameters:
    ///   - start: The first one; any number.
    ///   - count: How many at most.
    func numbers(from start: Number<Tag>, atMost count: Int) -> Range<Number<Tag>> {
        let first = min(start.index, self.end)
        return Number(first)..<Number(min(self.end, first.addingSaturating(count)))
    }

    /// How many rows are in use.
    var count: Int { self.end - self.free.count }

    @inline(__always)
    subscript(slot: Number<Tag>) -> Row {
        _read { yield self.rows[slot.index] }
        _modify { yield &self.rows[slot.index] }
    }

    /// Fetches a row that is about to be read, without waiting for it.
    @inline(__always)
    func prefetch(_ slot: Number<Tag>) { self.rows.prefetch(slot.index) }

    mutating func insert(_ row: consuming Row) -> Number<Tag> {
        guard let slot = self.free.popLast() else {
            self.rows.append(row)
            return Number(self.end - 1)
        }
        self[slot] = row
        return slot
    }

    /// Gives a number back. The row keeps its last value until the number is used again.
    mutating func release(_ slot: Number<Tag>) {
        self.free.append(slot)
    }

    /// Takes back a row under its number. Rows come in the order of their numbers; what is left out is `blank`.
    /// Precondition: no number as high was taken back before.
    @inline(__always)
    mutating func restore(_ slot: Number<Tag>, _ row: consuming Row, blank: @autoclosure () -> Row) {
        precondition(slot.index >= self.end, "rows are read back in their order")
        if slot.index > self.end { self.rows.append(repeating: blank(), count: slot.index - self.end) }
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
    func usedSlots() -> [Number<Tag>] {
        var isFree = Array(repeating: false, count: self.end)
        for slot in self.free { isFree[slot.index] = true }
        return self.numbers.filter { !isFree[$0.index] }
    }
}
