import IntentMatching
import TestSupport
import Testing
import Timelines
import WidgetModel

@testable import Engine

/// Pushes that say whose instances they mean, while hosts come, go, and leave their numbers to others.
@Suite struct HostMatchingTests {
    static let conditions: [[MatchAtom]] = [
        [.prefix("phone-1")], [.suffix("3")], [.equalsIgnoreCase("phone-4")], [.prefix("phone-2"), .suffix("7")],
        [.anythingBut([.string("phone-4")])], [.anythingButPrefix("phone-2")], [.exists(true)], [.exists(false)],
        [.equals(.string("phone-4")), .equals(.string("phone-5")), .equals(.string("nobody"))],
        [.equals(.string("nobody"))],
    ]

    /// The instances that a look at each one finds.
    static func expected(_ engine: borrowing Engine, _ pattern: MatchPattern) -> [InstanceNumber] {
        engine.registry.usedInstances().filter { instance in
            let row = engine.registry[instance]
            guard row.isLive, row.pushEnabled else { return false }
            return pattern.matches(
                MatchSubject(
                    configuration: engine.registry.configuration(of: instance),
                    family: engine.registry.family(of: instance),
                    host: engine.registry.id(of: row.host),
                    tags: []
                )
            )
        }
    }

    @Test(arguments: Seeds.from(1701, count: 3))
    func `a host's instances are found under its id alone`(seed: UInt64) {
        var scene = Scene()
        var random = SplitMix64(seed: seed)
        var ids: [HostNumber: Set<HostKey>] = [:]
        for step in 0..<100 {
            let host = "phone-\(random.next() % 30)"
            if random.chance(2, in: 5) {
                scene.apply(.unregister(HostRemoval(host: HostKey(host))))
            } else {
                let instances = (0..<random.next() % 4).map { number in
                    Scene.scores("w\(number)", team: "seahawks", pushEnabled: random.chance(4, in: 5))
                }
                scene.register(host, revision: UInt64(step + 1), instances)
            }
            // From time to time budgets are forgotten, and hosts with them.
            scene.pass(random.chance(1, in: 10) ? .hours(50) : .minutes(1))
            for slot in scene.engine.registry.usedHosts() {
                ids[slot, default: []].insert(scene.engine.hostKey(of: slot))
            }
            guard step % 5 == 0 else { continue }
            for atoms in Self.conditions + [[.equals(.string(UTF8Text(host)))]] {
                let pattern = MatchPattern.field(.host, atoms)
                var found: [InstanceNumber] = []
                var cursor = scene.engine.cursor(0, nil, pattern, nil, order: .ascending)
                while scene.engine.registry.findNext(&cursor) { cursor.appendBatch(to: &found) }
                #expect(found == Self.expected(scene.engine, pattern), "seed \(seed), step \(step), \(atoms)")
            }
        }
        #expect(ids.values.contains { $0.count > 1 }, "no number was used again")
    }
}
