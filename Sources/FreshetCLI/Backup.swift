import ArgumentParser
import Foundation
import IntentMatching
import JournalSQLite
import Journaling
import Partitions
import WidgetModel

/// `freshet backup`
struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a data directory, beside the running gateway, and check the copy.",
        discussion: """
            The copy is the log as it was at one commit: whatever was acknowledged when the copy began is in it. It is \
            written beside its place, made durable, verified row by row, and only then has its name.

              freshet backup --data data --to /backups/2026-11-02
              freshet backup --data data --to /backups --keep 7

            With --keep the copy is made in the directory, under the time at which it began, and the oldest of those that \
            were made in this way are removed once it is whole. The gateway tells when the last copy was made, if this \
            may write to its data directory.

            Exit codes: 0 done, 1 it failed, and there is nothing under the name.
            """
    )

    @OptionGroup var data: DataOptions
    @Option(help: "Where to: a directory that does not exist yet, or is empty; with --keep the one with the backups.")
    var to: String
    @Option(help: "Keep so many copies in the directory, this one among them, and remove older ones. At least 1.")
    var keep: Int?

    func validate() throws {
        if let keep = self.keep, keep < 1 { throw ValidationError("--keep takes a number from 1") }
    }

    func run() throws {
        guard let keep = self.keep else { return try self.copy(to: self.to) }
        let folder = BackupFolder(path: self.to)
        do {
            try FileManager.default.createDirectory(atPath: self.to, withIntermediateDirectories: true)
            try self.copy(to: folder.path(ofCopyAt: LogClock.wallTime()))
            for name in try folder.removeOldest(keeping: keep) where !self.data.quiet { print("removed \(name)") }
        } catch let error as CocoaError {
            Output.standardError("\(self.to): \(error.localizedDescription)")
            throw ExitCode(1)
        }
    }

    private func copy(to target: String) throws {
        try DirectoryCopy(from: self.data.directory, to: target, isQuiet: self.data.quiet).run("copied")
        do {
            try LogBackup.noteBackup(of: self.data.directory)
        } catch {
            Output.standardError("the gateway is not told of this copy: \(error)")
        }
    }
}

/// A directory of backups, each in a directory that has the time at which it began as its name.
struct BackupFolder {
    let path: String

    /// `20261126T184000Z`.
    private static func name(_ instant: Instant) -> String? {
        RFC3339.text(of: Instant(seconds: instant.seconds)).map { text in
            text.filter { $0 != "-" && $0 != ":" }
        }
    }

    private static func isName(_ name: String) -> Bool {
        let digits = name.filter { $0.isASCII && $0.isNumber }
        return name.count == 16 && digits.count == 14 && name.hasSuffix("Z") && Array(name)[8] == "T"
    }

    func path(ofCopyAt instant: Instant) -> String { "\(self.path)/\(Self.name(instant) ?? "backup")" }

    /// Removes the oldest copies, and what copies that failed have left behind.
    ///
    /// - Returns: The names of the copies that are gone.
    func removeOldest(keeping count: Int) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: self.path)
        let copies = names.filter { Self.isName($0) }.sorted()
        let unfinished = names.filter { $0.hasSuffix(".partial") && Self.isName(String($0.dropLast(8))) }
        let old = copies.dropLast(count)
        for name in unfinished + old { try FileManager.default.removeItem(atPath: "\(self.path)/\(name)") }
        return Array(old)
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
