import Glibc
package import Journaling
import WidgetModel

/// A data directory that goes on where another log has ended. It gets its name once it is whole; until then it is
/// ``partialPath``.
package final class DirectorySuccessor: LogSuccessor {
    /// A log whose first file has a number above 1 is the rest of a longer log.
    private static let fileNumber = 2
    /// More of the write-ahead log goes into the file at once: the disk need not have room for everything twice.
    private static let walBytesMax = 67_108_864

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
        try self.begin(
            format,
            at: ends.map { PartitionStart(behind: $0.snapshot, firstOutput: $0.outputs.first?.position) }
        )
        for end in ends where !end.outputs.isEmpty { try self.append([], end.outputs, to: end.partition) }
    }

    /// Makes it, or begins it anew, with nothing in it.
    func begin(_ format: JournalFormat, at starts: [PartitionStart]) throws(JournalError) {
        // Lets go of the lock.
        self.begun = nil
        try self.check(format)
        try LogBackup.removeFiles(in: self.partialPath)
        let directory = try DataDirectory(path: self.partialPath)
        try LogBackup.write(FormatFile.bytes(of: format), to: "\(self.partialPath)/\(FormatFile.name)")
        let file = try LogFile(creating: Self.fileNumber, in: directory, format: format, starts: starts)
        let snapshots = try SnapshotFolder(path: directory.snapshotPath, format: format)
        self.begun = Begun(directory: directory, file: file, snapshots: snapshots)
    }

    private func open() throws(JournalError) -> Begun {
        guard let begun = self.begun else { throw JournalError(.invalid, "\(self.path) was not begun") }
        return begun
    }

    package func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws {
        try self.open().snapshots.write(id, next)
    }

    /// Writes a snapshot whose frames are put one after the other.
    func write(_ id: SnapshotID, frames: (_ put: ([UInt8]) throws -> Void) throws -> Void) throws {
        try self.open().snapshots.write(id, frames: frames)
    }

    /// Writes entries and outputs behind those that are there.
    func append(_ entries: [LogEntry], _ outputs: [OutputEntry], to partition: PartitionID) throws(JournalError) {
        let file = try self.open().file
        do throws(LogFile.WriteError) {
            try file.write(
                entries.map { EntryAssembler.Assembled(partition: partition, entry: $0) },
                outputs.map { (partition, $0) }
            )
        } catch {
            throw error.cause.journalError("cannot write the log of partition \(partition)")
        }
        guard file.walBytes > Self.walBytesMax else { return }
        do throws(SQLiteError) {
            try file.database.checkpointAndTruncate()
        } catch {
            throw error.journalError("cannot write the log of partition \(partition)")
        }
    }

    /// Copies the files that another directory keeps beside this log; nothing happens if there is no such directory.
    ///
    /// - Parameter hasCaches: Whether decisions on the disk are among them.
    /// - Returns: How many files and bytes were copied.
    package func copyBesideLog(from directory: String, hasCaches: Bool = true) throws(JournalError) -> LogBackup.Summary
    {
        guard LogDirectory.isDirectory(directory) else { return LogBackup.Summary() }
        return try LogBackup(from: directory, to: self.path).copyBesideLog(to: self.partialPath, hasCaches: hasCaches)
    }

    package func finish() throws(JournalError) { try self.finish { (_) throws(JournalError) in } }

    /// - Parameter check: Looks at the directory while it is still partial.
    package func finish(check: (_ directory: String) throws(JournalError) -> Void) throws(JournalError) {
        let begun = try self.open()
        let directory = begun.directory
        do throws(SQLiteError) {
            try begun.file.database.checkpointAndTruncate()
        } catch {
            throw error.journalError("cannot finish the log")
        }
        try directory.markTrimmed(below: Self.fileNumber)
        try directory.markBegun(Self.fileNumber)
        // The file is closed by the name that it was opened by.
        self.begun = nil
        try check(self.partialPath)
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
    /// Where a partition stands behind a state, and before the outputs that go over.
    init(behind snapshot: SnapshotID?, firstOutput: OutputPosition?) {
        self.init()
        if let snapshot { self.tail = EntryAssembler.Tail(position: snapshot.position, logTime: snapshot.logTime) }
        if let firstOutput, firstOutput > .first { self.newestOutput = firstOutput.before(by: 1) }
    }
}
