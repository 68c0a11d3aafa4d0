import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// An engine that postpones what bursts write, beside one that writes all of it at once: nobody can tell them apart.
@Suite struct PostponingTests {
    /// Two engines that are given the same records.
    struct Twins {
        var plain = Engine(partition: PartitionID(0), partitions: 1)
        var postponing = Engine(partition: PartitionID(0), partitions: 1)
        /// The most that was postponed at a time, and how many matches ever were.
        private(set) var most = 0
        private(set) var postponed = 0

        init(from count: Int = 1, atMost max: Int = .max) {
            self.postponing.postponeMatches(from: count, atMost: max)
        }

        /// - Returns: Whether both gave out the same, and which timers are next does not contradict.
        mutating func apply(_ entry: (record: Record, at: LogPosition, time: Instant)) throws -> Bool {
            var outputs = (EngineOutput(), EngineOutput())
            let before = self.postponing.postponedMatches
            try self.plain.apply(entry, into: &outputs.0)
            try self.postponing.apply(entry, into: &outputs.1)
            let now = self.postponing.postponedMatches
            self.most = max(self.most, now)
            self.postponed += max(0, now - before)
            if let due = self.plain.nextTimer {
                guard let next = self.postponing.nextTimer, next <= due else { return false }
            }
            return outputs.0.effects == outputs.1.effects && outputs.0.answers == outputs.1.answers
                && outputs.0.directory == outputs.1.directory
                && self.plain.runningHash == self.postponing.runningHash
        }

        /// What is not the same once everything is settled, to every decision that is kept.
        func differences(hosts: [String] = RandomSchedule.hosts) -> [String] {
            var settled = self.postponing
            settled.settle()
            var found = settled.checkInvariants()
            if settled.stateDigest() != self.plain.stateDigest() { found.append("the digest") }
            if settled.stats() != self.plain.stats() { found.append("the totals") }
            if settled.nextTimer != self.plain.nextTimer { found.append("the next timer") }
            for host in hosts {
                for id in ["w1", "w2", "w3", "c1"] {
                    let address = InstanceAddress(host: HostKey(host), instance: InstanceID(id))
                    if settled.instance(address) != self.plain.instance(address) { found.append("\(address)") }
                }
            }
            return found
        }
    }

    @Test(arguments: Seeds.from(1, count: 24) + [6226])
    func `random schedules come to the same at every step`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed &* 77)
        var schedule = RandomSchedule(
            seed: seed,
            settings: Scene.settings(budget: seed.isMultiple(of: 2) ? .widgetkit : Scene.steady),
            deliveries: seed.isMultiple(of: 5) ? [.stream, .stream, .apns] : [.stream],
            policies: seed.isMultiple(of: 3) ? [.widgetkit, Scene.steady, .unlimited] : [],
            hasClockSteps: seed.isMultiple(of: 7),
            hasBursts: true
        )
        schedule.scene.checks = false
        schedule.run(steps: 500)
        var twins = Twins(from: 1 + Int(seed % 2))
        for entry in schedule.scene.log {
            guard try twins.apply(entry) else {
                Issue.record("seed \(seed): position \(entry.at) differs")
                return
            }
            switch random.next() % 12 {
            case 0: twins.postponing.settle(atMost: Int(random.next() % 16) + 1)
            case 1: twins.postponing.settle(HostKey(RandomSchedule.hosts[Int(random.next() % 4)]))
            case 2 where random.chance(1, in: 4): twins.postponing.settle()
            case 3 where random.chance(1, in: 4):
                let differences = twins.differences()
                guard differences.isEmpty else {
                    Issue.record("seed \(seed), position \(entry.at): \(differences)")
                    return
                }
            default: break
            }
        }
        #expect(twins.differences() == [], "seed \(seed)")
        // The first seeds, which always run, are known to have some.
        #expect(twins.postponed > 50 || seed > 24, "seed \(seed)")
    }

    @Test(arguments: Seeds.from(61, count: 6))
    func `an engine that is driven by its own timers comes to what its log says`(seed: UInt64) throws {
        var schedule = RandomSchedule(seed: seed, postpones: true, hasBursts: true)
        schedule.scene.checks = false
        schedule.run(steps: 500)
        var replayed = Engine(partition: PartitionID(0), partitions: 1)
        var output = EngineOutput()
        for entry in schedule.scene.log { try replayed.apply(entry, into: &output) }
        var settled = schedule.scene.engine
        settled.settle()
        #expect(replayed.stateDigest() == settled.stateDigest(), "seed \(seed)")
        let hasSameEffects = output.effects == schedule.scene.effects
        #expect(hasSameEffects, "seed \(seed)")
    }

    /// The twins after some widgets were registered and have reloaded for a first push.
    private static func twins(_ twins: Twins = Twins(), widgets: Int = 6, limits: EngineLimits = EngineLimits()) throws
        -> (Twins, Scene)
    {
        var scene = Scene(settings: Scene.settings(limits: limits))
        for number in 0..<widgets {
            scene.register("host\(number)", [Scene.scores("w1", team: "seahawks")])
        }
        scene.pass(.hours(1))
        scene.apply(.push(scene.makePush()))
        scene.pass(.seconds(10))
        var twins = twins
        for entry in scene.log { #expect(try twins.apply(entry)) }
        return (twins, scene)
    }

    private static func apply(_ record: Record, _ twins: inout Twins, _ scene: inout Scene) throws {
        let count = scene.log.count
        scene.apply(record)
        for entry in scene.log[count...] { #expect(try twins.apply(entry)) }
    }

    private static let hosts = (0..<6).map { "host\($0)" }

    @Test(arguments: [(5, 6), (6, 6), (7, 0)])
    func `matches are postponed from a number on`(from count: Int, _ postponed: Int) throws {
        var (twins, scene) = try Self.twins(Twins(from: count))
        try Self.apply(.push(scene.makePush()), &twins, &scene)
        #expect(twins.postponing.postponedMatches == postponed)
        #expect(twins.differences(hosts: Self.hosts) == [])
    }

    @Test(arguments: [(5, 5), (6, 6), (7, 6)])
    func `no more are postponed than there is room for`(atMost max: Int, _ postponed: Int) throws {
        var (twins, scene) = try Self.twins(Twins(atMost: max))
        try Self.apply(.push(scene.makePush()), &twins, &scene)
        #expect(twins.postponing.postponedMatches == postponed)
        #expect(twins.differences(hosts: Self.hosts) == [])
    }

    @Test func `no more wait for an instance than may`() throws {
        var (twins, scene) = try Self.twins(limits: EngineLimits(pendingPerInstanceMax: 3))
        for count in [6, 12, 18, 0] {
            try Self.apply(.push(scene.makePush()), &twins, &scene)
            #expect(twins.postponing.postponedMatches == count)
            #expect(twins.differences(hosts: Self.hosts) == [])
        }
        #expect(twins.plain.stats().outcomes[.failed] == 6)
    }

    @Test func `runs are looked through up to a number of them, and written at once beyond`() throws {
        var (twins, scene) = try Self.twins(widgets: 2)
        let max = 63
        for count in 1...max + 2 {
            try Self.apply(.push(scene.makePush(.normal)), &twins, &scene)
            // The one beyond finds those of its instances, which are written first.
            #expect(twins.postponing.postponedMatches == (count <= max ? count * 2 : (count - max - 1) * 2))
        }
        #expect(twins.differences(hosts: Self.hosts) == [])
    }

    @Test func `matches between which others are written at once are one run`() throws {
        // Every second host is in the foreground, where nothing is sure.
        var (twins, scene) = try Self.twins(widgets: 200)
        for number in stride(from: 0, to: 200, by: 2) {
            try Self.apply(.signal(HostSignal(host: HostKey("host\(number)"), event: .appForeground)), &twins, &scene)
        }
        scene.pass(.minutes(1))
        try Self.apply(.push(scene.makePush()), &twins, &scene)
        #expect(scene.issued.count == 100)
        #expect(twins.postponing.postponedMatches == 100)
        twins.postponing.settle(atMost: 30)
        twins.postponing.settle(HostKey("host151"))
        #expect(twins.postponing.postponedMatches == 69)
        #expect(twins.differences(hosts: (0..<200).map { "host\($0)" }) == [])
    }

    @Test func `what a host does is seen by what comes after it`() throws {
        var (twins, scene) = try Self.twins()
        try Self.apply(.push(scene.makePush()), &twins, &scene)
        #expect(twins.postponing.postponedMatches == 6)
        try Self.apply(.signal(HostSignal(host: HostKey("host1"), event: .appForeground)), &twins, &scene)
        #expect(twins.postponing.postponedMatches == 5)
        scene.pass(.minutes(1))
        // In the foreground nothing is charged: that one reloads.
        try Self.apply(.push(scene.makePush()), &twins, &scene)
        #expect(twins.postponing.postponedMatches == 10)
        #expect(scene.issued.map(\.host) == [HostKey("host1")])
        #expect(twins.differences(hosts: Self.hosts) == [])
        try Self.apply(.order(OperatorOrder(.pause(until: nil), .app(Scene.sports))), &twins, &scene)
        #expect(twins.postponing.postponedMatches == 0)
        try Self.apply(.push(scene.makePush()), &twins, &scene)
        #expect(twins.postponing.postponedMatches == 0)
        #expect(twins.differences(hosts: Self.hosts) == [])
    }

    @Test func `what is due is settled before, and each second's alone`() throws {
        var (twins, scene) = try Self.twins()
        try Self.apply(.push(scene.makePush()), &twins, &scene)
        let due = try #require(twins.postponing.nextTimer)
        #expect(due > scene.now)
        scene.pass(.minutes(30))
        for entry in scene.log.suffix(while: { $0.time > Scene.start + .hours(1) + .seconds(10) }) {
            #expect(try twins.apply(entry))
        }
        #expect(twins.postponing.postponedMatches == 0)
        #expect(twins.differences(hosts: Self.hosts) == [])
        #expect(twins.plain.stats().reloadsIssued > 6)
    }

    @Test(arguments: ["digest", "collapse", "once", "later"])
    func `what looks further than the instance is written at once`(what: String) throws {
        var (twins, scene) = try Self.twins()
        var push = scene.makePush()
        switch what {
        case "digest": push.digest = [1]
        case "collapse": push.collapseID = CollapseID(bytes: [1])
        case "once": push.expiration = 0
        default: push.notBefore = scene.now + .seconds(20)
        }
        try Self.apply(.push(push), &twins, &scene)
        #expect(twins.postponing.postponedMatches == 0)
        #expect(twins.differences(hosts: Self.hosts) == [])
    }
}

extension Collection where Self: BidirectionalCollection {
    /// The elements at the end for which something holds.
    fileprivate func suffix(while holds: (Element) -> Bool) -> SubSequence {
        var start = self.endIndex
        while start > self.startIndex, holds(self[self.index(before: start)]) { start = self.index(before: start) }
        return self[start...]
    }
}
