import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// Reloads that a phone behind APNs does by itself: booked, never issued, never an outcome.
@Suite struct ObservedReloadTests {
    private static func scene() -> Scene {
        var scene = Scene()
        scene.settle("phone", delivery: .apns, [Scene.scores("w1", team: "seahawks")])
        return scene
    }

    private static func counts(_ scene: Scene) -> [Int?] {
        let budget = scene.instance("phone", "w1")?.budget
        return [budget?.observedReloads, budget?.charged]
    }

    private static func report(_ scene: inout Scene, _ policy: ReloadPolicy, _ reload: ReloadID? = nil) {
        let timeline = Timeline(entries: [TimelineEntry(date: scene.now)], policy: policy)
        let report = TimelineReport(
            host: HostKey("phone"),
            instance: InstanceID("w1"),
            reload: reload,
            timeline: timeline
        )
        scene.apply(.timeline(report))
    }

    @Test func `a widget that is added or configured anew is reloaded by the phone, not charged`() {
        var scene = Self.scene()
        #expect(scene.reloads == [])
        #expect(Self.counts(scene) == [1, 0])
        scene.register("phone", revision: 2, delivery: .apns, [Scene.scores("w1", team: "kraken")])
        #expect(scene.reloads == [])
        #expect(Self.counts(scene) == [2, 0])
        // Twice within five minutes: the second is charged.
        scene.register("phone", revision: 3, delivery: .apns, [Scene.scores("w1", team: "mariners")])
        #expect(Self.counts(scene) == [3, 1])
    }

    @Test func `a policy reload is booked at its date, unsmoothed, and reported later it is the same one`() {
        var scene = Self.scene()
        Self.report(&scene, .after(scene.now + .hours(2)))
        #expect(Self.counts(scene) == [1, 0], "the first timeline is the one that adding it gave")
        scene.pass(.hours(2) - .milliseconds(1))
        #expect(Self.counts(scene) == [1, 0])
        scene.pass(.milliseconds(1))
        #expect(Self.counts(scene) == [2, 1])
        #expect(scene.reloads == [])
        scene.pass(.minutes(3))
        Self.report(&scene, .never)
        #expect(Self.counts(scene) == [2, 1])
        scene.pass(.minutes(3))
        Self.report(&scene, .never)
        #expect(Self.counts(scene) == [3, 2], "another one")
    }

    @Test func `a report that comes after more than an hour is about another reload`() {
        var scene = Self.scene()
        Self.report(&scene, .after(scene.now + .hours(2)))
        scene.pass(.hours(3))
        scene.signal("phone", .reloaded(InstanceID("w1")))
        #expect(Self.counts(scene) == [2, 1])
        scene.signal("phone", .reloaded(InstanceID("w1")))
        #expect(Self.counts(scene) == [2, 1], "two reports within 15 seconds are one reload")
        scene.pass(.hours(1))
        scene.signal("phone", .reloaded(InstanceID("w1")))
        #expect(Self.counts(scene) == [3, 2])
    }

    @Test func `the first report after a push is about that push, and leaves what is known to be shown`() {
        var scene = Self.scene()
        scene.push(to: "phone", digest: "1-0")
        scene.acknowledgeAll("phone")
        scene.pass(.minutes(2))
        scene.signal("phone", .reloaded(InstanceID("w1")))
        #expect(Self.counts(scene) == [1, 1])
        let again = scene.push(to: "phone", digest: "1-0")
        #expect(scene.outcomes(again) == [.unchanged: 1])
    }

    @Test func `a reload that the phone did by itself proves nothing to a push`() {
        var scene = Self.scene()
        scene.push(to: "phone", digest: "1-0")
        scene.acknowledgeAll("phone")
        scene.pass(.hours(2))
        scene.signal("phone", .reloaded(InstanceID("w1")))
        let goal = scene.push(to: "phone", digest: "1-0")
        #expect(scene.outcomes(goal) == [.deferred: 1], "what it shows now is not known")
        scene.pass(.minutes(5))
        #expect(scene.outcomes(goal) == [.issued: 1])
    }

    @Test func `taps and changes of the system are the phone's own, and free`() {
        var scene = Self.scene()
        scene.signal("phone", .appIntent(InstanceID("w1")))
        scene.pass(.minutes(1))
        scene.signal("phone", .systemChange(.locale))
        #expect(scene.reloads == [])
        #expect(Self.counts(scene) == [3, 0])
        let answer = scene.apply(.appReload(AppReloadRequest(app: Scene.sports)))
        #expect(answer == .appReload(matched: 1))
        #expect(scene.lastDecision("phone", "w1")?.reason == .systemChange)
    }

    @Test func `a push does not wait to join what the phone does by itself`() {
        var scene = Self.scene()
        Self.report(&scene, .after(scene.now + .minutes(5)))
        scene.pass(.minutes(1))
        let goal = scene.push(to: "phone", .normal)
        #expect(scene.outcomes(goal) == [.issued: 1])
    }

    @Test func `another delivery changes who drives the timelines, and mints nothing`() {
        var scene = Self.scene()
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        Self.report(&scene, .after(scene.now + .hours(2)))
        scene.register("phone", revision: 2, delivery: .stream, [Scene.scores("w1", team: "seahawks")])
        #expect(Self.counts(scene) == [1, 1])
        scene.pass(.hours(3))
        #expect(scene.reloads.last?.causes == ReloadCauses(.policy), "the gateway's from now on")
        #expect(Self.counts(scene) == [1, 2])
        scene.register("phone", revision: 3, delivery: .stream, [Scene.scores("w1", team: "kraken")])
        scene.acknowledgeAll("phone")
        scene.push(to: "phone")
        scene.register("phone", revision: 4, delivery: .apns, [Scene.scores("w1", team: "kraken")])
        scene.pass(.minutes(10))
        #expect(scene.reloads.last?.delivery == .apns, "what waited goes to the token")
        #expect(scene.reloads.last?.causes == ReloadCauses(.push))
    }
}
