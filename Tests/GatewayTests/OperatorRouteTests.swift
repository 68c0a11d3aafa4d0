import APNSWire
import Engine
import HTTPTransport
import Partitions
import Serving
import TestSupport
import Testing
import WidgetModel

/// Orders and questions of operators, from the route to the engines of all partitions.
@Suite struct OperatorRouteTests {
    private static func text(_ value: JSONValue?) -> String {
        value.map { String(decoding: $0.jsonText, as: UTF8.self) } ?? "nothing"
    }

    /// Twelve hosts with a widget each, the first reloads acknowledged and some time ago.
    private static func settled() async throws -> OperatorScene {
        let scene = try await OperatorScene()
        for number in 0..<12 { try await scene.scene.register("host-\(number)") }
        try await scene.acknowledgeAll()
        scene.scene.time.pass(.hours(1))
        return scene
    }

    private static func push(_ number: UInt64) -> PushRecord {
        var push = Sports.push(number, to: "")
        push.target = .app(Sports.app)
        return push
    }

    private static func outcomes(_ scene: OperatorScene, _ push: PushRecord) async throws -> String {
        Self.text(try await scene.send("GET", "/v1/pushes/\(push.id)").json["outcomes"])
    }

    @Test func `a pause holds back in every partition, a resume lets go`() async throws {
        let scene = try await Self.settled()
        let app = #""of":{"app":"com.example.scores"}"#
        let paused = try await scene.send("POST", "/v1/orders", #"{"action":"pause",\#(app)}"#)
        #expect(paused.status == 200)
        #expect(paused.json == (try json(#"{"matched":12}"#)))
        let push = Self.push(1)
        _ = try await scene.scene.log.appendToAll(.push(push))
        #expect(try await Self.outcomes(scene, push) == #"{"deferred":12}"#)
        let waiting = try await scene.send("GET", "/v1/pushes/\(push.id)").json["waiting"]
        #expect(Self.text(waiting) == #"{"reasons":{"paused":12},"expiring":0,"sampled":false}"#)
        let instance = try await scene.send("GET", "/v1/instances/com.example.scores/host-3:a0").json
        #expect(Self.text(instance["decisions"]).contains(#""reason":"paused""#))
        #expect(try await scene.send("POST", "/v1/orders", #"{"action":"resume",\#(app)}"#).status == 200)
        #expect(try await Self.outcomes(scene, push) == #"{"issued":12}"#)
        #expect(try await scene.send("GET", "/v1/pushes/\(push.id)").json["waiting"] == nil)
    }

    @Test func `each part of an instance's address is percent-encoded in a path`() async throws {
        let scene = try await OperatorScene()
        let host = HostKey("50%-panel")
        let registration = HostRegistration(
            host: host,
            token: Sports.token("panel"),
            revision: 1,
            instances: [Sports.instance("a:b/c d")]
        )
        _ = try await scene.scene.log.append(.register(registration), for: host)
        for (target, status) in [
            ("com.example.scores/50%25-panel:a:b%2Fc%20d", 200),
            ("com.example.scores/50%25-panel%3Aa%3Ab%2Fc%20d", 200),
            ("com%2Eexample.scores/50%25-panel:a:b%2fc%20d", 200),
            ("com.example.scores/50%25-panel:a:b/c%20d", 404), ("com.example.other/50%25-panel:a:b%2Fc%20d", 404),
            ("com.example.scores/50%25-panel:a", 404), ("com.example.scores/50%25-panel:%CC%81a", 404),
            ("com.example.scores%2F50%25-panel:a:b%2Fc%20d", 404),
            ("com.example.scores/50%25-panel", 400), ("com.example.scores/50%25-panel:", 400),
            ("com.example.scores/:a", 400),
        ] {
            #expect(try await scene.send("GET", "/v1/instances/\(target)").status == status, "\(target)")
        }
        let view = try await scene.send("GET", "/v1/hosts/com.example.scores/50%25-panel")
        #expect(view.status == 200)
    }

    @Test func `a cancel ends what waits, in every partition`() async throws {
        let scene = try await Self.settled()
        let sender = #""of":{"sender":"ABCDE12345"}"#
        _ = try await scene.send("POST", "/v1/orders", #"{"action":"pause",\#(sender)}"#)
        let push = Self.push(1)
        _ = try await scene.scene.log.appendToAll(.push(push))
        let order = #"{"action":"cancel","of":{"push":"\#(push.id)"}}"#
        #expect(try await scene.send("POST", "/v1/orders", order).json == (try json(#"{"matched":12}"#)))
        #expect(try await Self.outcomes(scene, push) == #"{"cancelled":12}"#)
        let answer = try await scene.send("GET", "/v1/pushes/\(push.id)").json
        #expect(answer["isComplete"] == .bool(true))
        #expect(answer["appliedBy"] == .int(2))
    }

    @Test func `a grant is more of one instance's allowance`() async throws {
        let scene = try await Self.settled()
        func allowance(_ instance: String) async throws -> JSONValue? {
            try await scene.send("GET", "/v1/instances/com.example.scores/\(instance)").json["budget"]?["allowance"]
        }
        let (before, other) = (try await allowance("host-3:a0"), try await allowance("host-4:a0"))
        guard case .int(let count) = before else {
            Issue.record("no allowance")
            return
        }
        let order = #"{"action":"grant","count":5,"of":{"app":"com.example.scores","instance":"host-3:a0"}}"#
        #expect(try await scene.send("POST", "/v1/orders", order).json == (try json(#"{"matched":1}"#)))
        #expect(try await allowance("host-3:a0") == .int(count + 5))
        #expect(try await allowance("host-4:a0") == other)
    }

    @Test func `an order that cannot be is 400 and says where`() async throws {
        let scene = try await OperatorScene()
        let grant = try await scene.send("POST", "/v1/orders", #"{"action":"grant","of":{"app":"com.example.scores"}}"#)
        #expect(grant.status == 400)
        #expect(Self.text(grant.json["path"]) == #""count""#)
        #expect(try await scene.send("PUT", "/v1/orders").status == 405)
    }

    @Test func `what senders cost is summed over the partitions`() async throws {
        let scene = try await Self.settled()
        let before = try await scene.send("GET", "/v1/history/senders").json["hours"]
        #expect(before == .array([]))
        _ = try await scene.scene.log.appendToAll(.push(Self.push(1)))
        var other = Self.push(2)
        other.team = Sports.otherTeam
        _ = try await scene.scene.log.appendToAll(.push(other))
        let senders = try await scene.send("GET", "/v1/senders").json["senders"]
        guard case .array(let rows) = senders else {
            Issue.record("no senders: \(Self.text(senders))")
            return
        }
        #expect(rows.map { $0["team"] } == [.string("ABCDE12345"), .string("OTHER12345")])
        #expect(rows.map { $0["matched"] } == [.int(12), .int(12)])
        #expect(rows.map { $0["reloadsCharged"] } == [.int(12), .int(0)])
        #expect(rows.map { $0["collateral"] } == [.int(0), .int(0)])
        // All of it came in this hour.
        guard case .array(let hours) = try await scene.send("GET", "/v1/history/senders").json["hours"] else {
            Issue.record("no hours")
            return
        }
        #expect(hours.map { $0["senders"] } == [senders])
        let late = try await scene.send("GET", "/v1/history/senders?after=2099-01-01T00:00:00Z").json["hours"]
        #expect(late == .array([]))
        #expect(try await scene.send("GET", "/v1/history/senders?after=now").status == 400)
    }

    @Test func `following a push that is not known is 404, one that is complete ends at once`() async throws {
        let scene = try await Self.settled()
        let unknown = "/v1/pushes/8F7A2C1E-0B44-4B7C-9D53-6A1F0E2D3C4B/events"
        #expect(try await scene.send("GET", unknown).status == 404)
        #expect(scene.scene.followers.count == 0)
        #expect(try await scene.send("POST", unknown).status == 405)
    }
}
