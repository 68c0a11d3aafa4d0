import CSQLite
import Glibc
package import Journaling
package import WidgetModel

/// A data directory that is only read, beside a running gateway or without one.
///
/// Takes no lock and writes only the file that SQLite itself needs to read another one (`-shm`). It reads committed
/// rows only; of a log that grows, it sees the rows that there were when it was opened.
package final class LogDirectory: LogHistory {
    package let path: String
    package let format: JournalFormat
    /// The log files in order.
    let files: [LogReader.File]
    private let ends: [PartitionStart]
    private let reader: LogReader

    /// Opens a directory.
    ///
    /// - Throws: `.corrupt`, `.formatMismatch` or a system's error if its files are not those of a log;
    ///   ``LogSurvey`` says more of a damaged one.
    package init(path: String) throws(JournalError) {
        self.path = path
        self.format = try Self.format(in: path)
        var files: [LogReader.File] = []
        for number in try Self.logFileNumbers(in: path) {
            let file = "\(path)/\(LogFileName.name(of: number))"
            do throws(SQLiteError) {
                let database = try Database(path: file, access: .readOnly)
                let starts = try LogFile.starts(of: database, number: number, format: self.format)
                files.append(LogReader.File(number: number, path: file, starts: starts))
            } catch {
                throw error.journalError("cannot open the log")
            }
        }
        self.files = files
        self.reader = LogReader(files: files, bytesMax: 8_388_608)
        self.ends = try Self.ends(of: files.last, partitions: self.format.partitions)
    }

    deinit { self.reader.close() }

    /// The size of the log's files in bytes, with the files that SQLite keeps beside them.
    package var fileBytes: Int {
        self.files.reduce(0) { sum, file in
            sum + ["", "-wal"].reduce(0) { $0 + Self.size(of: file.path + $1) }
        }
    }

    /// The newest entry of a partition, ``LogPosition/start`` if there is none.
    package func tail(_ partition: PartitionID) throws(JournalError) -> LogPosition {
        try self.end(partition).tail.position
    }

    /// The time of a partition's newest entry, the log's beginning if it has none.
    package func newestTime(_ partition: PartitionID) -> Instant {
        let index = Int(partition.rawValue)
        guard index < self.ends.count, self.ends[index].tail.position > .start else { return self.format.createdAt }
        return self.ends[index].tail.logTime
    }

    /// The first entry that there is, or that the next one will be.
    package func head(_ partition: PartitionID) -> LogPosition {
        self.files.first.map { $0.starts[Int(partition.rawValue)].tail.position.next } ?? LogPosition.start.next
    }

    package func read(
        _ partition: PartitionID,
        from position: LogPosition,
        entriesMax: Int
    ) throws(JournalError) -> [LogEntry] {
        let tail = try self.end(partition).tail.position
        let first = max(position, self.head(partition))
        guard first <= tail, entriesMax > 0 else { return [] }
        return try self.reader.entries(partition, from: first, through: tail, entriesMax: entriesMax)
    }

    package func readOutputs(
        _ partition: PartitionID,
        from position: OutputPosition,
        outputsMax: Int
    ) throws(JournalError) -> [OutputEntry] {
        guard let newest = try self.end(partition).newestOutput else { return [] }
        let before = self.files.first?.starts[Int(partition.rawValue)].newestOutput
        let first = max(position, before?.next ?? .first)
        guard first <= newest, outputsMax > 0 else { return [] }
        return try self.reader.outputs(partition, from: first, through: newest, outputsMax: outputsMax)
    }

    /// The newest output of a partition, nil if there is none.
    package func newestOutput(_ partition: PartitionID) throws(JournalError) -> OutputEntry? {
        guard let newest = try self.end(partition).newestOutput else { return nil }
        return try self.readOutputs(partition, from: newest, outputsMax: 1).first
    }

    private func end(_ partition: PartitionID) throws(JournalError) -> PartitionStart {
        guard Int(partition.rawValue) < self.ends.count else {
            throw JournalError(.invalid, "read of partition \(partition) of a log with \(self.ends.count)")
        }
        return self.ends[Int(partition.rawValue)]
    }
}

// MARK: - Contents of a directory

extension LogDirectory {
    /// The format of the log in a directory.
    package static func format(in path: String) throws(JournalError) -> JournalFormat {
        let names = try Self.fileNames(in: path)
        try EarlierBuild.refuse(path, with: names)
        try ElsewhereFile.refuse(path)
        guard names.contains(FormatFile.name) else {
            throw JournalError(.corrupt, "\(path) is not a data directory: it has no \(FormatFile.name)")
        }
        let file = "\(path)/\(FormatFile.name)"
        let format = try FormatFile.format(
            from: try PosixFile(path: file, flags: O_RDONLY).readAll(),
            path: file
        )
        guard format.formatVersion == JournalFormat.currentVersion else {
            throw JournalError(
                .formatMismatch,
                "\(file) has format version \(format.formatVersion), this program has \(JournalFormat.currentVersion)"
            )
        }
        return format
    }

    /// The numbers of the files that belong to the log, ascending.
    static func logFileNumbers(in path: String) throws(JournalError) -> [Int] {
        let first = try LogTrimming.firstFile(in: path)
        return try self.fileNames(in: path).compactMap { LogFileName.number(of: $0) }.filter { $0 >= first }.sorted()
    }

    /// The databases beside the log; each may have more files that begin with its name.
    static let archives = ["timelines.sqlite", "audit.sqlite", "samples.sqlite", "receipts.sqlite"]
    /// Files that are made again from the log, and not copied with it.
    static let caches = ["decisions.sqlite"]

    /// The names of the files in a directory, sorted.
    static func fileNames(in path: String) throws(JournalError) -> [String] {
        // Sound: the stream is used by this call only and closed at its end; each name is copied before the next read.
        guard let stream = unsafe opendir(path) else { throw systemFailure("cannot list the folder \(path)") }
        defer { _ = unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            names.append(name)
        }
        return names.sorted()
    }

    /// A file's size in bytes, 0 if there is none.
    static func size(of path: String) -> Int {
        var status = stat()
        // Sound: the path is only read during the call, and the status is a local.
        guard unsafe stat(path, &status) == 0 else { return 0 }
        return Int(status.st_size)
    }

    static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        // Sound: the path is only read during the call, and the status is a local.
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Where each partition stands at the end of the newest file.
    private static func ends(of newest: LogReader.File?, partitions: Int) throws(JournalError) -> [PartitionStart] {
        guard let newest else { return Array(repeating: PartitionStart(), count: partitions) }
        var ends = newest.starts
        do throws(SQLiteError) {
            let database = try Database(path: newest.path, access: .readOnly)
            // One transaction: all partitions as they were at one moment, so that no output is ahead of its entries.
            try database.execute("BEGIN")
            for partition in ends.indices {
                let entry = try database.prepare(
                    "SELECT position, log_time FROM entries_\(partition) ORDER BY position DESC LIMIT 1"
                )
                if try entry.step() {
                    ends[partition].tail = EntryAssembler.Tail(
                        position: LogPosition(UInt64(bitPattern: entry.integer(at: 0))),
                        logTime: Instant(milliseconds: entry.integer(at: 1))
                    )
                }
                let output = try database.prepare("SELECT max(position) FROM outputs_\(partition)")
                if try output.step(), !output.isNull(at: 0) {
                    ends[partition].newestOutput = OutputPosition(UInt64(bitPattern: output.integer(at: 0)))
                }
            }
        } catch {
            throw error.journalError("cannot find the end of the log")
        }
        return ends
    }
}
