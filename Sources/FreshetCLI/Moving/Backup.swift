import ArgumentParser
import Foundation
import JournalSQLite
import Journaling
import Partitions
import Settings
import WidgetModel

extension Freshet {
    /// `freshet backup`
    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copy a log into a directory, beside running gateways, and check the copy.",
            discussion: """
                The copy is the log at one moment. It holds everything that was acknowledged when the copy began. It is \
                written under a temporary name, made durable and verified row by row. Only then does it get its name.

                  freshet backup --data data --to /backups/2026-11-02
                  freshet backup --data data --to /backups --keep 7

                With --config, the log may be on NATS brokers. Of such a log, the copy has the newest state of each \
                partition and everything after it. It is a data directory for one gateway alone.

                  freshet backup --config freshet.yaml --to /backups/2026-11-02

                With --keep, each copy gets a folder in the directory, named after the time at which it began. Once the \
                copy is complete, the oldest of these folders are removed. The gateway reports the time of its last \
                backup, if this command may write to its data directory.

                Exit codes: 0 done, 1 it failed, and no copy has the name, 78 the configuration has faults.
                """
        )

        @OptionGroup var log: LogOptions
        @OptionGroup var answer: AnswerOptions
        @Flag(help: "Do not show progress.") var quiet = false
        @Option(help: "The directory of the copy: a new or an empty one. With --keep, the directory of all copies.")
        var to: String
        @Option(help: "Keep this many copies, the new one included, and remove older ones. At least 1.")
        var keep: Int?

        func validate() throws {
            if let keep = self.keep, keep < 1 { throw ValidationError("--keep takes 1 or more") }
        }

        func run() async throws {
            guard let keep = self.keep else { return self.tell(try await self.copy(to: self.to), self.to, []) }
            let folder = BackupFolder(path: self.to)
            do {
                try FileManager.default.createDirectory(atPath: self.to, withIntermediateDirectories: true)
                let path = folder.path(ofCopyAt: LogClock.wallTime())
                self.tell(try await self.copy(to: path), path, try folder.removeOldest(keeping: keep))
            } catch let error as CocoaError {
                Output.standardError(FailureText.of(error, about: self.to))
                throw ExitCode(1)
            }
        }

        private func tell(_ summary: LogBackup.Summary, _ path: String, _ removed: [String]) {
            guard self.answer.json || !self.quiet else { return }
            self.answer.print(
                summary.members(of: path) + [("removed", .strings(removed))],
                or: (["copied \(summary.words)"] + removed.map { "removed \($0)" }).joined(separator: "\n")
            )
        }

        private func copy(to target: String) async throws -> LogBackup.Summary {
            let configuration = try self.log.configuration()
            let data = configuration?.dataDirectory ?? self.log.dataDirectory
            let summary: LogBackup.Summary
            if let configuration, configuration.journal.jetStream != nil {
                summary = try await self.copyCluster(configuration, to: target)
            } else {
                summary = try DirectoryCopy(from: data, to: target, isQuiet: self.quiet).run()
            }
            do {
                try LogBackup.noteBackup(of: data)
            } catch {
                Output.standardError("the copy is made, but the gateway cannot report it: \(FailureText.of(error))")
            }
            return summary
        }

        private func copyCluster(_ configuration: GatewayConfiguration, to target: String) async throws
            -> LogBackup.Summary
        {
            do {
                let move = try ClusterMove(configuration) { [quiet = self.quiet] text, isLast in
                    if !quiet { Output.progress(text, isLast: isLast) }
                }
                return try await move.backUp(to: target)
            } catch {
                Output.standardError(FailureText.of(error, about: target))
                throw ExitCode(1)
            }
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

    /// Removes the oldest copies, and the rest of copies that failed.
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

extension Freshet {
    /// `freshet restore`
    struct Restore: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a data directory from a backup.",
            discussion: """
                The gateway that uses it must have as many partitions as the gateway of the backup. The data directory \
                must be new or empty. It has nothing that the gateway accepted after the backup.

                  freshet restore --from /backups/2026-11-02 --data data

                Exit codes: 0 done, 1 it failed, and the data directory is unchanged.
                """
        )

        @Option(help: "The backup.") var from: String
        @OptionGroup var data: DataOptions
        @OptionGroup var answer: AnswerOptions

        func run() throws {
            let copy = DirectoryCopy(from: self.from, to: self.data.directory, isQuiet: self.data.quiet)
            let summary = try copy.run()
            guard self.answer.json || !self.data.quiet else { return }
            self.answer.print(summary.members(of: self.data.directory), or: "restored \(summary.words)")
        }
    }
}

extension LogBackup.Summary {
    fileprivate var words: String { "\(NumberText.counted(self.files, "file")), \(self.bytes) bytes, verified" }

    fileprivate func members(of path: String) -> [(String, JSONValue?)] {
        [("directory", .string(path)), ("files", .count(self.files)), ("bytes", .count(self.bytes))]
    }
}

/// A data directory that is copied and then looked at.
private struct DirectoryCopy {
    let from: String
    let to: String
    let isQuiet: Bool

    func run() throws -> LogBackup.Summary {
        var bar: ProgressBar?
        do {
            let summary = try LogBackup(from: self.from, to: self.to).copy(
                check: CopyCheck.check,
                step: { files in
                    let known = bar ?? ProgressBar(total: files, isQuiet: self.isQuiet)
                    bar = known
                    known.advance()
                }
            )
            bar?.finish()
            return summary
        } catch {
            bar?.finish()
            Output.standardError(FailureText.of(error, about: self.from, self.to))
            throw ExitCode(1)
        }
    }
}

/// A look at a copy that has no name yet.
enum CopyCheck {
    /// Looks at every row.
    static func check(_ directory: String) throws(JournalError) {
        let survey = LogSurvey(of: directory)
        guard let fault = survey.faults.first else { return }
        throw JournalError(
            .corrupt,
            "the copy has \(NumberText.counted(survey.faults.count, "fault")); the first is: \(fault)"
        )
    }
}
