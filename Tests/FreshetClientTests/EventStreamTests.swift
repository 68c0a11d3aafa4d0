import Foundation
import FreshetClient
import Testing

/// Event streams that break, and go on where they were.
@Suite struct EventStreamTests {
    private typealias Answer = ScriptedTransport.Answer

    private static func reload(_ id: String) -> String {
        #"event: reload\#ndata: {"id":"\#(id)","app":"a","host":"h","instance":"i","kind":"k","family":"systemSmall","#
            + #""causes":["push"],"charged":true,"pushes":1,"issuedAt":"2026-11-21T12:00:00.000Z","#
            + #""expiresAt":"2026-11-21T16:00:00.000Z"}\#n\#n"#
    }

    private static func status(_ name: String, _ outcome: String, isComplete: Bool = false) -> String {
        #"event: \#(name)\#ndata: {"id":"7b735175-4c7f-4226-b9ec-7a52b8b47f78","team":"T","priority":5,"#
            + #""acceptedAt":"2026-11-21T12:00:00.000Z","expiresAt":"2026-11-21T16:00:00.000Z","matched":1,"#
            + #""outcomes":{"\#(outcome)":1},"isComplete":\#(isComplete),"repeats":0,"appliedBy":1,"partitions":1}\#n\#n"#
    }

    /// The ids of the first reloads of a host's events.
    private static func reloads(_ count: Int, _ endpoint: Endpoint) async throws -> [String] {
        var ids: [String] = []
        for try await event in WidgetHost(app: "a", token: "ff", at: endpoint).events() {
            if case .reload(let reload) = event { ids.append(reload.id) }
            if ids.count == count { break }
        }
        return ids
    }

    @Test func `a stream that ends goes on where it was`() async throws {
        let transport = ScriptedTransport([
            nil, .problem(503, "unavailable"),
            Answer(parts: ["retry: 0\n\n", Self.reload("1"), "id: 5-1\n\n", Self.reload("2").dropLast(2) + ""]),
            Answer(parts: ["id: 5-2\nevent: news\ndata: 1\n\n", Self.reload("2")], isCutOff: true),
            Answer(parts: [Self.reload("3")]),
        ])
        #expect(try await Self.reloads(3, try transport.endpoint()) == ["1", "2", "3"])
        #expect(transport.requests.map { $0.headers["last-event-id"] } == [nil, nil, nil, "5-1", "5-2"])
        #expect(Set(transport.requests.map(\.url.path)) == ["/v1/hosts/ff/events"])
    }

    @Test func `a gap is told`() async throws {
        let transport = ScriptedTransport([Answer(parts: ["event: gap\ndata: {}\n\n"])])
        var events = WidgetHost(app: "a", token: "ff", at: try transport.endpoint()).events().makeAsyncIterator()
        #expect(try await events.next() == .gap)
    }

    @Test(arguments: [(404, "unknown-host"), (401, "expired-credential"), (410, "gone")])
    func `a stream that is refused ends`(_ status: Int, _ code: String) async throws {
        let transport = ScriptedTransport([.problem(status, code), Answer(parts: [Self.reload("1")])])
        let error = await #expect(throws: FreshetError.self) { try await Self.reloads(1, try transport.endpoint()) }
        #expect(error.map { "\($0)" } == "refused \(status) \(code): why")
        #expect(transport.requests.count == 1)
    }

    @Test func `an event that cannot be read is an error`() async throws {
        let transport = ScriptedTransport([Answer(parts: ["event: reload\ndata: {}\n\n"])])
        await #expect(throws: FreshetError.self) { try await Self.reloads(1, try transport.endpoint()) }
    }

    /// The outcomes that are told of a push.
    private static func outcomes(_ transport: ScriptedTransport, attemptsMax: Int = 3) async throws -> [[Outcome: Int]]
    {
        let sender = Sender(app: "a", at: try transport.endpoint(attemptsMax: attemptsMax))
        let id = try #require(UUID(uuidString: "7b735175-4c7f-4226-b9ec-7a52b8b47f78"))
        var outcomes: [[Outcome: Int]] = []
        for try await status in sender.progress(of: id) { outcomes.append(status.outcomes) }
        return outcomes
    }

    @Test func `a push is followed to its end, each change once`() async throws {
        let deferred = Self.status("progress", "deferred")
        let transport = ScriptedTransport([
            .problem(404, "not-found"), Answer(parts: ["retry: 0\n\n" + deferred]),
            Answer(parts: [deferred, Self.status("progress", "issued")]),
            Answer(parts: [Self.status("complete", "reloaded", isComplete: true), deferred]),
        ])
        #expect(try await Self.outcomes(transport) == [[.deferred: 1], [.issued: 1], [.reloaded: 1]])
        #expect(transport.requests.last?.url.path == "/v1/pushes/7b735175-4c7f-4226-b9ec-7a52b8b47f78/events")
        #expect(transport.requests.count == 4)
    }

    @Test(arguments: [2, 3])
    func `a push that the gateway does not know is given up after so many attempts`(_ attemptsMax: Int) async throws {
        let transport = ScriptedTransport(Array(repeating: .problem(404, "not-found"), count: 9))
        await #expect(throws: FreshetError.self) { try await Self.outcomes(transport, attemptsMax: attemptsMax) }
        #expect(transport.requests.count == attemptsMax + 1)
    }
}
