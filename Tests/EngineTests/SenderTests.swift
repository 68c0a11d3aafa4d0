import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// The costs of senders, and the order of a stack.
@Suite struct SenderTests {
    @Test func `a sender's account shows what its pushes matched, cost and changed`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        scene.push(to: "phone", digest: "1-0")
        scene.acknowledgeAll("phone")
        scene.pass(.hours(1))
        scene.push(to: "phone", digest: "1-0")
        scene.push(to: "phone", match: "seahawks", digest: "2-0")
        scene.push(to: "phone", match: "seahawks", expiration: 0)
        scene.signal("phone", .appForeground)
        scene.push(to: "phone", match: "mariners", digest: "2-0")
        let senders = scene.engine.senders()
        #expect(senders.map(\.team) == [Scene.team])
        let counts = senders.map {
            [$0.pushes, $0.repeats, $0.matched, $0.unchanged, $0.refused, $0.charged, $0.exempt]
        }
        #expect(counts == [[5, 0, 7, 2, 1, 3, 1]])
    }

    @Test func `reloads that the system or the app wants are on no sender's account`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.apply(.appReload(AppReloadRequest(app: Scene.sports)))
        scene.signal("phone", .appIntent(InstanceID("w1")))
        #expect(scene.engine.senders() == [])
    }

    @Test func `the stack follows the entries that are shown`() {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "mariners")])
        func report(_ id: String, _ scores: [Float]) {
            let entries = scores.enumerated().map { hour, score in
                TimelineEntry(date: scene.now + .hours(Int64(hour)), relevance: EntryRelevance(score: score))
            }
            let timeline = Timeline(entries: entries, policy: .never)
            scene.apply(.timeline(TimelineReport(host: HostKey("phone"), instance: InstanceID(id), timeline: timeline)))
        }
        report("w1", [1, 5])
        report("w2", [2, 2])
        let now = scene.now
        #expect(scene.engine.stack(of: HostKey("phone"), at: now)?.widgets.map(\.instance.rawValue) == ["w2", "w1"])
        let later = scene.engine.stack(of: HostKey("phone"), at: now + .hours(1))
        #expect(later?.widgets.map(\.instance.rawValue) == ["w1", "w2"])
        #expect(scene.engine.stack(of: HostKey("tablet"), at: now) == nil)
    }

    @Test func `an app reloads its widgets or its controls`() {
        var scene = Scene()
        var control = Scene.scores("c1", team: "seahawks")
        control.controlToken = Scene.token("control")
        scene.settle("phone", [Scene.scores("w1", team: "seahawks"), control])
        scene.apply(.appReload(AppReloadRequest(app: Scene.sports)))
        #expect(scene.issued.map(\.instance.rawValue) == ["w1"])
        scene.apply(.appReload(AppReloadRequest(app: Scene.sports, isForControls: true)))
        #expect(scene.issued.map(\.instance.rawValue) == ["c1"])
    }
}
