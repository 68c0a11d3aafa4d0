import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// Promises that single schedules do not show: about changes of policy, clocks, crashes and acknowledgements.
@Suite struct PromiseTests {
    /// WidgetKit's numbers, and others with windows of the same kind: only amount and speed differ.
    private static let policies: [BudgetPolicy] = {
        var frugal = BudgetPolicy.widgetkit
        (frugal.rare, frugal.typical, frugal.frequent) = (3, 8, 20)
        frugal.burstDivisor = 3
        var lavish = Scene.steady
        (lavish.rare, lavish.typical, lavish.frequent) = (60, 90, 120)
        lavish.burstDivisor = 2
        lavish.pushShare = BudgetPolicy.Share(1, of: 2)
        return [.widgetkit, Scene.steady, frugal, lavish]
    }()

    @Test(arguments: Seeds.from(601, count: 12))
    func `neither a change of policy nor a clock that jumps mints budget`(seed: UInt64) {
        var schedule = RandomSchedule(
            seed: seed,
            deliveries: seed.isMultiple(of: 3) ? [.stream, .apns] : [.stream],
            policies: Self.policies,
            hasClockSteps: true
        )
        schedule.scene.checks = false
        schedule.run(steps: 1200)
        #expect(schedule.changes > 5, "seed \(seed)")
        #expect(schedule.clockSteps > 5, "seed \(seed)")
        BudgetCheck(schedule).expectKept("seed \(seed)")
    }

    /// Policies that differ in everything, of two kinds, in windows of every sort: each binds the window in which it was
    /// replaced.
    @Test(arguments: Seeds.from(671, count: 16) + [946, 1244, 2594, 5338, 8634])
    func `no change of window, scope, rule or distance mints budget`(seed: UInt64) {
        var dice = SplitMix64(seed: seed &* 31)
        let isSharing = seed.isMultiple(of: 2)
        let policies = RandomPolicies.make(3, isSharing: isSharing, using: &dice)
        let standings = RandomPolicies.make(3, isSharing: false, using: &dice)
        var schedule = RandomSchedule(
            seed: seed,
            settings: Scene.settings(budget: policies[0], standings: standings[0]),
            hasGrants: false,
            deliveries: seed.isMultiple(of: 3) && !isSharing ? [.stream, .apns] : [.stream],
            policies: policies,
            standings: standings,
            stepsPerChange: [15, 60, 150][Int(seed % 3)],
            hasClockSteps: seed.isMultiple(of: 5)
        )
        schedule.scene.checks = false
        schedule.run(steps: 1200)
        let check = PolicyChangeCheck(schedule)
        #expect(check.faults == [], "seed \(seed)")
        // The first seeds, which always run, are known to have some.
        #expect(check.bound > 0 || seed > 686, "seed \(seed)")
    }

    /// Where hosts report only the reloads that they were told to do, the count equals the charges.
    @Test(arguments: Seeds.from(651, count: 8))
    func `the count is what was charged, and exempt reloads are not in it`(seed: UInt64) throws {
        var schedule = RandomSchedule(seed: seed, hasGrants: false, hasObserved: false)
        schedule.scene.checks = false
        schedule.run(steps: 800)
        // Opens the windows up to now.
        for host in RandomSchedule.hosts { schedule.scene.push(to: host, .low, expiration: 1) }
        var exempt = 0
        for host in RandomSchedule.hosts {
            guard let registered = schedule.scene.engine.host(HostKey(host)) else { continue }
            for instance in registered.instances {
                let view = try #require(schedule.scene.instance(host, instance.id.rawValue))
                let charged = schedule.scene.charges.count { charge in
                    charge.reload.address == view.address && !schedule.refused.contains(charge.reload.id)
                        && charge.reload.issuedAt >= max(view.budget.windowStart, registered.firstRegisteredAt)
                }
                #expect(view.budget.charged == charged, "seed \(seed): \(view.address)")
                #expect(view.budget.observedReloads == 0, "seed \(seed)")
                exempt += view.budget.exemptReloads
            }
        }
        #expect(exempt > 0 || seed > 658, "seed \(seed)")
    }

    /// So a push that was accepted after the reload was issued is not among them: it goes on waiting.
    @Test(arguments: Seeds.from(701, count: 8))
    func `an acknowledgement ends just the pushes that the reload was issued for`(seed: UInt64) {
        var schedule = RandomSchedule(seed: seed)
        schedule.scene.checks = false
        var later = 0
        var rounds = 0
        while rounds < 60 || (later == 0 && rounds < 600) {
            rounds += 1
            schedule.run(steps: 10)
            let out = RandomSchedule.hosts.flatMap { schedule.scene.engine.outstandingReloads(host: HostKey($0)) }
            guard let reload = out.first(where: { $0.pushCount > 0 }) else { continue }
            let waiting = schedule.scene.engine.instance(reload.address)?.pending.count ?? 0
            if waiting > 0 { later += 1 }
            let before = schedule.scene.engine.stats().outcomes
            schedule.scene.acknowledge(reload)
            let after = schedule.scene.engine.stats().outcomes
            let ended = [PushOutcome.reloaded, .exempt, .coalesced].map { after[$0] - before[$0] }.reduce(0, +)
            #expect(ended == reload.pushCount, "seed \(seed): \(reload.id)")
        }
        #expect(later > 0, "seed \(seed)")
    }

    /// Nor is a request of the app in a reload that was issued before it: it makes another reload, or waits for one.
    @Test(arguments: Seeds.from(721, count: 8) + [1733])
    func `an acknowledgement ends no request that came after the reload was issued`(seed: UInt64) throws {
        var schedule = RandomSchedule(seed: seed, deliveries: seed.isMultiple(of: 2) ? [.stream] : [.stream, .apns])
        schedule.scene.checks = false
        var (waited, served, rounds) = (0, 0, 0)
        while rounds < 60 || (waited == 0 && rounds < 600) {
            rounds += 1
            schedule.run(steps: 10)
            let out = RandomSchedule.hosts.flatMap { schedule.scene.engine.outstandingReloads(host: HostKey($0)) }
            guard let reload = out.last else { continue }
            let view = schedule.scene.engine.host(reload.host)
            let host = try #require(view)
            let asked = try #require(host.instances.first { $0.id == reload.instance })
            let isControl = asked.controlToken != nil
            let position = schedule.scene.position
            schedule.scene.apply(
                .appReload(AppReloadRequest(app: Scene.sports, host: reload.host.id, isForControls: isControl))
            )
            // Not asked of instances that a phone drives by itself and that cannot be reached, nor of those that the
            // system has just reloaded.
            guard asked.pushEnabled || host.delivery != .apns else { continue }
            // Its lease may have ended by then.
            guard schedule.scene.engine.instance(reload.address) != nil else { continue }
            // It may have been woken for another's reload in the same record, which is decided after the request.
            let isCovered = schedule.scene.engine.instance(reload.address)?.decisions.contains { decision in
                decision.position == schedule.scene.position && decision.reason == .systemChange
            }
            if isCovered == true { continue }
            let isKept = Self.isKept(schedule.scene, reload.address, after: position)
            #expect(isKept, "seed \(seed): \(reload.id)")
            if isKept, schedule.scene.issued.isEmpty { waited += 1 }
            schedule.scene.acknowledge(reload)
            #expect(Self.isKept(schedule.scene, reload.address, after: position), "seed \(seed): \(reload.id)")
            // Once nothing is paused, it is served.
            guard served < 4 else { continue }
            served += 1
            var later = schedule.scene
            later.apply(.order(OperatorOrder(.resume, .app(Scene.sports))))
            later.apply(.order(OperatorOrder(.resume, .kind(Scene.sports, WidgetKind("scores")))))
            later.pass(.days(2))
            let isServed = later.reloads.contains { other in
                other.address == reload.address && other.id.position > position
                    && other.causes.contains(.appRequest)
            }
            let isGone = later.engine.instance(reload.address) == nil
            #expect(isServed || isGone, "seed \(seed): \(reload.id)")
        }
        #expect(waited > 0, "seed \(seed)")
    }

    /// Whether the app's wish for an instance still waits, or was issued after a position.
    private static func isKept(_ scene: Scene, _ instance: InstanceAddress, after position: LogPosition) -> Bool {
        if scene.engine.instance(instance)?.pending.contains(where: { $0.cause == .appRequest }) == true { return true }
        return scene.reloads.contains { reload in
            reload.address == instance && reload.id.position > position && reload.causes.contains(.appRequest)
        }
    }

    /// Looking at budgets every few hours opens windows that would otherwise be opened when they are needed.
    @Test(arguments: Seeds.from(751, count: 8))
    func `windows that are opened late are those that were opened in time`(seed: UInt64) throws {
        var schedule = RandomSchedule(seed: seed, settings: Scene.settings(budget: .widgetkit))
        schedule.scene.checks = false
        schedule.run(steps: 500)
        let log = schedule.scene.log
        let lazy = try Self.replay(log, lookingEvery: .days(1000))
        let eager = try Self.replay(log, lookingEvery: .hours(3))
        // An expectation that holds looks at every member of what it compares, so it is given little.
        let (isLazySame, isEagerSame) = (lazy.effects == schedule.scene.effects, eager.effects == lazy.effects)
        #expect(isLazySame, "seed \(seed)")
        #expect(isEagerSame, "seed \(seed)")
        for host in RandomSchedule.hosts {
            for id in ["w1", "w2", "w3"] {
                let address = InstanceAddress(host: HostKey(host), instance: InstanceID(id))
                #expect(eager.engine.instance(address)?.budget == lazy.engine.instance(address)?.budget, "seed \(seed)")
            }
        }
    }

    /// The result of a replay.
    private struct Replayed: ~Copyable {
        let engine: Engine
        let effects: [Effect]
    }

    /// The same records at the same times, with pushes in between that can reload nothing and only open windows: to
    /// hosts for which nothing waits, since waiting causes might be decided with them.
    private static func replay(
        _ log: [(record: Record, at: LogPosition, time: Instant)],
        lookingEvery interval: Interval
    ) throws -> Replayed {
        var engine = Engine(partition: PartitionID(0), partitions: 1)
        var output = EngineOutput()
        var looks: UInt64 = 0
        var position = LogPosition.start
        func look(at time: Instant, _ engine: inout Engine) throws {
            for host in RandomSchedule.hosts {
                let instances = engine.host(HostKey(host))?.instances ?? []
                let isWaitedFor = instances.contains { instance in
                    let address = InstanceAddress(host: HostKey(host), instance: instance.id)
                    return engine.instance(address)?.pending.isEmpty == false
                }
                guard !isWaitedFor else { continue }
                looks += 1
                let push = PushRecord(
                    id: PushID(high: 9, low: looks),
                    team: TeamID("LOOKING000"),
                    contentHash: looks,
                    priority: .low,
                    expiration: 1,
                    target: .host(HostKey(host), nil)
                )
                try engine.apply((.push(push), position, time), into: &output)
            }
        }
        var next = (log.first?.time ?? .epoch) + interval
        for entry in log {
            while next < entry.time {
                try look(at: next, &engine)
                next = next + interval
            }
            try engine.apply(entry, into: &output)
            position = entry.at
        }
        try look(at: engine.time, &engine)
        return Replayed(engine: engine, effects: output.effects)
    }

    @Test(arguments: Seeds.from(801, count: 4))
    func `after a crash at any entry the state is the one before`(seed: UInt64) throws {
        var schedule = RandomSchedule(seed: seed, deliveries: [.stream, .apns])
        schedule.scene.checks = false
        schedule.run(steps: 400)
        let log = schedule.scene.log
        var dice = SplitMix64(seed: seed)
        let cuts = (0..<6).map { _ in Int(dice.next() % UInt64(log.count)) }.sorted()
        var whole = Engine(partition: PartitionID(0), partitions: 1, seed: 1)
        var output = EngineOutput()
        for (index, entry) in log.enumerated() {
            try whole.apply(entry, into: &output)
            guard cuts.contains(index) else { continue }
            // A new process reads the log from its beginning, up to where the other one was.
            var fresh = Engine(
                partition: PartitionID(0),
                partitions: 1,
                seed: UInt64(index) + 2
            )
            var again = EngineOutput()
            for entry in log[...index] { try fresh.apply(entry, into: &again) }
            #expect(fresh.runningHash == whole.runningHash, "seed \(seed), entry \(index)")
            #expect(fresh.stateDigest() == whole.stateDigest(), "seed \(seed), entry \(index)")
            let hasSameEffects = again.effects == output.effects
            #expect(hasSameEffects, "seed \(seed), entry \(index)")
            #expect(fresh.nextTimer == whole.nextTimer, "seed \(seed), entry \(index)")
            whole = fresh
        }
    }
}
