import Storage
import TestSupport
import Testing

/// Blocks out of one column: none overlap, and none is lost.
@Suite struct StoreTests {
    @Test(arguments: UInt64(0)..<4)
    func `blocks that keep their size tile the store`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var store = BlockStore<UInt8>()
        var blocks: [(start: UInt32, count: Int)] = []
        for step in 0..<3000 {
            if random.chance(step < 1500 ? 3 : 1, in: 4) {
                let count = Int(random.next() % 70) + 1
                let start = store.allocate(count)
                for place in 0..<count { store.elements[Int(start) + place] = UInt8(truncatingIfNeeded: count + place) }
                blocks.append((start, count))
            } else if !blocks.isEmpty {
                let block = blocks.remove(at: Int(random.next() % UInt64(blocks.count)))
                store.release(block.start, block.count)
            }
        }
        let faults = store.checkInvariants(blocks)
        #expect(faults == [], "seed \(seed)")
        for block in blocks {
            let isKept = (0..<block.count).allSatisfy {
                store.elements[Int(block.start) + $0] == UInt8(truncatingIfNeeded: block.count + $0)
            }
            #expect(isKept)
        }
    }

    @Test func `sizes are one and a half of the one before, about`() {
        let sizes = (1...100).map { BlockStore<UInt8>.size(BlockStore<UInt8>.sizeClass($0)) }
        for (count, size) in zip(1..., sizes) { #expect(size >= count && size <= max(count, 3 * count / 2)) }
        #expect(Array(Set(sizes)).sorted() == [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128])
    }

    @Test func `free neighbours become one block, also where none was as large before`() {
        var store = BuddyStore<UInt16>()
        store.release(store.allocate(1), 1)
        // The gap before the first block of its size is a neighbour, too.
        let (start, size) = (store.allocate(2), store.elements.count)
        #expect((start, size) == (0, 2))
        store.release(0, 2)
        let singles = [store.allocate(1), store.allocate(1)]
        for start in singles { store.release(start, 1) }
        var sizes: [Int] = []
        for count in [2, 4, 8] {
            let starts = [store.allocate(count), store.allocate(count)]
            sizes.append(store.elements.count)
            for start in starts { store.release(start, count) }
        }
        #expect(sizes == [4, 8, 16], "two blocks, and no more")
        let faults = store.checkInvariants([])
        #expect(faults == [])
    }

    @Test(arguments: UInt64(0)..<4)
    func `blocks that grow and shrink tile the store, and their memory is taken again`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var store = BuddyStore<UInt16>()
        var blocks: [(start: UInt32, count: Int)] = []
        for _ in 0..<60 { blocks.append((store.allocate(1), 1)) }
        var sizes: [Int] = []
        for round in 0..<6 {
            for _ in 0..<3000 {
                let place = Int(random.next() % UInt64(blocks.count))
                let count = max(1, blocks[place].count + (random.chance(round % 2 == 0 ? 3 : 1, in: 4) ? 5 : -5))
                blocks[place].start = store.resize(blocks[place].start, blocks[place].count, to: count)
                blocks[place].count = count
            }
            let faults = store.checkInvariants(blocks)
            #expect(faults == [], "seed \(seed), round \(round)")
            sizes.append(store.byteCount)
        }
        #expect(sizes[4] <= 2 * sizes[0], "what is free is taken before there is more")
        for block in blocks { store.release(block.start, block.count) }
        let faults = store.checkInvariants([])
        #expect(faults == [])
    }
}
