import ArgumentParser
import WidgetModel

/// `freshet pushes`
struct Pushes: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List pushes, the newest first; show one with its outcomes.",
        discussion: """
            A push is waiting while its outcome for any instance is deferred or issued. After that it is complete, and \
            cannot change any more. docs/engine.md lists the outcomes.

              freshet pushes --app com.example.scores --state waiting
              freshet pushes show 8F7A2C1E-0B44-4B7C-9D53-6A1F0E2D3C4B --decisions

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused, or has no such push.
            """,
        subcommands: [List.self, Show.self],
        defaultSubcommand: List.self
    )

    /// `freshet pushes list`
    struct List: GatewayList {
        static let configuration = CommandConfiguration(
            abstract: "List pushes, the newest first.",
            discussion: """
                --after and --before take a time, or how long ago it was (90m, 24h, 2d).

                  freshet pushes list --after 1h --outcome failed --limit 20
                """
        )

        @Option(help: "Only of this sender (team).") var sender: String?
        @Option(help: "Only to this app.") var app: String?
        @Option(help: "Only pushes to this kind.") var kind: String?
        @Option(help: "Only pushes that were accepted after this.") var after: String?
        @Option(help: "Only pushes that were accepted before this.") var before: String?
        @Option(help: "waiting or complete.") var state: String?
        @Option(help: "Only pushes with this outcome for at least one instance, as in deferred or failed.")
        var outcome: String?
        @OptionGroup var paging: PagingOptions
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions

        var list: GatewayListForm {
            GatewayListForm(
                path: "/v1/pushes",
                member: "pushes",
                columns: [
                    .text("PUSH", "id"), .time("ACCEPTED", "acceptedAt"), .text("SENDER", "team"), Pushes.target,
                    .text("PRIO", "priority"), Pushes.state, .count("MATCHED", "matched"),
                    TextTable.Column(title: "OUTCOMES", isElastic: true) { row, _ in
                        Cell(row["outcomes"]?.counts ?? "–")
                    },
                ],
                none: "No push matches.",
                query: [
                    ("sender", self.sender), ("app", self.app), ("kind", self.kind),
                    ("after", self.after.map { Self.date($0) }), ("before", self.before.map { Self.date($0) }),
                    ("state", self.state), ("outcome", self.outcome),
                ],
                paging: self.paging
            )
        }

        /// A date, or how long ago as one.
        private static func date(_ text: String) -> String { TimeText.past(text) ?? text }
    }

    /// The target of a push.
    private static let target = TextTable.Column(title: "FOR", isElastic: true) { row, _ in
        guard let target = row["target"] else { return Cell(row["app"]?.words ?? "–") }
        let words = ["app", "host", "instance"].compactMap { target[$0]?.text }
        return Cell((words + [row["kind"]?.text].compactMap { $0 }).joined(separator: " "))
    }

    private static let state = TextTable.Column(title: "STATE") { row, _ in
        if row["failure"] != nil { return Cell("given up", .bad) }
        return row["isComplete"]?.isTrue == true ? "complete" : Cell("waiting", .warning)
    }

    /// `freshet pushes show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show one push: its headers, its target, its outcomes, and its reasons for waiting.",
            discussion: """
                With --decisions, you also see the decision for each instance, and its reason. With --follow, you see \
                each change until the push is complete.

                  freshet pushes show 8F7A2C1E-0B44-4B7C-9D53-6A1F0E2D3C4B --follow

                Exit codes: 0 answered, 1 the gateway does not answer, 2 it has no such push, or gave the push up.
                """
        )

        @Argument(help: "The push's apns-id.") var push: String
        @Flag(help: "Wait until the push is complete, and print each change.") var follow = false
        @Flag(help: "Also show the decision for each instance.") var decisions = false
        @Option(help: "With --decisions: only instances with this outcome.") var outcome: String?
        @OptionGroup var paging: PagingOptions
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions

        func validate() throws {
            guard PushID(self.push) != nil else { throw ValidationError("an apns-id is a UUID, not \"\(self.push)\"") }
            if self.follow, self.decisions { throw ValidationError("give --follow or --decisions, not both") }
            if self.outcome != nil, !self.decisions { throw ValidationError("--outcome needs --decisions") }
        }

        private var path: String { "/v1/pushes/\(self.push.percentEncoded)" }

        func run() async throws {
            if self.follow { return try await self.followIt() }
            let found = try await self.gateway.ask { try await $0.ask("GET", self.path) }
            if self.answer.json {
                if !self.decisions { return Output.line(found.text) }
            } else {
                for line in Self.lines(found.json, on: Screen.current) { Output.line(line) }
            }
            guard self.decisions else { return }
            if !self.answer.json { Output.line("") }
            try await Decisions.form("\(self.path)/decisions", [("outcome", self.outcome)], self.paging)
                .run(self.gateway, self.answer)
        }

        private func followIt() async throws {
            try await self.gateway.ask { client in
                // The push has been accepted: if it is not known now, it never will be.
                _ = try await client.ask("GET", self.path)
                try await PushFollowing(isJSON: self.answer.json).run {
                    try await client.ask("GET", self.path).text
                }
            }
        }

        /// The push for people.
        static func lines(_ push: JSONValue, on screen: Screen) -> [String] {
            let now = Moment.now(of: push)
            func time(_ name: String) -> String? { push[name]?.text.map { Moment.text($0, now: now) } }
            var card = TextCard()
            card.add("push", push["id"]?.words)
            card.add("sender", push["team"]?.words)
            card.add("key", push.at("key")?.words)
            card.add("for", Pushes.target.cell(push, now))
            for name in ["match", "attributes", "digest", "collapseID"] { card.add(name, push.at(name)?.words) }
            card.add("priority", push["priority"]?.words)
            card.add("accepted", time("acceptedAt"))
            card.add("not before", time("notBefore"))
            card.add("expires", time("expiresAt"))
            card.add("state", Pushes.state.cell(push, now))
            card.add("matched", push["matched"]?.whole.map { NumberText.grouped($0) })
            card.add("outcomes", push["outcomes"]?.counts)
            card.add("failures", push.at("failures")?.counts)
            card.add("failure", push["failure"]?.text)
            card.add("waits for", push.at("waiting.reasons")?.counts)
            card.add("reloads", Self.reloads(push, now))
            if let repeats = push["repeats"]?.whole, repeats > 0 { card.add("repeated", NumberText.grouped(repeats)) }
            var lines = card.lines(on: screen)
            for other in push["others"]?.elements ?? [] {
                lines += ["", "Another push has the same id:"] + Self.lines(other, on: screen)
            }
            return lines
        }

        /// When a push that waits reloads the first and the last instance.
        private static func reloads(_ push: JSONValue, _ now: Instant) -> String? {
            guard let first = push.at("waiting.earliest")?.text, let last = push.at("waiting.latest")?.text else {
                return nil
            }
            let expiring = push.at("waiting.expiring")?.whole ?? 0
            return "\(Moment.text(first, now: now)) to \(Moment.text(last, now: now))"
                + (expiring > 0 ? ", after the expiration of \(NumberText.grouped(expiring))" : "")
        }
    }
}

/// Decisions with their reasons.
enum Decisions {
    static let columns: [TextTable.Column] = [
        .time("AT", "at"), .text("CAUSE", "cause"), .text("OUTCOME", "outcome"), .text("REASON", "reason"),
        .time("UNTIL", "until"),
    ]

    /// The list of decisions at a path.
    static func form(_ path: String, _ query: [(String, String?)], _ paging: PagingOptions) -> GatewayListForm {
        GatewayListForm(
            path: path,
            member: "decisions",
            columns: [.text("INSTANCE", "instance")] + self.columns,
            none: "There is no decision, or the gateway no longer keeps it.",
            query: query,
            paging: paging
        )
    }
}
