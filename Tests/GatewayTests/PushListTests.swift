import Engine
import HTTPTransport
import IntentMatching
import Partitions
import TestSupport
import Testing
import WidgetModel

/// Pushes' contents beside their outcomes, and the selection that an operator asks for.
@Suite struct PushListTests {
    private static func ids(_ scene: OperatorScene, _ query: String = "") async throws -> [String] {
        guard case .array(let rows)? = try await scene.send("GET", "/v1/pushes\(query)").json["pushes"] else {
            return []
        }
        return rows.compactMap { if case .string(let id)? = $0["id"] { id } else { nil } }
    }

    private static func id(_ number: UInt64) -> String { Sports.push(number, to: "").id.description }

    private static func forApp(_ number: UInt64, _ change: (inout PushRecord) -> Void = { _ in }) -> PushRecord {
        var push = Sports.push(number, to: "")
        push.target = .app(Sports.app)
        change(&push)
        return push
    }

    private static func date(_ instant: Instant) -> String {
        if case .string(let text) = JSONValue.instant(instant) { text } else { "" }
    }

    /// Four hosts, and some pushes a second apart: to a host, to the app, to a kind of it, to a kind by a pattern.
    private static func scene() async throws -> OperatorScene {
        let scene = try await OperatorScene()
        for number in 0..<4 { try await scene.scene.register("host-\(number)") }
        var targeted = Self.forApp(4) {
            $0.key = KeyID("KEY1234567")
            $0.kind = Sports.scores.kind
            $0.digest = Array("31-17".utf8)
            $0.collapseID = CollapseID(bytes: Array("final".utf8))
        }
        targeted.pattern = try MatchPattern.parse(try json(#"{"team":["seahawks"]}"#))
        let pushes = [
            Sports.push(1, to: "host-1"), Self.forApp(2), Self.forApp(3) { $0.kind = Sports.scores.kind }, targeted,
        ]
        for push in pushes {
            if case .host(let host, _) = push.target {
                _ = try await scene.scene.log.append(.push(push), for: host)
            } else {
                _ = try await scene.scene.log.appendToAll(.push(push))
            }
            scene.scene.time.pass(.seconds(1))
        }
        return scene
    }

    @Test func `a push says whom it was for and what it said`() async throws {
        let scene = try await Self.scene()
        let host = try await scene.send("GET", "/v1/pushes/\(Self.id(1))").json
        #expect(try host["target"] == json(#"{"app":"com.example.scores","host":"host-1"}"#))
        #expect(host["app"] == .string("com.example.scores") && host["kind"] == nil)
        let targeted = try await scene.send("GET", "/v1/pushes/\(Self.id(4))").json
        #expect(try targeted["target"] == json(#"{"app":"com.example.scores"}"#))
        #expect(targeted["kind"] == .string("scores"))
        #expect(try targeted["match"] == MatchPattern.parse(try json(#"{"team":["seahawks"]}"#)).json)
        #expect(targeted["key"] == .string("KEY1234567") && host["key"] == nil)
        #expect(targeted["digest"] == .string("31-17") && targeted["collapseID"] == .string("final"))
        guard case .array(let rows)? = try await scene.send("GET", "/v1/pushes").json["pushes"] else {
            Issue.record("no list")
            return
        }
        #expect(rows.map { $0["kind"] } == [.string("scores"), .string("scores"), nil, nil])
        #expect(rows.allSatisfy { $0["target"] != nil })
    }

    @Test(
        arguments: [
            ("", [4, 3, 2, 1]), ("?app=com.example.scores", [4, 3, 2, 1]), ("?app=com.example.other", []),
            ("?kind=scores", [4, 3]), ("?kind=secret", []), ("?sender=ABCDE12345", [4, 3, 2, 1]),
            ("?kind=scores&limit=1", [4]),
            ("?app=com.example.scores&state=waiting&kind=scores", [4, 3]),
        ] as [(String, [UInt64])]
    )
    func `the list is of those that are asked for`(query: String, numbers: [UInt64]) async throws {
        let scene = try await Self.scene()
        #expect(try await Self.ids(scene, query) == numbers.map { Self.id($0) })
    }

    @Test func `the list is of the time that is asked for, its ends left out`() async throws {
        let scene = try await Self.scene()
        func accepted(_ number: UInt64) async throws -> String {
            let views = try await scene.scene.log.askAll(PushesQuestion([PushID(high: 7, low: number)]))
            return Self.date(try #require(views.joined().first).acceptedAt)
        }
        let (first, last) = (try await accepted(1), try await accepted(4))
        #expect(try await Self.ids(scene, "?after=\(first)&before=\(last)") == [3, 2].map { Self.id($0) })
        #expect(try await Self.ids(scene, "?after=\(last)") == [])
        #expect(try await Self.ids(scene, "?before=\(first)") == [])
        #expect(try await scene.send("GET", "/v1/pushes?after=\(last)").json["next"] == nil)
        #expect(try await scene.send("GET", "/v1/pushes?before=yesterday").status == 400)
    }

    @Test func `pushes that share an apns-id are each counted once`() async throws {
        let scene = try await OperatorScene()
        for number in 0..<4 { try await scene.scene.register("host-\(number)") }
        for content in [1, 2] as [UInt64] {
            _ = try await scene.scene.log.appendToAll(.push(Self.forApp(1) { $0.contentHash = content }))
        }
        guard case .array(let rows)? = try await scene.send("GET", "/v1/pushes").json["pushes"] else {
            Issue.record("no list")
            return
        }
        #expect(rows.map { $0["matched"] } == [.int(4), .int(4)])
        #expect(rows.map { $0["appliedBy"] } == [.int(2), .int(2)])
    }
}
