import TestSupport
import Testing
import WidgetModel

@testable import Engine

/// The pauses in force, as operators see them.
@Suite struct StandingOrderTests {
    private static let night = OperatorSource(caller: "night", address: "203.0.113.7", request: "r-1")
    private static let day = OperatorSource(caller: "day", address: "203.0.113.8", request: "r-2")
    private static let scores = OrderScope.kind(Scene.sports, WidgetKind("scores"))

    private static func pause(_ scope: OrderScope, until: Instant? = nil, by source: OperatorSource = night) -> Record {
        .order(OperatorOrder(.pause(until: until), scope, by: source))
    }

    @Test func `a pause is listed with who gave it, until it is lifted or has ended`() {
        var scene = Scene()
        let (since, until) = (scene.now, scene.now + .hours(2))
        scene.apply([Self.pause(.app(Scene.sports)), Self.pause(.sender(Scene.team), until: until, by: Self.day)])
        let app = StandingOrder(scope: .app(Scene.sports), since: since, until: nil, source: Self.night)
        let sender = StandingOrder(scope: .sender(Scene.team), since: since, until: until, source: Self.day)
        #expect(scene.engine.standingOrders == [app, sender])
        scene.pass(.hours(2))
        scene.apply([.tick])
        #expect(scene.engine.standingOrders == [app])
        scene.order(.resume, .app(Scene.sports))
        #expect(scene.engine.standingOrders == [])
    }

    @Test func `the last pause of a scope is the one in force`() {
        var scene = Scene()
        scene.apply([Self.pause(Self.scores, until: scene.now + .hours(9))])
        scene.pass(.hours(1))
        let until = scene.now + .hours(1)
        scene.apply([Self.pause(Self.scores, until: until, by: Self.day)])
        #expect(
            scene.engine.standingOrders == [
                StandingOrder(scope: Self.scores, since: scene.now, until: until, source: Self.day)
            ]
        )
        scene.pass(.hours(1))
        scene.apply([.tick])
        #expect(scene.engine.standingOrders == [])
    }

    @Test func `the pause of an app that is not configured any more is listed, and can be lifted`() {
        var scene = Scene()
        scene.apply([Self.pause(.app(Scene.sports)), Self.pause(Self.scores)])
        var settings = Scene.settings()
        settings.apps = []
        scene.apply(.settings(settings))
        #expect(scene.engine.standingOrders.map(\.scope) == [.app(Scene.sports), Self.scores])
        #expect(scene.engine.standingOrders.map(\.isConfigured) == [false, false])
        #expect(scene.knows(.app(Scene.sports)) && scene.knows(Self.scores))
        scene.order(.resume, .app(Scene.sports))
        scene.order(.resume, Self.scores)
        #expect(scene.engine.standingOrders == [])
        #expect(!scene.knows(.app(Scene.sports)))
        scene.apply(.settings(Scene.settings()))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        scene.push(to: "phone")
        #expect(scene.lastDecision("phone", "w1")?.reason != .paused)
    }

    @Test func `what is not there is not paused`() {
        var scene = Scene()
        let unknown: [OrderScope] = [.app(BundleID("no.such.app")), .kind(Scene.sports, WidgetKind("none"))]
        scene.apply(unknown.map { Self.pause($0) })
        #expect(scene.engine.standingOrders == [])
        #expect(unknown.allSatisfy { !scene.knows($0) })
        #expect(!scene.knows(.sender(TeamID("NOBODY1234"))) && scene.knows(.sender(Scene.team)))
        #expect(!scene.knows(.host(HostKey("phone"))))
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        let push = scene.push(to: "phone")
        #expect(scene.knows(.host(HostKey("phone"))))
        let address = InstanceAddress(host: HostKey("phone"), instance: InstanceID("w1"))
        let other = InstanceAddress(host: HostKey("phone"), instance: InstanceID("w2"))
        #expect(scene.knows(.instance(address)) && !scene.knows(.instance(other)))
        #expect(scene.knows(.push(push, Scene.team)) && scene.knows(.push(push, nil)))
        #expect(!scene.knows(.push(push, TeamID("NOBODY1234"))))
    }

    @Test func `an engine that was read back has the same pauses, and keeps to them`() throws {
        var scene = Scene()
        scene.settle("phone", [Scene.scores("w1", team: "seahawks")])
        let until = scene.now + .hours(3)
        scene.apply([
            Self.pause(.app(Scene.sports), until: until), Self.pause(Self.scores), Self.pause(.sender(Scene.team)),
        ])
        let read = try SnapshotTests.engine(of: SnapshotTests.frames(of: scene.engine))
        #expect(read.standingOrders == scene.engine.standingOrders && read.standingOrders.count == 3)
        #expect(read.stateDigest() == scene.engine.stateDigest())
        #expect(read.catalogue.apps.map(\.pausedUntil) == scene.engine.catalogue.apps.map(\.pausedUntil))
        #expect(read.catalogue.kinds.map(\.pausedUntil) == scene.engine.catalogue.kinds.map(\.pausedUntil))
        #expect(read.ledger.senderPauses == scene.engine.ledger.senderPauses)
    }
}

extension Scene {
    fileprivate func knows(_ scope: OrderScope) -> Bool { self.engine.knows(scope) }
}
