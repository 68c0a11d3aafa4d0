import ArgumentParser
import WidgetModel

/// `freshet instances`
struct Instances: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List widget instances; show one with its budget, pushes that wait, reloads and decisions.",
        discussion: """
            freshet why shows the whole story of one instance, from the log.

              freshet instances --app com.example.scores --state exhausted
              freshet instances show com.example.scores/phone:scores-1

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused, or has no such instance.
            """,
        subcommands: [List.self, Show.self],
        defaultSubcommand: List.self
    )

    /// `freshet instances list`
    struct List: GatewayList {
        static let configuration = CommandConfiguration(
            abstract: "List widget instances.",
            discussion: """
                States: waiting (a push or its timeline waits), behind (it does not show the newest data yet), \
                outstanding (a reload is sent and not answered), exhausted (its budget is used up), visible, orphaned \
                (it no longer fits its kind).

                  freshet instances list --app com.example.scores --host phone
                """
        )

        @Option(help: "Only of this app.") var app: String?
        @Option(help: "Only of this kind.") var kind: String?
        @Option(help: "Only of this host of --app.") var host: String?
        @Option(help: "waiting, behind, outstanding, exhausted, visible or orphaned.") var state: String?
        @Option(help: "With --state behind: only those that are behind for longer than this, as in 15m.") var olderThan:
            String?
        @OptionGroup var paging: PagingOptions
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions

        func validate() throws {
            if self.host != nil, self.app == nil {
                throw ValidationError("--host needs the --app that the host belongs to")
            }
        }

        var list: GatewayListForm {
            GatewayListForm(
                path: "/v1/instances",
                member: "instances",
                columns: [
                    .text("INSTANCE", "id"), .text("KIND", "kind"), .text("FAMILY", "family"),
                    .count("WAITING", "waiting"), .count("OUT", "outstanding"), .count("CHARGED", "charged"),
                    TextTable.Column(title: "LEFT", isNumber: true) { row, _ in
                        guard let left = row["left"]?.whole else { return "no limit" }
                        return Cell(NumberText.grouped(left), left == 0 ? .warning : .plain)
                    },
                    .time("DECIDED", "decidesAt"), .time("LAST RELOAD", "lastReload"), .text("BEHIND", "behind"),
                    TextTable.Column(title: "STATE") { row, _ in
                        let words = [
                            row["isVisible"]?.isTrue == true ? "visible" : nil,
                            row["isOrphaned"]?.isTrue == true ? "orphaned" : nil,
                        ].compactMap { $0 }
                        return Cell(words.joined(separator: ", "))
                    },
                ],
                none: "No instance matches.",
                query: [
                    ("app", self.app), ("kind", self.kind), ("host", self.host), ("state", self.state),
                    ("olderThan", self.olderThan),
                ],
                paging: self.paging
            )
        }
    }

    /// `freshet instances show`
    struct Show: GatewayQuestion {
        static let configuration = CommandConfiguration(
            abstract: "Show one instance: its budget, next possible reload, pushes that wait, reloads and decisions.",
            discussion: """
                  freshet instances show com.example.scores/phone:scores-1 --decisions 20
                """
        )

        @Argument(help: "The instance, as <app>/<host>:<instance>.") var instance: String
        @Option(help: "How many of the newest decisions to show.") var decisions = 20
        @Flag(help: "Let the gateway replay its log for decisions that it no longer keeps; ask again for them.")
        var replay = false
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions

        func validate() throws {
            guard InstanceAddress(self.instance) != nil else {
                throw ValidationError("give the instance as <app>/<host>:<instance>")
            }
            guard (1...1000).contains(self.decisions) else { throw ValidationError("--decisions takes 1 to 1000") }
        }

        var path: String {
            (InstanceAddress(self.instance)?.path ?? "").withQuery([
                ("decisions", "\(self.decisions)"), ("replay", self.replay ? "true" : nil),
            ])
        }

        func lines(_ instance: JSONValue, on screen: Screen) -> [String] {
            let now = Moment.now(of: instance)
            var lines = self.card(instance, now).lines(on: screen)
            func add(_ title: String, _ rows: [JSONValue]?, _ columns: [TextTable.Column]) {
                guard let rows, !rows.isEmpty else { return }
                var table = TextTable(columns)
                lines += ["", screen.show(Cell(title, .title))] + table.lines(rows, now: now, on: screen)
            }
            add(
                "Outstanding",
                instance["outstanding"]?.elements,
                [
                    .text("RELOAD", "id"), .list("CAUSES", "causes"), .count("PUSHES", "pushes"),
                    .text("CHARGED", "charged"), .time("ISSUED", "issuedAt"), .time("EXPIRES", "expiresAt"),
                ]
            )
            add(
                "Waiting",
                instance["pending"]?.elements,
                [
                    .text("CAUSE", "cause"), .text("PUSH", "push"), .text("PRIORITY", "priority"),
                    .text("REASON", "reason"), .time("UNTIL", "until"), .time("EXPIRES", "expiresAt"),
                ]
            )
            add("Decisions", instance["decisions"]?.elements, Decisions.columns + [.text("PUSH", "push")])
            return lines
        }

        private func card(_ instance: JSONValue, _ now: Instant) -> TextCard {
            func time(_ path: String) -> String? { instance.at(path)?.text.map { Moment.text($0, now: now) } }
            func count(_ path: String) -> String? { instance.at(path)?.whole.map { NumberText.grouped($0) } }
            var card = TextCard()
            card.add("instance", instance["id"]?.words)
            card.add("kind", "\(instance["kind"]?.words ?? "–"), \(instance["family"]?.words ?? "–")")
            card.add("configuration", instance["configuration"]?.words)
            let flags = [
                instance["isVisible"]?.isTrue == true ? "visible" : nil,
                instance["isOrphaned"]?.isTrue == true ? "orphaned: it no longer fits its kind" : nil,
                instance["pushEnabled"]?.isTrue == false ? "pushes do not match it" : nil,
            ].compactMap { $0 }
            card.add("state", flags.isEmpty ? nil : flags.joined(separator: ", "))
            card.add(
                "behind",
                time("behindSince").map { Cell("\(instance.at("behind")?.text ?? "yes"), since \($0)", .warning) }
            )
            card.add("waiting", count("pendingCount").map { "\($0) in all" })
            card.add("waits for", instance.at("waitsFor")?.text.map { Cell($0, .warning) })
            card.add("decided", time("decidesAt"))
            card.add("next reload", time("nextReload"))
            card.add("budget", Self.budget(instance.at("budget"), now))
            for (name, path) in [("10", "priority10"), ("5", "priority5")] {
                card.add("next for \(name)", time("budget.nextConforming.\(path)"))
            }
            card.add("next timeline", time("budget.nextConforming.policy"))
            card.add("exempt now", instance.at("budget.exemption")?.text)
            card.add("replay", self.replayed(instance["replay"]))
            card.add("last reload", time("budget.lastReload"))
            card.add("entry shown", time("shownEntry"))
            if let timeline = instance.at("timeline") {
                let entries = timeline["entries"]?.words ?? "0"
                let last = timeline.at("lastDate")?.text.map { ", the last \(Moment.text($0, now: now))" } ?? ""
                let findings = timeline["findings"]?.elements.compactMap { $0["message"]?.text } ?? []
                card.add("timeline", "\(entries) entries\(last)")
                card.add("digest", timeline.at("digest")?.text)
                card.add("findings", findings.isEmpty ? nil : Cell(findings.joined(separator: "; "), .warning))
            }
            return card
        }

        private func replayed(_ replay: JSONValue?) -> Cell? {
            guard let replay else {
                return self.replay ? Cell("this gateway writes no decisions to its disk", .warning) : nil
            }
            if let fault = replay["fault"]?.text { return Cell("ended early: \(fault)", .warning) }
            return Cell("\(replay["entries"]?.words ?? "0") of \(replay["of"]?.words ?? "0") entries of the log")
        }

        private static func budget(_ budget: JSONValue?, _ now: Instant) -> String? {
            guard let budget, let charged = budget["charged"]?.whole else { return nil }
            let allowance = budget.at("allowance")?.whole.map { " of \(NumberText.grouped($0))" } ?? ", no limit"
            let end = budget.at("windowEnd")?.text.map { ", until \(Moment.text($0, now: now))" } ?? ""
            let policy = budget["policy"]?.text.map { " (\($0))" } ?? ""
            return "\(NumberText.grouped(charged)) charged\(allowance)\(end)\(policy)"
        }
    }
}
