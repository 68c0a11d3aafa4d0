import Storage
import TestSupport
import Testing

@Suite struct KernelTests {
    @Test(arguments: [0, 1, 63, 64, 65, 127, 128, 1000, 65_536])
    func `the loops in C give what the loops in Swift give`(count: Int) {
        var random = SplitMix64(seed: UInt64(count))
        for width in [1, 2, 4] {
            let bound: UInt64 = width == 1 ? 256 : width == 2 ? 65_536 : 1 << 32
            let few = UInt64(random.next() % 5 + 1)
            let codes = (0..<count).map { _ in UInt32(random.next() % (random.chance(1, in: 2) ? few : bound)) }
            for code in codes.prefix(3) + [0, 255, 7] {
                #expect(Kernels.equal(codes, code, width: width) == PlainKernels.equal(codes, code))
            }
            guard width < 4 else { continue }
            let table = (0..<Int(bound)).map { _ in UInt8(random.chance(1, in: 3) ? 1 : 0) }
            #expect(Kernels.table(codes, table, width: width) == PlainKernels.table(codes, table))
        }
    }

    @Test(arguments: [0, 1, 2, 16, 64, 1024])
    func `bits become the numbers of the set ones`(count: Int) {
        var random = SplitMix64(seed: UInt64(count))
        for density in [UInt64(0), 1, 8, 32, 60, 64] {
            let words = (0..<count).map { _ in
                (0..<64).reduce(UInt64(0)) { $0 | (random.chance(density, in: 64) ? 1 : 0) << UInt64($1) }
            }
            #expect(Kernels.decode(words, base: 70_000) == PlainKernels.decode(words, base: 70_000))
        }
    }

    @Test(arguments: [0, 1, 127, 128, 129, 1000])
    func `rows are kept by their codes`(count: Int) {
        var random = SplitMix64(seed: UInt64(count))
        let rows = (0..<UInt32(2 * count + 1)).filter { _ in random.chance(1, in: 2) }
        for width in [1, 2, 4] {
            let codes = (0..<2 * count + 1).map { _ in UInt32(random.next() % 6) }
            for wanted: [UInt32] in [[3, 3, 3, 3], [1, 2, 2, 2], [5, 0, 1, 2], [9, 259, 65_539, 7]] {
                #expect(Kernels.keep(rows, codes, wanted, width: width) == PlainKernels.keep(rows, codes, wanted))
            }
            guard width < 4 else { continue }
            let table = (0..<(width == 1 ? 1 << 8 : 1 << 16)).map { UInt8($0 % 3 == 1 ? 1 : 0) }
            #expect(Kernels.pick(rows, codes, table, width: width) == PlainKernels.pick(rows, codes, table))
        }
    }

    @Test(arguments: [0, 1, 15, 16, 17, 4096])
    func `lower halves become rows`(count: Int) {
        var random = SplitMix64(seed: UInt64(count))
        let lows = (0..<count).map { _ in UInt16(truncatingIfNeeded: random.next()) }
        #expect(Kernels.widen(lows, base: 3 << 16) == PlainKernels.widen(lows, base: 3 << 16))
        let numbers = lows.map { UInt32($0) }
        #expect(Kernels.add(numbers, 0 &- 7) == PlainKernels.add(numbers, 0 &- 7))
    }
}
