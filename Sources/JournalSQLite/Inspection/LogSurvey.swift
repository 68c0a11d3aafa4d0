import CSQLite
import Glibc
package import Journaling
package import WidgetModel

/// Looks at every row of a log and tells all faults, where reading would stop at the first.
///
/// It checks that every file is there and is the one that its name says; SQLite's own check of each; that rows follow
/// each other without a gap, from file to file as well; checksums; framing; that time does not go back; that outputs
/// are of entries that exist; and that the write-ahead log was written to its end. It does not check the meaning of
/// records.
package struct LogSurvey {
    /// Where one partition stands.
    package struct Partition: Hashable, Sendable {
        package var entries = 0
        package var outputs = 0
        /// The position of the newest entry that was found.
        package var tail = LogPosition.start
        /// The entries before this one are good.
        package var firstFault: LogPosition?
    }

    private let path: String
    package private(set) var faults: [LogError] = []
    package private(set) var partitions: [Partition] = []
    /// Nil if the format file cannot be read; nothing else was looked at then.
    package private(set) var format: JournalFormat?

    /// Surveys the log in a directory.
    ///
    /// - Parameters:
    ///   - path: The data directory.
    ///   - step: Called before a partition's rows of a file are read, with the number of these steps.
    package init(of path: String, step: (_ steps: Int) -> Void = { _ in }) {
        self.path = path
        do throws(JournalError) {
            self.format = try LogDirectory.format(in: path)
        } catch {
            let code: LogError.Code = error.code == .formatMismatch ? .version : .file
            self.faults.append(LogError(code, file: FormatFile.name, error.message))
            return
        }
        guard let format = self.format else { return }
        self.partitions = Array(repeating: Partition(), count: format.partitions)
        let numbers = self.numbers()
        var ends: [PartitionStart]?
        for number in numbers {
            ends = self.survey(number, format, after: ends) { step(numbers.count * format.partitions) }
        }
        if let newest = numbers.last { self.checkTail(of: newest) }
        if let ends { self.checkOutputs(ends) }
    }

    private mutating func noteFault(_ fault: LogError) {
        self.faults.append(fault)
        guard fault.table == .entries, let partition = fault.partition, let position = fault.position else { return }
        let index = Int(partition.rawValue)
        let first = self.partitions[index].firstFault ?? LogPosition(.max)
        self.partitions[index].firstFault = min(first, LogPosition(position))
    }

    // MARK: - Files

    /// The numbers of the files there are; those that are missing are told.
    private mutating func numbers() -> [Int] {
        let numbers: [Int]
        let first: Int
        do throws(JournalError) {
            first = try LogTrimming.firstFile(in: self.path)
            numbers = try LogDirectory.logFileNumbers(in: self.path)
        } catch {
            self.noteFault(LogError(.file, error.message))
            return []
        }
        let begun = self.begun()
        guard let highest = numbers.last else {
            if begun > 0 { self.noteFault(LogError(.file, file: LogFileName.name(of: begun), "the file is missing")) }
            return []
        }
        var next = first
        for number in numbers {
            self.noteMissing(next..<number)
            next = number + 1
        }
        self.noteMissing(next..<max(next, highest + 1, begun + 1))
        return numbers
    }

    /// Tells of files that are missing one after the other. A note that is wrong may make that any number of them.
    private mutating func noteMissing(_ numbers: Range<Int>) {
        let told = numbers.prefix(Self.missingTold)
        for number in told {
            self.noteFault(LogError(.file, file: LogFileName.name(of: number), "the file is missing"))
        }
        let rest = numbers.count - told.count
        guard rest > 0 else { return }
        let file = LogFileName.name(of: told.endIndex)
        self.noteFault(LogError(.file, file: file, "the file is missing, and \(rest - 1) after it"))
    }

    private static let missingTold = 100

    /// The newest file that was ever begun, as the directory remembers it; 0 if it does not.
    private mutating func begun() -> Int {
        guard LogDirectory.size(of: self.path + "/begun") > 0 else { return 0 }
        let bytes = try? PosixFile(path: self.path + "/begun", flags: O_RDONLY).readAll(bytesMax: 32)
        let text = bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
        if text.hasSuffix("\n"), let number = Int(text.dropLast()), LogFileName.numbers.contains(number) {
            return number
        }
        self.noteFault(LogError(.file, file: "begun", "it does not hold the number of a log file"))
        return 0
    }

    /// Surveys one file; gives where each partition stands at its end, or nil if that cannot be told.
    private mutating func survey(
        _ number: Int,
        _ format: JournalFormat,
        after ends: [PartitionStart]?,
        step: () -> Void
    ) -> [PartitionStart]? {
        let name = LogFileName.name(of: number)
        let database: Database
        let starts: [PartitionStart]
        do throws(SQLiteError) {
            database = try Database(path: "\(self.path)/\(name)", access: .readOnly)
            let version = try database.integer("PRAGMA user_version")
            if version != Int64(format.formatVersion) {
                self.noteFault(
                    LogError(
                        .version,
                        file: name,
                        "its format version is \(version), this program reads \(format.formatVersion)"
                    )
                )
                return nil
            }
            starts = try LogFile.starts(of: database, number: number, format: format)
            try self.checkPages(of: database, name)
        } catch {
            let code: LogError.Code =
                switch error.primaryCode {
                case SQLITE_CORRUPT: .page
                case SQLITE_FORMAT: .version
                default: .file
                }
            self.noteFault(LogError(code, file: name, error.sentence))
            return nil
        }
        var walk = RowWalk(database: database, file: name, starts: starts, partitions: format.partitions)
        for index in 0..<format.partitions {
            let partition = PartitionID(UInt16(index))
            if let end = ends?[index], end != starts[index] {
                self.noteSeam(end, starts[index], partition, name)
            }
            step()
            walk.walkEntries(of: partition)
            walk.walkOutputs(of: partition)
            self.partitions[index].entries += walk.entries
            self.partitions[index].outputs += walk.outputs
            self.partitions[index].tail = walk.ends[index].tail.position
        }
        for fault in walk.faults { self.noteFault(fault) }
        return walk.ends
    }

    /// Adds the findings of SQLite itself.
    private mutating func checkPages(of database: Database, _ name: String) throws(SQLiteError) {
        let check = try database.prepare("PRAGMA quick_check(20)")
        while try check.step() {
            let sentence = check.text(at: 0)
            if sentence != "ok" { self.noteFault(LogError(.page, file: name, "SQLite says: \(sentence)")) }
        }
    }

    private mutating func noteSeam(
        _ end: PartitionStart,
        _ start: PartitionStart,
        _ partition: PartitionID,
        _ name: String
    ) {
        if end.tail.position != start.tail.position {
            let next = end.tail.position.next
            self.noteFault(
                LogError(
                    start.tail.position > end.tail.position ? .missing : .place,
                    file: name,
                    partition: partition,
                    table: .entries,
                    position: min(next.rawValue, start.tail.position.rawValue + 1),
                    "the file before ends with entry \(end.tail.position), this one begins after \(start.tail.position)"
                )
            )
        } else if end.tail.logTime != start.tail.logTime {
            let sentence = "it begins at another time than the file before ends"
            self.noteFault(LogError(.time, file: name, partition: partition, sentence))
        }
        if end.newestOutput != start.newestOutput {
            let (before, after) = (end.newestOutput?.rawValue ?? 0, start.newestOutput?.rawValue ?? 0)
            self.noteFault(
                LogError(
                    after > before ? .missing : .place,
                    file: name,
                    partition: partition,
                    table: .outputs,
                    position: min(before, after) + 1,
                    "the file before ends with output \(before), this one begins after \(after)"
                )
            )
        }
    }

    // MARK: - The end

    /// Whether the newest file's write-ahead log was written to its end. Not asked beside a gateway that is writing it.
    private mutating func checkTail(of number: Int) {
        let name = LogFileName.name(of: number) + "-wal"
        guard !DataDirectoryLock.isHeld(in: self.path), LogDirectory.size(of: "\(self.path)/\(name)") > 0 else {
            return
        }
        do throws(JournalError) {
            guard let sentence = try WriteAheadLog(path: "\(self.path)/\(name)").fault else { return }
            let tails = self.partitions.prefix(16).enumerated().map { "\($0.offset) at \($0.element.tail)" }
            let ends = "partitions end now: \(tails.joined(separator: ", "))"
            let tail = self.partitions.first?.tail.rawValue
            self.noteFault(LogError(.tail, file: name, position: tail, "\(sentence); \(ends)"))
        } catch {
            self.noteFault(LogError(.file, file: name, error.message))
        }
    }

    private mutating func checkOutputs(_ ends: [PartitionStart]) {
        for (index, end) in ends.enumerated() {
            let partition = PartitionID(UInt16(index))
            let through = self.newestThrough(partition)
            guard through > end.tail.position else { continue }
            self.noteFault(
                LogError(
                    .output,
                    partition: partition,
                    table: .entries,
                    position: end.tail.position.rawValue + 1,
                    "the log ends with entry \(end.tail.position), but its outputs go through entry \(through)"
                )
            )
        }
    }

    private func newestThrough(_ partition: PartitionID) -> LogPosition {
        guard let number = try? LogDirectory.logFileNumbers(in: self.path).last,
            let database = try? Database(path: "\(self.path)/\(LogFileName.name(of: number))", access: .readOnly),
            let through = try? database.integer("SELECT max(through) FROM outputs_\(partition)")
        else { return .start }
        return LogPosition(UInt64(bitPattern: through))
    }
}

/// The part that trimming has taken from the front of a log.
enum LogTrimming {
    /// The first file that belongs to the log: the number that the file `trimmed` holds, 1 if there is none. Files below it
    /// may still be there, after a crash.
    static func firstFile(in path: String) throws(JournalError) -> Int {
        guard LogDirectory.size(of: path + "/trimmed") > 0 else { return 1 }
        let bytes = try PosixFile(path: path + "/trimmed", flags: O_RDONLY).readAll(bytesMax: 32)
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasSuffix("\n"), let number = Int(text.dropLast()), LogFileName.numbers.contains(number) else {
            throw JournalError(.corrupt, "\(path)/trimmed does not hold the number of a log file")
        }
        return number
    }
}

/// Whether a gateway has a data directory.
package enum DataDirectoryLock {
    /// Whether some process holds the directory's lock. Takes nothing.
    package static func isHeld(in path: String) -> Bool {
        // Sound: the path is only read during the call.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // A shared lock that is given back at once: it fails only where another process has the exclusive one.
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return true }
        _ = flock(descriptor, LOCK_UN)
        return false
    }
}
