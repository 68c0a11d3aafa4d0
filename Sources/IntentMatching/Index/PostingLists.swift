/// For each code of a column the rows that have it, ascending.
///
/// A list of one row is held in its head, which is what a parameter with a value of its own for each user needs. Longer
/// lists are blocks of a pool, of a power of two of rows; a list that outgrows its block moves to one of twice the size
/// and leaves the old one to others. Lists only grow: rows that are gone stay until the segment is compacted.
struct PostingLists: Sendable {
    /// Where a list is: in ``heads`` or in ``pool``.
    struct Place: Hashable, Sendable {
        let isInline: Bool
        let range: Range<Int>
    }

    private static let smallestBlock = 4

    /// By code: the row of a list of one, else where the list starts in the pool.
    private(set) var heads: [UInt32] = [0]
    private var counts: [UInt32] = [0]
    private(set) var pool: [UInt32] = []
    /// Starts of blocks that nobody uses, by the logarithm of their size.
    private var free: [[UInt32]] = []

    /// Bytes of memory held.
    var byteCount: Int {
        4 * (self.heads.capacity + self.counts.capacity + self.pool.capacity)
    }

    /// The number of rows with a code.
    func count(of code: UInt32) -> Int { Int(self.counts[Int(code)]) }

    func place(of code: UInt32) -> Place {
        let count = Int(self.counts[Int(code)])
        guard count != 1 else { return Place(isInline: true, range: Int(code)..<Int(code) + 1) }
        let start = Int(self.heads[Int(code)])
        return Place(isInline: false, range: start..<start + count)
    }

    /// Makes empty lists for the codes up to `codes`.
    mutating func reserve(codes: Int) {
        self.heads = [UInt32](repeating: 0, count: codes + 1)
        self.counts = self.heads
    }

    /// Adds a row to a code's list. Precondition: the code is known or the next one, the row above all in the list.
    mutating func append(_ row: UInt32, to code: UInt32) {
        let index = Int(code)
        if index == self.heads.count {
            self.heads.append(row)
            self.counts.append(1)
            return
        }
        let count = Int(self.counts[index])
        switch count {
        case 0: self.heads[index] = row
        case 1:
            let start = self.block(Self.smallestBlock)
            self.pool[start] = self.heads[index]
            self.pool[start + 1] = row
            self.heads[index] = UInt32(start)
        case _ where count >= Self.smallestBlock && count & (count - 1) == 0:
            let old = Int(self.heads[index])
            let start = self.block(count * 2)
            for offset in 0..<count { self.pool[start + offset] = self.pool[old + offset] }
            self.pool[start + count] = row
            self.heads[index] = UInt32(start)
            self.release(UInt32(old), count)
        default: self.pool[Int(self.heads[index]) + count] = row
        }
        self.counts[index] = UInt32(count + 1)
    }

    /// The start of an unused block of `size` rows.
    private mutating func block(_ size: Int) -> Int {
        let order = size.trailingZeroBitCount
        if order < self.free.count, let start = self.free[order].popLast() { return Int(start) }
        let start = self.pool.count
        self.pool.append(contentsOf: repeatElement(0, count: size))
        return start
    }

    private mutating func release(_ start: UInt32, _ size: Int) {
        let order = size.trailingZeroBitCount
        while self.free.count <= order { self.free.append([]) }
        self.free[order].append(start)
    }

    // MARK: Invariants

    /// What is wrong with the lists; empty if nothing.
    ///
    /// - Parameter rows: How many rows there are.
    func checkInvariants(rows: Int) -> [String] {
        var faults: [String] = []
        var used: [Range<Int>] = []
        for code in 1..<max(1, self.heads.count) {
            let place = self.place(of: UInt32(code))
            let list = place.isInline ? self.heads[place.range] : self.pool[place.range]
            if !zip(list, list.dropFirst()).allSatisfy({ $0 < $1 }) { faults.append("list \(code) is not ascending") }
            if let last = list.last, last >= rows { faults.append("list \(code) has a row beyond the last") }
            guard !place.isInline, !place.range.isEmpty else { continue }
            var size = Self.smallestBlock
            while size < place.range.count { size *= 2 }
            used.append(place.range.lowerBound..<place.range.lowerBound + size)
        }
        for (order, starts) in self.free.enumerated() {
            used += starts.map { Int($0)..<Int($0) + (1 << order) }
        }
        used.sort { $0.lowerBound < $1.lowerBound }
        // Blocks in use and free ones tile the pool.
        var end = 0
        for block in used {
            if block.lowerBound != end { faults.append("the pool has a gap or an overlap at \(end)") }
            end = block.upperBound
        }
        if end != self.pool.count { faults.append("the pool ends at \(self.pool.count), its blocks at \(end)") }
        return faults
    }
}
