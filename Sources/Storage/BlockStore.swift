public import BasicContainers

/// Blocks of elements out of one column, for many small arrays that keep their size: texts, keys, lists that do not grow.
///
/// Sizes are 1, 2, 3, 4, 6, 8, 12, 16, … elements; a block that is given back is taken again for the same size. For lists that
/// grow see ``BuddyStore``.
@frozen public struct BlockStore<Element: BitwiseCopyable & FixedWidthInteger>: ~Copyable {
    /// The elements of all blocks.
    public var elements = Column<Element>()
    /// Starts of free blocks, by size class.
    @usableFromInline var free = UniqueArray<Column<UInt32>>()

    /// A store without blocks.
    @inlinable
    public init() {}

    /// Bytes of memory held.
    @inlinable
    public var byteCount: Int {
        var count = self.elements.byteCount
        for index in self.free.indices { count += self.free[index].byteCount }
        return count
    }

    /// The number of the smallest size that holds `count` elements. Precondition: at least 1.
    @inlinable @inline(__always)
    package static func sizeClass(_ count: Int) -> Int {
        guard count > 2 else { return count - 1 }
        let bits = Int.bitWidth - (count - 1).leadingZeroBitCount
        return count <= 3 << (bits - 2) ? 2 * bits - 2 : 2 * bits - 1
    }

    /// The elements of a block of a size class.
    @inlinable @inline(__always)
    package static func size(_ sizeClass: Int) -> Int {
        guard sizeClass > 1 else { return sizeClass + 1 }
        return sizeClass & 1 == 0 ? 3 << (sizeClass / 2 - 1) : 1 << ((sizeClass + 1) / 2)
    }

    /// The start of a block with room for `count` elements, their values undefined. Precondition: at least 1.
    @inlinable
    public mutating func allocate(_ count: Int) -> UInt32 {
        let sizeClass = Self.sizeClass(count)
        if sizeClass < self.free.count, let start = self.free[sizeClass].popLast() { return start }
        let start = self.elements.count
        precondition(start <= Int(UInt32.max), "a store of more than four billion elements")
        self.elements.append(repeating: 0, count: Self.size(sizeClass))
        return UInt32(start)
    }

    /// Gives back a block with room for `count` elements.
    @inlinable
    public mutating func release(_ start: UInt32, _ count: Int) {
        let sizeClass = Self.sizeClass(count)
        while self.free.count <= sizeClass { self.free.append(Column()) }
        self.free[sizeClass].append(start)
    }

    /// The violated invariants, given the blocks in use as start and count; empty if there are none.
    @inlinable
    public func checkInvariants(_ used: [(start: UInt32, count: Int)]) -> [String] {
        var blocks = used.map { Int($0.start)..<Int($0.start) + Self.size(Self.sizeClass($0.count)) }
        for sizeClass in self.free.indices {
            for index in 0..<self.free[sizeClass].count {
                let start = Int(self.free[sizeClass][index])
                blocks.append(start..<start + Self.size(sizeClass))
            }
        }
        return self.elements.checkTiling(blocks)
    }
}

extension BlockStore: Sendable where Element: Sendable {}
