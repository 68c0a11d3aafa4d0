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
        subcommands: [
            Init.self, Doctor.self, Health.self,
            Serve.self, CheckConfig.self, DefaultConfig.self, Schema.self, Certs.self, Trust.self, Token.self,
            Send.self,
            Import.self,
            Export.self, Simulate.self, Log.self, Why.self, WhatIf.self, Backup.self, Restore.self,
            Settle.self, Upgrade.self,
            Version.self, Bench.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Gateway Question",
                subcommands: [
                    ContextVerb.self, Status.self, Dashboard.self, Ping.self, Pushes.self, Instances.self,
                    Hosts.self, Teams.self, Apps.self, Kinds.self, Budget.self, Senders.self, Upstreams.self,
                    Partitions.self,
                    Config.self,
                    Audit.self, API.self,
                ]
            ),
            CommandGroup(
                name: "Gateway Order",
                subcommands: [
                    Orders.self, Pause.self, Resume.self, Cancel.self, Grant.self, ReloadWidgets.self, TryNow.self,
                    Reload.self, LogLevel.self,
                ]
            ),
        ]
    )
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
