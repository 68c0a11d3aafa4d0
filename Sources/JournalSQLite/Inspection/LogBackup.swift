import CSQLite
import Glibc
package import Journaling
import WidgetModel

/// A whole, durable copy of a data directory, made beside the gateway that writes it or without one.
///
/// All entries and outputs are in one sequence of transactions over numbered files, and a file that is not the newest never
/// changes again. So copies of the files in their order, each as it is at one moment, are the log as it was at some
/// commit: nothing in it speaks of anything that is not.
package struct LogBackup {
    /// How many files and bytes were copied.
    package struct Summary: Hashable, Sendable {
        package var files = 0
        package var bytes = 0

        package init() {}

        /// Counts the databases and snapshots of a data directory.
        package init(of directory: String) throws(JournalError) {
            for folder in [directory, DataDirectory.snapshotPath(in: directory)] where LogDirectory.isDirectory(folder)
            {
                for name in try LogDirectory.fileNames(in: folder)
                where name.hasSuffix(".sqlite") || name.hasSuffix(".snapshot") {
                    self.files += 1
                    self.bytes += LogDirectory.size(of: "\(folder)/\(name)")
                }
            }
        }
    }

    private let source: String
    private let target: String

    /// - Parameters:
    ///   - source: The data directory.
    ///   - target: Where the copy goes: a directory that does not exist yet, in one that does.
    package init(from source: String, to target: String) {
        self.source = source
        self.target = target
    }

    /// Copies. The target appears under its name once it is whole and durable; until then it is `<target>.partial`.
    ///
    /// - Parameters:
    ///   - check: Looks at the copy while it is still partial.
    ///   - step: Called after each file, with how many there are.
    /// - Throws: The error of `check`; `.invalid` if the target exists; `.corrupt` and others if the source cannot be read; a system's
    ///   error.
    package func copy(
        check: (_ directory: String) throws(JournalError) -> Void,
        step: (_ files: Int) -> Void = { _ in }
    ) throws(JournalError) -> Summary {
        let format = try LogDirectory.format(in: self.source)
        guard try Self.isFree(self.target) else {
            throw JournalError(.invalid, "\(self.target) exists and is not empty; give another path")
        }
        let partial = self.target + ".partial"
        try Self.removeFiles(in: partial)
        try Self.makeDirectory(partial)
        var summary = Summary()
        // The state beside the log first: the entries that it speaks of are in the log that is copied after it.
        let snapshots = try self.copySnapshots(to: partial, &summary)
        let first = try LogTrimming.firstFile(in: self.source)
        let numbers = try LogDirectory.logFileNumbers(in: self.source)
        guard let newest = numbers.last else { throw JournalError(.corrupt, "\(self.source) has no log file") }
        for number in numbers {
            try self.copyDatabase(LogFileName.name(of: number), to: partial, &summary)
            step(numbers.count + snapshots)
        }
        guard try LogTrimming.firstFile(in: self.source) == first else {
            throw JournalError(.unavailable, "the log was trimmed during the copy; try again")
        }
        for archive in LogDirectory.archives
        where LogDirectory.size(of: self.source + "/" + archive) > 0 {
            try self.copyDatabase(archive, to: partial, &summary)
        }
        if first > 1 { try Self.write(Array("\(first)\n".utf8), to: partial + "/trimmed") }
        try Self.write(Array("\(newest)\n".utf8), to: partial + "/begun")
        try Self.write(FormatFile.bytes(of: format), to: "\(partial)/\(FormatFile.name)")
        try check(partial)
        try Self.sync(partial)
        // An empty directory may be in the place: rename(2) replaces it.
        // Sound: both paths are only read during the call.
        guard unsafe rename(partial, self.target) == 0 else { throw systemFailure("cannot rename \(partial)") }
        try Self.sync(self.target + "/..")
        return summary
    }

    /// Copies the files beside the log to a folder that exists.
    ///
    /// - Parameter hasCaches: Whether decisions are among them: without the log, they cannot be made again.
    func copyBesideLog(to folder: String, hasCaches: Bool = true) throws(JournalError) -> Summary {
        var summary = Summary()
        for name in LogDirectory.archives + (hasCaches ? LogDirectory.caches : [])
        where LogDirectory.size(of: "\(self.source)/\(name)") > 0 {
            try self.copyDatabase(name, to: folder, &summary)
        }
        return summary
    }

    /// Notes in a data directory that a copy of its log was made just now: its gateway tells operators when that was. Nothing happens if
    /// there is no such directory.
    package static func noteBackup(of directory: String) throws(JournalError) {
        guard LogDirectory.isDirectory(directory) else { return }
        let file = try PosixFile(path: "\(directory)/\(LogDirectory.lastBackup)", flags: O_RDWR | O_CREAT)
        // Written anew, so that the file has the time of this copy.
        try file.replaceContent(Array("copied\n".utf8))
    }

    /// Copies a database as it is at one moment, write-ahead log included, and makes the copy durable.
    private func copyDatabase(_ name: String, to folder: String, _ summary: inout Summary) throws(JournalError) {
        let path = "\(folder)/\(name)"
        _ = try PosixFile(path: path, flags: O_RDWR | O_CREAT | O_EXCL)
        do throws(SQLiteError) {
            let database = try Database(path: "\(self.source)/\(name)", access: .readOnly)
            // Quotes in a path are doubled, as in any SQL text.
            let quoted = path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
            try database.execute("VACUUM INTO '\(quoted)'")
        } catch {
            throw error.journalError("cannot copy \(name)")
        }
        try PosixFile(path: path, flags: O_RDWR).sync()
        summary.files += 1
        summary.bytes += LogDirectory.size(of: path)
    }

    /// Copies the snapshots, which never change once they have their name.
    ///
    /// - Returns: How many there were.
    private func copySnapshots(to folder: String, _ summary: inout Summary) throws(JournalError) -> Int {
        let from = DataDirectory.snapshotPath(in: self.source)
        guard LogDirectory.isDirectory(from) else { return 0 }
        let to = DataDirectory.snapshotPath(in: folder)
        try Self.removeFiles(in: to)
        try Self.makeDirectory(to)
        var count = 0
        for name in try LogDirectory.fileNames(in: from) where name.hasSuffix(".snapshot") {
            let bytes = try PosixFile(path: "\(from)/\(name)", flags: O_RDONLY)
                .readAll(bytesMax: LogDirectory.size(of: "\(from)/\(name)"))
            try Self.write(bytes, to: "\(to)/\(name)")
            summary.files += 1
            summary.bytes += bytes.count
            count += 1
        }
        try Self.sync(to)
        return count
    }
}

// MARK: - Files

extension LogBackup {
    /// Whether there is nothing at a path, or an empty directory.
    static func isFree(_ path: String) throws(JournalError) -> Bool {
        guard LogDirectory.isDirectory(path) else { return LogDirectory.size(of: path) == 0 }
        return try LogDirectory.fileNames(in: path).allSatisfy { $0 == "." || $0 == ".." }
    }

    /// Removes the files that an earlier attempt has left in a directory; nothing happens where there is none.
    static func removeFiles(in path: String) throws(JournalError) {
        guard LogDirectory.isDirectory(path) else { return }
        for name in try LogDirectory.fileNames(in: path) where name != "." && name != ".." {
            let file = "\(path)/\(name)"
            if LogDirectory.isDirectory(file) {
                try Self.removeFiles(in: file)
                // Sound: the path is only read during the call, here and below.
                guard unsafe rmdir(file) == 0 else { throw systemFailure("cannot remove \(file)") }
            } else {
                guard unsafe unlink(file) == 0 else { throw systemFailure("cannot remove \(file)") }
            }
        }
    }

    static func makeDirectory(_ path: String) throws(JournalError) {
        // Sound: the path is only read during the call.
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw systemFailure("cannot create \(path)") }
    }

    static func write(_ bytes: [UInt8], to path: String) throws(JournalError) {
        try PosixFile(path: path, flags: O_RDWR | O_CREAT | O_EXCL).replaceContent(bytes)
    }

    static func sync(_ path: String) throws(JournalError) {
        try PosixFile(path: path, flags: O_RDONLY | O_DIRECTORY).sync()
    }
}
