import Engine
import HTTPTransport
import IntentMatching
import OperatorAPI
import Partitions
import TestSupport
import Testing
import Timelines
import WidgetModel

/// Why a widget has not reloaded, in one answer.
@Suite(.timeLimit(.minutes(60))) struct WhyRouteTests {
    private static let route = "/v1/instances/com.example.scores/host-1:a0"

    /// A widget with a reload that is out since an hour, a push that waits for it, and one that was for another.
    private static func scene() async throws -> OperatorScene {
        let scene = try await OperatorScene()
        try await scene.scene.register("host-1")
        try await scene.acknowledgeAll()
        scene.scene.time.pass(.hours(1))
        var others = Sports.push(3, to: "")
        others.target = .app(Sports.app)
        others.pattern = try MatchPattern.parse(try json(#"{"team":["mariners"]}"#))
        _ = try await scene.scene.log.appendToAll(.push(others))
        for number in 1...2 {
            _ = try await scene.scene.log.append(
                .push(Sports.push(UInt64(number), to: "host-1")),
                for: HostKey("host-1")
            )
            scene.scene.time.pass(.minutes(1))
        }
        _ = try await scene.scene.log.appendToAll(.tick)
        return scene
    }

    private static func only(_ value: JSONValue?) throws -> JSONValue {
        guard case .array(let rows)? = value, rows.count == 1 else {
            throw TestFailure("not one: \(value.map { "\($0)" } ?? "nothing")")
        }
        return rows[0]
    }

    private struct TestFailure: Error {
        let what: String
        init(_ what: String) { self.what = what }
    }

    @Test func `one answer tells what is out, what waits and why, what did not match, when it may reload, and the day`()
        async throws
    {
        let scene = try await Self.scene()
        let (status, story) = try await scene.send("GET", "\(Self.route)/why?since=24h")
        #expect(status == 200)
        let (_, now) = try await scene.send("GET", Self.route)
        let out = try Self.only(story["outstanding"])
        let known = try Self.only(now["outstanding"])
        for name in ["id", "issuedAt", "push", "charged"] { #expect(out[name] == known[name] && out[name] != nil) }
        let waiting = try Self.only(story["pending"])
        #expect(waiting["push"] == .string(Sports.push(2, to: "").id.description))
        #expect(waiting["reason"] == .string("minimumInterval"))
        #expect(waiting["until"] == story["decidesAt"] && story["nextReload"] == story["decidesAt"])
        #expect(waiting["since"] != nil && waiting["words"] != nil)
        #expect(story["misses"]?["by"] == .object([JSONValue.Member(name: "team", value: .int(1))]))
        let miss = try Self.only(story["misses"]?["newest"])
        guard case .array(let conditions)? = miss["conditions"] else { throw TestFailure("no conditions") }
        #expect(conditions.map { $0["holds"] } == [.bool(true), .bool(false)])
        #expect(conditions.last?["found"] == .string("seahawks"))
        #expect(story["ledger"]?["isWhole"] == .bool(true))
        #expect(story["behind"] == .string("hostAway"))
        // The instance's own answer says it in the same words.
        for name in ["pending", "nextReload", "ledger", "behind", "behindSince"] {
            #expect(story[name] == now[name] && now[name] != nil)
        }
    }

    @Test func `a widget without a limit has no allowance, in any answer`() async throws {
        let scene = try await OperatorScene()
        var settings = Sports.settings
        settings.apps[0].kinds = [KindSettings(schema: Sports.scores, budget: .unlimited)]
        _ = try await scene.scene.log.appendToAll(.settings(settings))
        // Until the windows end, the stricter of the old and the new policy counts.
        scene.scene.time.pass(.days(2))
        _ = try await scene.scene.log.appendToAll(.tick)
        try await scene.scene.register("host-1")
        let now = try await scene.send("GET", Self.route).json
        let story = try await scene.send("GET", "\(Self.route)/why?since=24h").json
        let line = try Self.only(try await scene.send("GET", "/v1/instances").json["instances"])
        for budget in [now["budget"], story["budget"], line] {
            #expect(budget?["charged"] == .int(0))
            #expect(budget?["allowance"] == nil && budget?["pushAllowance"] == nil)
        }
    }

    @Test func `as text it says the same`() async throws {
        let scene = try await Self.scene()
        var request = OperatorScene.request("GET", "\(Self.route)/why")
        request.headers.append("accept", "text/plain")
        let response = await scene.routes.respond(to: request)
        guard case .bytes(let bytes) = response.body else { throw TestFailure("no text") }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("behind since 2026-11-02T18:00:00Z: its host is away\n"), "\(text)")
        #expect(text.contains("outstanding since 2026-11-02T18:00:00Z: reload "))
        #expect(text.contains("since it is less than the minimum interval after another reload"))
        #expect(text.contains("next possible reload: 2026-11-02T18:05:00Z"))
        #expect(text.contains("last 24 hours: 2 reloads, 1 of them charged\n"))
        #expect(text.contains("1 because of team"))
    }
}
