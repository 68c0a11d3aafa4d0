import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// A waiting push as a sender sees it: why it waits, for how many widgets, and until when.
@Suite struct PushWaitingTests {
    private static func scene(widgets: Int = 2) -> Scene {
        var scene = Scene()
        scene.settle("phone", (0..<widgets).map { Scene.scores("w\($0)", team: "seahawks") })
        return scene
    }

    private static func waiting(_ scene: Scene, _ push: PushID, lookedMax: Int = 100) -> PushWaiting? {
        scene.engine.push(push, team: Scene.team, lookedMax: lookedMax).first?.waiting
    }

    private static func reasons(_ scene: Scene, _ push: PushID) -> [DecisionReason: Int] {
        let waiting = Self.waiting(scene, push)
        return Dictionary(
            uniqueKeysWithValues: DecisionReason.allCases.map { ($0, waiting?[$0] ?? 0) }.filter { $0.1 > 0 }
        )
    }

    @Test func `a push that waits for nothing says nothing`() {
        var scene = Self.scene()
        let push = scene.push(to: "phone")
        #expect(scene.outcomes(push) == [.issued: 2])
        #expect(Self.waiting(scene, push) == nil)
    }

    @Test func `the distance and the pace are told with their dates`() {
        var scene = Self.scene()
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        let urgent = scene.push(to: "phone")
        #expect(Self.reasons(scene, urgent) == [.minimumInterval: 2])
        #expect(Self.waiting(scene, urgent)?.earliest == scene.now + .minutes(5))
        #expect(Self.waiting(scene, urgent)?.latest == scene.now + .minutes(5))
        scene.pass(.minutes(5))
        #expect(Self.waiting(scene, urgent) == nil)
        scene.acknowledgeAll("phone")
        let paced = scene.push(to: "phone", .normal)
        #expect(Self.reasons(scene, paced) == [.pace: 2])
        let date = scene.instance("phone", "w0")?.decidesAt
        #expect(Self.waiting(scene, paced)?.earliest == date)
        #expect(Self.waiting(scene, paced)?.expiring == 0)
    }

    @Test func `each widget waits until its own date, and the first and the last are told`() {
        var scene = Self.scene()
        scene.settle("tablet", [Scene.scores("t", team: "seahawks")])
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        let first = scene.now + .minutes(5)
        scene.pass(.minutes(2))
        scene.push(to: "tablet")
        scene.acknowledgeAll("tablet")
        let push = scene.push(match: "seahawks")
        #expect(Self.reasons(scene, push) == [.minimumInterval: 3])
        #expect(Self.waiting(scene, push)?.earliest == first)
        #expect(Self.waiting(scene, push)?.latest == scene.now + .minutes(5))
        scene.pass(.minutes(3))
        #expect(Self.reasons(scene, push) == [.minimumInterval: 1])
    }

    @Test func `a push's own wish, a pause without end and one with an end are told`() {
        var scene = Self.scene()
        let date = scene.now + .hours(2)
        let later = scene.push(to: "phone", notBefore: date)
        #expect(Self.reasons(scene, later) == [.notBefore: 2])
        #expect(Self.waiting(scene, later)?.earliest == date)
        scene.order(.pause(until: nil), .app(Scene.sports))
        let paused = scene.push(to: "phone")
        #expect(Self.reasons(scene, paused) == [.paused: 2])
        #expect(Self.waiting(scene, paused)?.earliest == nil)
        #expect(Self.reasons(scene, later) == [.notBefore: 2])
        scene.order(.resume, .app(Scene.sports))
        let end = scene.now + .minutes(20)
        scene.order(.pause(until: end), .sender(Scene.team))
        let held = scene.push(to: "phone")
        #expect(Self.reasons(scene, held) == [.paused: 2])
        #expect(Self.waiting(scene, held)?.latest == end)
    }

    @Test func `what expires before its date is counted, and has none`() {
        var scene = Self.scene()
        scene.push(to: "phone")
        scene.acknowledgeAll("phone")
        let push = scene.push(to: "phone", .normal, expiration: scene.now.seconds + 60)
        #expect(Self.reasons(scene, push).values.reduce(0, +) == 2)
        #expect(Self.waiting(scene, push)?.expiring == 2)
        #expect(Self.waiting(scene, push)?.latest == nil)
    }

    @Test func `a priority that never reloads by itself waits without a date`() {
        var scene = Self.scene()
        let push = scene.push(to: "phone", .low)
        #expect(Self.reasons(scene, push) == [.waitsForAnother: 2])
        #expect(Self.waiting(scene, push)?.earliest == nil)
    }

    @Test func `at so many widgets as the limit says is looked, and one more is said to be left out`() {
        var scene = Self.scene(widgets: 3)
        scene.order(.pause(until: nil), .app(Scene.sports))
        let push = scene.push(to: "phone")
        let looks = [1, 2, 3, 4].map { Self.waiting(scene, push, lookedMax: $0) }
        #expect(looks.map { $0?[.paused] } == [1, 2, 3, 3])
        #expect(looks.map { $0?.isSampled } == [true, true, false, false])
    }

    @Test func `what is superseded, cancelled or removed is not told any more`() {
        var scene = Self.scene(widgets: 3)
        scene.order(.pause(until: nil), .app(Scene.sports))
        let first = scene.push(to: "phone", collapseID: "score")
        let second = scene.push(to: "phone", collapseID: "score")
        #expect(Self.waiting(scene, first) == nil)
        #expect(Self.reasons(scene, second) == [.paused: 3])
        let address = InstanceAddress(host: scene.key("phone"), instance: InstanceID("w1"))
        scene.order(.cancel, .instance(address))
        #expect(Self.reasons(scene, second) == [.paused: 2])
        scene.register("phone", revision: 2, [Scene.scores("w2", team: "seahawks")])
        #expect(Self.reasons(scene, second) == [.paused: 1])
    }
}
