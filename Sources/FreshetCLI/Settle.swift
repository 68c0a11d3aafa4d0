import ArgumentParser
import Gateway
import JournalSQLite
import Journaling
import Logging
import WidgetModel

/// `freshet settle`
struct Settle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Decide everything that a log has, and write a snapshot of each partition that holds it all.",
        discussion: """
            What a gateway does that is started and ended, without its listeners: after it, another version of Freshet can go on \
            from the data directory, also one with other decision rules. Nothing is delivered; the next start does that. \
            freshet upgrade calls it. The gateway must not be running.

              freshet settle --data /var/lib/freshet

            Exit codes: 0 done, 1 it failed, and what is committed is as it was.
            """
    )

    @OptionGroup var data: DataOptions

    func run() async throws {
        let directory = DataDirectoryAccess(self.data.directory)
        do {
            let snapshots = try await directory.settle(isQuiet: self.data.quiet)
            for id in snapshots { print("\(id) holds everything committed") }
            if snapshots.isEmpty { print("\(self.data.directory): nothing is committed yet") }
        } catch {
            Output.standardError("\(self.data.directory): \(error)")
            throw ExitCode(1)
        }
    }
}
