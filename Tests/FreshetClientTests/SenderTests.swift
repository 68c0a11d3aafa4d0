import Foundation
import FreshetClient
import Testing

/// A sender's requests, and its repeats.
@Suite struct SenderTests {
    private typealias Answer = ScriptedTransport.Answer

    @Test func `a push is sent with one id until it is answered`() async throws {
        let transport = ScriptedTransport([
            nil, Answer(isCutOff: true), .problem(503, "ServiceUnavailable", ["Retry-After": "0"]),
            .problem(429, "TooManyRequests"),
            Answer(headers: ["apns-unique-id": "7B735175-4C7F-4226-B9EC-7A52B8B47F78"]),
        ])
        let sender = Sender(app: "com.example.scores", at: try transport.endpoint(attemptsMax: 5))
        let push = Push(priority: .immediate, expiration: .nowOrNever, collapseID: "final")
        let receipt = try await sender.push(push, to: .kind("scores", matching: ["team": ["seahawks"]]))
        #expect(receipt.id == push.id && receipt.attempts == 5)
        #expect(receipt.uniqueID == UUID(uuidString: "7b735175-4c7f-4226-b9ec-7a52b8b47f78"))
        #expect(transport.requests.count == 5)
        for request in transport.requests {
            #expect(request.method == "POST")
            #expect(request.url.absoluteString == "https://gateway.example:2197/v1/apps/com.example.scores/pushes")
            #expect(
                request.headers == [
                    "authorization": "bearer secret", "content-type": "application/json",
                    "apns-id": push.id.uuidString.lowercased(), "apns-priority": "10", "apns-expiration": "0",
                    "apns-collapse-id": "final",
                ]
            )
            let expected =
                #"{"aps":{"content-changed":true},"freshet":{"kind":"scores","match":{"team":["seahawks"]}}}"#
            #expect(request.text == expected)
        }
    }

    @Test(arguments: [1, 2, 3])
    func `a push is given up after so many attempts`(_ attemptsMax: Int) async throws {
        let transport = ScriptedTransport(Array(repeating: .problem(503, "ServiceUnavailable"), count: 9))
        let sender = Sender(app: "a", at: try transport.endpoint(attemptsMax: attemptsMax))
        await #expect(throws: FreshetError.self) { try await sender.push(to: .all) }
        #expect(transport.requests.count == attemptsMax)
    }

    @Test(arguments: [
        (400, "BadPayload"), (403, "InvalidProviderToken"), (409, "too-many-matched"), (410, "Unregistered"),
        (429, "TooManyProviderTokenUpdates"),
    ])
    func `what another attempt would not change is not sent again`(_ status: Int, _ code: String) async throws {
        let transport = ScriptedTransport([.problem(status, code), Answer()])
        let sender = Sender(app: "a", at: try transport.endpoint())
        let error = await #expect(throws: FreshetError.self) { try await sender.push(toDevice: "ff") }
        guard case .refused(let refusal)? = error else { throw ScriptedTransport.Away() }
        #expect(refusal.status == status && refusal.code == code && refusal.detail == "why")
        #expect(transport.requests.count == 1)
    }

    @Test(arguments: [(0, 2), (1, 1)])
    func `a wait that is longer than the longest is not begun`(_ seconds: Int, _ requests: Int) async throws {
        let answer = Answer.problem(503, "ServiceUnavailable", ["retry-after": "\(seconds)"])
        let transport = ScriptedTransport([answer, answer])
        let sender = Sender(app: "a", at: try transport.endpoint(attemptsMax: 2, longestWait: .zero))
        let error = await #expect(throws: FreshetError.self) { try await sender.push(to: .all) }
        #expect(error?.retryAfter == .seconds(seconds))
        #expect(transport.requests.count == requests)
    }

    @Test func `a push to a device names its topic, and narrows itself only if asked`() async throws {
        let transport = ScriptedTransport([Answer(), Answer(), Answer()])
        let sender = Sender(app: "com.example.scores", at: try transport.endpoint())
        try await sender.push(toDevice: "0a1b")
        try await sender.push(
            Push(
                digest: "d",
                attributes: ["health": 20],
                notBefore: Date(timeIntervalSince1970: 1_795_262_400.9),
                maxMatched: 5
            ),
            toDevice: "0a1b",
            type: .controls,
            kind: "lamp"
        )
        try await sender.push(to: .all)
        let requests = transport.requests
        #expect(requests[0].url.path == "/3/device/0a1b")
        #expect(requests[0].headers["apns-topic"] == "com.example.scores.push-type.widgets")
        #expect(requests[0].text == #"{"aps":{"content-changed":true},"freshet":{}}"#)
        #expect(requests[1].headers["apns-topic"] == "com.example.scores.push-type.controls")
        #expect(requests[1].headers["apns-push-type"] == "controls")
        #expect(
            requests[1].text == #"{"aps":{"content-changed":true},"freshet":{"attributes":{"health":20},"#
                + #""digest":"d","kind":"lamp","maxMatched":5,"not-before":1795262400}}"#
        )
        #expect(requests[2].text == #"{"aps":{"content-changed":true},"freshet":{"all":true}}"#)
    }

    @Test func `what a broadcast has not is refused before it is sent`() async throws {
        let transport = ScriptedTransport([])
        let sender = Sender(app: "a", at: try transport.endpoint())
        for push in [Push(collapseID: "c"), Push(attributes: [:])] {
            await #expect(throws: FreshetError.self) { try await sender.broadcast(push, on: "AAAA") }
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func `an answer is as long as it may be`() async throws {
        let body = #"{"cancelled":1}"#
        for (limit, fits) in [(body.utf8.count, true), (body.utf8.count - 1, false)] {
            let transport = ScriptedTransport([Answer(parts: [String(body.prefix(4)), String(body.dropFirst(4))])])
            let sender = Sender(app: "a", at: try transport.endpoint(answerBytesMax: limit))
            do {
                #expect(try await sender.cancel(UUID()) == 1)
                #expect(fits)
            } catch FreshetError.unexpectedAnswer(let reason) {
                #expect(!fits && reason.contains("\(limit) bytes"))
            }
        }
    }

    @Test func `names are escaped, and an address has to be one`() async throws {
        let transport = ScriptedTransport([.problem(404, "not-found")])
        let host = WidgetHost(app: "a", token: "x/y?z é", at: try transport.endpoint())
        await #expect(throws: FreshetError.self) { try await host.state() }
        #expect(
            transport.requests[0].url.absoluteString == "https://gateway.example:2197/v1/hosts/x%2Fy%3Fz%20%C3%A9/state"
        )
        let nowhere = Endpoint(try ScriptedTransport.url("gateway"), token: .none, transport: transport)
        let error = await #expect(throws: FreshetError.self) {
            try await WidgetHost(app: "a", token: "ff", at: nowhere).state()
        }
        #expect(error.map { "\($0)" }?.contains("is not a gateway's address") == true)
        #expect(transport.requests.count == 1)
    }
}
