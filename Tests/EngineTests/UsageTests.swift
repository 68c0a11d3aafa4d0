import Engine
import IntentMatching
import TestSupport
import Testing
import WidgetModel

/// Each app's part of the registry, and the part that a registration would add.
///
/// `checkInvariants` holds the counts to every change, at every step of the random schedules.
@Suite struct UsageTests {
    private static func usage(_ scene: Scene, of app: BundleID = Scene.sports) -> RegistryUsage? {
        scene.engine.appUsages.first { $0.app == app }?.usage
    }

    private static func widgets(_ ids: [String]) -> [InstanceRegistration] {
        ids.map { Scene.scores($0, team: "seahawks") }
    }

    private static func registration(_ host: String, _ ids: [String], token: String? = nil) -> HostRegistration {
        HostRegistration(
            host: HostKey(host),
            token: Scene.token(token ?? host),
            registrant: .backEnd,
            revision: 9,
            instances: Self.widgets(ids)
        )
    }

    @Test func `hosts, instances and what is remembered of removed ones are counted by app`() throws {
        var scene = Scene()
        #expect(scene.engine.appUsages.map(\.team) == [Scene.team, Scene.team])
        #expect(Self.usage(scene) == RegistryUsage())
        scene.register("phone", revision: 1, Self.widgets(["a", "b"]))
        scene.register("tablet", revision: 1, Self.widgets(["a"]))
        let full = try #require(Self.usage(scene))
        #expect((full.hosts, full.instances, full.tombstones) == (2, 3, 0))
        #expect(Self.usage(scene, of: Scene.game) == RegistryUsage())
        scene.register("phone", revision: 2, Self.widgets(["b"]))
        let less = try #require(Self.usage(scene))
        #expect((less.hosts, less.instances, less.tombstones) == (2, 2, 1))
        #expect(less.bytes < full.bytes)
        scene.apply(.unregister(HostRemoval(host: HostKey("phone"))))
        scene.apply(.unregister(HostRemoval(host: HostKey("tablet"))))
        let gone = try #require(Self.usage(scene))
        #expect((gone.hosts, gone.instances, gone.tombstones) == (0, 0, 3))
        scene.pass(.days(3))
        #expect(Self.usage(scene) == RegistryUsage(), "nothing is left, not a byte")
    }

    @Test func `longer ids, configurations, tags and conditions are more bytes`() throws {
        func textBytes(_ instance: InstanceRegistration) -> Int {
            var scene = Scene()
            scene.register("phone", revision: 1, [instance])
            return Self.usage(scene)?.textBytes ?? 0
        }
        let plain = Scene.scores("a", team: "seahawks")
        var tagged = plain
        tagged.tags = ["home", "away"]
        #expect(textBytes(tagged) == textBytes(plain) + 8 + 32)
        var conditional = plain
        conditional.when = .field(.parameter("team"), [.equals(.string("seahawks"))])
        #expect(textBytes(conditional) > textBytes(plain) + 8)
        #expect(textBytes(Scene.scores("abcdef", team: "seahawks")) == textBytes(plain) + 5)
        let long = String(repeating: "x", count: 1000)
        #expect(textBytes(Scene.scores("a", team: long)) >= textBytes(plain) + 900)
    }

    @Test func `the version changes with the counts alone`() {
        var scene = Scene()
        let start = scene.engine.usageVersion
        scene.register("phone", revision: 1, Self.widgets(["a"]))
        let registered = scene.engine.usageVersion
        #expect(registered != start)
        scene.register("phone", revision: 2, Self.widgets(["a"]))
        scene.apply(.tick)
        #expect(scene.engine.usageVersion == registered)
    }

    @Test func `a registration adds what is not shown yet, and nothing if it would be refused`() {
        var scene = Scene()
        func additions(_ registration: HostRegistration) -> [Int] {
            let found = scene.engine.additions(of: registration) ?? RegistryAdditions()
            return [found.hosts, found.instances, found.newInstances]
        }
        #expect(additions(Self.registration("phone", ["a", "b"])) == [1, 2, 2])
        scene.register("phone", revision: 1, Self.widgets(["a", "b"]))
        #expect(additions(Self.registration("phone", ["a", "b"])) == [0, 0, 0])
        #expect(additions(Self.registration("phone", ["b", "c"])) == [0, 0, 1])
        #expect(additions(Self.registration("phone", [])) == [0, -2, 0])
        #expect(additions(Self.registration("phone", ["a", "b", "c", "d"])) == [0, 2, 2])
        #expect(additions(Self.registration("phone", ["a", "a"])) == [0, 0, 0], "refused")
        // One that was removed and returns is shown again; a host that was removed is new again.
        scene.register("phone", revision: 2, Self.widgets(["a"]))
        #expect(additions(Self.registration("phone", ["a", "b"])) == [0, 1, 1])
        scene.apply(.unregister(HostRemoval(host: HostKey("phone"))))
        #expect(additions(Self.registration("phone", ["a"])) == [1, 1, 1])
    }

    @Test func `a snapshot has the same counts`() throws {
        var scene = Scene()
        var tagged = Scene.scores("c", team: "mariners")
        tagged.tags = ["home"]
        scene.register("phone", revision: 1, Self.widgets(["a", "b"]) + [tagged])
        scene.register("phone", revision: 2, Self.widgets(["b"]) + [tagged])
        scene.register("tablet", revision: 1, Self.widgets(["a"]))
        let read = try SnapshotTests.engine(of: SnapshotTests.frames(of: scene.engine))
        #expect(read.appUsages == scene.engine.appUsages)
        #expect(read.checkInvariants() == [])
    }
}
