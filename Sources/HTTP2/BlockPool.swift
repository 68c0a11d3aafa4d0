import CNghttp2

/// The memory that nghttp2 asks for in one session: small blocks are kept for the next stream.
///
/// nghttp2 takes and gives back some six blocks per request, and with a hundred streams open at once that is more than
/// the C library keeps at hand. Blocks of up to ``sizeMax`` bytes are kept by size, the last one given back first; larger
/// ones go to the C library.
///
/// Belongs to one session, and so to one thread.
@safe struct BlockPool {
    /// Bytes of the largest blocks that are kept.
    static let sizeMax = 512
    /// Sizes are whole multiples of this.
    private static let grain = 64
    /// Blocks of one size that are kept at most.
    private static let keptMax = 256
    /// Stands before each block; keeps blocks aligned as the C library's are.
    private static let headerBytes = 16
    /// Blocks beyond this size begin without memory behind them: bytes.
    ///
    /// nghttp2 makes frames in a buffer of 16 KiB that each session has. A session that sends short answers writes to the
    /// first page of it only, but the C library hands out memory that a handshake has just used and freed.
    private static let emptyFrom = 8192
    private static let pageBytes = 4096
    /// A header's mark of a block that is not kept.
    private static let large = 0

    /// The first free block of each size, linked through the blocks themselves.
    private var free: InlineArray<9, UnsafeMutableRawPointer?>
    private var counts = InlineArray<9, Int>(repeating: 0)

    init() {
        unsafe self.free = InlineArray(repeating: nil)
    }

    /// A block of at least `size` bytes, or nil if there is no memory.
    @inline(__always)
    mutating func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
        guard size <= Self.sizeMax else { return unsafe Self.make(Self.large, size) }
        // Size 0 gets a block too.
        let number = max(1, (size &+ (Self.grain - 1)) / Self.grain)
        guard let block = unsafe self.free[number] else { return unsafe Self.make(number, number &* Self.grain) }
        // Sound: a free block's first bytes hold the link to the next one.
        let next = unsafe block.load(as: UnsafeMutableRawPointer?.self)
        unsafe self.free[number] = next
        self.counts[number] &-= 1
        // It was given back a while ago, in which the cache saw much else.
        if let next = unsafe next { unsafe Prefetch.all(next - Self.headerBytes, number &* Self.grain) }
        return unsafe block
    }

    private static func make(_ number: Int, _ size: Int) -> UnsafeMutableRawPointer? {
        guard let memory = unsafe malloc(size + Self.headerBytes) else { return nil }
        if size > Self.emptyFrom { unsafe Self.empty(memory, size + Self.headerBytes) }
        unsafe memory.storeBytes(of: number, as: Int.self)
        return unsafe memory + Self.headerBytes
    }

    /// Takes the memory away from behind the pages that lie within a block; it comes back when they are written to.
    ///
    /// Sound: nothing has been written to the block yet, and the C library's own data stand before and behind it.
    private static func empty(_ memory: UnsafeMutableRawPointer, _ size: Int) {
        let first = unsafe memory.alignedUp(toMultipleOf: Self.pageBytes)
        let end = unsafe (memory + size).alignedDown(toMultipleOf: Self.pageBytes)
        // Where the system's pages are larger it refuses, and nothing is changed.
        if unsafe first < end { _ = unsafe madvise(first, end - first, MADV_DONTNEED) }
    }

    /// Takes a block back that ``allocate(_:)`` gave.
    @inline(__always)
    mutating func release(_ block: UnsafeMutableRawPointer?) {
        guard let block = unsafe block else { return }
        // Sound: `make` has written the number there.
        let number = unsafe (block - Self.headerBytes).load(as: Int.self)
        guard number != Self.large, self.counts[number] < Self.keptMax else {
            return unsafe CNghttp2.free(block - Self.headerBytes)
        }
        unsafe block.storeBytes(of: self.free[number], as: UnsafeMutableRawPointer?.self)
        unsafe self.free[number] = block
        self.counts[number] &+= 1
    }

    /// A block of another size with the same contents; the old one is taken back.
    mutating func resize(_ block: UnsafeMutableRawPointer?, to size: Int) -> UnsafeMutableRawPointer? {
        guard let block = unsafe block else { return unsafe self.allocate(size) }
        let number = unsafe (block - Self.headerBytes).load(as: Int.self)
        if number == Self.large, size > Self.sizeMax {
            guard let memory = unsafe realloc(block - Self.headerBytes, size + Self.headerBytes) else { return nil }
            return unsafe memory + Self.headerBytes
        }
        if number != Self.large, size <= number * Self.grain { return unsafe block }
        guard let larger = unsafe self.allocate(size) else { return nil }
        // Sound: a large block that shrinks has at least `size` bytes, a kept one that grows has all of its own.
        unsafe larger.copyMemory(from: block, byteCount: number == Self.large ? size : number * Self.grain)
        unsafe self.release(block)
        return unsafe larger
    }

    /// Gives free blocks back to the C library.
    mutating func trim() {
        for number in self.counts.indices {
            while let block = unsafe self.free[number] {
                unsafe self.free[number] = block.load(as: UnsafeMutableRawPointer?.self)
                unsafe CNghttp2.free(block - Self.headerBytes)
            }
            self.counts[number] = 0
        }
    }

    /// How nghttp2 reaches a pool.
    ///
    /// Sound: the session that is made with it keeps the pool at its address and outlives nghttp2's session.
    static func functions(of pool: UnsafeMutablePointer<BlockPool>) -> nghttp2_mem {
        unsafe nghttp2_mem(
            mem_user_data: pool,
            malloc: { size, pool in unsafe Self.pool(pool).pointee.allocate(size) },
            free: { block, pool in unsafe Self.pool(pool).pointee.release(block) },
            calloc: { count, size, pool in
                let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: size)
                guard !isTooLarge, let block = unsafe Self.pool(pool).pointee.allocate(bytes) else { return nil }
                return unsafe memset(block, 0, bytes)
            },
            realloc: { block, size, pool in unsafe Self.pool(pool).pointee.resize(block, to: size) }
        )
    }

    private static func pool(_ userData: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<BlockPool> {
        unsafe userData!.assumingMemoryBound(to: BlockPool.self)
    }
}
