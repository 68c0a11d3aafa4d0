/// A hash table from keys to row numbers that leaves the keys in the rows: eight bytes a cell, open addressing.
///
/// Never iterated. The caller hashes, and compares through a closure. Public, since look-ups are worth inlining where they
/// are made, and what has package access is not inlined into other targets (Swift 6.3).
public struct SharedSlotIndex: Sendable {
    /// 0 if empty, else the upper half of the hash above the slot plus one.
    @usableFromInline var cells: [UInt64] = Array(repeating: 0, count: 16)
    /// How many slots are in it.
    public private(set) var count = 0

    @inlinable var mask: Int { self.cells.count - 1 }

    /// An empty table.
    public init() {}

    /// Makes room for so many slots, so that the table is not made anew again and again on the way there.
    public mutating func reserve(_ count: Int) {
        var size = self.cells.count
        while !Self.isEnough(size, for: count) { size *= 2 }
        if size > self.cells.count { self.grow(to: size) }
    }

    /// Whether so many cells are enough for so many slots: four fifths are taken at most. At that a search that finds looks
    /// at three cells, one that does not at thirteen, next to each other, on average.
    private static func isEnough(_ cells: Int, for count: Int) -> Bool { count * 5 <= cells * 4 }

    /// The slot with this hash for which `matches` holds.
    @inlinable @inline(__always)
    public func find(_ hash: UInt64, where matches: (UInt32) -> Bool) -> UInt32? {
        let tag = hash >> 32
        var index = Int(truncatingIfNeeded: tag) & self.mask
        while true {
            let cell = self.cells[index]
            if cell == 0 { return nil }
            if cell >> 32 == tag {
                let slot = UInt32(truncatingIfNeeded: cell) &- 1
                if matches(slot) { return slot }
            }
            index = (index + 1) & self.mask
        }
    }

    /// Lends the cells and the number of the one where a search for this hash begins, to whoever can fetch it ahead.
    @inlinable @inline(__always)
    public func approach(_ hash: UInt64, _ body: (Span<UInt64>, Int) -> Void) {
        body(self.cells.span, Int(truncatingIfNeeded: hash >> 32) & self.mask)
    }

    /// Adds a slot under a hash, whether or not there is one.
    public mutating func insert(_ hash: UInt64, _ slot: UInt32) {
        if !Self.isEnough(self.cells.count, for: self.count + 1) { self.grow(to: self.cells.count * 2) }
        self.place((hash & 0xFFFF_FFFF_0000_0000) | (UInt64(slot) + 1))
        self.count += 1
    }

    private mutating func place(_ cell: UInt64) {
        var index = Int(truncatingIfNeeded: cell >> 32) & self.mask
        while self.cells[index] != 0 { index = (index + 1) & self.mask }
        self.cells[index] = cell
    }

    private mutating func grow(to size: Int) {
        let old = self.cells
        self.cells = Array(repeating: 0, count: size)
        for cell in old where cell != 0 { self.place(cell) }
    }

    /// Removes what was inserted with this hash and slot. Precondition: it is there.
    public mutating func remove(_ hash: UInt64, _ slot: UInt32) {
        let wanted = (hash & 0xFFFF_FFFF_0000_0000) | (UInt64(slot) + 1)
        var index = Int(truncatingIfNeeded: wanted >> 32) & self.mask
        while self.cells[index] != wanted {
            precondition(self.cells[index] != 0, "a slot is removed that was not inserted")
            index = (index + 1) & self.mask
        }
        // Pull later cells of the run back, so that no tombstones are needed.
        var hole = index
        var next = (hole + 1) & self.mask
        while self.cells[next] != 0 {
            let home = Int(truncatingIfNeeded: self.cells[next] >> 32) & self.mask
            if ((next &- home) & self.mask) >= ((next &- hole) & self.mask) {
                self.cells[hole] = self.cells[next]
                hole = next
            }
            next = (next + 1) & self.mask
        }
        self.cells[hole] = 0
        self.count -= 1
    }
}
