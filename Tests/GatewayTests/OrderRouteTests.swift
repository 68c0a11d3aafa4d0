import APNSWire
import Engine
import HTTPTransport
import OperatorAPI
import Partitions
import TestSupport
import Testing
import WidgetModel

/// A pause shows wherever an operator looks.
@Suite struct OrderRouteTests {
    private static let app = #""of":{"app":"com.example.scores"}"#

    private static func orders(_ scene: OperatorScene) async throws -> [JSONValue] {
        guard case .array(let orders)? = try await scene.send("GET", "/v1/orders").json["orders"] else { return [] }
        return orders
    }

    /// The first row of a list that has these members.
    private static func row(
        _ scene: OperatorScene,
        _ list: String,
        _ members: [String: String]
    ) async throws -> JSONValue? {
        guard case .array(let rows)? = try await scene.send("GET", "/v1/\(list)").json[list] else { return nil }
        return rows.first { row in members.allSatisfy { row[$0.key] == .string($0.value) } }
    }

    private static func metric(_ scene: OperatorScene, _ scope: String) async -> Bool {
        guard case .bytes(let bytes) = await scene.routes.respond(to: OperatorScene.request("GET", "/metrics")).body
        else { return false }
        return String(decoding: bytes, as: UTF8.self).contains("freshet_paused_scopes{scope=\"\(scope)\"} 1\n")
    }

    @Test func `a pause is listed, and shows in apps, kinds, stats and metrics, until it ends`() async throws {
        let scene = try await OperatorScene()
        #expect(try await Self.orders(scene).isEmpty)
        let until = JSONValue.instant(scene.scene.time.wall + .hours(1))
        let order = #"{"action":"pause","until":\#(String(decoding: until.jsonText, as: UTF8.self)),\#(Self.app)}"#
        #expect(try await scene.send("POST", "/v1/orders", order).status == 200)
        let found = try #require(try await Self.orders(scene).first)
        #expect(found["of"] == (try json(#"{"app":"com.example.scores"}"#)))
        #expect(found["by"] == .string("unknown"))
        #expect(found["until"] == until)
        #expect(found["isConfigured"] == .bool(true))
        #expect(try await Self.row(scene, "apps", ["app": "com.example.scores"])?["paused"] == found)
        #expect(try await Self.row(scene, "apps", ["app": "com.example.other"])?["paused"] == nil)
        let kind = ["app": "com.example.scores", "kind": "scores"]
        #expect(try await Self.row(scene, "kinds", kind)?["paused"] == found)
        let stats = try await scene.send("GET", "/v1/stats").json["paused"]
        #expect(stats == (try json(#"{"app":1,"kind":0,"sender":0}"#)))
        #expect(await Self.metric(scene, "app"))
        // Nothing happens meanwhile: the clock alone ends it.
        scene.scene.time.pass(.hours(1))
        #expect(try await Self.orders(scene).isEmpty)
        #expect(await !Self.metric(scene, "app"))
    }

    @Test func `of a kind's own pause and its app's the longer one is told`() async throws {
        let scene = try await OperatorScene()
        let kind = #""of":{"app":"com.example.scores","kind":"scores"}"#
        let until = JSONValue.instant(scene.scene.time.wall + .hours(1))
        _ = try await scene.send(
            "POST",
            "/v1/orders",
            #"{"action":"pause","until":\#(String(decoding: until.jsonText, as: UTF8.self)),\#(Self.app)}"#
        )
        _ = try await scene.send("POST", "/v1/orders", #"{"action":"pause",\#(kind)}"#)
        let row = try await Self.row(scene, "kinds", ["app": "com.example.scores", "kind": "scores"])
        #expect(row?["paused"]?["of"]?["kind"] == .string("scores"))
        #expect(try await Self.orders(scene).count == 2)
    }

    @Test func `a resume of what is not paused itself says so, and which pauses stay`() async throws {
        let scene = try await OperatorScene()
        let kind = #""of":{"app":"com.example.scores","kind":"scores"}"#
        _ = try await scene.send("POST", "/v1/orders", #"{"action":"pause",\#(kind)}"#)
        _ = try await scene.send("POST", "/v1/orders", #"{"action":"pause","of":{"app":"com.example.other"}}"#)
        let app = try await scene.send("POST", "/v1/orders", #"{"action":"resume",\#(Self.app)}"#)
        #expect(app.status == 200 && app.json["resumed"] == .bool(false))
        let kept = try await Self.orders(scene).filter { $0["of"]?["kind"] != nil }
        #expect(kept.count == 1 && app.json["stillPaused"] == .array(kept))
        #expect(try await Self.orders(scene).count == 2)
        let own = try await scene.send("POST", "/v1/orders", #"{"action":"resume",\#(kind)}"#)
        #expect(own.json["resumed"] == .bool(true) && own.json["stillPaused"] == .array([]))
        #expect(try await Self.orders(scene).count == 1)
    }

    @Test func `a paused sender says so beside what it costs`() async throws {
        let scene = try await OperatorScene()
        try await scene.scene.register("host-1")
        var push = Sports.push(1, to: "")
        push.target = .app(Sports.app)
        _ = try await scene.scene.log.appendToAll(.push(push))
        let order = #"{"action":"pause","of":{"sender":"\#(Sports.team.rawValue)"}}"#
        #expect(try await scene.send("POST", "/v1/orders", order).status == 200)
        let row = try await Self.row(scene, "senders", ["team": Sports.team.rawValue])
        #expect(row?["paused"]?["of"]?["sender"] == .string(Sports.team.rawValue))
        #expect(await Self.metric(scene, "sender"))
    }

    @Test(
        arguments: [
            (#"{"app":"no.such.app"}"#, "not-found"), (#"{"app":"com.example.scores","kind":"none"}"#, "not-found"),
            (#"{"sender":"NOBODY1234"}"#, "not-found"),
        ]
    )
    func `an order about an app, a kind or a sender that there is not is 404`(of: String, code: String) async throws {
        let scene = try await OperatorScene()
        for action in ["pause", "resume", "cancel"] {
            let answer = try await scene.send("POST", "/v1/orders", #"{"action":"\#(action)","of":\#(of)}"#)
            #expect(answer.status == 404 && answer.json["code"] == .string(code), "\(action)")
        }
        #expect(try await Self.orders(scene).isEmpty)
    }

    @Test(
        arguments: [
            (#"{"app":"com.example.scores","host":"none"}"#, "unknown-host"),
            (#"{"instance":"com.example.scores/none:w1"}"#, "unknown-instance"),
            (#"{"push":"8F7A2C1E-0B44-4B7C-9D53-6A1F0E2D3C4B"}"#, "not-found"),
        ]
    )
    func `cancelling for a host, a widget or a push that there is not is 404`(of: String, code: String) async throws {
        let scene = try await OperatorScene()
        let answer = try await scene.send("POST", "/v1/orders", #"{"action":"cancel","of":\#(of)}"#)
        #expect(answer.status == 404 && answer.json["code"] == .string(code))
    }
}
