import Storage

/// For each code of a field the rows that have it, ascending; rows come and go one by one.
///
/// A list of one row is held in its head, as suits a parameter with a value of its own for each user. Up to
/// ``shortMax`` rows are a sorted block of a pool. Longer lists are cut by the upper bits of the row into containers of
/// 65,536 rows each, see ``RowContainers``: so each change moves at most a few thousand bytes, however long the list is.
struct PostingLists: ~Copyable {
    /// Lists of more rows are long; they become short again at half of it.
    static let shortMax = 512
    /// Steps of ``prefetch(_:_:step:of:)``.
    static let prefetchSteps = 3
    private static let longFlag: UInt32 = 1 << 31

    /// By code: the row of a list of one, else where the list starts in the pool, or its number among the long ones; above
    /// it how many rows, and whether the list is long.
    private var entries = Column<UInt64>(repeating: 0, count: 1)
    private var pool = BuddyStore<UInt32>()
    private var containers = RowContainers()

    init() {}

    /// Bytes of memory held.
    var byteCount: Int { self.entries.byteCount + self.pool.byteCount + self.containers.byteCount }

    /// The number of rows with a code.
    @inline(__always)
    func count(of code: UInt32) -> Int {
        Int(code) < self.entries.count ? Int(self.entries[Int(code)] >> 32 & UInt64(~Self.longFlag)) : 0
    }

    @inline(__always)
    private static func entry(_ head: UInt32, _ stored: UInt32) -> UInt64 { UInt64(head) | UInt64(stored) << 32 }

    // MARK: Changing

    /// Adds a row to a code's list. Precondition: it is not there. O(``shortMax``), O(1) above all rows of the list.
    mutating func insert(_ row: UInt32, _ code: UInt32) {
        let index = Int(code)
        self.entries.extend(to: index, repeating: 0)
        let entry = self.entries[index]
        let stored = UInt32(entry >> 32)
        var head = UInt32(truncatingIfNeeded: entry)
        if stored & Self.longFlag != 0 {
            self.containers.insert(row, list: Int(head))
        } else {
            switch Int(stored) {
            case 0: head = row
            case 1:
                let start = self.pool.allocate(2)
                self.pool.elements[Int(start)] = min(head, row)
                self.pool.elements[Int(start) + 1] = max(head, row)
                head = start
            case Self.shortMax: return self.lengthen(code, row)
            case let count:
                head = self.pool.resize(head, count, to: count + 1)
                self.pool.elements.insert(row, at: Int(head), count: count)
            }
        }
        self.entries[index] = Self.entry(head, stored + 1)
    }

    /// Removes a row from a code's list. Precondition: it is there. O(``shortMax``).
    mutating func remove(_ row: UInt32, _ code: UInt32) {
        let index = Int(code)
        let entry = self.entries[index]
        let stored = UInt32(entry >> 32)
        var head = UInt32(truncatingIfNeeded: entry)
        if stored & Self.longFlag != 0 {
            self.containers.remove(row, list: Int(head))
            self.entries[index] = Self.entry(head, stored - 1)
            if self.count(of: code) <= Self.shortMax / 2 { self.shorten(code) }
            return
        }
        let count = Int(stored)
        if count == 2 {
            let other = self.pool.elements[Int(head)] == row ? head + 1 : head
            let last = self.pool.elements[Int(other)]
            self.pool.release(head, 2)
            head = last
        } else if count > 2 {
            self.pool.elements.remove(row, from: Int(head), count: count)
            head = self.pool.resize(head, count, to: count - 1)
        }
        self.entries[index] = Self.entry(head, stored - 1)
    }

    /// Fetches the memory that a change of a row needs, in ``prefetchSteps``, each of which needs the memory of the one
    /// before.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - code: The code whose list will change.
    ///   - step: From 0 on.
    ///   - rows: How many rows there are.
    func prefetch(_ row: UInt32, _ code: UInt32, step: Int, of rows: Int) {
        guard Int(code) < self.entries.count else { return }
        let entry = self.entries[Int(code)]
        let stored = UInt32(entry >> 32)
        let head = Int(UInt32(truncatingIfNeeded: entry))
        if stored & Self.longFlag != 0 { return self.containers.prefetch(row, list: head, step: step) }
        guard stored > 1, step == 0 else { return }
        self.pool.elements.prefetch(head)
        self.pool.elements.prefetch(head + Int(stored) * Int(row) / rows)
        self.pool.elements.prefetch(head + Int(stored) - 1)
    }

    private mutating func lengthen(_ code: UInt32, _ row: UInt32) {
        let head = UInt32(truncatingIfNeeded: self.entries[Int(code)])
        let start = Int(head)
        let list = self.containers.addList()
        for offset in 0..<Self.shortMax { self.containers.insert(self.pool.elements[start + offset], list: list) }
        self.containers.insert(row, list: list)
        self.pool.release(head, Self.shortMax)
        self.entries[Int(code)] = Self.entry(UInt32(list), UInt32(Self.shortMax + 1) | Self.longFlag)
    }

    private mutating func shorten(_ code: UInt32) {
        let list = Int(UInt32(truncatingIfNeeded: self.entries[Int(code)]))
        let count = self.count(of: code)
        let start = self.pool.allocate(count)
        var position = ListPosition()
        var filled = Int(start)
        var rows = Column<UInt32>(undefined: ListPosition.room)
        while let part = self.containers.read(list, &position, into: &rows, at: 0, adding: { _ in 0 }) {
            self.pool.elements.write(rows.span.extracting(first: part.count), at: filled)
            filled += part.count
        }
        self.containers.removeList(list)
        self.entries[Int(code)] = Self.entry(start, UInt32(count))
    }

    // MARK: Building at once

    /// The lists of all rows of a column, which is gone through three times: to count the rows of each code, to count those
    /// that long lists have in each block, and to write each row to its place.
    ///
    /// - Parameters:
    ///   - column: The column.
    ///   - highestCode: The highest code that it may have.
    init(_ column: borrowing RowColumn, highestCode: Int) {
        self.entries = Column(zeros: highestCode + 1)
        Self.count(column, &self.entries)
        let longCount = self.allocate()
        // By block and list: how many rows, then where the next one is written.
        var cells = Column<UInt32>(zeros: (column.rowCount + 0xFFFF) >> 16 * longCount)
        if longCount > 0 {
            Self.count(column, self.entries.span, longCount, &cells)
            self.containers.allocate(&cells, lists: longCount)
        }
        Self.write(column, &self.entries, &self.pool.elements, &cells, &self.containers, longCount)
        var entries = self.entries.mutableSpan
        for code in entries.indices {
            let stored = UInt32(entries[code] >> 32)
            // Each start has moved to the list's end.
            if stored > 1, stored & Self.longFlag == 0 { entries[code] -= UInt64(stored) }
        }
    }

    /// Counts the rows of each code.
    private static func count(_ column: borrowing RowColumn, _ entries: inout Column<UInt64>) {
        var entries = entries.mutableSpan
        column.forEachPlace { code, _ in entries[Int(code)] += 1 << 32 }
    }

    /// Counts the rows that each long list has in each block.
    private static func count(
        _ column: borrowing RowColumn,
        _ entries: Span<UInt64>,
        _ longCount: Int,
        _ cells: inout Column<UInt32>
    ) {
        var cells = cells.mutableSpan
        column.forEachPlace { code, row in
            let entry = entries[Int(code)]
            guard entry >> 32 & UInt64(Self.longFlag) != 0 else { return }
            cells[Int(row >> 16) * longCount + Int(UInt32(truncatingIfNeeded: entry))] += 1
        }
    }

    /// Makes room for the lists, of which each entry has the number of rows, and returns how many long ones there are.
    private mutating func allocate() -> Int {
        var longCount = 0
        for code in 0..<self.entries.count {
            let count = Int(self.entries[code] >> 32)
            guard count > 1 else { continue }
            if count <= Self.shortMax {
                self.entries[code] = Self.entry(self.pool.allocate(count), UInt32(count))
            } else {
                let list = self.containers.addList()
                precondition(list == longCount, "lists that were there before")
                self.entries[code] = Self.entry(UInt32(list), UInt32(count) | Self.longFlag)
                longCount += 1
            }
        }
        return longCount
    }

    /// Writes each row to where its list goes on.
    private static func write(
        _ column: borrowing RowColumn,
        _ entries: inout Column<UInt64>,
        _ elements: inout Column<UInt32>,
        _ cells: inout Column<UInt32>,
        _ containers: inout RowContainers,
        _ longCount: Int
    ) {
        var entries = entries.mutableSpan
        var elements = elements.mutableSpan
        var cells = cells.mutableSpan
        containers.withMutableSpans { lows, words in
            column.forEachPlace { code, row in
                let entry = entries[Int(code)]
                let stored = UInt32(entry >> 32)
                let head = Int(UInt32(truncatingIfNeeded: entry))
                if stored & Self.longFlag != 0 {
                    let cell = Int(row >> 16) * longCount + head
                    let place = cells[cell]
                    let low = UInt16(truncatingIfNeeded: row)
                    if place & RowContainers.bitmapFlag == 0 {
                        lows[Int(place)] = low
                        cells[cell] = place + 1
                    } else {
                        let word = Int(place & ~RowContainers.bitmapFlag) + Int(low >> 6)
                        words[word] |= 1 << UInt64(low & 63)
                    }
                } else if stored == 1 {
                    entries[Int(code)] = Self.entry(row, 1)
                } else {
                    elements[head] = row
                    entries[Int(code)] = entry + 1
                }
            }
        }
    }

    // MARK: Reading

    /// Reads on in the rows of a code, ascending.
    ///
    /// - Parameters:
    ///   - code: The code.
    ///   - position: How far they have been read.
    ///   - target: Where the rows are written to, from `place` on. Precondition: ``ListPosition/room`` from there on.
    ///   - place: Their place.
    ///   - offset: The number that is added to each row of a block of 65,536.
    /// - Returns: How many were read, some hundred at most, and their block; of rows that may be of several blocks none, and
    ///   nothing was added. Nil if all have been read.
    @inline(__always)
    func read(
        _ code: UInt32,
        _ position: inout ListPosition,
        into target: inout Column<UInt32>,
        at place: Int,
        adding offset: (Int) -> UInt32
    ) -> (count: Int, block: Int?)? {
        guard Int(code) < self.entries.count else { return nil }
        let entry = self.entries[Int(code)]
        let stored = UInt32(entry >> 32)
        let head = Int(UInt32(truncatingIfNeeded: entry))
        if stored & Self.longFlag != 0 {
            return self.containers.read(head, &position, into: &target, at: place, adding: offset)
                .map { ($0.count, $0.block) }
        }
        guard stored > 0, position.block == 0 else { return nil }
        position.block = 1
        if stored == 1 {
            target[place] = UInt32(head)
        } else {
            target.write(self.pool.elements.span.extracting(head..<head + Int(stored)), at: place)
        }
        return (Int(stored), nil)
    }

    /// Sets or clears the bits of a code's rows within a block of 65,536 rows.
    func mark(_ words: inout [UInt64], _ code: UInt32, block: Int, set: Bool) {
        guard Int(code) < self.entries.count else { return }
        let entry = self.entries[Int(code)]
        let stored = UInt32(entry >> 32)
        let head = Int(UInt32(truncatingIfNeeded: entry))
        if stored & Self.longFlag != 0 {
            return self.containers.mark(&words, list: head, block: block, set: set)
        }
        let count = Int(stored)
        if count == 1 { return head >> 16 == block ? words.mark(head & 0xFFFF, set) : () }
        guard count > 1 else { return }
        let rows = self.pool.elements.span.extracting(head..<head + count)
        var index = rows.lowerBound(of: UInt32(block) << 16)
        while index < count, Int(rows[index] >> 16) == block {
            words.mark(Int(rows[index] & 0xFFFF), set)
            index += 1
        }
    }

    // MARK: Invariants

    /// The rows of a code, ascending.
    func rows(of code: UInt32) -> [UInt32] {
        var rows: [UInt32] = []
        var part = Column<UInt32>(undefined: ListPosition.room)
        var position = ListPosition()
        while let read = self.read(code, &position, into: &part, at: 0, adding: { _ in 0 }) {
            for index in 0..<read.count { rows.append(part[index]) }
        }
        return rows
    }

    /// The faults of the lists; empty if there are none.
    ///
    /// - Parameter rows: How many rows there are.
    func checkInvariants(rows: Int) -> [String] {
        var faults: [String] = []
        var blocks: [(start: UInt32, count: Int)] = []
        var lists: Set<Int> = []
        for code in 1..<max(1, self.entries.count) {
            let count = self.count(of: UInt32(code))
            let found = self.rows(of: UInt32(code))
            if !zip(found, found.dropFirst()).allSatisfy({ $0 < $1 }) { faults.append("list \(code) is not ascending") }
            if let last = found.last, last >= rows { faults.append("list \(code) has a row beyond the last") }
            if found.count != count { faults.append("list \(code) has \(found.count) rows, not \(count)") }
            let head = UInt32(truncatingIfNeeded: self.entries[code])
            if UInt32(self.entries[code] >> 32) & Self.longFlag != 0 {
                lists.insert(Int(head))
                if count <= Self.shortMax / 2 { faults.append("list \(code) is long with \(count) rows") }
            } else if count > 1 {
                blocks.append((head, count))
            }
        }
        return faults + self.pool.checkInvariants(blocks) + self.containers.checkInvariants(lists)
    }
}
