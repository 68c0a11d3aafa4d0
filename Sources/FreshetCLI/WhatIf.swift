import ArgumentParser
import Foundation
import History
import JournalSQLite
import Journaling
import Settings
import Simulation
import WidgetModel

/// `freshet what-if`
struct WhatIf: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "what-if",
        abstract: "Replay the log under another budget policy, and show the difference.",
        discussion: """
            The policy is a file as in deploy/policies. The log is replayed twice: as it was, and with this policy for \
            each kind (or for --kind of --app). Hosts' answers to reloads that did not happen are estimated from the \
            nearest earlier answer, and the report counts these estimates (docs/history.md).

              freshet what-if --policy deploy/policies/trmnl.yaml --since 24h \\
                --html what-if.html

            Exit codes: 0 done, 1 the log cannot be read or replayed, 78 the policy has faults.
            """
    )

    @Option(help: "The policy, a YAML file.") var policy: String
    @Option(help: "How far back from the log's end to measure: 90m, 24h or 2d.") var since = "24h"
    @OptionGroup var data: DataOptions
    @Option(help: "Only for this app's kinds.") var app: String?
    @Option(help: "Only for this kind.") var kind: String?
    @Option(help: "Count a widget as starved if a push waits for it longer than this.") var starvedAfter = "4h"
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var page: PageOptions

    func validate() throws {
        guard HistorySpan.parse(self.since) != nil, HistorySpan.parse(self.starvedAfter) != nil else {
            throw ValidationError("--since and --starved-after take a length of time, as in 90m, 24h or 2d")
        }
    }

    func run() async throws {
        let rewrite = try self.rewrite()
        let log = try self.data.open()
        let starved = HistorySpan.parse(self.starvedAfter) ?? .hours(4)
        let span = HistorySpan.parse(self.since) ?? .hours(24)
        let partitions = (0..<log.format.partitions).map { PartitionID(UInt16($0)) }
        let end = partitions.map { log.newestTime($0) }.max() ?? log.format.createdAt
        let since = end - span
        let report: WhatIfReport
        do {
            let total = try partitions.reduce(0) { sum, partition in
                sum + Int(try log.tail(partition).next.rawValue - log.head(partition).rawValue)
            }
            let bar = ProgressBar(total: total, isQuiet: self.data.quiet)
            let runs = try await Self.runs(partitions) { partition in
                try TwinRun.run(
                    partition,
                    of: log,
                    from: HistoryStart(log),
                    rewrite,
                    since: since,
                    starvedAfter: starved,
                    step: { bar.advance() }
                )
            }
            bar.finish()
            report = WhatIfReport(rewrite, since: since, starvedAfter: starved, runs)
        } catch {
            Output.standardError(FailureText.of(error, about: self.data.directory))
            throw ExitCode(1)
        }
        try self.page.write(report.page)
        if self.json {
            try Output.write(Data(report.jsonText), to: "-")
        } else if !self.data.quiet {
            print(report.text, terminator: "")
        }
    }

    /// Runs the partitions side by side.
    private static func runs(
        _ partitions: [PartitionID],
        run: @escaping @Sendable (PartitionID) throws -> TwinRun.Result
    ) async throws -> [TwinRun.Result] {
        try await withThrowingTaskGroup(of: TwinRun.Result.self) { group in
            for partition in partitions { group.addTask { try run(partition) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// The changed policy, or every fault of it on standard error and exit code 78 (EX_CONFIG).
    private func rewrite() throws -> PolicyRewrite {
        guard let text = try? String(contentsOf: URL(filePath: self.policy), encoding: .utf8) else {
            Output.standardError("\(self.policy): cannot be read")
            throw ExitCode(78)
        }
        do {
            let policy = try PolicyFile.parse(text, name: self.policy)
            return PolicyRewrite(
                policy,
                app: self.app.map { BundleID($0) },
                kind: self.kind.map { WidgetKind($0) }
            )
        } catch {
            Output.standardError("\(error)")
            throw ExitCode(78)
        }
    }
}
