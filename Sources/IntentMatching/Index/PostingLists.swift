/// For each code of a field the rows that have it, ascending; rows come and go one by one.
///
/// A list of one row is held in its head, which is what a parameter with a value of its own for each user needs. Up to
/// ``shortMax`` rows are a sorted block of a pool. Longer lists are cut by the upper bits of the row into containers of
/// 65,536 rows each, see ``RowContainers``: so each change moves at most a few thousand bytes, however long the list is.
struct PostingLists: Sendable {
    /// Lists of more rows are long; they become short again at half of it.
    static let shortMax = 512
    /// Steps of ``prefetch(_:_:step:of:)``.
    static let prefetchSteps = 3
    private static let longFlag: UInt32 = 1 << 31

    /// By code: the row of a list of one, else where the list starts in the pool, or its number among the long ones; above
    /// it how many rows, and whether the list is long.
    private var entries = Column<UInt64>(repeating: 0, count: 1)
    private var pool = BuddyPool<UInt32>()
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
        if index >= self.entries.count { self.entries.append(repeating: 0, count: index + 1 - self.entries.count) }
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
            if Int(stored - 1 & ~Self.longFlag) <= Self.shortMax / 2 { self.shorten(code) }
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

    /// Fetches what a change of a row needs, in ``prefetchSteps`` of which each needs what the one before has fetched.
    ///
    /// Mutating, though nothing changes, as what it calls: so nothing is copied for it.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - code: The code whose list will change.
    ///   - step: From 0 on.
    ///   - rows: How many rows there are.
    mutating func prefetch(_ row: UInt32, _ code: UInt32, step: Int, of rows: Int) {
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
        var filled = Int(start)
        var pool = BuddyPool<UInt32>()
        swap(&pool, &self.pool)
        self.containers.forEachSpan(of: list) { rows in
            for index in rows.indices {
                pool.elements[filled] = rows[index]
                filled += 1
            }
        }
        swap(&pool, &self.pool)
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
    init(_ column: RowColumn, highestCode: Int) {
        self.entries = Column(zeros: highestCode + 1)
        self.entries.withMutableSpan { entries in
            column.forEachPlace { code, _ in entries[Int(code)] += 1 << 32 }
        }
        let longCount = self.allocate()
        // By block and list: how many rows, then where the next one is written.
        var cells = Column<UInt32>(zeros: (column.rowCount + 0xFFFF) >> 16 * longCount)
        if longCount > 0 {
            self.entries.withSpan { entries in
                cells.withMutableSpan { cells in
                    column.forEachPlace { code, row in
                        let entry = entries[Int(code)]
                        guard entry >> 32 & UInt64(Self.longFlag) != 0 else { return }
                        cells[Int(row >> 16) * longCount + Int(UInt32(truncatingIfNeeded: entry))] += 1
                    }
                }
            }
            self.containers.allocate(&cells, lists: longCount)
        }
        Self.write(column, &self.entries, &self.pool.elements, &cells, &self.containers, longCount)
        self.entries.withMutableSpan { entries in
            for code in entries.indices {
                let stored = UInt32(entries[code] >> 32)
                // Each start has moved to the list's end.
                if stored > 1, stored & Self.longFlag == 0 { entries[code] -= UInt64(stored) }
            }
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
        _ column: RowColumn,
        _ entries: inout Column<UInt64>,
        _ elements: inout Column<UInt32>,
        _ cells: inout Column<UInt32>,
        _ containers: inout RowContainers,
        _ longCount: Int
    ) {
        entries.withMutableSpan { entries in
            elements.withMutableSpan { elements in
                cells.withMutableSpan { cells in
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
            }
        }
    }

    // MARK: Reading

    /// Calls `body` with the rows of a code in ascending parts of at most ``RowContainers/partMax``.
    @inline(__always)
    func forEachSpan(of code: UInt32, _ body: (Span<UInt32>) -> Void) {
        guard Int(code) < self.entries.count else { return }
        let entry = self.entries[Int(code)]
        let stored = UInt32(entry >> 32)
        let head = UInt32(truncatingIfNeeded: entry)
        if stored & Self.longFlag != 0 { return self.containers.forEachSpan(of: Int(head), body) }
        if stored == 1 {
            let row: InlineArray<1, UInt32> = [head]
            body(row.span)
        } else if stored > 1 {
            self.pool.elements.withSpan { body($0.extracting(Int(head)..<Int(head) + Int(stored))) }
        }
    }

    /// Calls one of the bodies for each part of a code's rows, ascending, as it is kept; see
    /// ``RowContainers/forEachContainer(of:lows:words:)``.
    @inline(__always)
    func forEachPart(
        of code: UInt32,
        rows: (Span<UInt32>) -> Void,
        lows: (Span<UInt16>, Int) -> Void,
        words: (Span<UInt64>, Int) -> Void
    ) {
        guard self.isLong(code) else { return self.forEachSpan(of: code, rows) }
        let list = Int(UInt32(truncatingIfNeeded: self.entries[Int(code)]))
        self.containers.forEachContainer(of: list, lows: lows, words: words)
    }

    /// Where the rows of a code are.
    enum Place {
        case nowhere
        /// There is one.
        case row(UInt32)
        /// Among ``elements``.
        case block(Range<Int>)
        /// In containers.
        case containers
    }

    @inline(__always)
    func place(of code: UInt32) -> Place {
        guard Int(code) < self.entries.count else { return .nowhere }
        let entry = self.entries[Int(code)]
        let stored = UInt32(entry >> 32)
        let head = UInt32(truncatingIfNeeded: entry)
        if stored & Self.longFlag != 0 { return .containers }
        return stored == 0 ? .nowhere : stored == 1 ? .row(head) : .block(Int(head)..<Int(head) + Int(stored))
    }

    /// The rows of all short lists.
    var elements: Column<UInt32> { self.pool.elements }

    /// Whether a code's rows are in containers.
    @inline(__always)
    private func isLong(_ code: UInt32) -> Bool {
        Int(code) < self.entries.count && UInt32(self.entries[Int(code)] >> 32) & Self.longFlag != 0
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
        self.pool.elements.withSpan { elements in
            let rows = elements.extracting(head..<head + count)
            var index = rows.lowerBound(of: UInt32(block) << 16)
            while index < count, Int(rows[index] >> 16) == block {
                words.mark(Int(rows[index] & 0xFFFF), set)
                index += 1
            }
        }
    }

    // MARK: Invariants

    /// What is wrong with the lists; empty if nothing.
    ///
    /// - Parameter rows: How many rows there are.
    func checkInvariants(rows: Int) -> [String] {
        var faults: [String] = []
        var blocks: [(start: UInt32, count: Int)] = []
        var lists: Set<Int> = []
        for code in 1..<max(1, self.entries.count) {
            let count = self.count(of: UInt32(code))
            var found: [UInt32] = []
            self.forEachSpan(of: UInt32(code)) { rows in
                for index in rows.indices { found.append(rows[index]) }
            }
            if !zip(found, found.dropFirst()).allSatisfy({ $0 < $1 }) { faults.append("list \(code) is not ascending") }
            if let last = found.last, last >= rows { faults.append("list \(code) has a row beyond the last") }
            if found.count != count { faults.append("list \(code) has \(found.count) rows, not \(count)") }
            let head = UInt32(truncatingIfNeeded: self.entries[code])
            if UInt32(self.entries[code] >> 32) & Self.longFlag != 0 {
                lists.insert(Int(head))
            } else if count > 1 {
                blocks.append((head, count))
            }
        }
        return faults + self.pool.checkInvariants(blocks) + self.containers.checkInvariants(lists)
    }
}

// MARK: - Sorted places

extension Span where Element: FixedWidthInteger & UnsignedInteger & BitwiseCopyable {
    /// The index of the first element that is not less, without a branch on the data.
    @inline(__always)
    func lowerBound(of element: Element) -> Int {
        var low = 0
        var length = self.count
        while length > 0 {
            let half = length / 2
            let isLess = self[low + half] < element
            low = isLess ? low + half + 1 : low
            length = isLess ? length - half - 1 : half
        }
        return low
    }

    /// The same where elements are spread evenly, as rows of a value are: begins where the element should be, and is there
    /// after two or three lines of the processor's cache, not one for each halving. O(log n) wherever it is.
    @inline(__always)
    func place(of element: Element) -> Int {
        guard self.count > 64 else { return self.lowerBound(of: element) }
        let first = self[0]
        let last = self[self.count - 1]
        guard element > first else { return 0 }
        guard element <= last else { return self.count }
        let share = UInt64(element - first) * UInt64(self.count - 1) / UInt64(last - first)
        var step = 16
        // The element is above all below `low`, and not above the one at `high`.
        var low = 0
        var high = self.count - 1
        var at = Int(share)
        if self[at] < element {
            while at < high, self[at] < element {
                low = at + 1
                at = Swift.min(high, at + step)
                step *= 2
            }
            high = at
        } else {
            while at > low, self[at] >= element {
                high = at
                at = Swift.max(low, at - step)
                step *= 2
            }
            if self[at] < element { low = at + 1 }
        }
        return low + self.extracting(low..<high).lowerBound(of: element)
    }
}

extension Column where Element: FixedWidthInteger & UnsignedInteger {
    /// Inserts into `count` ascending elements from `start` on; there is room for one more.
    @inline(__always)
    mutating func insert(_ element: Element, at start: Int, count: Int) {
        if self[start + count - 1] < element {
            self[start + count] = element
            return
        }
        let place = self.withSpan { $0.extracting(start..<start + count).place(of: element) }
        self.move(from: start + place, to: start + place + 1, count: count - place)
        self[start + place] = element
    }

    /// Removes from `count` ascending elements from `start` on. Precondition: it is there.
    @inline(__always)
    mutating func remove(_ element: Element, from start: Int, count: Int) {
        let place = self.withSpan { $0.extracting(start..<start + count).place(of: element) }
        precondition(place < count && self[start + place] == element, "the row is not on the list")
        self.move(from: start + place + 1, to: start + place, count: count - place - 1)
    }
}

extension [UInt64] {
    /// Sets or clears a bit.
    @inline(__always)
    mutating func mark(_ bit: Int, _ set: Bool) {
        if set {
            self[bit >> 6] |= 1 << UInt64(bit & 63)
        } else {
            self[bit >> 6] &= ~(1 << UInt64(bit & 63))
        }
    }
}
