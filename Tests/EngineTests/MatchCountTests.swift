import Engine
import IntentMatching
import TestSupport
import Testing
import WidgetModel

/// The number of matches alone is that of the dry run, and that of the push.
@Suite struct MatchCountTests {
    private static func compare(_ engine: borrowing Engine, _ push: PushRecord, _ place: String) {
        let view = engine.dryRun(push, decidedMax: 1)
        let count = engine.matchCount(push)
        #expect(count.matched == view.matched && count.isRepeat == view.isRepeat, "\(place)")
    }

    @Test(arguments: Seeds.from(2601, count: 4))
    func `days of mixed traffic never part the count from the dry run`(seed: UInt64) {
        var schedule = RandomSchedule(
            seed: seed,
            deliveries: seed.isMultiple(of: 3) ? [.stream, .apns] : [.stream],
            standings: [Scene.steady],
            hasBursts: seed.isMultiple(of: 2)
        )
        schedule.scene.checks = false
        for part in 0..<8 {
            schedule.run(steps: 20)
            for host in [nil] + RandomSchedule.hosts.map({ $0 as String? }) + ["nobody"] {
                for kind in [nil, "scores", "standings", "unknown"] {
                    for team in [nil] + RandomSchedule.teams.map({ $0 as String? }) + ["none"] {
                        var push = schedule.scene.makePush(to: host, match: team)
                        push.kind = kind.map { WidgetKind($0) }
                        Self.compare(schedule.scene.engine, push, "seed \(seed), part \(part), \(push)")
                    }
                }
            }
        }
    }

    private static func instance(_ number: Int, _ random: inout SplitMix64) throws -> InstanceRegistration {
        let kinds = ["scores", "scores", "standings"]
        var instance = Scene.scores(
            "w\(number)",
            kind: kinds[Int(random.next() % 3)],
            team: RandomSchedule.teams[Int(random.next() % 3)],
            pushEnabled: !random.chance(1, in: 6)
        )
        if random.chance(1, in: 3) { instance.tags = ["beta", "eu"].filter { _ in random.chance(1, in: 2) } }
        if random.chance(1, in: 3) {
            instance.when = try ConditionTests.low("x", below: Int64(random.next() % 3) * 10 + 10).when
        }
        return instance
    }

    private static let patterns: [MatchPattern?] = [
        nil, Self.field("team", "seahawks"), Self.field("team", "seahawks", "kraken"), Self.field("team", "nobody"),
        .field(.parameter("team"), [.anythingBut([.string("seahawks")])]), .field(.parameter("team"), [.prefix("k")]),
        .field(.parameter("league"), [.exists(false)]), .field(.parameter("league"), [.exists(true)]),
        .field(.tags, [.equals(.string("beta")), .equals(.string("eu"))]),
        .field(.host, [.equals(.string("phone-3"))]), .field(.host, [.prefix("phone-1")]),
        .field(.family, [.equals(.string("systemSmall"))]), .field(.family, [.equals(.string("systemLarge"))]),
        .all([Self.field("team", "seahawks"), .field(.tags, [.equals(.string("beta"))])]),
        .any([Self.field("team", "seahawks"), .field(.tags, [.equals(.string("eu"))])]),
    ]

    private static func field(_ name: UTF8Text, _ values: UTF8Text...) -> MatchPattern {
        .field(.parameter(name), values.map { .equals(.string($0)) })
    }

    @Test(arguments: Seeds.from(2701, count: 6))
    func `of random populations and patterns it is what the dry run and the push match`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var scene = Scene(settings: Scene.settings(standings: Scene.steady))
        scene.checks = false
        var most = 0
        for step in 0..<80 {
            let host = "phone-\(random.next() % 20)"
            if random.chance(1, in: 4) {
                scene.apply(.unregister(HostRemoval(host: HostKey(host))))
            } else {
                let instances = try (0..<Int(random.next() % 6)).map { try Self.instance($0, &random) }
                scene.register(host, revision: UInt64(step + 1), instances)
            }
            for pattern in Self.patterns {
                var push = scene.makePush(to: random.chance(1, in: 6) ? host : nil)
                push.pattern = pattern
                push.kind = [nil, WidgetKind("scores"), WidgetKind("standings")][Int(random.next() % 3)]
                if random.chance(1, in: 2) { push.attributes = ConditionTests.health(Int64(random.next() % 40)) }
                Self.compare(scene.engine, push, "seed \(seed), step \(step), \(push)")
                let matched = scene.engine.matchCount(push).matched
                most = max(most, matched)
                push.matchedMax = [nil, matched, matched - 1][Int(push.id.low % 3)].map { max(0, $0) }
                let isTooMany = push.matchedMax.map { matched > $0 } ?? false
                let answer = RecordAnswer.Result.push(matched: isTooMany ? 0 : matched, isRepeat: false)
                #expect(scene.apply(.push(push)) == answer, "seed \(seed), \(push)")
                #expect(scene.engine.push(push.id).first?.failure == (isTooMany ? .tooMany : nil), "seed \(seed)")
                #expect(scene.engine.matchCount(push).isRepeat)
            }
        }
        #expect(most > 10, "seed \(seed)")
    }

    @Test func `an app that is not known, or was taken away, matches nothing`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        var push = scene.makePush()
        #expect(scene.engine.matchCount(push).matched == 1)
        scene.apply(.settings(EngineSettings(apps: [])))
        #expect(scene.engine.matchCount(push).matched == 0)
        push.target = .app(BundleID("com.example.unknown"))
        #expect(scene.engine.matchCount(push).matched == 0)
    }
}
