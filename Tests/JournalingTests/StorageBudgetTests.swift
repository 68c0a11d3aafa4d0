import Journaling
import TestSupport
import Testing

@Suite struct StorageBudgetTests {
    private static let mebibyte = 1_048_576

    /// A directory with so many MiB of log on a file system of 100,000 MiB.
    private static func sizes(log: Int, largestSnapshot: Int = 0, free: Int = 90_000) -> StorageSizes {
        var sizes = StorageSizes()
        sizes.log = log * Self.mebibyte
        sizes.largestSnapshot = largestSnapshot * Self.mebibyte
        sizes.fileSystem = 100_000 * Self.mebibyte
        sizes.free = free * Self.mebibyte
        return sizes
    }

    private static func budget(_ sizes: StorageSizes, max: Int? = 1064) -> StorageBudget {
        StorageBudget(StorageBudget.Settings(bytesMax: max.map { $0 * Self.mebibyte }), sizes)
    }

    // 1,064 MiB, of which 64 are for reports: 1,000 for traffic.
    @Test(arguments: [
        (0, StorageBudget.Level.ample, 0), (799, .ample, 79), (800, .filling, 80), (899, .filling, 89),
        (900, .tight, 90), (999, .tight, 99), (1000, .full, 100), (1063, .full, 106), (1064, .exhausted, 106),
        (5000, .exhausted, 500),
    ])
    func `levels are told at, below and above their edges`(log: Int, level: StorageBudget.Level, percent: Int) {
        let budget = Self.budget(Self.sizes(log: log))
        #expect(budget.level == level)
        #expect(budget.usedPercent == percent)
        #expect(budget.admits(.traffic) == (log < 1000))
        #expect(budget.admits(.report) == (log < 1064))
        #expect(budget.admits(.upkeep))
    }

    @Test func `the largest snapshot is kept room for, twice`() {
        let budget = Self.budget(Self.sizes(log: 799, largestSnapshot: 100))
        #expect(budget.reserve == 264 * Self.mebibyte)
        #expect(budget.left(for: .traffic) == 1 * Self.mebibyte)
        #expect(budget.left(for: .report) == 65 * Self.mebibyte)
        #expect(Self.budget(Self.sizes(log: 800, largestSnapshot: 100)).level == .full)
        #expect(Self.budget(Self.sizes(log: 864, largestSnapshot: 100)).level == .exhausted)
    }

    @Test func `without a bound of its own the directory may take all but a share of the file system`() {
        // 5,000 MiB stay free: 10,000 that are used and 1,064 more.
        let budget = Self.budget(Self.sizes(log: 10_000, free: 6064), max: nil)
        #expect(budget.limit == 11_064 * Self.mebibyte)
        #expect(budget.left(for: .traffic) == 1000 * Self.mebibyte)
        #expect(Self.budget(Self.sizes(log: 10_000, free: 5064), max: nil).level == .full)
        #expect(Self.budget(Self.sizes(log: 10_000, free: 5000), max: nil).level == .exhausted)
        // Another program has filled it.
        let filled = Self.budget(Self.sizes(log: 10_000, free: 0), max: nil)
        #expect(filled.level == .exhausted)
        #expect(filled.limit == 5000 * Self.mebibyte)
    }

    @Test func `a bound is one whatever the file system has, and the other way round`() {
        #expect(Self.budget(Self.sizes(log: 0, free: 90_000), max: 1064).limit == 1064 * Self.mebibyte)
        #expect(Self.budget(Self.sizes(log: 0, free: 5500), max: 1064).limit == 500 * Self.mebibyte)
    }

    @Test(arguments: Seeds.from(1, count: 200))
    func `whatever the sizes are, the more is used the less is admitted, and reports outlast traffic`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func number() -> Int {
            switch random.next() % 8 {
            case 0: 0
            case 1: .max
            case 2: -1
            default: Int(random.next() >> (1 + random.next() % 60))
            }
        }
        var sizes = StorageSizes()
        sizes.log = number()
        sizes.writeAheadLog = number()
        sizes.snapshots = number()
        sizes.largestSnapshot = number()
        sizes.archives = number()
        sizes.other = number()
        sizes.fileSystem = number()
        sizes.free = number()
        let settings = StorageBudget.Settings(
            bytesMax: random.next() % 2 == 0 ? nil : max(0, number()),
            freePercentMin: Int(random.next() % 91)
        )
        let budget = StorageBudget(settings, sizes)
        #expect(budget.left(for: .traffic) <= budget.left(for: .report))
        #expect(budget.admits(.upkeep))
        #expect((budget.level >= .full) == !budget.admits(.traffic))
        #expect((budget.level == .exhausted) == !budget.admits(.report))
        #expect((budget.usedPercent >= 100) == !budget.admits(.traffic))
        #expect(budget.limit <= settings.bytesMax ?? .max)
        // A byte more from the same disk.
        guard sizes.log < Int.max, sizes.free > 0 else { return }
        sizes.log += 1
        sizes.free -= 1
        let more = StorageBudget(settings, sizes)
        #expect(more.level >= budget.level)
        #expect(more.left(for: .traffic) <= budget.left(for: .traffic))
        #expect(more.left(for: .report) <= budget.left(for: .report))
    }
}
