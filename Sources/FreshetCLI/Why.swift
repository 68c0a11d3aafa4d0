import APNSWire
import ArgumentParser
import Foundation
import History
import HTTPTransport
import JournalSQLite
import Journaling
import WidgetModel

/// `freshet why`
struct Why: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Explain the history of one widget instance: its pushes, its reloads and its budget.",
        discussion: """
            It replays the log of the instance's partition, and applies only the records that may concern the \
            instance. It shows each step: the conditions of a push that matched or failed, the budget before and after, \
            the pushes that wait and their times, and the host's answers. To ask a gateway, through its listener for \
            operators:

              freshet why com.example.scores/phone:scores-1 \\
                --server https://127.0.0.1:9443 --ca certs/ca.pem

            To read a data directory instead, whether its gateway runs or not, give --data without --server:

              freshet why com.example.scores/phone:scores-1 --data data --since 24h

            Exit codes: 0 answered, 1 the log cannot be read or the gateway does not answer, 2 it refused, or has no \
            such instance.
            """
    )

    @Argument(help: "The instance, as <app>/<host>:<instance>.") var instance: String
    @Option(help: "How far back: 45s, 90m, 24h or 2d.") var since = "24h"
    @OptionGroup var gateway: OperatorOptions
    @Flag(help: "Apply every record of the partition: much slower, but exact in all cases.") var whole = false
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        guard InstanceAddress(self.instance) != nil else {
            throw ValidationError("an instance is given as <app>/<host>:<instance>")
        }
        guard HistorySpan.parse(self.since) != nil else {
            throw ValidationError("--since takes a length of time, as in 90m, 24h or 2d")
        }
        if self.whole, self.directory == nil { throw ValidationError("--whole needs --data: leave out --server") }
    }

    func run() async throws {
        guard let directory = self.directory else { return try await self.ask() }
        guard let address = InstanceAddress(self.instance), let span = HistorySpan.parse(self.since) else { return }
        let trace: InstanceTrace
        do {
            let log = try LogDirectory(path: directory)
            // Back from where the log ends: a log of last week is asked about its own last hours.
            let partition = PartitionID(of: address.host, among: log.format.partitions)
            let since = log.newestTime(partition) - span
            trace = try InstanceQuestion(address, since: since, isWhole: self.whole).answer(
                from: log,
                HistoryStart(log)
            )
        } catch {
            Output.standardError(FailureText.of(error, about: directory))
            throw ExitCode(1)
        }
        guard trace.first != nil || trace.last != nil || !trace.steps.isEmpty else {
            Output.standardError(
                "there is no instance \(address), and there was none in that time; check the address, or give a longer --since"
            )
            throw ExitCode(2)
        }
        print(self.json ? String(decoding: trace.json.jsonText, as: UTF8.self) + "\n" : trace.text, terminator: "")
    }

    /// The data directory whose log is read; nil if a gateway is asked, which finds its operators' token there.
    private var directory: String? {
        let connection = self.gateway.connection
        return connection.server == nil && connection.context == nil ? self.gateway.directory : nil
    }

    /// Asks a gateway.
    private func ask() async throws {
        guard let address = InstanceAddress(self.instance) else { return }
        let path = "\(address.path)/why?since=\(self.since)"
        let accept = self.json ? "application/json" : "text/plain"
        let answer = try await self.gateway.ask { try await $0.send("GET", path, accept: accept) }
        print(answer.text, terminator: self.json ? "\n" : "")
    }
}
