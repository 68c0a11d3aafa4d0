import Foundation
import FreshetClient
import Synchronization

/// A transport that knows what it will answer, and remembers what it was asked.
final class ScriptedTransport: FreshetTransport {
    struct Away: Error {}

    /// The answer to one request.
    struct Answer: Sendable {
        var status = 200
        var headers: [String: String] = [:]
        var parts: [String] = []
        /// Whether the body ends with an error.
        var isCutOff = false

        static func problem(_ status: Int, _ code: String, _ headers: [String: String] = [:]) -> Answer {
            Answer(status: status, headers: headers, parts: [#"{"code":"\#(code)","detail":"why"}"#])
        }
    }

    private struct State {
        var answers: [Answer?]
        var requests: [TransportRequest] = []
    }

    private let state: Mutex<State>

    /// - Parameter answers: One for each request, nil for none. Requests beyond them are not answered either.
    init(_ answers: [Answer?]) {
        self.state = Mutex(State(answers: answers))
    }

    var requests: [TransportRequest] { self.state.withLock(\.requests) }

    func answer(to request: TransportRequest) async throws -> TransportAnswer {
        let next = self.state.withLock { state in
            state.requests.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let next else { throw Away() }
        let (body, parts) = AsyncThrowingStream.makeStream(of: Data.self)
        for part in next.parts { parts.yield(Data(part.utf8)) }
        parts.finish(throwing: next.isCutOff ? Away() : nil)
        return TransportAnswer(status: next.status, headers: next.headers, body: body)
    }

    /// An endpoint that is asked by way of this, without waits.
    func endpoint(
        token: TokenSource = .fixed("secret"),
        attemptsMax: Int = 3,
        longestWait: Duration = .zero,
        answerBytesMax: Int = 1_000
    ) throws -> Endpoint {
        Endpoint(
            try Self.url("https://gateway.example:2197/"),
            token: token,
            transport: self,
            retries: RetryPolicy(attemptsMax: attemptsMax, firstWait: .zero, longestWait: longestWait),
            answerBytesMax: answerBytesMax
        )
    }

    static func url(_ text: String) throws -> URL {
        guard let url = URL(string: text) else { throw Away() }
        return url
    }
}

extension TransportRequest {
    /// The body, with its members in order.
    var text: String {
        guard let body, let value = try? JSONSerialization.jsonObject(with: body),
            let sorted = try? JSONSerialization.data(
                withJSONObject: value,
                options: [.sortedKeys, .withoutEscapingSlashes]
            )
        else { return "" }
        return String(decoding: sorted, as: UTF8.self)
    }
}
