public import WidgetModel

/// A hash table from keys to row numbers that leaves the keys in the rows: eight bytes a cell, open addressing.
///
/// A cell holds half of the hash beside the number: few keys are looked at that are not the one that is sought, and none when
/// the table grows. A table that becomes too full is moved to one of twice the size a few cells with each insertion, so that
/// none takes long. Never iterated. The caller hashes, and compares through a closure.
@frozen public struct SlotIndex: ~Copyable, Sendable {
    /// Cells of the old table that each insertion moves: enough that the old table is empty before the new one is full.
    @inlinable static var movedCells: Int { 16 }
    /// A cell of the old table whose number has moved or gone: it does not end a search.
    @inlinable static var gone: UInt64 { 0xFFFF_FFFF << 32 }

    /// A power of two of cells: 0 if empty, else the upper half of the hash above the number plus one.
    @usableFromInline var cells = Column<UInt64>()
    /// The table that is being moved from, as far as it is not moved yet: from ``next`` on.
    @usableFromInline var old = Column<UInt64>()
    @usableFromInline var next = 0
    @usableFromInline var numbers = 0

    /// An empty table.
    @inlinable
    public init() {}

    /// How many numbers are in it.
    @inlinable @inline(__always)
    public var count: Int { self.numbers }

    /// Bytes of memory held.
    public var byteCount: Int { self.cells.byteCount + self.old.byteCount }

    /// Whether so many cells are enough for so many numbers: four fifths are taken at most. At that a search that finds looks
    /// at three cells, one that does not at thirteen, next to each other, on average.
    @inlinable
    static func areEnough(_ cells: Int, for numbers: Int) -> Bool { numbers * 5 <= cells * 4 }

    /// Where the search for a hash, or a cell's, begins.
    @inlinable @inline(__always)
    static func home(_ hash: UInt64, _ count: Int) -> Int { Int(truncatingIfNeeded: hash >> 32) & (count - 1) }

    @inlinable @inline(__always)
    static func cell(_ hash: UInt64, _ number: UInt32) -> UInt64 { (hash >> 32) << 32 | (UInt64(number) + 1) }

    // MARK: Finding

    /// Prefetches the cell where the search for a hash begins.
    @inlinable @inline(__always)
    public func prefetch(_ hash: UInt64) {
        self.cells.prefetch(Self.home(hash, self.cells.count))
        if self.old.count > 0 { self.old.prefetch(Self.home(hash, self.old.count)) }
    }

    /// The number with this hash for which `isSought` holds.
    @inlinable @inline(__always)
    public func find(_ hash: UInt64, where isSought: (UInt32) -> Bool) -> UInt32? {
        if let found = Self.find(self.cells, hash, isSought) { return found }
        return self.old.count > 0 ? Self.find(self.old, hash, isSought) : nil
    }

    @inlinable @inline(__always)
    static func find(_ cells: borrowing Column<UInt64>, _ hash: UInt64, _ isSought: (UInt32) -> Bool) -> UInt32? {
        guard cells.count > 0 else { return nil }
        let tag = hash >> 32
        var place = Self.home(hash, cells.count)
        while true {
            let cell = cells[place]
            if cell == 0 { return nil }
            if cell >> 32 == tag, cell != Self.gone {
                let number = UInt32(truncatingIfNeeded: cell) &- 1
                if isSought(number) { return number }
            }
            place = (place + 1) & (cells.count - 1)
        }
    }

    // MARK: Changing

    /// Makes room for this number of entries, so that the table does not grow repeatedly.
    public mutating func reserve(_ numbers: Int) {
        var size = max(8, self.cells.count)
        while !Self.areEnough(size, for: numbers) { size *= 2 }
        if size > self.cells.count { self.grow(to: size) }
    }

    /// Adds a number under a hash, even if the hash has another number already. Precondition: below `UInt32.max`.
    @inlinable @inline(__always)
    public mutating func insert(_ number: UInt32, _ hash: UInt64) {
        if self.old.count > 0 { self.moveSome() }
        if !Self.areEnough(self.cells.count, for: self.numbers + 1) { self.grow(to: max(8, 2 * self.cells.count)) }
        self.insertCell(Self.cell(hash, number))
        self.numbers += 1
    }

    @inlinable @inline(__always)
    mutating func insertCell(_ cell: UInt64) {
        let mask = self.cells.count - 1
        var place = Self.home(cell, self.cells.count)
        while self.cells[place] != 0 { place = (place + 1) & mask }
        self.cells[place] = cell
    }

    /// Removes the entry with this number and hash. Precondition: it exists.
    public mutating func remove(_ number: UInt32, _ hash: UInt64) {
        self.numbers -= 1
        let wanted = Self.cell(hash, number)
        if let place = Self.place(of: wanted, in: self.cells) { return self.close(place) }
        guard let place = Self.place(of: wanted, in: self.old) else {
            preconditionFailure("a number is removed that was not inserted")
        }
        self.old[place] = Self.gone
    }

    private static func place(of wanted: UInt64, in cells: borrowing Column<UInt64>) -> Int? {
        guard cells.count > 0 else { return nil }
        var place = Self.home(wanted, cells.count)
        while cells[place] != wanted {
            guard cells[place] != 0 else { return nil }
            place = (place + 1) & (cells.count - 1)
        }
        return place
    }

    /// Pulls later cells of the run back, so that a removed cell needs no mark.
    private mutating func close(_ place: Int) {
        let mask = self.cells.count - 1
        var hole = place
        var next = (hole + 1) & mask
        while self.cells[next] != 0 {
            let home = Self.home(self.cells[next], self.cells.count)
            if (next &- home) & mask >= (next &- hole) & mask {
                self.cells[hole] = self.cells[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        self.cells[hole] = 0
    }

    @usableFromInline
    mutating func moveSome() {
        let end = min(self.next + Self.movedCells, self.old.count)
        while self.next < end {
            let cell = self.old[self.next]
            if cell != 0, cell != Self.gone {
                // Not made empty: the cells behind it must still be found.
                self.old[self.next] = Self.gone
                self.insertCell(cell)
            }
            self.next += 1
        }
        if self.next == self.old.count { self.old.removeAll() }
    }

    @usableFromInline @inline(never)
    mutating func grow(to size: Int) {
        // Of no effect where the table grows by insertions: then the old one is empty by now.
        while self.old.count > 0 { self.moveSome() }
        swap(&self.old, &self.cells)
        self.cells = Column(zeros: size)
        self.next = 0
        if self.numbers == 0 { self.old.removeAll() }
    }

    /// The violated invariants of the table; empty if there are none.
    package func checkInvariants() -> [String] {
        var faults: [String] = []
        var found = 0
        for place in 0..<self.cells.count where self.cells[place] != 0 { found += 1 }
        for place in 0..<self.old.count where self.old[place] != 0 && self.old[place] != Self.gone { found += 1 }
        if found != self.numbers { faults.append("\(found) cells are taken for \(self.numbers) numbers") }
        if self.cells.count & (self.cells.count - 1) != 0 { faults.append("the table has \(self.cells.count) cells") }
        if !Self.areEnough(self.cells.count, for: self.numbers) { faults.append("the table is too full") }
        return faults
    }
}

// MARK: - Typed numbers

extension SlotIndex {
    /// The row with this hash for which `isSought` holds.
    @inlinable @inline(__always)
    public func find<Tag>(_ hash: UInt64, where isSought: (Number<Tag>) -> Bool) -> Number<Tag>? {
        self.find(hash) { (number: UInt32) in isSought(Number(raw: number)) }.map { Number(raw: $0) }
    }

    /// Adds a row under a hash, even if the hash has another number already.
    @inlinable @inline(__always)
    public mutating func insert<Tag>(_ number: Number<Tag>, _ hash: UInt64) { self.insert(number.raw, hash) }

    /// Removes a row that was inserted with this hash. Precondition: it is there.
    @inlinable @inline(__always)
    public mutating func remove<Tag>(_ number: Number<Tag>, _ hash: UInt64) { self.remove(number.raw, hash) }
}
