import Foundation
import FreshetClient
import Testing

/// Pushes in bulk: each is answered by itself, and sent again by itself.
@Suite struct BulkPushTests {
    private typealias Answer = ScriptedTransport.Answer

    private static let path = "https://gateway.example:2197/v1/apps/com.example.scores/pushes/bulk"

    private static func lines(_ lines: String...) -> Answer { Answer(parts: [lines.map { "\($0)\n" }.joined()]) }

    /// The ids in the lines of a request.
    private static func ids(_ request: TransportRequest) -> [String] {
        (request.body ?? Data()).split(separator: UInt8(ascii: "\n")).map { line in
            let object = try? JSONSerialization.jsonObject(with: line) as? [String: Any]
            return object?["apns-id"] as? String ?? ""
        }
    }

    @Test func `each push has its answer, and what may succeed later is sent again by itself`() async throws {
        let transport = ScriptedTransport([
            Self.lines(
                #"{"line":1,"status":200,"apns-id":"x","apns-unique-id":"7B735175-4C7F-4226-B9EC-7A52B8B47F78"}"#,
                #"{"line":2,"status":503,"retry-after":0,"rejection":{"reason":"ServiceUnavailable"}}"#,
                #"{"line":3,"status":409,"problem":{"code":"too-many-matched","detail":"3 of 2","matched":3}}"#
            ), nil, Self.lines(#"{"line":1,"status":200}"#),
        ])
        let sender = Sender(app: "com.example.scores", at: try transport.endpoint())
        let pushes = [
            AddressedPush(Push(priority: .immediate, expiration: .nowOrNever, collapseID: "c"), to: .all),
            AddressedPush(Push(), to: .kind("scores", matching: ["team": ["rams"]])),
            AddressedPush(Push(maxMatched: 2), to: .kind("scores")),
        ]
        let results = try await sender.push(pushes)
        #expect(try results.prefix(2).map { try $0.get().id } == pushes.prefix(2).map(\.push.id))
        #expect(try results.prefix(2).map { try $0.get().attempts } == [1, 3])
        #expect(try results[0].get().uniqueID == UUID(uuidString: "7b735175-4c7f-4226-b9ec-7a52b8b47f78"))
        guard case .failure(.refused(let refusal)) = results[2] else { throw ScriptedTransport.Away() }
        #expect(refusal.status == 409 && refusal.code == "too-many-matched" && refusal.matched == 3)
        let ids = pushes.map { $0.push.id.uuidString.lowercased() }
        #expect(transport.requests.map(Self.ids) == [ids, [ids[1]], [ids[1]]])
        let first = try #require(transport.requests.first)
        #expect(first.url.absoluteString == Self.path && first.headers["content-type"] == "application/x-ndjson")
        let line = try #require(first.body?.split(separator: UInt8(ascii: "\n")).first)
        let sorted = try JSONSerialization.data(
            withJSONObject: JSONSerialization.jsonObject(with: line),
            options: [.sortedKeys]
        )
        let payload = #"{"aps":{"content-changed":true},"freshet":{"all":true}}"#
        #expect(
            String(decoding: sorted, as: UTF8.self)
                == #"{"apns-collapse-id":"c","apns-expiration":0,"apns-id":"\#(ids[0])","apns-priority":10,"payload":\#(payload)}"#
        )
    }

    @Test(arguments: [
        Answer(parts: [#"{"line":1,"status":200}"#], isCutOff: true), Self.lines(#"{"line":1,"status":200}"#),
        Self.lines(#"{"line":1,"status":200}"#, #"{"line":3,"status":200}"#), .problem(503, "ServiceUnavailable"),
    ])
    private func `an answer that is not whole is asked for again, with the same ids`(first: Answer) async throws {
        let transport = ScriptedTransport([
            first, Self.lines(#"{"line":1,"status":200}"#, #"{"line":2,"status":200}"#),
        ])
        let sender = Sender(app: "a", at: try transport.endpoint())
        let results = try await sender.push([AddressedPush(to: .all), AddressedPush(to: .all)])
        #expect(try results.map { try $0.get().attempts } == [2, 2])
        #expect(Set(transport.requests.map(Self.ids)).count == 1)
    }

    @Test func `a bulk of which nothing is known is an error, and what is known is kept`() async throws {
        let refused = ScriptedTransport([.problem(413, "PayloadTooLarge")])
        await #expect(throws: FreshetError.self) {
            try await Sender(app: "a", at: refused.endpoint()).push([AddressedPush(to: .all)])
        }
        #expect(refused.requests.count == 1)
        let half = ScriptedTransport([
            Self.lines(
                #"{"line":1,"status":200}"#,
                #"{"line":2,"status":429,"rejection":{"reason":"TooManyRequests"}}"#
            ),
            .problem(403, "InvalidProviderToken"),
        ])
        let results = try await Sender(app: "a", at: half.endpoint())
            .push([AddressedPush(to: .all), AddressedPush(to: .all)])
        #expect(try results[0].get().attempts == 1)
        guard case .failure(.refused(let refusal)) = results[1] else { throw ScriptedTransport.Away() }
        #expect(refusal.code == "InvalidProviderToken")
    }

    @Test(arguments: [1, 2])
    func `a push is given up after so many attempts, with the gateway's last word`(attemptsMax: Int) async throws {
        let busy = Self.lines(#"{"line":1,"status":429,"rejection":{"reason":"TooManyRequests"}}"#)
        let transport = ScriptedTransport([busy, busy, busy])
        let results = try await Sender(app: "a", at: try transport.endpoint(attemptsMax: attemptsMax))
            .push([AddressedPush(to: .all)])
        guard case .failure(.refused(let refusal)) = results[0] else { throw ScriptedTransport.Away() }
        #expect(refusal.status == 429 && transport.requests.count == attemptsMax)
    }

    @Test func `no push is no request`() async throws {
        let transport = ScriptedTransport([])
        #expect(try await Sender(app: "a", at: transport.endpoint()).push([]).isEmpty)
        #expect(transport.requests.isEmpty)
    }

    @Test func `a registration is sent again while no answer comes`() async throws {
        let answer = Answer(parts: [#"{"host":"h","added":0,"changed":0,"removed":0,"unchanged":0}"#])
        let transport = ScriptedTransport([nil, .problem(503, "ServiceUnavailable"), answer])
        let host = WidgetHost(app: "a", token: "ff", at: try transport.endpoint())
        _ = try await host.register(Registration(revision: 1, instances: []))
        #expect(transport.requests.count == 3 && Set(transport.requests.map(\.text)).count == 1)
        let stale = ScriptedTransport([.problem(409, "stale-revision"), answer])
        let other = WidgetHost(app: "a", token: "ff", at: try stale.endpoint())
        await #expect(throws: FreshetError.self) { try await other.register(Registration(revision: 1, instances: [])) }
        #expect(stale.requests.count == 1)
    }
}
