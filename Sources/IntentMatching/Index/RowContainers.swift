import Storage

/// Long lists of rows, each cut into containers of 65,536 rows by the upper bits, as Roaring bitmaps are: few rows are a
/// sorted array of their lower 16 bits, many a bitmap.
///
/// Source: Lemire, Kaser, Kurz and others, "Roaring Bitmaps: Implementation of an Optimized Software Library" (2018).
struct RowContainers: ~Copyable {
    /// Words of a bitmap.
    static let words = 1024
    /// Arrays of more rows become bitmaps, which are then as small; they become arrays again well below it.
    private static let arrayMax = 4096
    private static let arrayAgain = 3072
    static let bitmapFlag: UInt32 = 1 << 31
    private static let none = UInt32.max

    /// By list: where its blocks start in the directory, and how many they are.
    private var listStarts = Column<UInt32>()
    private var listCounts = Column<UInt32>()
    /// By block of rows of a list: the number of the container.
    private var directory = BuddyStore<UInt32>()
    private var unusedLists: [Int] = []
    /// By container: where it starts in its pool.
    private var starts = Column<UInt32>()
    /// By container: how many rows, and whether it is a bitmap.
    private var counts = Column<UInt32>()
    private var unused = Column<UInt32>()
    private var arrays = BuddyStore<UInt16>()
    private var bitmaps = BuddyStore<UInt64>()

    var byteCount: Int {
        self.listStarts.byteCount + self.listCounts.byteCount + self.directory.byteCount + self.starts.byteCount
            + self.counts.byteCount + self.unused.byteCount + self.arrays.byteCount + self.bitmaps.byteCount
    }

    // MARK: Lists

    mutating func addList() -> Int {
        if let list = self.unusedLists.popLast() { return list }
        self.listStarts.append(0)
        self.listCounts.append(0)
        return self.listStarts.count - 1
    }

    /// Makes room for the rows of new lists, which are written by ``withMutableSpans(_:)``.
    ///
    /// - Parameters:
    ///   - cells: By block and list how many rows; then where they are to be written: from an element on, or, with
    ///     ``bitmapFlag``, as bits from a word on.
    ///   - lists: How many lists there are.
    mutating func allocate(_ cells: inout Column<UInt32>, lists: Int) {
        for list in 0..<lists {
            for (block, cell) in stride(from: list, to: cells.count, by: lists).enumerated() where cells[cell] > 0 {
                let container = self.addContainer()
                self.setContainer(list, block, UInt32(container))
                let count = Int(cells[cell])
                let isBitmap = count > Self.arrayMax
                let start = isBitmap ? self.allocateBitmap() : self.arrays.allocate(count)
                precondition(start < Self.bitmapFlag, "two billion rows in one column")
                self.starts[container] = start
                self.counts[container] = UInt32(count) | (isBitmap ? Self.bitmapFlag : 0)
                cells[cell] = start | (isBitmap ? Self.bitmapFlag : 0)
            }
        }
    }

    /// Calls `body` with the elements of arrays and bitmaps.
    @inline(__always)
    mutating func withMutableSpans(_ body: (inout MutableSpan<UInt16>, inout MutableSpan<UInt64>) -> Void) {
        Self.lend(&self.arrays.elements, &self.bitmaps.elements, body)
    }

    @inline(__always)
    private static func lend(
        _ arrays: inout Column<UInt16>,
        _ bitmaps: inout Column<UInt64>,
        _ body: (inout MutableSpan<UInt16>, inout MutableSpan<UInt64>) -> Void
    ) {
        var arrays = arrays.mutableSpan
        var bitmaps = bitmaps.mutableSpan
        body(&arrays, &bitmaps)
    }

    mutating func removeList(_ list: Int) {
        for block in 0..<Int(self.listCounts[list]) {
            let container = self.container(list, block)
            if container != Self.none { self.release(container) }
        }
        self.directory.release(self.listStarts[list], Int(self.listCounts[list]))
        self.listCounts[list] = 0
        self.unusedLists.append(list)
    }

    /// The container of a list's block, or none.
    @inline(__always)
    private func container(_ list: Int, _ block: Int) -> UInt32 {
        guard block < Int(self.listCounts[list]) else { return Self.none }
        return self.directory.elements[Int(self.listStarts[list]) + block]
    }

    private mutating func setContainer(_ list: Int, _ block: Int, _ container: UInt32) {
        let count = Int(self.listCounts[list])
        if block >= count {
            let start = self.listStarts[list]
            self.listStarts[list] =
                count == 0 ? self.directory.allocate(block + 1) : self.directory.resize(start, count, to: block + 1)
            self.listCounts[list] = UInt32(block + 1)
            for gap in count..<block + 1 { self.directory.elements[Int(self.listStarts[list]) + gap] = Self.none }
        }
        self.directory.elements[Int(self.listStarts[list]) + block] = container
    }

    private mutating func release(_ container: UInt32) {
        let count = self.counts[Int(container)]
        if count & Self.bitmapFlag != 0 {
            self.bitmaps.release(self.starts[Int(container)], Self.words)
        } else if count > 0 {
            self.arrays.release(self.starts[Int(container)], Int(count))
        }
        self.unused.append(container)
    }

    // MARK: Rows

    mutating func insert(_ row: UInt32, list: Int) {
        let block = Int(row >> 16)
        var container = Int(self.container(list, block))
        let low = UInt16(truncatingIfNeeded: row)
        if container == Int(Self.none) {
            container = self.addContainer()
            self.setContainer(list, block, UInt32(container))
            self.starts[container] = self.arrays.allocate(1)
            self.arrays.elements[Int(self.starts[container])] = low
            self.counts[container] = 1
            return
        }
        let stored = self.counts[container]
        let count = Int(stored & ~Self.bitmapFlag)
        self.counts[container] = stored + 1
        if stored & Self.bitmapFlag != 0 {
            self.bitmaps.elements[Int(self.starts[container]) + Int(low >> 6)] |= 1 << UInt64(low & 63)
        } else if count < Self.arrayMax {
            let start = self.arrays.resize(self.starts[container], count, to: count + 1)
            self.starts[container] = start
            self.arrays.elements.insert(low, at: Int(start), count: count)
        } else {
            self.makeBitmap(container, count)
            self.bitmaps.elements[Int(self.starts[container]) + Int(low >> 6)] |= 1 << UInt64(low & 63)
        }
    }

    mutating func remove(_ row: UInt32, list: Int) {
        let block = Int(row >> 16)
        let container = Int(self.container(list, block))
        let low = UInt16(truncatingIfNeeded: row)
        let stored = self.counts[container]
        let count = Int(stored & ~Self.bitmapFlag)
        if stored & Self.bitmapFlag != 0 {
            self.bitmaps.elements[Int(self.starts[container]) + Int(low >> 6)] &= ~(1 << UInt64(low & 63))
            self.counts[container] = stored - 1
            if count - 1 <= Self.arrayAgain { self.makeArray(container, count - 1) }
        } else if count == 1 {
            self.release(UInt32(container))
            self.counts[container] = 0
            self.setContainer(list, block, Self.none)
        } else {
            self.arrays.elements.remove(low, from: Int(self.starts[container]), count: count)
            self.starts[container] = self.arrays.resize(self.starts[container], count, to: count - 1)
            self.counts[container] = stored - 1
        }
    }

    private mutating func addContainer() -> Int {
        if let container = self.unused.popLast() { return Int(container) }
        self.starts.append(0)
        self.counts.append(0)
        return self.starts.count - 1
    }

    /// The start of a bitmap without a bit.
    private mutating func allocateBitmap() -> UInt32 {
        let start = self.bitmaps.allocate(Self.words)
        var words = self.bitmaps.elements.mutableSpan
        for index in 0..<Self.words { words[Int(start) + index] = 0 }
        return start
    }

    private mutating func makeBitmap(_ container: Int, _ count: Int) {
        let start = Int(self.starts[container])
        let bitmap = Int(self.allocateBitmap())
        for index in 0..<count {
            let low = self.arrays.elements[start + index]
            self.bitmaps.elements[bitmap + Int(low >> 6)] |= 1 << UInt64(low & 63)
        }
        self.arrays.release(UInt32(start), count)
        self.starts[container] = UInt32(bitmap)
        self.counts[container] |= Self.bitmapFlag
    }

    private mutating func makeArray(_ container: Int, _ count: Int) {
        let bitmap = Int(self.starts[container])
        let start = Int(self.arrays.allocate(count))
        var filled = start
        for index in 0..<Self.words {
            var word = self.bitmaps.elements[bitmap + index]
            while word != 0 {
                self.arrays.elements[filled] = UInt16(index * 64 + word.trailingZeroBitCount)
                word &= word - 1
                filled += 1
            }
        }
        self.bitmaps.release(UInt32(bitmap), Self.words)
        self.starts[container] = UInt32(start)
        self.counts[container] = UInt32(count)
    }

    /// Fetches the memory that a change of a row needs: the number of its container, then the container's place, and
    /// then its rows.
    func prefetch(_ row: UInt32, list: Int, step: Int) {
        let block = Int(row >> 16)
        guard block < Int(self.listCounts[list]) else { return }
        guard step > 0 else { return self.directory.elements.prefetch(Int(self.listStarts[list]) + block) }
        let container = self.container(list, block)
        guard container != Self.none else { return }
        guard step > 1 else {
            self.starts.prefetch(Int(container))
            return self.counts.prefetch(Int(container))
        }
        let start = Int(self.starts[Int(container)])
        let stored = self.counts[Int(container)]
        let low = Int(row & 0xFFFF)
        if stored & Self.bitmapFlag != 0 { return self.bitmaps.elements.prefetch(start + low >> 6) }
        self.arrays.elements.prefetch(start)
        self.arrays.elements.prefetch(start + (Int(stored) * low) >> 16)
        self.arrays.elements.prefetch(start + Int(stored) - 1)
    }

    // MARK: Reading

    /// Reads on in the rows of a list, ascending; see ``PostingLists/read(_:_:into:at:adding:)``.
    @inline(__always)
    func read(
        _ list: Int,
        _ position: inout ListPosition,
        into target: inout Column<UInt32>,
        at place: Int,
        adding offset: (Int) -> UInt32
    ) -> (count: Int, block: Int)? {
        let blocks = Int(self.listCounts[list])
        var container = Self.none
        while position.block < blocks {
            container = self.container(list, position.block)
            if container != Self.none { break }
            position.block += 1
        }
        guard position.block < blocks else { return nil }
        let block = position.block
        let stored = self.counts[Int(container)]
        let start = Int(self.starts[Int(container)]) + position.place
        let base = UInt32(block) << 16 &+ offset(block)
        var out = target.mutableSpan
        if stored & Self.bitmapFlag == 0 {
            let count = min(Int(stored) - position.place, ListPosition.partMax)
            let lows = self.arrays.elements.span.extracting(start..<start + count)
            Kernels.widen(lows, base: base, into: &out, at: place)
            position.advance(by: count, of: Int(stored))
            return (count, block)
        }
        let words = self.bitmaps.elements.span.extracting(start..<start + ListPosition.wordsMax)
        let first = base &+ UInt32(position.place * 64)
        let count = Kernels.decode(words, base: first, into: &out, at: place)
        position.advance(by: ListPosition.wordsMax, of: Self.words)
        return (count, block)
    }

    /// Sets or clears the bits of a list's rows within a block of 65,536 rows.
    func mark(_ words: inout [UInt64], list: Int, block: Int, set: Bool) {
        let container = Int(self.container(list, block))
        guard container != Int(Self.none) else { return }
        let stored = self.counts[container]
        let start = Int(self.starts[container])
        if stored & Self.bitmapFlag == 0 {
            let elements = self.arrays.elements.span
            for index in start..<start + Int(stored) { words.mark(Int(elements[index]), set) }
            return
        }
        let bitmap = self.bitmaps.elements.span.extracting(start..<start + Self.words)
        var words = words.mutableSpan
        let count = min(words.count, Self.words)
        if set {
            for index in 0..<count { words[index] |= bitmap[index] }
        } else {
            for index in 0..<count { words[index] &= ~bitmap[index] }
        }
    }

    // MARK: Invariants

    /// The faults of the containers; empty if there are none.
    ///
    /// - Parameter used: The lists in use.
    func checkInvariants(_ used: Set<Int>) -> [String] {
        var faults: [String] = []
        if used.count + self.unusedLists.count != self.listStarts.count { faults.append("a long list is lost") }
        var arrays: [(start: UInt32, count: Int)] = []
        var bitmaps: [(start: UInt32, count: Int)] = []
        var containers = 0
        var directories: [(start: UInt32, count: Int)] = []
        for list in used.sorted() {
            let blocks = Int(self.listCounts[list])
            if blocks > 0 { directories.append((self.listStarts[list], blocks)) }
            for block in 0..<blocks {
                let container = self.container(list, block)
                guard container != Self.none else { continue }
                containers += 1
                let stored = self.counts[Int(container)]
                if stored & Self.bitmapFlag == 0 {
                    arrays.append((self.starts[Int(container)], Int(stored)))
                } else {
                    bitmaps.append((self.starts[Int(container)], Self.words))
                }
            }
        }
        if containers + self.unused.count != self.starts.count { faults.append("a container is lost") }
        return faults + self.directory.checkInvariants(directories) + self.arrays.checkInvariants(arrays)
            + self.bitmaps.checkInvariants(bitmaps)
    }
}

/// How far the rows of a code have been read.
struct ListPosition {
    /// The most rows of an array, and the words of a bitmap, that are read at once.
    static let partMax = 1024
    static let wordsMax = 16
    /// The room that reading takes.
    static let room = partMax + 16

    /// The block of rows whose container is read; of a list without containers, 1 when it has been read.
    var block = 0
    /// The element, or the word of its bitmap, that is read next.
    private(set) var place = 0

    /// Goes on by some elements or words of a container, and to the next one at its end.
    @inline(__always)
    mutating func advance(by count: Int, of all: Int) {
        self.place += count
        guard self.place >= all else { return }
        self.place = 0
        self.block += 1
    }
}
