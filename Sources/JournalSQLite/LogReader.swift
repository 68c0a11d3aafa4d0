import CSQLite
import Journaling
import Synchronization
import WidgetModel

/// Reads entries and outputs from the log files, on the caller's thread.
///
/// Every row is checked: its place, its checksum, and that none is missing before it.
final class LogReader: Sendable {
    /// The most files kept open for reading.
    private static let openFilesMax = 4

    /// A log file with where each partition stood when it was begun.
    struct File: Sendable {
        let number: Int
        let path: String
        let starts: [PartitionStart]
    }

    private struct State {
        var files: [File]
        /// The file used last is at the end.
        var open: [Connection] = []
    }

    /// The table to read: the two differ only in their columns.
    private enum Table: String {
        case entries
        case outputs

        /// The position before the file's first row.
        func before(_ start: PartitionStart) -> UInt64 {
            switch self {
            case .entries: start.tail.position.rawValue
            case .outputs: start.newestOutput?.rawValue ?? 0
            }
        }
    }

    /// Sound: it is only reached through the state, under the lock.
    private final class Connection: @unchecked Sendable {
        let number: Int
        let database: Database
        private var queries: [String: Statement] = [:]

        init(_ file: File) throws(SQLiteError) {
            self.number = file.number
            self.database = try Database(path: file.path, access: .readOnly)
        }

        func query(_ sql: String) throws(SQLiteError) -> Statement {
            if let query = self.queries[sql] { return query }
            let query = try self.database.prepare(sql)
            self.queries[sql] = query
            return query
        }
    }

    private let bytesMax: Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - files: The log files in order.
    ///   - bytesMax: How many bytes one read returns at most, beyond its first row.
    init(files: [File], bytesMax: Int) {
        self.bytesMax = bytesMax
        self.state = Mutex(State(files: files))
    }

    /// Makes the next file known; before anything in it is published.
    func add(_ file: File) {
        self.state.withLock { $0.files.append(file) }
    }

    /// The files in order.
    var files: [File] { self.state.withLock { $0.files } }

    /// Lets go of the files below a number, which are about to be removed.
    func drop(below number: Int) {
        self.state.withLock { state in
            state.files.removeAll { $0.number < number }
            state.open.removeAll { $0.number < number }
        }
    }

    /// Closes the files.
    func close() {
        self.state.withLock { $0.open = [] }
    }

    /// Entries `position...last`, at most `entriesMax` of them.
    func entries(
        _ partition: PartitionID,
        from position: LogPosition,
        through last: LogPosition,
        entriesMax: Int
    ) throws(JournalError) -> [LogEntry] {
        let sql = """
            SELECT position, log_time, records, checksum, bytes FROM entries_\(partition)
            WHERE position >= ? ORDER BY position LIMIT ?
            """
        return try self.rows(
            .entries,
            partition,
            sql,
            wanted: position.rawValue...last.rawValue,
            rowsMax: entriesMax
        ) { (row) throws(RowError) in
            let bytes = row.bytes(at: 4)
            guard let packed = try? PackedRecords(validating: bytes),
                Int64(packed.count) == row.integer(at: 2)
            else {
                throw RowError(sentence: "its records cannot be separated")
            }
            let entry = LogEntry(
                position: LogPosition(UInt64(bitPattern: row.integer(at: 0))),
                logTime: Instant(milliseconds: row.integer(at: 1)),
                packed: packed
            )
            try Self.compare(entry.checksum(in: partition), with: row.integer(at: 3))
            return (entry, bytes.count)
        }
    }

    /// Outputs `position...last`, at most `outputsMax` of them.
    func outputs(
        _ partition: PartitionID,
        from position: OutputPosition,
        through last: OutputPosition,
        outputsMax: Int
    ) throws(JournalError) -> [OutputEntry] {
        let sql = """
            SELECT position, through, epoch, engine_version, running_hash, checksum, effects FROM outputs_\(partition)
            WHERE position >= ? ORDER BY position LIMIT ?
            """
        return try self.rows(
            .outputs,
            partition,
            sql,
            wanted: position.rawValue...last.rawValue,
            rowsMax: outputsMax
        ) { (row) throws(RowError) in
            guard let version = UInt32(exactly: row.integer(at: 3)) else {
                throw RowError(sentence: "its engine version is no version")
            }
            let output = OutputEntry(
                position: OutputPosition(UInt64(bitPattern: row.integer(at: 0))),
                record: OutputRecord(
                    through: LogPosition(UInt64(bitPattern: row.integer(at: 1))),
                    ahead: UInt64(bitPattern: row.integer(at: 2)),
                    engineVersion: version,
                    runningHash: UInt64(bitPattern: row.integer(at: 4)),
                    effects: row.bytes(at: 6)
                )
            )
            try Self.compare(output.checksum(in: partition), with: row.integer(at: 5))
            return (output, output.record.effects.count)
        }
    }

    /// The fault of a row.
    private struct RowError: Error {
        let sentence: String
    }

    private static func compare(_ computed: UInt32, with stored: Int64) throws(RowError) {
        if Int64(computed) != stored {
            throw RowError(sentence: "its checksum is \(computed), the stored one \(stored)")
        }
    }

    /// Reads rows file by file until enough are there.
    private func rows<Row>(
        _ table: Table,
        _ partition: PartitionID,
        _ sql: String,
        wanted: ClosedRange<UInt64>,
        rowsMax: Int,
        decode: (Statement) throws(RowError) -> (Row, bytes: Int)
    ) throws(JournalError) -> [Row] {
        var rows: [Row] = []
        var bytes = 0
        var next = wanted.lowerBound
        try self.state.withLock { (state) throws(JournalError) in
            while rows.count < rowsMax, bytes < self.bytesMax, next <= wanted.upperBound {
                let index = state.files.lastIndex {
                    table.before($0.starts[Int(partition.rawValue)]) < next
                }
                guard let index else {
                    throw JournalError(.corrupt, "no log file has position \(next) of partition \(partition)")
                }
                // The last row of this file: the one before the next file's first.
                var end = wanted.upperBound
                if index + 1 < state.files.count {
                    end = min(end, table.before(state.files[index + 1].starts[Int(partition.rawValue)]))
                }
                let place = "\(table.rawValue) of partition \(partition)"
                do throws(SQLiteError) {
                    let connection = try Self.connection(to: state.files[index], &state)
                    let query = try connection.query(sql)
                    query.bind(Int64(bitPattern: next), at: 1)
                    query.bind(Int64(rowsMax - rows.count), at: 2)
                    defer { query.reset() }
                    while next <= end, rows.count < rowsMax, bytes < self.bytesMax {
                        guard try query.step(), UInt64(bitPattern: query.integer(at: 0)) == next else {
                            throw connection.database.refusal("position \(next) is missing", code: SQLITE_CORRUPT)
                        }
                        do throws(RowError) {
                            let (row, size) = try decode(query)
                            rows.append(row)
                            bytes += size
                        } catch {
                            throw connection.database.refusal(
                                "position \(next) is damaged: \(error.sentence)",
                                code: SQLITE_CORRUPT
                            )
                        }
                        next += 1
                    }
                } catch {
                    throw error.journalError("cannot read position \(next) in \(place)")
                }
            }
        }
        return rows
    }

    private static func connection(to file: File, _ state: inout State) throws(SQLiteError)
        -> Connection
    {
        if let index = state.open.firstIndex(where: { $0.number == file.number }) {
            let connection = state.open.remove(at: index)
            state.open.append(connection)
            return connection
        }
        let connection = try Connection(file)
        if state.open.count >= Self.openFilesMax { state.open.removeFirst() }
        state.open.append(connection)
        return connection
    }
}
