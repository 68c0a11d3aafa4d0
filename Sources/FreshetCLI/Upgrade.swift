import APNSWire
import ArgumentParser
import Engine
import Foundation
import Gateway
import Journaling
import Ownership
import WidgetModel

/// `freshet upgrade`
struct Upgrade: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prepare a data directory for this version of Freshet, newer or older than the last one.",
        discussion: """
            Each version has decision rules. The version that wrote a log must also decide it, up to a snapshot that \
            holds everything; from there on, another version can continue. A gateway that ends by SIGTERM writes such \
            a snapshot. If it was killed, this verb runs the previous program to write one (freshet settle), and then \
            adopts the state. If the rules are the same, it does nothing. Stop the gateway first.

              freshet upgrade --data /var/lib/freshet --dry-run
              freshet upgrade --data /var/lib/freshet \\
                --previous /usr/lib/freshet/freshet-previous

            To go back to the previous version, stop this one and run the previous program's freshet upgrade.

            Exit codes: 0 ready, 1 not ready, and the output says what to do.
            """
    )

    @OptionGroup var data: DataOptions
    @Option(help: "The previous program. Packages keep it at the default path.")
    var previous = "/usr/lib/freshet/freshet-previous"
    @Flag(help: "Show the steps, and do nothing.") var dryRun = false
    @Flag(help: "Print JSON.") var json = false

    func run() async throws {
        guard FileManager.default.fileExists(atPath: "\(self.data.directory)/journal.format") else {
            return self.report([], "nothing to do: there is no log yet")
        }
        let directory = DataDirectoryAccess(self.data.directory)
        do {
            var standings = try directory.readStandings()
            let unsettled = standings.filter { $0.step() == .settle }
            guard standings.contains(where: { $0.step() != .goOn }) else {
                return self.report(standings, "nothing to do: this program has the rules that the log was decided by")
            }
            if !unsettled.isEmpty { try self.checkPrevious(for: unsettled) }
            if self.dryRun { return self.report(standings, self.plan(hasToSettle: !unsettled.isEmpty)) }
            if !unsettled.isEmpty {
                try self.settle()
                standings = try directory.readStandings()
            }
            let adopted = try await directory.adopt()
            self.report(
                standings,
                "ready: \(NumberText.counted(adopted.count, "partition continues", "partitions continue")) with rules \(Engine.version)"
            )
        } catch let code as ExitCode {
            throw code
        } catch {
            Output.standardError(FailureText.of(error, about: self.data.directory))
            throw ExitCode(1)
        }
    }

    private func plan(hasToSettle: Bool) -> String {
        let adopting = "the states would be adopted, and rules \(Engine.version) would decide from there on"
        guard hasToSettle else { return "would be made ready: \(adopting)" }
        return "would be made ready: \(self.previous) settle would apply the log to its end; then \(adopting)"
    }

    /// Sees whether there is a previous program, and whether it runs on this machine.
    private func checkPrevious(for unsettled: [RulesStanding]) throws {
        let problem: String
        if !FileManager.default.fileExists(atPath: self.previous) {
            problem = "There is no program at \(self.previous)"
        } else if (try? self.runPrevious(["version"], output: .nullDevice)) != 0 {
            problem = "\(self.previous) does not run here"
        } else {
            return
        }
        Output.standardError(
            """
            the previous version must decide entries in \(self.data.directory): \
            \(unsettled.map { "\($0)" }.joined(separator: "; ")). \(problem): give the path of that version's program with \
            --previous, or start that version once and end it with SIGTERM. Nothing was changed
            """
        )
        throw ExitCode(1)
    }

    /// Has the previous program decide the entries that are its to decide.
    private func settle() throws {
        let words = ["settle", "--data", self.data.directory] + (self.data.quiet ? ["--quiet"] : [])
        // Standard output is this program's answer.
        let status = try self.runPrevious(words, output: .standardError)
        guard status == 0 else {
            Output.standardError("\(self.previous) settle ended with \(status); its output is above")
            throw ExitCode(1)
        }
    }

    private func runPrevious(_ words: [String], output: FileHandle) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(filePath: self.previous)
        process.arguments = words
        process.standardOutput = output
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private func report(_ standings: [RulesStanding], _ result: String) {
        guard self.json else {
            for standing in standings { print(standing) }
            return print(result)
        }
        let partitions = standings.map { standing in
            JSONValue.object(of: [
                ("partition", .count(Int(standing.partition.rawValue))),
                ("rules", standing.rules.map { .count($0) } ?? .null),
                ("snapshot", standing.snapshot.map { .count(Int(clamping: $0.id.position.rawValue)) } ?? .null),
                ("entriesBehind", standing.entriesBehind.map { .count($0) } ?? .null),
            ])
        }
        let answer = JSONValue.object(of: [
            ("program", .count(Engine.version)), ("partitions", .array(partitions)), ("result", .string(result)),
        ])
        print(String(decoding: answer.jsonText, as: UTF8.self))
    }
}
