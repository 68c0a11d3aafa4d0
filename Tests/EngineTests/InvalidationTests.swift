import TestSupport
import Testing
import WidgetModel

@testable import Engine

/// An app's invalidations, beside reloads.
@Suite struct InvalidationTests {
    private static func scene() -> Scene {
        var scene = Scene()
        scene.settle("desk", [Scene.scores("w1", team: "seahawks"), Scene.scores("w2", team: "kraken")])
        scene.settle("tablet", [Scene.scores("w1", team: "seahawks")])
        scene.settle("phone", delivery: .apns, [Scene.scores("w1", team: "seahawks")])
        scene.settle("watch", app: Scene.game, [Scene.character("w1", "panda")])
        return scene
    }

    private static func relevance(_ scene: Scene, _ hosts: [String]) -> [Effect] {
        hosts.map { host in
            .invalidation(
                Invalidation(
                    subject: .relevance,
                    app: Scene.sports,
                    kind: WidgetKind("scores"),
                    host: HostID(host),
                    at: scene.now
                )
            )
        }
    }

    @Test func `relevance is asked anew once of each host that shows the kind`() {
        var scene = Self.scene()
        let answer = scene.apply(.invalidate(InvalidationRequest(.relevance, app: Scene.sports)))
        #expect(answer == .invalidated(count: 2))
        #expect(scene.given == Self.relevance(scene, ["desk", "tablet"]))
        #expect(scene.engine.stats().invalidations == 2)
        #expect(scene.instance("desk", "w1")?.pending == [], "no reload, and nothing is charged")
    }

    @Test func `one host or one kind may be meant`() {
        var scene = Self.scene()
        func count(_ kind: String?, _ host: String?) -> RecordAnswer.Result {
            let request = InvalidationRequest(
                .relevance,
                app: Scene.sports,
                kind: kind.map { WidgetKind($0) },
                host: host.map { HostID($0) }
            )
            return scene.apply(.invalidate(request))
        }
        #expect(count(nil, "tablet") == .invalidated(count: 1))
        #expect(scene.given == Self.relevance(scene, ["tablet"]))
        #expect(count("weather", nil) == .invalidated(count: 0))
        #expect(count("scores", "watch") == .unknownHost, "another app's host")
        #expect(count("scores", "nobody") == .unknownHost)
    }

    @Test func `recommendations are a kind's, not a host's`() {
        var scene = Self.scene()
        let answer = scene.apply(.invalidate(InvalidationRequest(.recommendations, app: Scene.game)))
        #expect(answer == .invalidated(count: 1))
        let told = Invalidation(
            subject: .recommendations,
            app: Scene.game,
            kind: WidgetKind("character"),
            host: nil,
            at: scene.now
        )
        #expect(scene.given == [.invalidation(told)])
        let other = InvalidationRequest(.recommendations, app: BundleID("com.example.unserved"))
        #expect(scene.apply(.invalidate(other)) == .invalidated(count: 0))
    }
}
