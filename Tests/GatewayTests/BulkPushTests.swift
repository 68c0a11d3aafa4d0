import APNSWire
import Engine
import HTTPTransport
import Journaling
import Partitions
import Serving
import Testing
import WidgetModel

/// Targeted pushes one a line: each is judged as one that comes alone, and answered in its place.
@Suite struct BulkPushTests {
    private static let payload = #"{"aps":{"content-changed":true},"freshet":{"all":true}}"#

    /// A line with some members before its payload.
    private static func line(_ members: String = "", payload: String = Self.payload) -> String {
        "{\(members.isEmpty ? "" : members + ",")\"payload\":\(payload)}"
    }

    private static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    private static func bulk(_ lines: [String], headers: HTTPFields = [:]) -> PushScene.Request {
        PushScene.Request(
            description: "a bulk",
            path: "/v1/apps/\(Sports.app)/pushes/bulk",
            headers: headers,
            body: lines.joined(separator: "\n")
        )
    }

    /// The answers of a bulk that was taken, a value a line.
    private static func answers(_ response: HTTPClientResponse) throws -> [JSONValue] {
        try #require(response.status == 200, "\(response.text)")
        #expect(response.headers["content-type"] == "application/x-ndjson")
        return try response.text.split(separator: "\n").map { try JSONReader().parse(Array($0.utf8)) }
    }

    private static func text(_ value: JSONValue?) -> String {
        value.map { String(decoding: $0.jsonText, as: UTF8.self) } ?? "nothing"
    }

    private static func bounds(_ change: (inout BulkLimits) -> Void) -> ServingBounds {
        var bounds = ServingBounds()
        change(&bounds.intake.bulk)
        return bounds
    }

    @Test func `each line has its own answer, and a bad one holds no other back`() async throws {
        try await PushScene.with(partitions: 2) { scene in
            let lines = [
                Self.line(#""apns-id":"\#(Self.id(1))""#), Self.line(#""apns-priority":7"#), "{nonsense", "[]",
                Self.line(#""apns-topic":"com.example.nobody.push-type.widgets""#),
                Self.line(#""priority":5"#), #"{"apns-priority":5}"#, Self.line(#""apns-collapse-id":"a\nb""#),
                Self.line(payload: #"{"aps":{"content-changed":true}}"#), "", Self.line(#""apns-priority":"1""#),
            ]
            let answers = try Self.answers(try await scene.send(Self.bulk(lines)))
            #expect(answers.map { Self.text($0["line"]) } == (1...10).map(String.init))
            #expect(
                answers.map { Self.text($0["status"]) }
                    == ["200", "400", "400", "400", "400", "400", "400", "400", "400", "200"]
            )
            #expect(answers[0]["apns-id"] == .string(Self.id(1)))
            let reasons = answers.map { answer in
                answer["rejection"].map { Self.text($0["reason"]) } ?? Self.text(answer["problem"]?["code"])
            }
            #expect(
                reasons == [
                    "nothing", #""BadPriority""#, #""malformed-json""#, #""bad-request""#, #""TopicDisallowed""#,
                    #""bad-request""#, #""bad-request""#, #""bad-request""#, #""BadPayload""#, "nothing",
                ]
            )
            let missing = Self.text(answers[6]["problem"])
            #expect(missing.contains("payload"))
            #expect(scene.counters.accepted == 2)
        }
    }

    /// Alone, on the listener's hot path; in a bulk, as a line.
    @Test func `a push in a bulk is answered as one that comes alone`() async throws {
        try await PushScene.with(partitions: 2) { scene in
            let cases: [(headers: HTTPFields, members: String, payload: String)] = [
                ([:], "", Self.payload),
                (["apns-priority": "11"], #""apns-priority":11"#, Self.payload),
                (["apns-id": "x"], #""apns-id":"x""#, Self.payload),
                (["apns-expiration": "-1"], #""apns-expiration":-1"#, Self.payload),
                (["apns-push-type": "alert"], #""apns-push-type":"alert""#, Self.payload),
                ([:], "", #"{"aps":{"content-changed":true},"freshet":{"all":true,"maxMatched":0}}"#),
                ([:], "", #"{"aps":{},"freshet":{"all":true}}"#),
                (
                    [:], "",
                    #"{"aps":{"content-changed":true},"freshet":{"kind":"\#(String(repeating: "k", count: 17_000))"}}"#
                ),
            ]
            let lines = cases.map { Self.line($0.members, payload: $0.payload) }
            let answers = try Self.answers(try await scene.send(Self.bulk(lines)))
            for (one, answer) in zip(cases, answers) {
                let alone = try await scene.send(
                    PushScene.Request(
                        description: "",
                        path: "/v1/apps/\(Sports.app)/pushes",
                        headers: one.headers,
                        body: one.payload
                    )
                )
                #expect(Self.text(answer["status"]) == String(alone.status), "\(one.headers): \(Self.text(answer))")
                let body = alone.body.isEmpty ? nil : try JSONReader().parse(alone.body)
                #expect((answer["rejection"] ?? answer["problem"]) == body, "\(one.headers)")
            }
        }
    }

    @Test func `a header of the request holds for each line that does not say otherwise`() async throws {
        try await PushScene.with { scene in
            let lines = [Self.line(), Self.line(#""apns-priority":5"#)]
            let request = Self.bulk(lines, headers: ["apns-priority": "11", "apns-id": Self.id(1)])
            let answers = try Self.answers(try await scene.send(request))
            #expect(answers.map { Self.text($0["status"]) } == ["400", "200"])
            #expect(answers.allSatisfy { $0["apns-id"] != .string(Self.id(1)) })
        }
    }

    @Test func `a bulk that is sent again is recognised line by line`() async throws {
        try await PushScene.with { scene in
            let lines = (1...3).map { Self.line(#""apns-id":"\#(Self.id($0))""#) }
            for _ in 0..<2 {
                let answers = try Self.answers(try await scene.send(Self.bulk(lines)))
                #expect(answers.map { $0["apns-id"] } == (1...3).map { .string(Self.id($0)) })
            }
            await scene.decide()
            let stats = try await scene.scene.log.askAll(TotalsQuestion())[0]
            #expect(stats.pushesAccepted == 3)
            #expect(stats.pushesRepeated == 3)
        }
    }

    @Test func `what is wrong with the request is told once, what is wrong with its pushes in each line`() async throws
    {
        try await PushScene.with { scene in
            let refused = try await scene.send(Self.bulk([Self.line()], headers: ["authorization": "bearer x"]))
            #expect(refused.status == 400 && refused.text.contains("DuplicateHeaders"), "\(refused.text)")
            let other = try await scene.send(Self.bulk([Self.line(), Self.line()]), as: Sports.otherTeam)
            let answers = try Self.answers(other)
            #expect(answers.map { Self.text($0["status"]) } == ["400", "400"])
            #expect(answers.allSatisfy { $0["rejection"]?["reason"] == .string("TopicDisallowed") })
        }
    }

    @Test(arguments: [(3, 200), (4, 413)])
    func `so many lines are taken, blank ones not counted`(count: Int, status: Int) async throws {
        try await PushScene.with(bounds: Self.bounds { $0.linesMax = 3 }) { scene in
            let lines = (0..<count).flatMap { _ in [Self.line(), "", " "] }
            let response = try await scene.send(Self.bulk(lines))
            #expect(response.status == status)
            #expect(scene.counters.accepted == (status == 200 ? count : 0))
        }
    }

    @Test(arguments: [(0, 200), (1, 413)])
    func `so many bytes are taken`(more: Int, status: Int) async throws {
        let line = Self.line()
        try await PushScene.with(bounds: Self.bounds { $0.bytesMax = line.utf8.count }) { scene in
            let body = line + String(repeating: " ", count: more)
            let response = try await scene.send(Self.bulk([body]))
            #expect(response.status == status)
            if status == 413 { #expect(response.text.contains("PayloadTooLarge") && response.text.contains("bytes")) }
        }
    }

    @Test(arguments: [(0, 429), (1, 200)])
    func `so many bulks are taken at once`(max: Int, status: Int) async throws {
        try await PushScene.with(bounds: Self.bounds { $0.requestsMax = max }) { scene in
            for _ in 0..<3 {
                let response = try await scene.send(Self.bulk([Self.line(), Self.line()]))
                #expect(response.status == status)
                if status == 429 { #expect(response.headers["retry-after"] != nil, "\(response.text)") }
            }
        }
    }

    @Test(arguments: [1, 7, 256])
    func `however many lines may be without an answer at once, all have theirs in order`(inFlight: Int) async throws {
        try await PushScene.with(partitions: 2, bounds: Self.bounds { $0.inFlightMax = inFlight }) { scene in
            let lines = (1...40).map { number in
                // Some are asked about first, and so answered later than those behind them.
                let bound = number.isMultiple(of: 5) ? #","maxMatched":9"# : ""
                let payload = #"{"aps":{"content-changed":true},"freshet":{"all":true\#(bound)}}"#
                return Self.line(#""apns-id":"\#(Self.id(number))""#, payload: payload)
            }
            let answers = try Self.answers(try await scene.send(Self.bulk(lines)))
            #expect(answers.map { $0["apns-id"] } == (1...40).map { .string(Self.id($0)) })
            #expect(answers.allSatisfy { $0["status"] == .int(200) })
        }
    }

    @Test func `no more lines wait for the log than may be without an answer`() async throws {
        try await PushScene.with(bounds: Self.bounds { $0.inFlightMax = 3 }) { scene in
            scene.scene.journal.hold()
            async let answer = scene.send(Self.bulk((1...8).map { Self.line(#""apns-id":"\#(Self.id($0))""#) }))
            while scene.backlog.count < 3 { await Task.yield() }
            #expect(scene.backlog.count == 3)
            scene.scene.journal.release()
            let answers = try Self.answers(try await answer)
            #expect(answers.count == 8)
        }
    }

    @Test func `a bulk of no line is refused`() async throws {
        try await PushScene.with { scene in
            let empty = try await scene.send(Self.bulk(["", "  "]))
            #expect(empty.status == 400 && empty.text.contains("PayloadEmpty"), "\(empty.text)")
        }
    }
}
