import Glibc
package import Journaling
import WidgetModel

/// A data directory that goes on where another log has ended. It gets its name once it is whole; until then it is
/// ``partialPath``.
package final class DirectorySuccessor: LogSuccessor {
    /// A log whose first file has a number above 1 is the rest of a longer log.
    private static let fileNumber = 2

    private struct Begun {
        let directory: DataDirectory
        let file: LogFile
        let snapshots: SnapshotFolder
    }

    private let path: String
    private var begun: Begun?

    /// - Parameter path: The data directory: a new or an empty one.
    package init(path: String) { self.path = path }

    /// Where it is before it has its name.
    package var partialPath: String { self.path + ".partial" }

    package func check(_ format: JournalFormat) throws(JournalError) {
        guard try LogBackup.isFree(self.path) else {
            throw JournalError(.invalid, "\(self.path) exists and is not empty; give another path")
        }
    }

    package func begin(_ format: JournalFormat, behind ends: [PartitionEnd]) throws(JournalError) {
        try self.check(format)
        try LogBackup.removeFiles(in: self.partialPath)
        let directory = try DataDirectory(path: self.partialPath)
        try LogBackup.write(FormatFile.bytes(of: format), to: "\(self.partialPath)/\(FormatFile.name)")
        let file = try LogFile(
            creating: Self.fileNumber,
            in: directory,
            format: format,
            starts: ends.map { PartitionStart(behind: $0) }
        )
        for end in ends where !end.outputs.isEmpty {
            do throws(LogFile.WriteError) {
                try file.write([], end.outputs.map { (end.partition, $0) })
            } catch {
                throw error.cause.journalError("cannot write the outputs of partition \(end.partition)")
            }
        }
        let snapshots = try SnapshotFolder(path: directory.snapshotPath, format: format)
        self.begun = Begun(directory: directory, file: file, snapshots: snapshots)
    }

    package func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws {
        try self.begun?.snapshots.write(id, next)
    }

    /// Copies the files that another directory keeps beside this log; nothing happens if there is no such directory.
    ///
    /// - Returns: How many files and bytes were copied.
    package func copyBesideLog(from directory: String) throws(JournalError) -> LogBackup.Summary {
        guard LogDirectory.isDirectory(directory) else { return LogBackup.Summary() }
        return try LogBackup(from: directory, to: self.path).copyBesideLog(to: self.partialPath)
    }

    package func finish() throws(JournalError) {
        guard let directory = self.begun?.directory else {
            throw JournalError(.invalid, "\(self.path) was not begun")
        }
        do throws(SQLiteError) {
            try self.begun?.file.database.checkpointAndTruncate()
        } catch {
            throw error.journalError("cannot finish the log")
        }
        try directory.markTrimmed(below: Self.fileNumber)
        try directory.markBegun(Self.fileNumber)
        // The file is closed by the name that it was opened by.
        self.begun = nil
        try LogBackup.sync(self.partialPath)
        // An empty directory may be in the place: rename(2) replaces it.
        // Sound: both paths are only read during the call.
        guard unsafe rename(self.partialPath, self.path) == 0 else {
            throw systemFailure("cannot rename \(self.partialPath)")
        }
        try LogBackup.sync(self.path + "/..")
    }
}

extension PartitionStart {
    /// Where a partition stands before the outputs that go over.
    fileprivate init(behind end: PartitionEnd) {
        self.init()
        if let snapshot = end.snapshot {
            self.tail = EntryAssembler.Tail(position: snapshot.position, logTime: snapshot.logTime)
        }
        if let first = end.outputs.first?.position, first > .first {
            self.newestOutput = OutputPosition(first.rawValue - 1)
        }
    }
}
