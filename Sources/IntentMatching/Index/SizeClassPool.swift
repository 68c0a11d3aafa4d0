/// Blocks of elements out of one column, for many small arrays that keep their size.
///
/// Sizes are 1, 2, 3, 4, 6, 8, 12, 16, … elements; a block that is given back is reused for the same size. For arrays that
/// grow see ``BuddyPool``.
struct SizeClassPool<Element: BitwiseCopyable & Sendable & ExpressibleByIntegerLiteral>: Sendable {
    var elements = Column<Element>()
    /// Starts of blocks that nobody uses, by size class.
    private(set) var free: [Column<UInt32>] = []

    var byteCount: Int { self.free.reduce(self.elements.byteCount) { $0 + $1.byteCount } }

    /// The number of the smallest size that holds `count` elements. Precondition: at least 1.
    @inline(__always)
    static func sizeClass(_ count: Int) -> Int {
        guard count > 2 else { return count - 1 }
        let bits = Int.bitWidth - (count - 1).leadingZeroBitCount
        return count <= 3 << (bits - 2) ? 2 * bits - 2 : 2 * bits - 1
    }

    /// The elements of a block of a size class.
    @inline(__always)
    static func size(_ sizeClass: Int) -> Int {
        guard sizeClass > 1 else { return sizeClass + 1 }
        return sizeClass & 1 == 0 ? 3 << (sizeClass / 2 - 1) : 1 << ((sizeClass + 1) / 2)
    }

    /// The start of a block with room for `count` elements, their values undefined.
    mutating func allocate(_ count: Int) -> UInt32 {
        let sizeClass = Self.sizeClass(count)
        if sizeClass < self.free.count, let start = self.free[sizeClass].popLast() { return start }
        let start = self.elements.count
        precondition(start <= Int(UInt32.max), "a pool of more than four milliards of elements")
        self.elements.append(repeating: 0, count: Self.size(sizeClass))
        return UInt32(start)
    }

    /// Gives back a block with room for `count` elements.
    mutating func release(_ start: UInt32, _ count: Int) {
        let sizeClass = Self.sizeClass(count)
        while self.free.count <= sizeClass { self.free.append(Column()) }
        self.free[sizeClass].append(start)
    }

    /// What is wrong with the pool, given the blocks in use as start and count; empty if nothing.
    func checkInvariants(_ used: [(start: UInt32, count: Int)]) -> [String] {
        var blocks = used.map { Int($0.start)..<Int($0.start) + Self.size(Self.sizeClass($0.count)) }
        for (sizeClass, starts) in self.free.enumerated() {
            for index in 0..<starts.count {
                blocks.append(Int(starts[index])..<Int(starts[index]) + Self.size(sizeClass))
            }
        }
        return self.elements.checkTiling(blocks)
    }
}

extension Column {
    /// Where blocks, in use or free, leave a gap, overlap or end elsewhere than the elements do; empty if they tile them.
    func checkTiling(_ blocks: [Range<Int>]) -> [String] {
        var faults: [String] = []
        var end = 0
        for block in blocks.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if block.lowerBound != end { faults.append("the pool has a gap or an overlap at \(end)") }
            end = block.upperBound
        }
        if end != self.count { faults.append("the pool ends at \(self.count), its blocks at \(end)") }
        return faults
    }
}
