import ArgumentParser
import Settings

/// The program: one executable, a verb for each job.
@main
struct Freshet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "freshet",
        abstract: "A self-hosted, APNs-compatible push gateway for widgets.",
        discussion: """
            Back ends send it widget pushes. It finds the widget instances that a push is about, and reloads each of \
            them when its budget allows it.

            Exit codes: 0 done, 1 it failed, 2 the gateway refused it, 64 wrong usage, 78 the configuration has faults.
            """,
        version: FreshetVersion.current,
        groupedSubcommands: [
            CommandGroup(
                name: "Set-up",
                subcommands: [
                    Init.self, Doctor.self, CheckConfig.self, DefaultConfig.self, Schema.self, Certs.self, Trust.self,
                    ContextVerb.self,
                ]
            ),
            CommandGroup(
                name: "Gateway",
                subcommands: [
                    Serve.self, Health.self, Upgrade.self, Settle.self, Backup.self, Restore.self, Version.self,
                ]
            ),
            CommandGroup(
                name: "Sender and host",
                subcommands: [Send.self, Token.self, Ping.self, Import.self, Export.self]
            ),
            CommandGroup(
                name: "Question",
                subcommands: [
                    Status.self, ClusterVerb.self, Dashboard.self, Pushes.self, Instances.self, Hosts.self, Teams.self,
                    Apps.self,
                    Kinds.self, Budget.self, Senders.self, Upstreams.self, Partitions.self, Orders.self, Audit.self,
                    Why.self, Log.self, API.self,
                ]
            ),
            CommandGroup(
                name: "Change",
                subcommands: [
                    Pause.self, Resume.self, Cancel.self, Grant.self, ReloadWidgets.self, TryNow.self, Config.self,
                    Reload.self, LogLevel.self,
                ]
            ),
            CommandGroup(name: "Load and what-if", subcommands: [Bench.self, Simulate.self, WhatIf.self]),
        ]
    )

    /// As ArgumentParser's own, but a failure of Foundation's that no verb expected is told in words for people, too.
    static func main() async {
        do {
            var command = try self.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            guard let sentence = FailureText.ofFoundation(error) else { self.exit(withError: error) }
            Output.standardError(sentence)
            self.exit(withError: ExitCode.failure)
        }
    }
}

/// `freshet version`
struct Version: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the version.",
        discussion: """
              freshet version --json
            """
    )

    @Flag(help: "Print JSON.") var json = false

    func run() {
        print(self.json ? "{\"name\":\"freshet\",\"version\":\"\(FreshetVersion.current)\"}" : FreshetVersion.current)
    }
}
