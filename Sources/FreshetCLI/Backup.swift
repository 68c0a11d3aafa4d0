import ArgumentParser
import Foundation
import JournalSQLite
import Journaling

/// `freshet backup`
struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a data directory, beside the running gateway, and check the copy.",
        discussion: """
            The copy is the log as it was at one commit: whatever was acknowledged when the copy began is in it. It is \
            written beside its place, made durable, verified row by row, and only then has its name.

              freshet backup --data data --to /backups/2026-11-02

            Exit codes: 0 done, 1 it failed, and there is nothing under the name.
            """
    )

    @OptionGroup var data: DataOptions
    @Option(help: "Where to: a directory that does not exist yet, or is empty.") var to: String

    func run() throws {
        try DirectoryCopy(from: self.data.directory, to: self.to, isQuiet: self.data.quiet).run("copied")
    }
}

/// `freshet restore`
struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a data directory of a backup.",
        discussion: """
            For the gateway that it was made of or for another one with as many partitions. The data directory must not \
            exist yet, or be empty. What was accepted after the backup was made is not in it.

              freshet restore --from /backups/2026-11-02 --data data

            Exit codes: 0 done, 1 it failed, and the data directory is as it was.
            """
    )

    @Option(help: "The backup.") var from: String
    @OptionGroup var data: DataOptions

    func run() throws {
        try DirectoryCopy(from: self.from, to: self.data.directory, isQuiet: self.data.quiet).run("restored")
    }
}

/// A data directory that is copied and then looked at.
private struct DirectoryCopy {
    let from: String
    let to: String
    let isQuiet: Bool

    func run(_ done: String) throws {
        var bar: ProgressBar?
        do {
            let summary = try LogBackup(from: self.from, to: self.to).copy(
                check: Self.check,
                step: { files in
                    let known = bar ?? ProgressBar(total: files, isQuiet: self.isQuiet)
                    bar = known
                    known.advance()
                }
            )
            bar?.finish()
            if !self.isQuiet { print("\(done) \(summary.files) files, \(summary.bytes) bytes, verified") }
        } catch {
            bar?.finish()
            Output.standardError("\(self.from): \(error)")
            throw ExitCode(1)
        }
    }

    /// Looks at every row of a copy.
    private static func check(_ directory: String) throws(JournalError) {
        let survey = LogSurvey(of: directory)
        guard let fault = survey.faults.first else { return }
        throw JournalError(.corrupt, "the copy has \(survey.faults.count) faults, the first: \(fault)")
    }
}
