import Engine
import Logging
import Partitions
import Settings
import Testing
import WidgetModel

/// The counted and the reserved usage, and the messages about the memory.
@Suite struct RegistryWatchTests {
    private static let mebibyte = FakeMemory.mebibyte

    private static func usage(
        hosts: Int = 0,
        instances: Int = 0,
        mebibytes: Int = 0,
        app: BundleID = Sports.app,
        team: TeamID = Sports.team
    ) -> [AppUsage] {
        let usage = RegistryUsage(hosts: hosts, instances: instances, textBytes: mebibytes * Self.mebibyte)
        return [AppUsage(app: app, team: team, usage)]
    }

    private static func isTaken(_ watch: RegistryWatch, hosts: Int = 0, instances: Int = 0, new: Int = 0) -> Bool {
        let added = RegistryAdditions(hosts: hosts, instances: instances, newInstances: new)
        guard case .success(let reservation) = watch.reserve(added, for: Sports.app) else { return false }
        watch.release([reservation])
        return true
    }

    @Test func `what partitions have is added up, and replaced as it changes`() throws {
        let watch = FakeMemory().watch()
        watch.publish(Self.usage(hosts: 3, instances: 4), of: PartitionID(0))
        watch.publish(Self.usage(hosts: 5, instances: 6), of: PartitionID(1))
        watch.publish(Self.usage(hosts: 1, instances: 2), of: PartitionID(0))
        let app = try #require(watch.view.apps.first)
        #expect((app.usage.hosts, app.usage.instances) == (6, 8))
        #expect(watch.view.teams.map(\.team) == [Sports.team])
        // The app is another team's now; in the other partition it is so a moment later.
        watch.publish(Self.usage(hosts: 1, instances: 2, team: Sports.otherTeam), of: PartitionID(0))
        watch.publish(Self.usage(hosts: 5, instances: 6, team: Sports.otherTeam), of: PartitionID(1))
        #expect(watch.view.teams.map(\.team) == [Sports.otherTeam])
        #expect(watch.view.teams.map(\.usage.hosts) == [6])
    }

    @Test func `what other nodes have counts for limits, and takes no memory here`() throws {
        let watch = FakeMemory().watch(FakeMemory.limits { $0.limits.hosts.perApp = 10 })
        let (own, other) = (PartitionID(0), PartitionID(1))
        watch.publish(Self.usage(hosts: 3), of: own)
        watch.publish(Self.usage(hosts: 5, mebibytes: 7), elsewhere: other)
        #expect(Self.isTaken(watch, hosts: 2) && !Self.isTaken(watch, hosts: 3))
        #expect(watch.view.apps.map(\.usage.hosts) == [3] && watch.view.apps.map(\.usage.textBytes) == [0])
        // A partition counts once, wherever it is.
        watch.publish(Self.usage(hosts: 6), elsewhere: other)
        #expect(Self.isTaken(watch, hosts: 1) && !Self.isTaken(watch, hosts: 2))
        watch.publish(Self.usage(hosts: 6), of: other)
        watch.publish(Self.usage(hosts: 9), elsewhere: other)
        #expect(Self.isTaken(watch, hosts: 1) && !Self.isTaken(watch, hosts: 2))
        watch.leave(own)
        #expect(Self.isTaken(watch, hosts: 1) && !Self.isTaken(watch, hosts: 2))
        #expect(watch.view.apps.map(\.usage.hosts) == [6])
        watch.publish([], elsewhere: own)
        #expect(Self.isTaken(watch, hosts: 4) && !Self.isTaken(watch, hosts: 5))
    }

    @Test func `whether anything is limited is known`() {
        #expect(!FakeMemory().watch(FakeMemory.limits { _ in }).hasLimits)
        #expect(FakeMemory().watch(FakeMemory.limits { $0.teams[0].instancesMax = 5 }).hasLimits)
    }

    @Test func `a limit holds at, below and above its edge, with what is on its way`() throws {
        let watch = FakeMemory().watch(FakeMemory.limits { $0.limits.hosts.perApp = 10 })
        watch.publish(Self.usage(hosts: 8), of: PartitionID(0))
        #expect(Self.isTaken(watch, hosts: 1) && Self.isTaken(watch, hosts: 2))
        #expect(!Self.isTaken(watch, hosts: 3))
        let first = try watch.reserve(RegistryAdditions(hosts: 1), for: Sports.app).get()
        #expect(Self.isTaken(watch, hosts: 1))
        #expect(!Self.isTaken(watch, hosts: 2))
        // It is applied: counted before it is released, never in between.
        watch.publish(Self.usage(hosts: 9), of: PartitionID(0))
        #expect(!Self.isTaken(watch, hosts: 1))
        watch.release([first])
        #expect(Self.isTaken(watch, hosts: 1))
        watch.publish(Self.usage(hosts: 12), of: PartitionID(0))
        #expect(!Self.isTaken(watch, hosts: 1))
        #expect(Self.isTaken(watch, instances: 5, new: 5), "what is not limited")
        #expect(Self.isTaken(watch, instances: -1), "above a smaller limit it may shrink")
    }

    @Test func `a team's limit is that of all its apps together`() {
        let limits = FakeMemory.limits { configuration in
            configuration.apps[1].team = Sports.team
            configuration.limits.instances.perTeam = 10
        }
        let watch = FakeMemory().watch(limits)
        let other = Self.usage(instances: 6, app: Sports.otherApp)
        watch.publish(Self.usage(instances: 3) + other, of: PartitionID(0))
        #expect(Self.isTaken(watch, instances: 1, new: 1))
        #expect(!Self.isTaken(watch, instances: 2, new: 2))
        let refusal = watch.reserve(RegistryAdditions(instances: 2), for: Sports.otherApp)
        let limit = limits[.team(Sports.team)].instances
        #expect(throws: RegistryError.tooMany(.instances, adding: 2, count: 9, .team(Sports.team), limit!)) {
            try refusal.get()
        }
    }

    @Test func `limits and the bound change at once`() {
        let memory = FakeMemory()
        let watch = memory.watch(FakeMemory.limits { $0.limits.hosts.perApp = 1 })
        watch.publish(Self.usage(hosts: 1), of: PartitionID(0))
        #expect(!Self.isTaken(watch, hosts: 1))
        watch.applyLimits(FakeMemory.limits { $0.apps[0].hostsMax = 2 })
        watch.applyBound(MemoryBound.bytes(1000 * Self.mebibyte))
        #expect(Self.isTaken(watch, hosts: 1))
        memory.use(mebibytes: 100)
        watch.measure()
        watch.applyLimits(FakeMemory.limits())
        watch.applyBound(MemoryBound.bytes(100 * Self.mebibyte))
        #expect(!Self.isTaken(watch, hosts: 1))
        watch.applyLimits(FakeMemory.limits())
        watch.applyBound(MemoryBound.percent(3))
        #expect(Self.isTaken(watch, hosts: 1))
    }

    @Test func `a full memory takes what adds nothing`() {
        let memory = FakeMemory()
        let watch = memory.watch()
        for (mebibytes, hasRoom) in [(999, true), (1000, false), (1001, false), (999, true)] {
            memory.use(mebibytes: mebibytes)
            watch.measure()
            #expect(Self.isTaken(watch, hosts: 1) == hasRoom)
            #expect(Self.isTaken(watch, instances: 1, new: 1) == hasRoom)
            #expect(Self.isTaken(watch, new: 1) == hasRoom, "an id for another takes a row more")
            #expect(Self.isTaken(watch))
            #expect(Self.isTaken(watch, instances: -3))
        }
    }

    @Test func `what comes between two looks is counted, and memory that is free again is used again`() {
        let memory = FakeMemory()
        let watch = memory.watch()
        watch.publish(Self.usage(mebibytes: 100), of: PartitionID(0))
        memory.use(mebibytes: 900)
        watch.measure()
        watch.publish(Self.usage(mebibytes: 199), of: PartitionID(0))
        #expect(Self.isTaken(watch, hosts: 1))
        watch.publish(Self.usage(mebibytes: 200), of: PartitionID(0))
        #expect(!Self.isTaken(watch, hosts: 1))
        memory.use(mebibytes: 1000)
        watch.measure()
        #expect(watch.view.budget?.used == 1000 * Self.mebibyte)
        // Hosts go; the process keeps the memory for those that come.
        watch.publish(Self.usage(mebibytes: 150), of: PartitionID(0))
        watch.measure()
        #expect(watch.view.budget?.used == 950 * Self.mebibyte)
        #expect(Self.isTaken(watch, hosts: 1))
        watch.publish(Self.usage(mebibytes: 200), of: PartitionID(0))
        #expect(!Self.isTaken(watch, hosts: 1))
    }

    @Test func `each change is told once, with what every team has`() {
        let memory = FakeMemory()
        let watch = memory.watch()
        let teams = Self.usage(mebibytes: 1) + Self.usage(mebibytes: 2, app: Sports.otherApp, team: Sports.otherTeam)
        watch.publish(teams, of: PartitionID(0))
        watch.measure()
        for mebibytes in [799, 800, 900, 999, 1000, 1500, 999, 900, 799, 100] {
            memory.use(mebibytes: mebibytes)
            watch.measure()
            watch.measure()
        }
        #expect(memory.levels == [.warning, .error, .notice, .notice])
        let (larger, smaller) = (Sports.otherTeam.rawValue, Sports.team.rawValue)
        #expect(Set(memory.teams) == ["\(larger) 2097152, \(smaller) 1048576"])
    }

    @Test func `a memory that cannot be measured is what it was, told once`() {
        let memory = FakeMemory()
        let watch = memory.watch()
        memory.use(mebibytes: 1000)
        watch.measure()
        memory.use(mebibytes: 0)
        memory.failMeasuring(true)
        for _ in 0..<3 { watch.measure() }
        #expect(!Self.isTaken(watch, hosts: 1))
        #expect(memory.levels == [.error, .error])
        memory.failMeasuring(false)
        watch.measure()
        #expect(Self.isTaken(watch, hosts: 1))
    }
}
