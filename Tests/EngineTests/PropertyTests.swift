import Engine
import IntentMatching
import TestSupport
import Testing
import Timelines
import WidgetModel

/// Properties that always hold, over virtual days of random traffic. Failures print the seed.
@Suite struct PropertyTests {
    @Test(arguments: Seeds.from(1, count: 16))
    func `outcomes add up at every step and every push ends when time runs on`(seed: UInt64) {
        var schedule = RandomSchedule(seed: seed)
        // The scene checks conservation after every record.
        schedule.run(steps: 300)
        #expect(schedule.wrongRepeats == 0 && schedule.brokenLimits == 0, "seed \(seed)")
        #expect(schedule.failedTooMany > 0 || seed > 16, "seed \(seed)")
        schedule.scene.checks = false
        schedule.scene.apply(.order(OperatorOrder(.resume, .app(Scene.sports))))
        schedule.scene.apply(.order(OperatorOrder(.resume, .kind(Scene.sports, WidgetKind("scores")))))
        schedule.scene.pass(.days(33))
        let stats = schedule.scene.engine.stats()
        #expect(stats.outcomes[.deferred] == 0, "seed \(seed)")
        #expect(stats.outcomes[.issued] == 0, "seed \(seed)")
        #expect(stats.outcomes.total == stats.matched, "seed \(seed)")
        #expect(stats.matched > 100, "seed \(seed)")
        #expect(schedule.scene.engine.checkInvariants() == [], "seed \(seed)")
    }

    @Test(arguments: Seeds.from(101, count: 16))
    func `no window, distance or span holds more reloads than the budget`(seed: UInt64) {
        var schedule = RandomSchedule(
            seed: seed,
            settings: Scene.settings(budget: seed.isMultiple(of: 2) ? .widgetkit : Scene.steady)
        )
        schedule.scene.checks = false
        schedule.run(steps: 1500)
        BudgetCheck(schedule).expectKept("seed \(seed)")
    }

    @Test(arguments: Array(Seeds.from(501, count: 12)) + [5017])
    func `pushes to tokens keep every promise, with all that they bring along`(seed: UInt64) {
        var schedule = RandomSchedule(
            seed: seed,
            settings: Scene.settings(budget: seed.isMultiple(of: 2) ? .widgetkit : Scene.steady),
            deliveries: [.apns, .apns, .apns, .stream]
        )
        // The scene checks conservation after every record.
        schedule.run(steps: 400)
        schedule.scene.checks = false
        schedule.run(steps: 800)
        BudgetCheck(schedule).expectKept("seed \(seed)")
        let pushes = schedule.scene.effects.compactMap { effect in
            if case .push(let push) = effect { push } else { nil }
        }
        #expect(pushes.isEmpty || pushes.contains { $0.members.count > 1 }, "seed \(seed)")
        let ids = schedule.scene.reloads.map(\.id)
        #expect(Set(ids).count == ids.count, "seed \(seed)")
        #expect(pushes.flatMap(Self.faults) == [], "seed \(seed)")
        schedule.scene.apply(.order(OperatorOrder(.resume, .app(Scene.sports))))
        schedule.scene.apply(.order(OperatorOrder(.resume, .kind(Scene.sports, WidgetKind("scores")))))
        schedule.scene.pass(.days(33))
        let stats = schedule.scene.engine.stats()
        #expect(stats.outcomes[.deferred] + stats.outcomes[.issued] == 0, "seed \(seed)")
        #expect(stats.outcomes.total == stats.matched, "seed \(seed)")
        #expect(schedule.scene.engine.checkInvariants() == [], "seed \(seed)")
    }

    /// The forbidden contents of a push to a token.
    private static func faults(of push: TokenPush) -> [String] {
        var faults: [String] = []
        let instances = push.members.map(\.reload.instance)
        if Set(instances).count != instances.count { faults.append("\(push.id): one of them twice") }
        if push.members[0].collateral != nil { faults.append("\(push.id): led by collateral") }
        let (hosts, ends) = (Set(push.members.map(\.reload.host)), Set(push.members.map(\.reload.expiresAt)))
        if hosts != [push.host] { faults.append("\(push.id): for \(hosts.count) hosts") }
        if ends.count != 1 { faults.append("\(push.id): ends at \(ends.count) instants") }
        if push.isControl != (instances == [InstanceID("c1")]) { faults.append("\(push.id): controls are alone") }
        // Reloads that a host behind APNs does by itself are never issued.
        let issued = ReloadCauses([ReloadCauses(.push), ReloadCauses(.appRequest)])
        if !push.members.allSatisfy({ $0.reload.causes.isSubset(of: issued) }) { faults.append("\(push.id): causes") }
        return faults
    }

    @Test(arguments: Seeds.from(151, count: 12))
    func `a host's shared budget keeps the same promises`(seed: UInt64) {
        var policy = Scene.steady
        (policy.rare, policy.typical, policy.frequent) = (20, 20, 20)
        policy.scope = .host
        if seed.isMultiple(of: 2) { policy.learning.days = 3 }
        var schedule = RandomSchedule(seed: seed, settings: Scene.settings(budget: policy))
        schedule.scene.checks = false
        schedule.run(steps: 1000)
        BudgetCheck(schedule, policy: policy).expectKept("seed \(seed)")
    }

    @Test(arguments: Seeds.from(171, count: 8))
    func `under the strict rule no 24 hours hold more than the allowance`(seed: UInt64) {
        var policy = Scene.steady
        (policy.rare, policy.typical, policy.frequent) = (9, 9, 9)
        policy.isRolling = true
        policy.window = .fixed(length: .day, anchor: .hostHash)
        var schedule = RandomSchedule(seed: seed, settings: Scene.settings(budget: policy), hasGrants: false)
        schedule.scene.checks = false
        schedule.run(steps: 1000)
        BudgetCheck(schedule, policy: policy).expectKept("seed \(seed)")
        var byInstance: [InstanceAddress: [Instant]] = [:]
        for (reload, _, _) in schedule.scene.charges where !schedule.refused.contains(reload.id) {
            byInstance[reload.address, default: []].append(reload.issuedAt)
        }
        for instants in byInstance.values {
            let most = instants.indices.map { first in instants[first...].count { $0 - instants[first] < .day } }.max()
            #expect(most ?? 0 <= 9, "seed \(seed)")
        }
    }

    @Test(arguments: Seeds.from(201, count: 8))
    func `exempt reloads are apart, and an instance reloads once at a position`(seed: UInt64) {
        var schedule = RandomSchedule(seed: seed)
        schedule.scene.checks = false
        schedule.run(steps: 1000)
        var last: [InstanceAddress: ReloadEffect] = [:]
        var tooNear: [ReloadID] = []
        for reload in schedule.scene.reloads {
            if let before = last[reload.address] {
                let isApart = reload.isCharged || reload.issuedAt - before.issuedAt >= .seconds(15)
                if before.id.position >= reload.id.position || !isApart { tooNear.append(reload.id) }
            }
            last[reload.address] = reload
        }
        #expect(tooNear == [], "seed \(seed)")
        // The first seeds, which always run, are known to have some.
        #expect(schedule.scene.reloads.contains { !$0.isCharged } || seed > 208, "seed \(seed)")
    }

    @Test(arguments: Seeds.from(301, count: 4))
    func `the same log gives the same state, effects and answers`(seed: UInt64) throws {
        var schedule = RandomSchedule(seed: seed, deliveries: seed.isMultiple(of: 2) ? [.stream] : [.stream, .apns])
        schedule.scene.checks = false
        schedule.run(steps: 600)
        let scene = schedule.scene
        // Nor does it matter whether the index was loaded at once.
        var replayed = Engine(partition: PartitionID(0), partitions: 1, seed: seed &+ 1)
        if seed.isMultiple(of: 3) { replayed.finishLoading() }
        var output = EngineOutput()
        var misread: [LogPosition] = []
        for entry in scene.log {
            var writer = ByteWriter()
            writer.bytes = [1, 2, 3]
            entry.record.encode(into: &writer)
            let range = 3..<writer.bytes.count
            var reader = ByteReader(writer.bytes, in: range)
            if try Record(from: &reader) != entry.record { misread.append(entry.at) }
            try replayed.apply(
                writer.bytes,
                in: range,
                recordIndex: 0,
                at: entry.at,
                logTime: entry.time,
                into: &output
            )
        }
        #expect(replayed.runningHash == scene.engine.runningHash, "seed \(seed)")
        #expect(replayed.stateDigest() == scene.engine.stateDigest(), "seed \(seed)")
        #expect(replayed.stats() == scene.engine.stats(), "seed \(seed)")
        // An expectation that holds looks at every member of what it compares, so it is given little.
        let hasSameEffects = output.effects == scene.effects
        #expect(hasSameEffects, "seed \(seed)")
        #expect(misread == [], "seed \(seed)")
        let misreadEffects = try output.effects.filter { effect in
            var writer = ByteWriter()
            effect.encode(into: &writer)
            var reader = ByteReader(writer.bytes)
            return try Effect(from: &reader) != effect
        }
        #expect(misreadEffects == [], "seed \(seed)")
    }

    @Test(arguments: Seeds.from(401, count: 4))
    func `damaged records are refused and change nothing`(seed: UInt64) throws {
        var schedule = RandomSchedule(seed: seed)
        schedule.scene.checks = false
        schedule.run(steps: 60)
        var engine = schedule.scene.engine.duplicate()
        let before = engine.stateDigest()
        var taken: [(LogPosition, Int)] = []
        for entry in schedule.scene.log {
            let bytes = entry.record.bytes
            for length in 0..<bytes.count {
                var output = EngineOutput()
                do throws(EngineError) {
                    try engine.apply(
                        bytes,
                        in: 0..<length,
                        recordIndex: 0,
                        at: engine.position,
                        logTime: engine.time,
                        into: &output
                    )
                    taken.append((entry.at, length))
                } catch {}
            }
        }
        #expect(taken.isEmpty, "seed \(seed)")
        #expect(engine.stateDigest() == before)
        var output = EngineOutput()
        #expect(throws: EngineError.outOfOrder(LogPosition(0), applied: engine.position)) {
            try engine.apply([8], in: 0..<1, recordIndex: 0, at: .start, logTime: engine.time, into: &output)
        }
    }
}
