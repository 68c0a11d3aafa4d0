/// For each code of a field the rows that have it, ascending; rows come and go one by one.
///
/// A list of one row is held in its head, which is what a parameter with a value of its own for each user needs. Up to
/// ``shortMax`` rows are a sorted block of a pool. Longer lists are cut by the upper bits of the row into containers of
/// 65,536 rows each, see ``RowContainers``: so each change moves at most a few thousand bytes, however long the list is.
struct PostingLists: Sendable {
    /// Lists of more rows are long; they become short again at half of it.
    static let shortMax = 2048
    private static let longFlag: UInt32 = 1 << 31

    /// By code: the row of a list of one, else where the list starts in the pool, or its number among the long ones.
    private var heads = Column<UInt32>(repeating: 0, count: 1)
    /// By code: how many rows, and whether the list is long.
    private var counts = Column<UInt32>(repeating: 0, count: 1)
    private var pool = BuddyPool<UInt32>()
    private var containers = RowContainers()

    /// Bytes of memory held.
    var byteCount: Int {
        self.heads.byteCount + self.counts.byteCount + self.pool.byteCount + self.containers.byteCount
    }

    /// The number of rows with a code.
    @inline(__always)
    func count(of code: UInt32) -> Int {
        Int(code) < self.counts.count ? Int(self.counts[Int(code)] & ~Self.longFlag) : 0
    }

    // MARK: Changing

    /// Adds a row to a code's list. Precondition: it is not there. O(``shortMax``), O(1) above all rows of the list.
    mutating func insert(_ row: UInt32, _ code: UInt32) {
        let index = Int(code)
        if index >= self.counts.count {
            self.heads.append(repeating: 0, count: index + 1 - self.heads.count)
            self.counts.append(repeating: 0, count: index + 1 - self.counts.count)
        }
        let stored = self.counts[index]
        self.counts[index] = stored + 1
        let head = self.heads[index]
        if stored & Self.longFlag != 0 { return self.containers.insert(row, list: Int(head)) }
        let count = Int(stored)
        switch count {
        case 0: self.heads[index] = row
        case 1:
            let start = self.pool.allocate(2)
            self.pool.elements[Int(start)] = min(head, row)
            self.pool.elements[Int(start) + 1] = max(head, row)
            self.heads[index] = start
        case Self.shortMax: self.lengthen(code, row)
        default:
            let start = self.pool.resize(head, count, to: count + 1)
            self.heads[index] = start
            self.pool.elements.insert(row, at: Int(start), count: count)
        }
    }

    /// Removes a row from a code's list. Precondition: it is there. O(``shortMax``).
    mutating func remove(_ row: UInt32, _ code: UInt32) {
        let index = Int(code)
        let stored = self.counts[index]
        self.counts[index] = stored - 1
        let head = self.heads[index]
        if stored & Self.longFlag != 0 {
            self.containers.remove(row, list: Int(head))
            if Int(stored - 1 & ~Self.longFlag) <= Self.shortMax / 2 { self.shorten(code) }
            return
        }
        let count = Int(stored)
        guard count > 1 else { return }
        let start = Int(head)
        if count == 2 {
            let other = self.pool.elements[start] == row ? start + 1 : start
            self.heads[index] = self.pool.elements[other]
            self.pool.release(head, 2)
        } else {
            self.pool.elements.remove(row, from: start, count: count)
            self.heads[index] = self.pool.resize(head, count, to: count - 1)
        }
    }

    private mutating func lengthen(_ code: UInt32, _ row: UInt32) {
        let head = self.heads[Int(code)]
        let list = self.containers.addList()
        for offset in 0..<Self.shortMax {
            self.containers.insert(self.pool.elements[Int(head) + offset], list: list)
        }
        self.containers.insert(row, list: list)
        self.pool.release(head, Self.shortMax)
        self.heads[Int(code)] = UInt32(list)
        self.counts[Int(code)] |= Self.longFlag
    }

    private mutating func shorten(_ code: UInt32) {
        let list = Int(self.heads[Int(code)])
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
        self.heads[Int(code)] = start
        self.counts[Int(code)] = UInt32(count)
    }

    // MARK: Building at once

    /// Lists of the rows of a field whose lists were not kept while it was loaded. Precondition: no list yet.
    ///
    /// Counting first, so that every list is written into a place of the right size, in the order of the rows: a radix
    /// sort of one digit, the code.
    ///
    /// - Parameters:
    ///   - highestCode: The highest code.
    ///   - rows: How many rows there are.
    ///   - forEachCode: Calls its argument with each code that a row has, but not with 0.
    mutating func build(highestCode: Int, rows: Int, _ forEachCode: (Int, (UInt32) -> Void) -> Void) {
        guard rows > 0 else { return }
        var counts = Column<UInt32>(zeros: highestCode + 1)
        for row in 0..<rows { forEachCode(row) { counts[Int($0)] += 1 } }
        self.heads = Column(zeros: highestCode + 1)
        self.counts = counts
        var pool = BuddyPool<UInt32>()
        // Where the next row of a code goes; of long lists, the number of the list.
        for code in 1..<highestCode + 1 {
            let count = Int(counts[code])
            if count > Self.shortMax {
                self.heads[code] = UInt32(self.containers.addList())
                self.counts[code] |= Self.longFlag
            } else if count > 1 {
                self.heads[code] = pool.allocate(count)
            }
        }
        var heads = self.heads
        for row in 0..<rows {
            forEachCode(row) { code in
                let code = Int(code)
                switch Int(counts[code]) {
                case 1: heads[code] = UInt32(row)
                case let count where count > Self.shortMax:
                    self.containers.insert(UInt32(row), list: Int(heads[code]))
                default:
                    pool.elements[Int(heads[code])] = UInt32(row)
                    heads[code] += 1
                }
            }
        }
        // The heads have moved to the ends of their lists.
        for code in 1..<highestCode + 1 where Int(counts[code]) > 1 && Int(counts[code]) <= Self.shortMax {
            heads[code] -= counts[code]
        }
        self.heads = heads
        self.pool = pool
    }

    // MARK: Reading

    /// Calls `body` with the rows of a code in ascending parts of at most ``RowContainers/partMax``.
    func forEachSpan(of code: UInt32, _ body: (Span<UInt32>) -> Void) {
        let count = self.count(of: code)
        guard count > 0 else { return }
        let head = Int(self.heads[Int(code)])
        if self.counts[Int(code)] & Self.longFlag != 0 { return self.containers.forEachSpan(of: head, body) }
        if count == 1 {
            self.heads.withSpan { body($0.extracting(Int(code)..<Int(code) + 1)) }
        } else {
            self.pool.elements.withSpan { body($0.extracting(head..<head + count)) }
        }
    }

    /// Sets or clears the bits of a code's rows within a block of 65,536 rows.
    func mark(_ words: inout [UInt64], _ code: UInt32, block: Int, set: Bool) {
        let count = self.count(of: code)
        guard count > 0 else { return }
        let head = Int(self.heads[Int(code)])
        if self.counts[Int(code)] & Self.longFlag != 0 {
            return self.containers.mark(&words, list: head, block: block, set: set)
        }
        if count == 1 {
            if head >> 16 == block { words.mark(head & 0xFFFF, set) }
            return
        }
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
        for code in 1..<max(1, self.heads.count) {
            let count = self.count(of: UInt32(code))
            var found: [UInt32] = []
            self.forEachSpan(of: UInt32(code)) { rows in
                for index in rows.indices { found.append(rows[index]) }
            }
            if !zip(found, found.dropFirst()).allSatisfy({ $0 < $1 }) { faults.append("list \(code) is not ascending") }
            if let last = found.last, last >= rows { faults.append("list \(code) has a row beyond the last") }
            if found.count != count { faults.append("list \(code) has \(found.count) rows, not \(count)") }
            if self.counts[code] & Self.longFlag != 0 {
                lists.insert(Int(self.heads[code]))
            } else if count > 1 {
                blocks.append((self.heads[code], count))
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
}

extension Column where Element: FixedWidthInteger & UnsignedInteger {
    /// Inserts into `count` ascending elements from `start` on; there is room for one more.
    @inline(__always)
    mutating func insert(_ element: Element, at start: Int, count: Int) {
        if self[start + count - 1] < element {
            self[start + count] = element
            return
        }
        let place = self.withSpan { $0.extracting(start..<start + count).lowerBound(of: element) }
        self.move(from: start + place, to: start + place + 1, count: count - place)
        self[start + place] = element
    }

    /// Removes from `count` ascending elements from `start` on. Precondition: it is there.
    @inline(__always)
    mutating func remove(_ element: Element, from start: Int, count: Int) {
        let place = self.withSpan { $0.extracting(start..<start + count).lowerBound(of: element) }
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
