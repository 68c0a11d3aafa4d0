import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// The decisions of dry runs. Neither they nor other questions change anything.
@Suite struct DryRunTests {
    private static func scene(hosts: Int) -> Scene {
        var scene = Scene()
        scene.checks = false
        for host in 0..<hosts { scene.settle("phone-\(host)", [Scene.scores("w1", team: "seahawks")]) }
        scene.apply(.tick)
        return scene
    }

    @Test(arguments: [1, 4, 5, 6, 100])
    func `at most so many instances are decided, and all are counted`(decidedMax: Int) {
        var scene = Self.scene(hosts: 5)
        let view = scene.engine.dryRun(scene.makePush(), decidedMax: decidedMax)
        #expect(view.matched == 5)
        #expect(view.decided == min(5, decidedMax))
        #expect(view.sample.count == min(5, decidedMax))
        #expect(view.rows.map(\.decision) == [.reload])
        #expect(view.asOf == scene.now)
    }

    @Test func `where none may be decided all are counted`() {
        var scene = Self.scene(hosts: 3)
        let view = scene.engine.dryRun(scene.makePush(), decidedMax: 0)
        #expect(view.matched == 3 && view.decided == 0 && view.rows.isEmpty && view.sample.isEmpty)
    }

    @Test func `a larger sample holds the smaller one`() {
        var scene = Self.scene(hosts: 40)
        let push = scene.makePush()
        let samples = [3, 6, 9].map { scene.engine.dryRun(push, decidedMax: $0).sample }
        #expect(samples.map(\.count) == [3, 6, 9])
        #expect(Set(samples[0]).isSubset(of: Set(samples[1])) && Set(samples[1]).isSubset(of: Set(samples[2])))
        // By hash of the number, and not the first ones.
        #expect(samples[2].contains { Int($0.host.id.rawValue.dropFirst(6)) ?? 0 >= 9 })
    }

    @Test func `a sample tells of a host's token what the whole does`() {
        var scene = Scene()
        scene.checks = false
        for host in 0..<20 {
            let widgets = (1...3).map { Scene.scores("w\($0)", team: "seahawks") }
            scene.settle("phone-\(host)", delivery: .apns, widgets)
        }
        scene.push(match: "seahawks")
        let whole = scene.engine.dryRun(scene.makePush(), decidedMax: 60)
        #expect(whole.decided == 60)
        for decidedMax in 1..<60 {
            let view = scene.engine.dryRun(scene.makePush(), decidedMax: decidedMax)
            #expect(view.matched == 60 && view.decided <= decidedMax)
            #expect(view.rows.allSatisfy { row in whole.rows.contains { $0.decision == row.decision } })
        }
    }

    /// A dry run counts the matches that would reload as issued, and so on; a push to a token takes its whole host
    /// along.
    @Test(arguments: Seeds.from(2801, count: 12))
    func `of random traffic a dry run of all says what the push then does`(seed: UInt64) {
        var schedule = RandomSchedule(
            seed: seed,
            deliveries: seed.isMultiple(of: 3) ? [.apns, .apns, .stream] : [.stream],
            standings: [Scene.steady]
        )
        schedule.scene.checks = false
        for part in 0..<40 {
            schedule.run(steps: 8)
            // Timers that are due come before a push, and not before a question.
            schedule.scene.pass(.seconds(Int64(seed % 7)))
            schedule.scene.apply(.tick)
            for match in [nil, "seahawks"] {
                var push = schedule.scene.makePush([.high, .normal, .low][part % 3], match: match)
                if part.isMultiple(of: 5) { push.expiration = 0 }
                if part.isMultiple(of: 4) { push.digest = [UInt8(part % 3)] }
                let view = schedule.scene.engine.dryRun(push, decidedMax: 1000)
                schedule.scene.apply(.push(push))
                let counts = schedule.scene.engine.push(push.id, team: Scene.team)[0].counts
                var expected: [PushOutcome: Int] = [:]
                for row in view.rows { expected[row.decision.outcome, default: 0] += row.count }
                let outcomes = PushOutcome.allCases.filter { counts[$0] > 0 }
                #expect(
                    expected == Dictionary(uniqueKeysWithValues: outcomes.map { ($0, counts[$0]) }),
                    "seed \(seed), part \(part)"
                )
            }
        }
    }

    @Test(arguments: Seeds.from(2901, count: 4))
    func `no question changes anything`(seed: UInt64) {
        var schedule = RandomSchedule(
            seed: seed,
            deliveries: seed.isMultiple(of: 2) ? [.apns, .stream] : [.stream],
            policies: [Scene.steady, .widgetkit],
            stepsPerChange: 15
        )
        schedule.scene.checks = false
        for part in 0..<10 {
            schedule.run(steps: 20)
            // Windows are over, and nothing has opened the next ones.
            schedule.scene.pass(.days(2))
            schedule.scene.apply(.tick)
            let engine = schedule.scene.engine.duplicate()
            let (digest, bytes) = (engine.stateDigest(), Self.snapshot(engine))
            for host in RandomSchedule.hosts {
                for id in ["w1", "w2", "w3", "c1"] {
                    _ = engine.instance(InstanceAddress(host: HostKey(host), instance: InstanceID(id)))
                }
                _ = engine.dryRun(schedule.scene.makePush(to: host), decidedMax: 10)
            }
            let push = schedule.scene.makePush()
            _ = engine.dryRun(push, decidedMax: 10)
            _ = engine.dryRun(push, decidedMax: 2)
            _ = engine.matchCount(push)
            #expect(engine.stateDigest() == digest && Self.snapshot(engine) == bytes, "seed \(seed), part \(part)")
        }
    }

    private static func snapshot(_ engine: borrowing Engine) -> [[UInt8]] {
        var encoder = EngineSnapshotEncoder()
        var frames: [[UInt8]] = []
        while let frame = encoder.next(engine) { frames.append(frame) }
        return frames
    }
}

extension DryRunView.Decision {
    /// The outcome that the push begins with.
    fileprivate var outcome: PushOutcome {
        switch self {
        case .reload, .exempt: .issued
        case .deferred: .deferred
        case .unchanged: .unchanged
        case .expired: .expired
        case .failed: .failed
        }
    }
}
