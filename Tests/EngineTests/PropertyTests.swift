import Engine
import IntentMatching
import TestSupport
import Testing
import Timelines
import WidgetModel

/// What must hold whatever happens, over virtual days of random traffic. Failures print the seed.
@Suite struct PropertyTests {
    @Test(arguments: Seeds.from(1, count: 16))
    func `outcomes add up at every step and every push ends when time runs on`(seed: UInt64) {
        var schedule = RandomSchedule(seed: seed)
        // The scene checks conservation after every record.
        schedule.run(steps: 300)
        #expect(schedule.wrongRepeats == 0, "seed \(seed)")
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

    @Test(arguments: Seeds.from(501, count: 12))
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
        #expect(pushes.contains { $0.members.count > 1 }, "seed \(seed)")
        let ids = schedule.scene.reloads.map(\.id)
        #expect(Set(ids).count == ids.count, "seed \(seed)")
        for push in pushes {
            let instances = push.members.map(\.reload.instance)
            #expect(Set(instances).count == instances.count, "seed \(seed)")
            #expect(push.members[0].collateral == nil, "seed \(seed)")
            #expect(push.members.allSatisfy { $0.reload.host == push.host }, "seed \(seed)")
            #expect(push.members.allSatisfy { $0.reload.expiresAt == push.expiresAt }, "seed \(seed)")
            #expect(push.isControl == (instances == [InstanceID("c1")]), "seed \(seed)")
            // What a host behind APNs does by itself is never issued.
            let issued = ReloadCauses([ReloadCauses(.push), ReloadCauses(.appRequest)])
            #expect(push.members.allSatisfy { $0.reload.causes.isSubset(of: issued) }, "seed \(seed)")
        }
        schedule.scene.apply(.order(OperatorOrder(.resume, .app(Scene.sports))))
        schedule.scene.apply(.order(OperatorOrder(.resume, .kind(Scene.sports, WidgetKind("scores")))))
        schedule.scene.pass(.days(33))
        let stats = schedule.scene.engine.stats()
        #expect(stats.outcomes[.deferred] + stats.outcomes[.issued] == 0, "seed \(seed)")
        #expect(stats.outcomes.total == stats.matched, "seed \(seed)")
        #expect(schedule.scene.engine.checkInvariants() == [], "seed \(seed)")
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
            byInstance[reload.id.instance, default: []].append(reload.issuedAt)
        }
        for instants in byInstance.values {
            for (index, first) in instants.enumerated() {
                #expect(instants[index...].count { $0 - first < .day } <= 9, "seed \(seed)")
            }
        }
    }

    @Test(arguments: Seeds.from(201, count: 8))
    func `exempt reloads are apart, and an instance reloads once at a position`(seed: UInt64) {
        var schedule = RandomSchedule(seed: seed)
        schedule.scene.checks = false
        schedule.run(steps: 1000)
        var last: [InstanceAddress: ReloadEffect] = [:]
        for reload in schedule.scene.reloads {
            if let before = last[reload.id.instance] {
                #expect(before.id.position < reload.id.position, "seed \(seed)")
                if !reload.isCharged {
                    #expect(reload.issuedAt - before.issuedAt >= .seconds(15), "seed \(seed): \(reload.id)")
                }
            }
            last[reload.id.instance] = reload
        }
        #expect(schedule.scene.reloads.contains { !$0.isCharged }, "seed \(seed)")
    }

    @Test(arguments: Seeds.from(301, count: 4))
    func `the same log gives the same state, effects and answers`(seed: UInt64) throws {
        var schedule = RandomSchedule(seed: seed, deliveries: seed.isMultiple(of: 2) ? [.stream] : [.stream, .apns])
        schedule.scene.checks = false
        schedule.run(steps: 600)
        let scene = schedule.scene
        // Nor does it matter how the index keeps its rows, and whether it was loaded at once.
        var replayed = Engine(
            partition: PartitionID(0),
            partitions: 1,
            seed: seed &+ 1,
            interning: seed.isMultiple(of: 2) ? .always : .never
        )
        if seed.isMultiple(of: 3) { replayed.finishLoading() }
        var output = EngineOutput()
        for entry in scene.log {
            var writer = ByteWriter()
            writer.bytes = [1, 2, 3]
            entry.record.encode(into: &writer)
            let range = 3..<writer.bytes.count
            var reader = ByteReader(writer.bytes, in: range)
            #expect(try Record(from: &reader) == entry.record)
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
        #expect(output.effects == scene.effects, "seed \(seed)")
        for effect in output.effects {
            var writer = ByteWriter()
            effect.encode(into: &writer)
            var reader = ByteReader(writer.bytes)
            #expect(try Effect(from: &reader) == effect)
        }
    }

    @Test(arguments: Seeds.from(401, count: 4))
    func `damaged records are refused and change nothing`(seed: UInt64) throws {
        var schedule = RandomSchedule(seed: seed)
        schedule.scene.checks = false
        schedule.run(steps: 60)
        var engine = schedule.scene.engine
        let before = engine.stateDigest()
        for entry in schedule.scene.log {
            let bytes = entry.record.bytes
            for length in 0..<bytes.count {
                var output = EngineOutput()
                #expect(throws: EngineFault.self) {
                    try engine.apply(
                        bytes,
                        in: 0..<length,
                        recordIndex: 0,
                        at: engine.position,
                        logTime: engine.time,
                        into: &output
                    )
                }
            }
        }
        #expect(engine.stateDigest() == before)
        var output = EngineOutput()
        #expect(throws: EngineFault.outOfOrder(LogPosition(0), applied: engine.position)) {
            try engine.apply([8], in: 0..<1, recordIndex: 0, at: .start, logTime: engine.time, into: &output)
        }
    }
}
