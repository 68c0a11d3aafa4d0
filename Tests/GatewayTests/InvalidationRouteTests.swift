import Engine
import Serving
import TestSupport
import Testing
import WidgetModel

@Suite struct InvalidationRouteTests {
    private static let app = "/v1/apps/com.example.scores"

    @Test func `hosts that show the kind are told, in every partition`() async throws {
        let scene = try await RouteScene()
        for name in ["phone", "tablet", "desk"] { try await scene.register(name) }
        let stream = try scene.scene.streams.subscribe(.host(HostKey("tablet")))
        let token = try scene.key.providerToken()
        let answer = try await scene.send("POST", "\(Self.app)/invalidate-relevance", token)
        #expect(answer.status == 200)
        #expect(answer.body == #"{"hosts":3}"#)
        var events = stream.events.makeAsyncIterator()
        while let event = await events.next() {
            guard case .event(.invalidation(let invalidation), _) = event else { continue }
            #expect(invalidation.kind == WidgetKind("scores"))
            #expect(invalidation.host == HostID("tablet"))
            break
        }
        scene.scene.streams.cancel(stream)
        let one = try await scene.send("POST", "\(Self.app)/invalidate-relevance", token, #"{"host":"desk"}"#)
        #expect(one.body == #"{"hosts":1}"#)
    }

    @Test func `recommendations are told once for each kind`() async throws {
        let scene = try await RouteScene(partitions: 3)
        let stream = try scene.scene.streams.subscribe(.app(Sports.app))
        let token = try scene.key.providerToken()
        let answer = try await scene.send("POST", "\(Self.app)/invalidate-recommendations", token)
        #expect(answer.body == #"{"kinds":1}"#)
        var events = stream.events.makeAsyncIterator()
        guard case .event(.invalidation(let invalidation), _) = await events.next() else {
            Issue.record("nothing was told")
            return
        }
        #expect(invalidation.subject == .recommendations)
        #expect(invalidation.host == nil)
    }

    @Test(
        arguments: [
            ("POST", "invalidate-relevance", #"{"kind":"weather"}"#, ["400", "unknown-kind", "kind"]),
            ("POST", "invalidate-relevance", #"{"host":"nobody"}"#, ["404", "unknown-host"]),
            ("POST", "invalidate-recommendations", #"{"host":"phone"}"#, ["400", "bad-request", "host"]),
            ("GET", "invalidate-relevance", "", ["405", "method-not-allowed"]),
            ("GET", "kinds/weather/snapshot", "", ["400", "unknown-kind"]),
            ("GET", "kinds/secret/snapshot", "", ["400", "unknown-kind"]),
        ] as [(String, String, String, [String])]
    )
    func `what is wrong with a request is told`(method: String, path: String, body: String, place: [String])
        async throws
    {
        let scene = try await RouteScene()
        let answer = try await scene.send(method, "\(Self.app)/\(path)", try scene.key.providerToken(), body)
        #expect(answer.place == place)
    }

    @Test func `a gallery is shown a kind's sample`() async throws {
        let scene = try await RouteScene()
        let token = try scene.key.providerToken()
        let answer = try await scene.send("GET", "\(Self.app)/kinds/scores/snapshot", token)
        #expect(answer.body == #"{"entry":{"score":"24 - 17"},"isSample":true}"#)
        let other = try scene.otherKey.providerToken()
        let none = try await scene.send("GET", "/v1/apps/com.example.other/kinds/secret/snapshot", other)
        #expect(none.place == ["404", "not-found"])
    }
}
