import Engine
import HTTPTransport
import HostAPI
import Partitions
import Serving
import TestSupport
import Testing
import WidgetModel

/// The answer to a host that would need more tombstones than it may have: with one instance at most, four.
@Suite struct TombstoneLimitTests {
    private static let panel = HostKey("panel")
    private static let token = Sports.token("panel")

    private static func body(_ id: String) -> String {
        RouteScene.body(#""host":"panel""#, instances: #"[{"id":"\#(id)","kind":"scores","family":"systemSmall"}]"#)
    }

    private static func request(_ scene: RouteScene, _ id: String) throws -> HTTPRequest {
        var request = HTTPRequest(method: "PUT", target: RouteScene.path(Self.token), body: Array(Self.body(id).utf8))
        request.headers.append("authorization", try scene.key.providerToken(issuedAt: scene.scene.time.wall))
        return request
    }

    /// A host that has shown five widgets, one after the other, and the end of their window.
    private static func full() async throws -> (scene: RouteScene, end: Instant) {
        let scene = try await RouteScene()
        var settings = Sports.settings
        settings.limits.instancesPerHostMax = 1
        _ = try await scene.scene.log.appendToAll(.settings(settings))
        for number in 0..<5 {
            let answer = await scene.routes.respond(to: try Self.request(scene, "w\(number)"))
            #expect(answer.status == 200)
        }
        let shown = InstanceAddress(host: Self.panel, instance: InstanceID("w4"))
        let view = try await scene.scene.log.ask(InstanceQuestion(shown))
        return (scene, try #require(view).budget.windowEnd)
    }

    @Test func `one more is 429 with the seconds until the first one's end, and changes nothing`() async throws {
        let (scene, end) = try await Self.full()
        scene.scene.time.pass(.milliseconds(500))
        let before = try await scene.scene.log.ask(HostQuestion(Self.panel))
        let answer = await scene.routes.respond(to: try Self.request(scene, "w5"))
        let seconds = (end - Sports.start).milliseconds / 1000
        #expect(answer.status == 429)
        #expect(answer.headers["retry-after"] == "\(seconds)", "rounded up")
        guard case .bytes(let bytes) = answer.body else { throw MissingBody() }
        let problem = try json(String(decoding: bytes, as: UTF8.self))
        #expect(problem["code"] == .string("too-many-tombstones"))
        #expect(problem["retryAfter"] == .int(seconds))
        #expect(problem["path"] == .string("instances"))
        #expect(try await scene.scene.log.ask(HostQuestion(Self.panel)) == before)
        #expect(scene.routes.problems.all.map { [$0.0.rawValue, "\($0.1)"] } == [["too-many-tombstones", "1"]])
    }

    @Test func `a host that waits so long is registered, one that comes a millisecond early is asked to wait a second`()
        async throws
    {
        let (scene, end) = try await Self.full()
        scene.scene.time.pass(end - Sports.start - .milliseconds(1))
        let early = await scene.routes.respond(to: try Self.request(scene, "w5"))
        #expect(early.status == 429 && early.headers["retry-after"] == "1")
        scene.scene.time.pass(.milliseconds(1))
        #expect(await scene.routes.respond(to: try Self.request(scene, "w5")).status == 200)
    }

    @Test func `a line of an import is refused alone, and says when to come back`() async throws {
        let (scene, end) = try await Self.full()
        let lines = [("panel", "w5"), ("tablet", "w5"), ("panel", "w4")].map { host, id in
            let instances = #"[{"id":"\#(id)","kind":"scores","family":"systemSmall"}]"#
            let members = #""host":"\#(host)","token":"\#(Sports.token(host).hex)""#
            return RouteScene.body(members, instances: instances)
        }
        let path = "/v1/apps/\(Sports.app)/hosts"
        let token = try scene.key.providerToken()
        let answer = try await scene.send("POST", path, token, lines.joined(separator: "\n"))
        let answers = try answer.body.split(separator: "\n").map { try json(String($0)) }
        #expect(answers.map { $0["status"] } == [.int(429), .int(200), .int(200)])
        #expect(answers[0]["problem"]?["code"] == .string("too-many-tombstones"))
        #expect(answers[0]["problem"]?["retryAfter"] == .int((end - Sports.start).milliseconds / 1000))
    }

    private struct MissingBody: Error {}
}
