import ArgumentParser
import WidgetModel

/// `freshet hosts`
struct Hosts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List hosts; show or remove one, or remove all of an app.",
        discussion: """
              freshet hosts --app com.example.scores --connected true
              freshet hosts show com.example.scores/phone
              freshet hosts remove com.example.scores/phone

            Exit codes: 0 done, 1 the gateway does not answer, 2 it refused, or has no such host.
            """,
        subcommands: [List.self, Show.self, Remove.self],
        defaultSubcommand: List.self
    )

    /// `freshet hosts list`
    struct List: GatewayList {
        static let configuration = CommandConfiguration(
            abstract: "List hosts.",
            discussion: """
                  freshet hosts list --app com.example.scores --all --json
                """
        )

        @Option(help: "Only of this app.") var app: String?
        @Option(help: "true: only hosts with an open event stream; false: only hosts without one.") var connected:
            String?
        @OptionGroup var paging: PagingOptions
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions

        var list: GatewayListForm {
            GatewayListForm(
                path: "/v1/hosts",
                member: "hosts",
                columns: [
                    .text("HOST", "host"), .text("APP", "app"), .text("BY", "delivery"), .reached,
                    .count("STREAMS", "streams"),
                    .count("WIDGETS", "instances"), .count("OUT", "outstanding"), .time("REGISTERED", "registeredAt"),
                    .time("LEASE ENDS", "leaseEnds"), .list("EXEMPT", "exemptions"),
                ],
                none: "No host matches.",
                query: [("app", self.app), ("connected", self.connected)],
                paging: self.paging
            )
        }
    }

    /// `freshet hosts show`
    struct Show: GatewayQuestion {
        static let configuration = CommandConfiguration(
            abstract: "Show one host and its widgets.",
            discussion: """
                  freshet hosts show com.example.scores/phone
                """
        )

        @Argument(help: "The host, as <app>/<host>.") var host: String
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions

        func validate() throws {
            guard HostKey(address: self.host[...]) != nil else {
                throw ValidationError("give the host as <app>/<host>")
            }
        }

        var path: String { HostKey(address: self.host[...])?.path ?? "" }

        func lines(_ host: JSONValue, on screen: Screen) -> [String] {
            let now = Moment.now(of: host)
            func time(_ path: String) -> String? { host.at(path)?.text.map { Moment.text($0, now: now) } }
            func words(_ path: String) -> String? {
                let words = host.at(path)?.elements.map(\.words) ?? []
                return words.isEmpty ? nil : words.joined(separator: ", ")
            }
            var card = TextCard()
            card.add("host", "\(host["app"]?.words ?? "–")/\(host["host"]?.words ?? "–")")
            card.add("delivered by", host["delivery"]?.words)
            card.add("reached", host["reached"].map { _ in TextTable.Column.reached.cell(host, now) })
            card.add("tokens", words("tokens"))
            card.add("revision", host["revision"]?.words)
            card.add("registered", time("registeredAt"))
            card.add("lease ends", time("leaseEnds"))
            card.add("exempt", words("exemptions"))
            card.add("state", host["isInStandBy"]?.isTrue == true ? "in stand-by" : nil)
            card.add("state", host["isInLowPower"]?.isTrue == true ? "in low power" : nil)
            card.add("reloads out", host["outstandingReloads"]?.words)
            var lines = card.lines(on: screen)
            let widgets = host["instances"]?.elements ?? []
            guard !widgets.isEmpty else { return lines }
            var table = TextTable([
                .text("WIDGET", "id"), .text("KIND", "kind"), .text("FAMILY", "family"), .text("PUSHES", "pushEnabled"),
                .text("CONFIGURATION", "configuration", isElastic: true), .list("TAGS", "tags"),
            ])
            lines += [""] + table.lines(widgets, now: now, on: screen)
            return lines
        }
    }

    /// `freshet hosts remove`
    struct Remove: GatewayChange {
        static let configuration = CommandConfiguration(
            abstract: "Remove a host, or every host of an app.",
            discussion: """
                From then on, the gateway's state has no data of them. The log and backups keep theirs for a time: \
                docs/history.md says how long.

                  freshet hosts remove com.example.scores/phone
                  freshet hosts remove --all-of com.example.scores --yes

                With --history, the gateway also deletes its whole log and all older snapshots, so that no trace of \
                the hosts stays in its data directory. This takes as long as two snapshots of each partition. \
                Afterwards, freshet why and freshet log know nothing of the time before.

                Exit codes: 0 removed, 1 the gateway does not answer, 2 it refused, or has no such host.
                """
        )

        @Argument(help: "The host, as <app>/<host>.") var host: String?
        @Option(help: "Instead of a host: every host of this app.") var allOf: String?
        @Flag(help: "Also remove the whole log until now.") var history = false
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions
        @OptionGroup var confirmation: ConfirmationOptions

        func validate() throws {
            guard (self.host == nil) != (self.allOf == nil) else {
                throw ValidationError("give the host as <app>/<host>, or --all-of with an app")
            }
            guard self.host.map({ HostKey(address: $0[...]) != nil }) ?? true else {
                throw ValidationError("give the host as <app>/<host>")
            }
        }

        var intent: String {
            let what = self.host.map { "remove the host \($0)" } ?? "remove every host of \(self.allOf ?? "")"
            return what + (self.history ? ", and the whole log until now," : "")
        }

        var request: (method: String, path: String, body: JSONValue?) {
            let path =
                self.host.flatMap { HostKey(address: $0[...])?.path }
                ?? "/v1/apps/\((self.allOf ?? "").percentEncoded)/hosts"
            return ("DELETE", path.withQuery([("history", self.history ? "true" : nil)]), nil)
        }

        func line(_ answer: JSONValue) -> String {
            let files = answer["files"]?.whole.map { ", and \(NumberText.counted($0, "file")) of the log" } ?? ""
            let count = answer["removed"]?.whole ?? 0
            return "Removed \(NumberText.counted(count, "host"))\(files)."
        }
    }
}
