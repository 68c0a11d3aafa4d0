public import WidgetModel

/// Rows that keep their number until they are released; numbers are used again, the last released first.
///
/// The list of free numbers is part of a table's state: a replay numbers rows alike.
@frozen public struct Table<Tag, Row>: ~Copyable {
    /// Those that were ever given out.
    @usableFromInline var rows = RowChunks<Row>()
    @usableFromInline var freeNumbers: [Number<Tag>] = []

    /// No rows.
    @inlinable
    public init() {}

    /// Room for rows that are read back, see ``restore(_:_:blank:)``.
    ///
    /// - Parameters:
    ///   - free: The numbers that are not in use, in the order in which they were given back.
    ///   - rows: About how many rows will come.
    @inlinable
    public init(free: [Number<Tag>], expecting rows: Int = 0) {
        self.freeNumbers = free
        self.rows.expect(rows)
    }

    /// The numbers that are not in use, in the order in which they were given back.
    @inlinable
    public var free: [Number<Tag>] { self.freeNumbers }

    /// All numbers are below this; some of them may be free.
    @inlinable @inline(__always)
    public var end: Int { self.rows.count }

    /// All numbers that were ever given out.
    @inlinable
    public var numbers: Range<Number<Tag>> { Number(0)..<Number(self.end) }

    /// Some of them.
    ///
    /// - Parameters:
    ///   - start: The first one; any number.
    ///   - count: How many at most.
    @inlinable
    public func numbers(from start: Number<Tag>, atMost count: Int) -> Range<Number<Tag>> {
        let first = min(start.index, self.end)
        return Number(first)..<Number(min(self.end, first.addingSaturating(count)))
    }

    /// Bytes of memory held, without the memory that rows refer to.
    @inlinable
    public var byteCount: Int { self.rows.byteCount + self.freeNumbers.heldBytes }

    /// How many rows are in use.
    @inlinable
    public var count: Int { self.end - self.freeNumbers.count }

    /// A row. Precondition: its number was given out.
    @inlinable
    public subscript(number: Number<Tag>) -> Row {
        @inline(__always)
        unsafeAddress { unsafe UnsafePointer(self.rows.address(number.index)) }
        @inline(__always)
        unsafeMutableAddress { unsafe self.rows.address(number.index) }
    }

    /// Fetches a row that is about to be read, without waiting for it.
    @inlinable @inline(__always)
    public func prefetch(_ number: Number<Tag>) { self.rows.prefetch(number.index) }

    /// Keeps a row, and gives its number.
    @inlinable
    public mutating func insert(_ row: consuming Row) -> Number<Tag> {
        guard let number = self.freeNumbers.popLast() else {
            self.rows.append(row)
            return Number(self.end - 1)
        }
        self[number] = row
        return number
    }

    /// Gives a number back. The row keeps its last value until the number is used again.
    @inlinable
    public mutating func release(_ number: Number<Tag>) { self.freeNumbers.append(number) }

    /// Restores a row under its number. Rows come in the order of their numbers; omitted ones are `blank`.
    /// Precondition: no number as high was restored before.
    @inlinable
    public mutating func restore(_ number: Number<Tag>, _ row: consuming Row, blank: @autoclosure () -> Row) {
        precondition(number.index >= self.end, "rows are read back in their order")
        if number.index > self.end { self.rows.append(repeating: blank(), count: number.index - self.end) }
        self.rows.append(row)
    }

    /// Makes the table as long as it was, once its last row was taken back. Does nothing if it is.
    ///
    /// - Parameters:
    ///   - end: How many numbers were ever given out.
    ///   - blank: A row of a number that is free.
    @inlinable
    public mutating func finishRestoring(end: Int, blank: @autoclosure () -> Row) {
        guard end > self.end else { return }
        self.rows.append(repeating: blank(), count: end - self.end)
    }

    /// Every number in use, ascending. O(rows).
    @inlinable
    public func usedNumbers() -> [Number<Tag>] {
        var isFree = Array(repeating: false, count: self.end)
        for number in self.freeNumbers { isFree[number.index] = true }
        return self.numbers.filter { !isFree[$0.index] }
    }
}

extension Table: Sendable where Row: Sendable {}
