/// Blocks of a power of two of elements out of one column, for many lists that grow at the same time.
///
/// A block that is given back joins with its free neighbour to one of twice the size, so that what lists of fifty rows
/// leave behind serves the lists of a hundred that they have become; pools without that hold three times what they need.
///
/// Source: Knowlton, "A Fast Storage Allocator" (1965), the buddy system.
struct BuddyPool<Element: BitwiseCopyable & Sendable & ExpressibleByIntegerLiteral>: Sendable {
    var elements = Column<Element>()
    /// Starts of free blocks by order, the logarithm of the size. Blocks that were joined stay on it until they are met.
    private var free: [Column<UInt32>] = []
    /// By order and block: whether it is free as one of this order.
    private var isFree: [Column<UInt64>] = []

    var byteCount: Int {
        self.free.indices.reduce(self.elements.byteCount) { $0 + self.free[$1].byteCount + self.isFree[$1].byteCount }
    }

    /// The order of the smallest block that holds `count` elements. Precondition: at least 1.
    @inline(__always)
    static func order(_ count: Int) -> Int {
        Int.bitWidth - (count - 1).leadingZeroBitCount
    }

    /// The start of a block with room for `count` elements, their values undefined.
    mutating func allocate(_ count: Int) -> UInt32 {
        let order = Self.order(count)
        while self.free.count <= order {
            self.free.append(Column())
            self.isFree.append(Column())
        }
        if let start = self.take(order) { return start }
        for larger in order + 1..<max(order + 1, self.free.count) {
            guard let start = self.take(larger) else { continue }
            // The upper halves stay free.
            for half in (order..<larger).reversed() { self.put(start + 1 << UInt32(half), half) }
            return start
        }
        // Blocks start at multiples of their size; the gap before this one becomes free blocks.
        while self.elements.count & (1 << order - 1) != 0 {
            let gap = self.elements.count.trailingZeroBitCount
            let start = self.elements.count
            self.elements.append(undefined: 1 << gap)
            self.put(UInt32(start), gap)
        }
        let start = self.elements.count
        precondition(start + 1 << order <= Int(UInt32.max), "a pool of more than four milliards of elements")
        self.elements.append(undefined: 1 << order)
        return UInt32(start)
    }

    /// Gives back a block with room for `count` elements.
    mutating func release(_ start: UInt32, _ count: Int) {
        var start = start
        var order = Self.order(count)
        while order + 1 < self.free.count {
            let buddy = start ^ (1 << UInt32(order))
            guard self.isFree(buddy, order) else { break }
            self.mark(buddy, order, false)
            start = min(start, buddy)
            order += 1
        }
        self.put(start, order)
    }

    /// The block of `count` elements as one of `newCount`, its first elements kept: the same one if the size allows.
    @inline(__always)
    mutating func resize(_ start: UInt32, _ count: Int, to newCount: Int) -> UInt32 {
        guard Self.order(count) != Self.order(newCount) else { return start }
        let moved = self.allocate(newCount)
        self.elements.move(from: Int(start), to: Int(moved), count: min(count, newCount))
        self.release(start, count)
        return moved
    }

    private mutating func take(_ order: Int) -> UInt32? {
        while let start = self.free[order].popLast() {
            guard self.isFree(start, order) else { continue }
            self.mark(start, order, false)
            return start
        }
        return nil
    }

    private mutating func put(_ start: UInt32, _ order: Int) {
        self.free[order].append(start)
        self.mark(start, order, true)
    }

    private func isFree(_ start: UInt32, _ order: Int) -> Bool {
        let block = Int(start) >> order
        guard block >> 6 < self.isFree[order].count else { return false }
        return self.isFree[order][block >> 6] >> UInt64(block & 63) & 1 == 1
    }

    private mutating func mark(_ start: UInt32, _ order: Int, _ free: Bool) {
        let block = Int(start) >> order
        let missing = block >> 6 + 1 - self.isFree[order].count
        if missing > 0 { self.isFree[order].append(repeating: 0, count: missing) }
        let bit: UInt64 = 1 << UInt64(block & 63)
        if free { self.isFree[order][block >> 6] |= bit } else { self.isFree[order][block >> 6] &= ~bit }
    }

    /// What is wrong with the pool, given the blocks in use as start and count; empty if nothing.
    func checkInvariants(_ used: [(start: UInt32, count: Int)]) -> [String] {
        var blocks = used.map { Int($0.start)..<Int($0.start) + 1 << Self.order($0.count) }
        for (order, bits) in self.isFree.enumerated() {
            for block in 0..<bits.count * 64 where bits[block >> 6] >> UInt64(block & 63) & 1 == 1 {
                blocks.append(block << order..<(block + 1) << order)
            }
        }
        return self.elements.checkTiling(blocks)
    }
}
