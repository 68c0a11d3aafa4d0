import ArgumentParser
import Gateway
import JournalSQLite
import Journaling
import Logging
import WidgetModel

/// `freshet settle`
struct Settle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Apply a log to its end, and write a snapshot of each partition that holds everything.",
        discussion: """
            Afterwards, another version of Freshet can use the data directory, even with other decision rules. Nothing \
            is delivered; the next start does that. freshet upgrade calls this verb. Stop the gateway first.

              freshet settle --data /var/lib/freshet

            Exit codes: 0 done, 1 it failed, and the log is unchanged.
            """
    )

    @OptionGroup var data: DataOptions
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        let directory = DataDirectoryAccess(self.data.directory)
        do {
            let snapshots = try await directory.settle(isQuiet: self.data.quiet)
            let lines = snapshots.map { "\($0) holds everything committed" }
            let parts = snapshots.map { id in
                JSONValue.object(of: [
                    ("partition", .count(Int(id.partition.rawValue))), ("position", .unsigned(id.position.rawValue)),
                ])
            }
            self.answer.print(
                [("snapshots", .array(parts))],
                or: lines.isEmpty
                    ? "\(self.data.directory): nothing is committed yet" : lines.joined(separator: "\n")
            )
        } catch {
            Output.standardError(FailureText.of(error, about: self.data.directory))
            throw ExitCode(1)
        }
    }
}
