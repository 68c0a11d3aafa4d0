import Foundation
import Partitions
import Settings
import Testing

@Suite struct MemoryBudgetTests {
    private static func budget(_ bound: MemoryBound, _ resident: Int, growth: Int = 0, available: Int? = 2000)
        -> MemoryBudget
    {
        MemoryBudget(bound, MemorySizes(resident: resident, available: available), registryGrowth: growth)
    }

    @Test(arguments: [
        (0, MemoryBudget.Level.ample, 0), (799, .ample, 79), (800, .filling, 80), (999, .filling, 99),
        (1000, .full, 100), (1001, .full, 100), (5000, .full, 500),
    ])
    func `levels are told at, below and above their edges`(resident: Int, level: MemoryBudget.Level, percent: Int) {
        for bound in [MemoryBound.bytes(1000), .percent(50)] {
            let budget = Self.budget(bound, resident)
            #expect(budget.limit == 1000)
            #expect(budget.level == level)
            #expect(budget.usedPercent == percent)
            #expect(budget.hasRoom == (resident < 1000))
        }
    }

    @Test func `what the registry has free again is not used, and what it has grown by is`() {
        #expect(Self.budget(.bytes(1000), 1200, growth: -300).used == 900)
        #expect(Self.budget(.bytes(1000), 900, growth: 100).level == .full)
        #expect(Self.budget(.bytes(1000), 100, growth: -300).used == 0)
    }

    @Test func `a share of what the kernel does not tell is no bound, a size is one all the same`() {
        let unknown = Self.budget(.percent(70), 5000, available: nil)
        #expect(unknown.limit == nil && unknown.hasRoom && unknown.level == .ample && unknown.usedPercent == 0)
        #expect(Self.budget(.bytes(1000), 1000, available: nil).level == .full)
    }

    @Test func `sizes that cannot be are no trap`() {
        #expect(Self.budget(.percent(100), .max, growth: .max, available: .max).used == .max)
        #expect(Self.budget(.percent(70), -1, growth: .min, available: -1).used == 0)
        #expect(Self.budget(.bytes(50), 49).usedPercent == 0)
        #expect(Self.budget(.bytes(50), 50).usedPercent == 100)
    }
}

/// The amount of memory, as the kernel's files tell it.
@Suite struct MemoryReadingTests {
    private static func sizes(_ files: [String: String], machine bytes: Int? = 1_024_000) throws -> MemorySizes {
        let root = FileManager.default.temporaryDirectory.appending(path: "freshet-memory-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        let machine = [
            "proc/self/status": "Name:\tfreshet\nVmPeak:\t  2000 kB\nVmRSS:\t   250 kB\n"
        ]
        for (name, text) in machine.merging(files, uniquingKeysWith: { $1 }) {
            let file = "\(root)/\(name)"
            let folder = (file as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try text.write(toFile: file, atomically: true, encoding: .utf8)
        }
        return try MemoryReading.sizes(under: root, machine: bytes)
    }

    @Test func `without groups there is what the machine has`() throws {
        let sizes = try Self.sizes([:])
        #expect(sizes.resident == 256_000)
        #expect(sizes.available == 1_024_000)
    }

    @Test func `of a group and those around it the smallest limit counts`() throws {
        let (group, root) = ("proc/self/cgroup", "sys/fs/cgroup")
        let path = "0::/system.slice/freshet.service\n"
        let slice = "\(root)/system.slice/memory.max"
        let service = "\(root)/system.slice/freshet.service/memory.max"
        #expect(try Self.sizes([group: path, slice: "max\n", service: "600000\n"]).available == 600_000)
        #expect(try Self.sizes([group: path, slice: "500000\n", service: "600000\n"]).available == 500_000)
        #expect(try Self.sizes([group: path, slice: "max\n", service: "max\n"]).available == 1_024_000)
        #expect(try Self.sizes([group: path, service: "2000000\n"]).available == 1_024_000)
        // A container whose path is the machine's.
        #expect(try Self.sizes([group: "0::/../../docker/7\n", "\(root)/memory.max": "300000"]).available == 300_000)
    }

    @Test func `version 1 of control groups counts, too`() throws {
        let group = ["proc/self/cgroup": "9:cpu:/a\n4:hugetlb,memory:/box\n0::/\n"]
        let file = "sys/fs/cgroup/memory/box/memory.limit_in_bytes"
        #expect(try Self.sizes(group.merging([file: "400000\n"]) { $1 }).available == 400_000)
        #expect(try Self.sizes(group.merging([file: "9223372036854771712\n"]) { $1 }).available == 1_024_000)
    }

    @Test func `files without a number are a fault, or no limit`() throws {
        #expect(throws: MemoryReading.ReadError.self) { try Self.sizes(["proc/self/status": "VmRSS: one kB"]) }
        #expect(throws: MemoryReading.ReadError.self) { try MemoryReading.sizes(under: "/nowhere") }
        #expect(try Self.sizes([:], machine: nil).available == nil)
    }

    @Test func `this process takes some of what there is`() throws {
        let sizes = try MemoryReading.sizes()
        #expect(sizes.resident > 1_000_000)
        // By the system's call: the unit of systemd hides /proc/meminfo.
        #expect(try #require(MemoryReading.machineBytes) >= (try #require(sizes.available)))
        #expect(try #require(sizes.available) > sizes.resident)
    }
}
