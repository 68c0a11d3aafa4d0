import Engine
import Testing
import Timelines
import WidgetModel

/// `GET /v1/hosts/<token>/stack` from the route down.
@Suite struct StackRouteTests {
    private static let phone = Sports.token("phone")

    private static func scene() async throws -> RouteScene {
        let scene = try await RouteScene()
        let instances =
            #"[{"id":"a","kind":"scores","family":"systemSmall"},{"id":"b","kind":"scores","family":"systemSmall"}]"#
        let body = RouteScene.body(#""host":"phone""#, instances: instances)
        let answer = try await scene.send(
            "PUT",
            RouteScene.path(Self.phone),
            try scene.key.hostCredential(Self.phone, of: "phone"),
            body
        )
        #expect(answer.status == 200)
        for (id, scores) in [("a", [1, 5]), ("b", [2, 2])] as [(String, [Int])] {
            let entries = scores.enumerated().map { hour, score in
                #"{"date":"2026-11-02T\#(17 + hour):00:00Z","relevance":{"score":\#(score)}}"#
            }
            let timeline = #"{"policy":"never","entries":[\#(entries.joined(separator: ","))]}"#
            let path = RouteScene.path(Self.phone, "widgets/\(id)/timeline")
            let reported = try await scene.send(
                "PUT",
                path,
                try scene.key.hostCredential(Self.phone, of: "phone"),
                timeline
            )
            #expect(reported.status == 200, "\(reported.body)")
        }
        return scene
    }

    private static func order(_ scene: RouteScene, _ query: String = "") async throws -> [JSONValue?] {
        let path = RouteScene.path(Self.phone, "stack\(query)")
        let answer = try await scene.send("GET", path, try scene.key.hostCredential(Self.phone, of: "phone"))
        guard case .array(let widgets) = try json(answer.body)["widgets"] else { return [.string(answer.body)] }
        return widgets.map { $0["instance"] }
    }

    @Test func `the widgets come by relevance, now or at a date`() async throws {
        let scene = try await Self.scene()
        #expect(try await Self.order(scene) == [.string("b"), .string("a")])
        #expect(try await Self.order(scene, "?at=2026-11-02T18:00:00Z") == [.string("a"), .string("b")])
        let bad = try await scene.send(
            "GET",
            RouteScene.path(Self.phone, "stack?at=noon"),
            try scene.key.hostCredential(Self.phone, of: "phone")
        )
        #expect(bad.place == ["400", "bad-request", "at"])
    }

    @Test func `another host's stack is not to be seen`() async throws {
        let scene = try await Self.scene()
        let other = try scene.key.hostCredential(Sports.token("tablet"))
        #expect(try await scene.send("GET", RouteScene.path(Self.phone, "stack"), other).status == 404)
        #expect(try await scene.send("GET", RouteScene.path(Self.phone, "stack"), nil).status == 401)
    }
}
