import APNSWire
import ArgumentParser
import Gateway
import WidgetModel

/// `freshet try-now`
struct TryNow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try-now",
        abstract: "Try at once what waits for an upstream, a webhook or a timeline provider.",
        discussion: """
            For when what was wrong with it is mended: it is held back no longer. Without --app, all that have failed last are \
            tried. GET /v1/upstreams and /v1/providers say what came of it.

              freshet try-now --app com.example.scores --ca certs/ca.pem

            Exit codes: 0 told, 1 the gateway does not answer, 2 it refused.
            """
    )

    @Option(help: "All of this app.") var app: String?
    @Option(help: "With --app: the timeline provider of this kind.") var kind: String?
    @OptionGroup var gateway: OperatorOptions
    @Flag(help: "Print the gateway's JSON.") var json = false

    func validate() throws {
        if self.kind != nil, self.app == nil { throw ValidationError("--kind takes the --app that it is of") }
    }

    func run() async throws {
        let body = JSONValue.object(of: [
            ("app", self.app.map { .string($0) }), ("kind", self.kind.map { .string($0) }),
        ])
        let answer = try await self.gateway.ask { client throws(OperatorClient.Fault) in
            try await client.post("/v1/try-now", body)
        }
        guard !self.json else { return print(String(decoding: answer.jsonText, as: UTF8.self)) }
        guard case .array(let tried)? = answer["tried"], !tried.isEmpty else {
            return print("Nothing has failed: there is nothing to try.")
        }
        for target in tried { print(Self.line(target)) }
    }

    /// A target as a sentence.
    private static func line(_ target: JSONValue) -> String {
        func text(_ name: String) -> String? {
            if case .string(let text)? = target[name] { text } else { nil }
        }
        let kind = text("kind").map { " \($0)" } ?? ""
        let waiting: Int64 = if case .int(let count)? = target["waiting"] { count } else { 0 }
        let what = waiting == 0 ? "nothing waits" : "\(waiting) tried now"
        return "\(text("target") ?? "?") of \(text("app") ?? "?")\(kind): \(what)"
    }
}
