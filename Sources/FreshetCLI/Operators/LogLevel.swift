import ArgumentParser
import WidgetModel

/// `freshet log-level`
struct LogLevel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-level",
        abstract: "Show the log level of each subsystem, or change it until the gateway ends.",
        discussion: """
            Levels are trace, debug, info, notice, warning, error and critical. Without an argument, you see all \
            subsystems. A level that you set here overrides log.level and log.levels of the configuration until the \
            gateway ends; --reset undoes it.

              freshet log-level http=debug partitions=info
              freshet log-level --reset

            Exit codes: 0 done, 1 the gateway does not answer, 2 it refused.
            """
    )

    @Argument(help: "SUBSYSTEM=LEVEL; the other subsystems stay as they are.") var levels: [String] = []
    @Flag(help: "Return all subsystems to the configuration's levels.") var reset = false
    @OptionGroup var gateway: OperatorOptions
    @OptionGroup var answer: AnswerOptions
    @OptionGroup var confirmation: ConfirmationOptions

    private static let columns: [TextTable.Column] = [
        .text("SUBSYSTEM", "subsystem"), .text("LEVEL", "level"), .text("CONFIGURED", "configured"),
        .count("WRITTEN", "written"), .count("REPEATED", "repeated"),
    ]

    func validate() throws {
        if self.reset, !self.levels.isEmpty { throw ValidationError("--reset is for all subsystems: give no names") }
        _ = try self.named
    }

    private var named: [(subsystem: String, level: String)] {
        get throws {
            try self.levels.map { text in
                let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
                    throw ValidationError("give a level as SUBSYSTEM=LEVEL, as in http=debug, not \"\(text)\"")
                }
                return (parts[0], parts[1])
            }
        }
    }

    func run() async throws {
        guard self.reset || !self.levels.isEmpty else {
            return try await GatewayListForm(
                path: "/v1/log-levels",
                member: "subsystems",
                columns: Self.columns,
                none: "There is no subsystem."
            ).run(self.gateway, self.answer)
        }
        let named = try self.named
        let words =
            self.reset ? "return to the configuration's log levels" : "log \(self.levels.joined(separator: ", "))"
        try self.confirmation.confirm("\(words) at \(try self.gateway.access().url)")
        let done = try await self.gateway.ask { client in
            // A subsystem that the request does not name gets the configuration's level again. So the request names the
            // others that were set, too.
            var levels: [(String, JSONValue?)] = []
            if !self.reset {
                for row in try await client.get("/v1/log-levels")["subsystems"]?.elements ?? [] {
                    guard let name = row["subsystem"]?.text, !named.contains(where: { $0.subsystem == name }),
                        let level = row["level"], level != row["configured"]
                    else { continue }
                    levels.append((name, level))
                }
                levels += named.map { ($0.subsystem, .string($0.level)) }
            }
            let body = JSONValue.object(of: [("levels", .object(of: levels))])
            return try await client.ask("PUT", "/v1/log-levels", body)
        }
        guard !self.answer.json else { return Output.line(done.text) }
        var table = TextTable(Self.columns)
        let rows = done.json["subsystems"]?.elements ?? []
        for line in table.lines(rows, now: Moment.now(of: done.json), on: Screen.current) { Output.line(line) }
    }
}
