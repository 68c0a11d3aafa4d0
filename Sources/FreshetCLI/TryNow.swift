import ArgumentParser
import WidgetModel

/// `freshet try-now`
struct TryNow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try-now",
        abstract: "Retry now everything that waits for an upstream, a webhook, receipts or a timeline provider.",
        discussion: """
            Use it once you have mended the server: the gateway does not wait for its next retry. Without --app, it \
            retries everything that failed last. freshet upstreams shows the result.

              freshet try-now --app com.example.scores --ca certs/ca.pem

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused.
            """
    )

    @Option(help: "Everything of this app.") var app: String?
    @Option(help: "With --app: the timeline provider of this kind.") var kind: String?
    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions

    func validate() throws {
        if self.kind != nil, self.app == nil {
            throw ValidationError("--kind needs the --app that the kind belongs to")
        }
    }

    func run() async throws {
        let body = JSONValue.object(of: [
            ("app", self.app.map { .string($0) }), ("kind", self.kind.map { .string($0) }),
        ])
        let done = try await self.gateway.ask { try await $0.ask("POST", "/v1/try-now", body) }
        guard !self.answer.json else { return Output.line(done.text) }
        let tried = done.json["tried"]?.elements ?? []
        guard !tried.isEmpty else { return Output.line("Nothing has failed: there is nothing to retry.") }
        for target in tried { Output.line(Self.line(target)) }
    }

    /// A target as a sentence.
    private static func line(_ target: JSONValue) -> String {
        let kind = target["kind"]?.text.map { " \($0)" } ?? ""
        let waiting = target["waiting"]?.whole ?? 0
        let what = waiting == 0 ? "nothing waits" : "\(waiting) tried now"
        return "\(target["target"]?.text ?? "?") of \(target["app"]?.text ?? "?")\(kind): \(what)"
    }
}
