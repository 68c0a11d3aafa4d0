import APNSWire
import ArgumentParser
import HTTPTransport
import WidgetModel

/// The question for the outcomes of a push, with a sender's credential.
struct SenderQuestion {
    /// The push's `apns-id`.
    let id: String
    /// The provider token to ask with, or nil if a client certificate speaks.
    private(set) var token: String?
    /// A new token for one that has expired, since a push may wait for longer than the hour that a token is good for; nil if there
    /// is none.
    let renewal: () throws -> String?

    /// The answer; nil for a push that is not known, or not yet.
    ///
    /// - Throws: The connection's error; exit code 1 if the gateway does not tell.
    mutating func ask(_ connection: HTTP2ClientConnection) async throws -> String? {
        while true {
            var headers = HTTPFields()
            if let token { headers.append("authorization", "bearer \(token)") }
            let request = HTTPClientRequest(method: "GET", path: "/v1/pushes/\(self.id)", headers: headers)
            let response = try await connection.send(request)
            if response.status == 200 { return response.text }
            if response.status == 404 { return nil }
            if response.status == 401, response.text.contains("\"expired-credential\""), let fresh = try self.renewal()
            {
                self.token = fresh
                continue
            }
            Output.standardError(response.refusal("the gateway does not show the push's outcomes"))
            throw ExitCode(1)
        }
    }
}

/// Asks for the outcomes of a push again and again, and prints each change, until nothing can change any more.
struct PushFollowing {
    /// Whether the gateway's answers are printed as they are, one a line, instead of in words.
    let isJSON: Bool

    /// How long it waits between two questions.
    private static let pause = Duration.milliseconds(500)
    /// How often the gateway may know nothing of a push that it has accepted: it is applied behind all that came before.
    private static let looksUnknownMax = 600

    /// - Parameter ask: The gateway's answer, nil while it knows nothing of the push.
    /// - Throws: What `ask` throws; exit code 1 if the push stays unknown, 2 if it was given up because it matched more than it
    ///   may.
    func run(_ ask: () async throws -> String?) async throws {
        var (last, looksUnknown) = ("", 0)
        while true {
            if let answer = try await ask() {
                let state = try JSONReader().parse(Array(answer.utf8))
                let text = self.isJSON ? answer : Self.text(of: state)
                if text != last { Output.line(text) }
                last = text
                guard state["isComplete"] != .bool(true) else {
                    if state["failure"] != nil { throw ExitCode(2) }
                    return
                }
            } else {
                looksUnknown += 1
                guard looksUnknown < Self.looksUnknownMax else {
                    Output.standardError("the gateway has no such push")
                    throw ExitCode(1)
                }
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// `matched 3: 1 deferred, 2 reloaded; waits for pace 1, until 2026-11-02T17:05:00Z at the latest`.
    static func text(of state: JSONValue) -> String {
        guard case .int(let matched)? = state["matched"] else { return "matched nothing yet" }
        if case .string(let failure)? = state["failure"] { return "given up: \(failure)" }
        guard case .object(let outcomes)? = state["outcomes"], !outcomes.isEmpty else { return "matched \(matched)" }
        let parts = outcomes.map { outcome in
            guard case .int(let count) = outcome.value else { return outcome.name }
            return "\(count) \(outcome.name)"
        }
        return "matched \(matched): \(parts.joined(separator: ", "))\(Self.wait(of: state["waiting"]))"
    }

    /// Why a push waits, and until when.
    private static func wait(of waiting: JSONValue?) -> String {
        guard case .object(let reasons)? = waiting?["reasons"] else { return "" }
        let counts = reasons.map { reason in
            guard case .int(let count) = reason.value else { return reason.name }
            return "\(reason.name) \(count)"
        }
        guard case .string(let latest)? = waiting?["latest"] else {
            return "; waits for \(counts.joined(separator: ", "))"
        }
        return "; waits for \(counts.joined(separator: ", ")), until \(latest) at the latest"
    }
}
