import ArgumentParser
import WidgetModel

/// `freshet upstreams`
struct Upstreams: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "List upstreams, webhooks, receivers of receipts and timeline providers, with their health.",
        discussion: """
            After you have mended one, run freshet try-now: the gateway then retries at once.

              freshet upstreams

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused.
            """
    )

    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        let (upstreams, providers) = try await self.gateway.ask { client in
            (try await client.ask("GET", "/v1/upstreams"), try await client.ask("GET", "/v1/providers"))
        }
        guard !self.answer.json else {
            let both = JSONValue.object([
                .init(name: "upstreams", value: upstreams.json), .init(name: "providers", value: providers.json),
            ])
            return Output.line(both.words)
        }
        let rows = Target.all(upstreams.json, providers.json)
        guard !rows.isEmpty else {
            return Output.line("No app has an upstream, a webhook, receipts or a timeline provider.")
        }
        var table = TextTable([
            .text("TARGET", "target"), .text("APP", "app"), .text("KIND", "kind"), .text("AT", "origin"), .health,
            .count("WAITING", "health.waiting"), .time("LAST SUCCESS", "health.lastSuccess"),
            TextTable.Column(title: "LAST ANSWER", isElastic: true) { row, now in Cell(Target.answer(row, now) ?? "–")
            },
            .time("HELD UNTIL", "health.heldUntil"),
        ])
        for line in table.lines(rows, now: Moment.now(of: upstreams.json), on: Screen.current) { Output.line(line) }
    }
}

/// A service that reloads go to, or timelines come from, by HTTP.
enum Target {
    /// All of them, each with its kind in `target`.
    static func all(_ upstreams: JSONValue, _ providers: JSONValue) -> [JSONValue] {
        [
            ("upstream", upstreams["upstreams"]), ("webhook", upstreams["webhooks"]),
            ("receipts", upstreams["receipts"]), ("timeline provider", providers["providers"]),
        ].flatMap { name, list in
            (list?.elements ?? []).map { .object([.init(name: "target", value: .string(name))] + $0.members) }
        }
    }

    /// Its last answer, with the time.
    static func answer(_ row: JSONValue, _ now: Instant) -> String? {
        guard let answer = row.at("health.lastAnswer") else { return nil }
        let what = [answer.at("status")?.words, answer.at("reason")?.text].compactMap { $0 }.joined(separator: " ")
        let words = [what, answer.at("detail")?.text ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
        let when = answer["at"]?.text.map { ", \(Moment.text($0, now: now))" } ?? ""
        return "\(words.isEmpty ? answer["result"]?.words ?? "–" : words)\(when)"
    }

    /// A target that does badly, as a sentence; nil for one that does well.
    static func trouble(_ row: JSONValue, _ now: Instant) -> Cell? {
        let state = row.at("health.state")?.text
        guard state == "failing" || state == "inTrouble" else { return nil }
        let name = ["target", "app", "kind"].compactMap { row[$0]?.text }.joined(separator: " ")
        let since = row.at("health.troubleSince")?.text.map { " since \(Moment.text($0, now: now))" } ?? ""
        let last = Self.answer(row, now).map { ": \($0)" } ?? ""
        let waiting = row.at("health.waiting")?.whole ?? 0
        let rest = waiting > 0 ? "; \(NumberText.grouped(waiting)) wait" : ""
        return state == "inTrouble"
            ? Cell("\(name) in trouble\(since)\(last)\(rest)", .bad) : Cell("\(name) failing\(last)\(rest)", .warning)
    }
}
