/// For each code of a column the rows that have it, ascending.
///
/// A list of one row is held in its head, which is what a parameter with a value of its own for each user needs. Longer
/// lists are blocks of a pool, of a power of two of rows; a list that outgrows its block moves to one of twice the size
/// and leaves the old one to others. Long lists are arrays of their own, since blocks of their size would find no second
/// user. Lists only grow: rows that are gone stay until the segment is compacted.
struct PostingLists: Sendable {
    private static let smallestBlock = 4
    /// Lists of more rows are arrays of their own. A power of two.
    private static let blockMax = 1024

    /// By code: the row of a list of one, else where the list starts in the pool, or its index among the long ones.
    private var heads: [UInt32] = [0]
    private var counts: [UInt32] = [0]
    private var pool: [UInt32] = []
    private var long: [[UInt32]] = []
    /// Starts of blocks that nobody uses, by the logarithm of their size.
    private var free: [[UInt32]] = []

    init() {}

    /// Bytes of memory held.
    var byteCount: Int {
        let long = self.long.reduce(0) { $0 + $1.capacity }
        return 4 * (self.heads.capacity + self.counts.capacity + self.pool.capacity + long)
    }

    /// The number of rows with a code.
    func count(of code: UInt32) -> Int { Int(self.counts[Int(code)]) }

    /// The array that holds a code's list, and where in it. The array is shared, not copied.
    func list(of code: UInt32) -> (rows: [UInt32], range: Range<Int>) {
        let count = Int(self.counts[Int(code)])
        let head = Int(self.heads[Int(code)])
        if count == 1 { return (self.heads, Int(code)..<Int(code) + 1) }
        if count > Self.blockMax { return (self.long[head], 0..<count) }
        return (self.pool, head..<head + count)
    }

    // MARK: Growing

    /// Adds a row to a code's list. Precondition: the code is known or the next one, the row above all in the list.
    mutating func append(_ row: UInt32, to code: UInt32) {
        let index = Int(code)
        if index == self.heads.count {
            self.heads.append(row)
            self.counts.append(1)
            return
        }
        let count = Int(self.counts[index])
        self.counts[index] = UInt32(count + 1)
        let head = Int(self.heads[index])
        if count > Self.blockMax {
            self.long[head].append(row)
        } else if count < Self.smallestBlock || count & (count - 1) != 0 {
            switch count {
            case 0: self.heads[index] = row
            case 1:
                let start = self.block(Self.smallestBlock)
                self.pool[start] = self.heads[index]
                self.pool[start + 1] = row
                self.heads[index] = UInt32(start)
            default: self.pool[head + count] = row
            }
        } else if count < Self.blockMax {
            let start = self.block(count * 2)
            for offset in 0..<count { self.pool[start + offset] = self.pool[head + offset] }
            self.pool[start + count] = row
            self.heads[index] = UInt32(start)
            self.release(UInt32(head), count)
        } else {
            var rows: [UInt32] = []
            rows.reserveCapacity(2 * count)
            rows += self.pool[head..<head + count]
            rows.append(row)
            self.heads[index] = UInt32(self.long.count)
            self.long.append(rows)
            self.release(UInt32(head), count)
        }
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

    // MARK: Building at once

    /// Lists with room for as many rows as `lengths` says, by code, to be filled by ``fill(_:_:)``.
    init(lengths: [UInt32]) {
        self.heads = [UInt32](repeating: 0, count: max(1, lengths.count))
        self.counts = self.heads
        var end = 0
        for code in lengths.indices {
            let length = Int(lengths[code])
            guard length > 1 else { continue }
            if length > Self.blockMax {
                self.heads[code] = UInt32(self.long.count)
                self.long.append([])
                self.long[self.long.count - 1].reserveCapacity(length + length / 8)
            } else {
                self.heads[code] = UInt32(end)
                end += Self.blockSize(length)
            }
        }
        self.pool = [UInt32](repeating: 0, count: end)
    }

    /// Adds the next row to a code's list. Precondition: the list ends up with the length that was announced.
    ///
    /// - Parameters:
    ///   - row: Above all rows of the list.
    ///   - code: The code and the length announced for it.
    mutating func fill(_ row: UInt32, _ code: (index: Int, length: Int)) {
        let count = Int(self.counts[code.index])
        self.counts[code.index] = UInt32(count + 1)
        if code.length == 1 {
            self.heads[code.index] = row
        } else if code.length > Self.blockMax {
            self.long[Int(self.heads[code.index])].append(row)
        } else {
            self.pool[Int(self.heads[code.index]) + count] = row
        }
    }

    private static func blockSize(_ count: Int) -> Int {
        var size = Self.smallestBlock
        while size < count { size *= 2 }
        return size
    }

    // MARK: Invariants

    /// What is wrong with the lists; empty if nothing.
    ///
    /// - Parameter rows: How many rows there are.
    func checkInvariants(rows: Int) -> [String] {
        var faults: [String] = []
        var blocks: [Range<Int>] = []
        var longCount = 0
        for code in 1..<max(1, self.heads.count) {
            let (rowsOfCode, range) = self.list(of: UInt32(code))
            let list = rowsOfCode[range]
            if !zip(list, list.dropFirst()).allSatisfy({ $0 < $1 }) { faults.append("list \(code) is not ascending") }
            if let last = list.last, last >= rows { faults.append("list \(code) has a row beyond the last") }
            if range.count > Self.blockMax {
                longCount += 1
                if rowsOfCode.count != range.count { faults.append("list \(code) is of another length") }
            } else if range.count > 1 {
                blocks.append(range.lowerBound..<range.lowerBound + Self.blockSize(range.count))
            }
        }
        if longCount != self.long.count { faults.append("\(self.long.count) long lists for \(longCount) codes") }
        for (order, starts) in self.free.enumerated() {
            blocks += starts.map { Int($0)..<Int($0) + (1 << order) }
        }
        blocks.sort { $0.lowerBound < $1.lowerBound }
        // Blocks in use and free ones tile the pool.
        var end = 0
        for block in blocks {
            if block.lowerBound != end { faults.append("the pool has a gap or an overlap at \(end)") }
            end = block.upperBound
        }
        if end != self.pool.count { faults.append("the pool ends at \(self.pool.count), its blocks at \(end)") }
        return faults
    }
}
