public import BasicContainers

/// Blocks of a power of two of elements out of one column, for many lists that grow at the same time.
///
/// A block that is given back joins with its free neighbour to one of twice the size, so that the blocks that lists of
/// fifty rows leave behind serve the lists of a hundred that they have become. Stores without that hold three times the
/// memory that they need.
///
/// Source: Knowlton, "A Fast Storage Allocator" (1965), the buddy system.
@frozen public struct BuddyStore<Element: BitwiseCopyable & FixedWidthInteger>: ~Copyable {
    /// The elements of all blocks.
    public var elements = Column<Element>()
    /// By order, the logarithm of the size.
    @usableFromInline var orders = UniqueArray<Order>()

    /// Blocks of one size.
    @frozen @usableFromInline
    struct Order: ~Copyable {
        /// Starts of free blocks. Those that were joined stay on it until they are met.
        @usableFromInline var starts = Column<UInt32>()
        /// By block: whether it is free as one of this order.
        @usableFromInline var marks = Column<UInt64>()

        @inlinable
        init() {}
    }

    /// A store without blocks.
    @inlinable
    public init() {}

    /// Bytes of memory held.
    @inlinable
    public var byteCount: Int {
        var count = self.elements.byteCount
        for order in self.orders.indices {
            count += self.orders[order].starts.byteCount + self.orders[order].marks.byteCount
        }
        return count
    }

    /// The order of the smallest block that holds `count` elements. Precondition: at least 1.
    @inlinable @inline(__always)
    static func order(_ count: Int) -> Int { Int.bitWidth - (count - 1).leadingZeroBitCount }

    /// The start of a block with room for `count` elements, their values undefined. Precondition: at least 1.
    @inlinable
    public mutating func allocate(_ count: Int) -> UInt32 {
        let order = Self.order(count)
        while self.orders.count <= order { self.orders.append(Order()) }
        if let start = self.takeFree(order) { return start }
        for larger in order + 1..<max(order + 1, self.orders.count) {
            guard let start = self.takeFree(larger) else { continue }
            // The upper halves stay free.
            for half in (order..<larger).reversed() { self.addFree(start + 1 << UInt32(half), half) }
            return start
        }
        // Blocks start at multiples of their size; the gap before this one becomes free blocks.
        while self.elements.count & (1 << order - 1) != 0 {
            let gap = self.elements.count.trailingZeroBitCount
            let start = self.elements.count
            self.elements.append(undefined: 1 << gap)
            self.release(UInt32(start), 1 << gap)
        }
        // The gap may have joined with the blocks before it to one of this size.
        if let start = self.takeFree(order) { return start }
        let start = self.elements.count
        precondition(start + 1 << order <= Int(UInt32.max), "a store of more than four billion elements")
        self.elements.append(undefined: 1 << order)
        return UInt32(start)
    }

    /// Gives back a block with room for `count` elements.
    @inlinable
    public mutating func release(_ start: UInt32, _ count: Int) {
        var start = start
        var order = Self.order(count)
        while true {
            let buddy = start ^ (1 << UInt32(order))
            guard self.isFree(Int(buddy) >> order, order) else { break }
            self.mark(buddy, order, isFree: false)
            start = min(start, buddy)
            order += 1
            if self.orders.count == order { self.orders.append(Order()) }
        }
        self.addFree(start, order)
    }

    /// The block of `count` elements as one of `newCount`, its first elements kept: the same one if the size allows.
    @inlinable @inline(__always)
    public mutating func resize(_ start: UInt32, _ count: Int, to newCount: Int) -> UInt32 {
        guard Self.order(count) != Self.order(newCount) else { return start }
        let moved = self.allocate(newCount)
        self.elements.move(from: Int(start), to: Int(moved), count: min(count, newCount))
        self.release(start, count)
        return moved
    }

    @inlinable
    mutating func takeFree(_ order: Int) -> UInt32? {
        while let start = self.orders[order].starts.popLast() {
            guard self.isFree(Int(start) >> order, order) else { continue }
            self.mark(start, order, isFree: false)
            return start
        }
        return nil
    }

    @inlinable
    mutating func addFree(_ start: UInt32, _ order: Int) {
        self.orders[order].starts.append(start)
        self.mark(start, order, isFree: true)
    }

    @inlinable
    func isFree(_ block: Int, _ order: Int) -> Bool {
        guard block >> 6 < self.orders[order].marks.count else { return false }
        return self.orders[order].marks[block >> 6] >> UInt64(block & 63) & 1 == 1
    }

    @inlinable
    mutating func mark(_ start: UInt32, _ order: Int, isFree: Bool) {
        let block = Int(start) >> order
        let bit: UInt64 = 1 << UInt64(block & 63)
        self.orders[order].marks.extend(to: block >> 6, repeating: 0)
        if isFree {
            self.orders[order].marks[block >> 6] |= bit
        } else {
            self.orders[order].marks[block >> 6] &= ~bit
        }
    }

    /// The violated invariants, given the blocks in use as start and count; empty if there are none.
    @inlinable
    public func checkInvariants(_ used: [(start: UInt32, count: Int)]) -> [String] {
        var blocks = used.map { Int($0.start)..<Int($0.start) + 1 << Self.order($0.count) }
        var faults: [String] = []
        for order in self.orders.indices {
            for block in 0..<self.orders[order].marks.count * 64 where self.isFree(block, order) {
                blocks.append(block << order..<(block + 1) << order)
                if self.isFree(block ^ 1, order) { faults.append("free block \(block) of order \(order) did not join") }
            }
        }
        return faults + self.elements.checkTiling(blocks)
    }
}

extension BuddyStore: Sendable where Element: Sendable {}
extension BuddyStore.Order: Sendable where Element: Sendable {}
