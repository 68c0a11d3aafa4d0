import TestSupport
import Testing

@testable import HTTP2

@Suite struct BlockPoolTests {
    /// A block filled with one mark.
    @safe private struct Block {
        let address: UnsafeMutableRawPointer
        let size: Int
        let mark: UInt8

        init?(_ pool: inout BlockPool, _ size: Int, mark: UInt8) {
            guard let address = unsafe pool.allocate(size) else { return nil }
            unsafe self.init(address, size, mark)
        }

        private init(_ address: UnsafeMutableRawPointer, _ size: Int, _ mark: UInt8) {
            unsafe self.address = address
            self.size = size
            self.mark = mark
            for offset in 0..<size { unsafe address.storeBytes(of: mark, toByteOffset: offset, as: UInt8.self) }
        }

        var isWhole: Bool { self.holdsMark(upTo: self.size) }
        var place: UInt { UInt(bitPattern: unsafe self.address) }

        private func holdsMark(upTo size: Int) -> Bool {
            (0..<size).allSatisfy { unsafe self.address.load(fromByteOffset: $0, as: UInt8.self) == self.mark }
        }

        func release(to pool: inout BlockPool) { unsafe pool.release(self.address) }

        /// The block in another size, or nil if what both sizes have in common was lost.
        func resized(_ pool: inout BlockPool, to size: Int) -> Block? {
            guard let moved = unsafe pool.resize(self.address, to: size) else { return nil }
            let common = min(size, self.size)
            let isKept = (0..<common).allSatisfy { unsafe moved.load(fromByteOffset: $0, as: UInt8.self) == self.mark }
            return isKept ? unsafe Block(moved, size, self.mark) : nil
        }
    }

    @Test(arguments: UInt64(0)..<8)
    func `blocks keep what is written to them until they are given back`(seed: UInt64) throws {
        var dice = SplitMix64(seed: seed)
        var pool = BlockPool()
        var blocks: [Block] = []
        for step in 0..<4000 {
            let sizes = [0, 1, 63, 64, 65, 511, 512, 513, 5000, 8192, 8193, 16_465, 40_000]
            let size = sizes.randomElement(using: &dice) ?? 0
            switch Int.random(in: 0..<4, using: &dice) {
            case 0, 1:
                blocks.append(try #require(Block(&pool, size, mark: UInt8(truncatingIfNeeded: step))))
            case 2 where !blocks.isEmpty:
                let block = blocks.remove(at: Int.random(in: 0..<blocks.count, using: &dice))
                #expect(block.isWhole, "seed \(seed), step \(step)")
                block.release(to: &pool)
            case 3 where !blocks.isEmpty:
                let block = blocks.remove(at: Int.random(in: 0..<blocks.count, using: &dice))
                blocks.append(try #require(block.resized(&pool, to: size), "seed \(seed), step \(step)"))
            default:
                pool.trim()
            }
        }
        for block in blocks {
            #expect(block.isWhole, "seed \(seed)")
            block.release(to: &pool)
        }
        pool.trim()
    }

    @Test func `a block given back is the next of its size`() throws {
        var pool = BlockPool()
        let first = try #require(Block(&pool, 100, mark: 1))
        first.release(to: &pool)
        let other = try #require(Block(&pool, 200, mark: 2))
        let again = try #require(Block(&pool, 128, mark: 3))
        #expect(again.place == first.place)
        #expect(other.place != first.place)
        #expect(again.place % 16 == 0)
        other.release(to: &pool)
        again.release(to: &pool)
        pool.trim()
    }
}
