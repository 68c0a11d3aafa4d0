import CSQLite
import Journaling
import WidgetModel

/// Where a partition stands at the beginning of a log file, or at its end.
struct PartitionStart: Hashable, Sendable {
    var tail = EntryAssembler.Tail()
    var newestOutput: OutputPosition?
}

/// One log file as its writer sees it: the tables, and the statements that fill them.
///
/// A file has a table of entries and one of outputs for each partition, keyed by position so that every row goes to
/// the end of its table, and says in `starts` where each partition stood when it was begun.
final class LogFile {
    /// "FrJo", SQLite's application id.
    static let applicationID: Int64 = 0x4672_4A6F

    let number: Int
    let database: Database
    /// The file's page size, which stays as it was at its beginning.
    let pageBytes: Int
    /// Where each partition stood when the file was begun.
    let starts: [PartitionStart]
    private let begin: Statement
    private let commit: Statement
    private let rollback: Statement
    private let settle: Statement
    private var insertEntry: [Statement?]
    private var insertOutput: [Statement?]

    /// Opens a file for writing.
    ///
    /// - Parameters:
    ///   - number: Which file.
    ///   - directory: Where.
    ///   - format: The log it belongs to.
    /// - Returns: Nil if the file was created but a crash kept it from being begun; it holds nothing then.
    convenience init?(
        opening number: Int,
        in directory: DataDirectory,
        format: JournalFormat
    ) throws(JournalError) {
        do throws(SQLiteError) {
            let database = try Database(path: directory.logFilePath(number), access: .readWrite)
            guard try database.integer("PRAGMA user_version") != 0 else { return nil }
            try self.init(number: number, database: database, format: format)
        } catch {
            throw error.journalError("cannot open the log")
        }
    }

    /// Begins a new file.
    ///
    /// - Parameters:
    ///   - number: Which file.
    ///   - directory: Where.
    ///   - format: The log it belongs to.
    ///   - starts: Where each partition stands.
    convenience init(
        creating number: Int,
        in directory: DataDirectory,
        format: JournalFormat,
        starts: [PartitionStart]
    ) throws(JournalError) {
        try directory.createLogFile(number)
        do throws(SQLiteError) {
            let database = try Database(path: directory.logFilePath(number), access: .readWrite)
            try database.execute("PRAGMA page_size = \(SQLiteJournal.pageBytes)")
            try Self.makeDurable(database)
            try database.execute("BEGIN IMMEDIATE")
            try database.execute(
                "CREATE TABLE journal (id TEXT NOT NULL, file INTEGER NOT NULL, settled INTEGER NOT NULL) STRICT"
            )
            try database.execute("INSERT INTO journal VALUES ('\(format.journalID)', \(number), 0)")
            try database.execute(
                """
                CREATE TABLE starts (partition INTEGER PRIMARY KEY, position INTEGER NOT NULL,
                log_time INTEGER NOT NULL, output INTEGER) STRICT
                """
            )
            for (partition, start) in starts.enumerated() {
                try database.execute(
                    """
                    CREATE TABLE entries_\(partition) (position INTEGER PRIMARY KEY, log_time INTEGER NOT NULL,
                    records INTEGER NOT NULL, checksum INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT
                    """
                )
                try database.execute(
                    """
                    CREATE TABLE outputs_\(partition) (position INTEGER PRIMARY KEY, through INTEGER NOT NULL,
                    epoch INTEGER NOT NULL, engine_version INTEGER NOT NULL, running_hash INTEGER NOT NULL,
                    checksum INTEGER NOT NULL, effects BLOB NOT NULL) STRICT
                    """
                )
                let output = start.newestOutput.map(\.description) ?? "NULL"
                try database.execute(
                    """
                    INSERT INTO starts VALUES (\(partition), \(start.tail.position), \
                    \(start.tail.logTime.milliseconds), \(output))
                    """
                )
            }
            try database.execute("PRAGMA application_id = \(Self.applicationID)")
            try database.execute("PRAGMA user_version = \(format.formatVersion)")
            try database.execute("COMMIT")
            try self.init(number: number, database: database, format: format)
        } catch {
            throw error.journalError("cannot begin a log file")
        }
    }

    private init(number: Int, database: Database, format: JournalFormat) throws(SQLiteError) {
        try Self.makeDurable(database)
        self.number = number
        self.database = database
        self.pageBytes = Int(try database.integer("PRAGMA page_size"))
        self.starts = try Self.starts(of: database, number: number, format: format)
        self.begin = try database.prepare("BEGIN IMMEDIATE")
        self.commit = try database.prepare("COMMIT")
        self.rollback = try database.prepare("ROLLBACK")
        self.settle = try database.prepare("UPDATE journal SET settled = settled + 1")
        self.insertEntry = Array(repeating: nil, count: format.partitions)
        self.insertOutput = Array(repeating: nil, count: format.partitions)
    }

    /// Bytes of the write-ahead log that hold something, as of the last commit.
    var walBytes: Int { self.database.walPages * (self.pageBytes + Self.frameHeaderBytes) }

    /// About how many bytes a transaction of so many rows, and so many bytes in them, adds to the write-ahead log.
    func walBytes(rows: Int, bytes: Int) -> Int {
        // Of each row the page it begins on, the one it ends on and the one that says where those are; and some of the file's.
        (3 * rows + bytes / self.pageBytes + 4) * (self.pageBytes + Self.frameHeaderBytes)
    }

    /// Of a frame, as a page is called in the write-ahead log.
    private static let frameHeaderBytes = 24
    /// The bytes of the disk that a restarted write-ahead log keeps: to write over them is faster than to grow.
    private static let walBytesKept = 16_777_216

    /// Sets the pragmas that make a commit durable, and reads them back: a connection that does not sync would lose
    /// commits that were acknowledged.
    static func makeDurable(_ database: Database) throws(SQLiteError) {
        let mode = try database.text("PRAGMA journal_mode = WAL")
        guard mode == "wal" else {
            throw database.refusal(
                "journal_mode is \(mode) after it was set to wal",
                code: SQLITE_CANTOPEN
            )
        }
        try database.execute("PRAGMA synchronous = FULL")
        let synchronous = try database.integer("PRAGMA synchronous")
        guard synchronous == 2 else {
            throw database.refusal(
                "synchronous is \(synchronous) after it was set to FULL",
                code: SQLITE_CANTOPEN
            )
        }
        // The checkpointer does it, so that no commit waits for a checkpoint.
        try database.execute("PRAGMA wal_autocheckpoint = 0")
        // A write-ahead log that was larger for once gives the rest back when it is started over.
        try database.execute("PRAGMA journal_size_limit = \(Self.walBytesKept)")
        database.countWALPages()
    }

    /// Where each partition stood when a file was begun; the file must be the one it is taken for.
    static func starts(
        of database: Database,
        number: Int,
        format: JournalFormat
    ) throws(SQLiteError) -> [PartitionStart] {
        try EarlierBuild.refuse(database)
        let version = try database.integer("PRAGMA user_version")
        guard try database.integer("PRAGMA application_id") == Self.applicationID,
            version == format.formatVersion
        else {
            throw database.refusal(
                "not a log file of format version \(format.formatVersion)",
                code: SQLITE_NOTADB
            )
        }
        let id = try database.text("SELECT id FROM journal")
        let file = try database.integer("SELECT file FROM journal")
        guard id == format.journalID, file == number else {
            throw database.refusal("belongs to journal \(id) as file \(file)", code: SQLITE_NOTADB)
        }
        let query = try database.prepare(
            "SELECT position, log_time, output FROM starts ORDER BY partition"
        )
        var starts: [PartitionStart] = []
        while try query.step() {
            starts.append(
                PartitionStart(
                    tail: EntryAssembler.Tail(
                        position: LogPosition(UInt64(bitPattern: query.integer(at: 0))),
                        logTime: Instant(milliseconds: query.integer(at: 1))
                    ),
                    newestOutput: query.isNull(at: 2)
                        ? nil : OutputPosition(UInt64(bitPattern: query.integer(at: 2)))
                )
            )
        }
        guard starts.count == format.partitions else {
            throw database.refusal(
                "has \(starts.count) of \(format.partitions) partitions",
                code: SQLITE_CORRUPT
            )
        }
        return starts
    }
}

// MARK: - Reading

extension LogFile {
    /// Where each partition stands at the end of the file.
    func ends() throws(JournalError) -> [PartitionStart] {
        var ends = self.starts
        do throws(SQLiteError) {
            for partition in ends.indices {
                let entry = try self.database.prepare(
                    "SELECT position, log_time FROM entries_\(partition) ORDER BY position DESC LIMIT 1"
                )
                if try entry.step() {
                    ends[partition].tail = EntryAssembler.Tail(
                        position: LogPosition(UInt64(bitPattern: entry.integer(at: 0))),
                        logTime: Instant(milliseconds: entry.integer(at: 1))
                    )
                }
                let output = try self.database.prepare("SELECT max(position) FROM outputs_\(partition)")
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

// MARK: - Writing

extension LogFile {
    /// Writes everything in one transaction. When it returns, a power cut cannot take it away.
    func write(
        _ entries: [EntryAssembler.Assembled],
        _ outputs: [(PartitionID, OutputEntry)]
    ) throws(WriteError) {
        do throws(SQLiteError) {
            try self.begin.run()
            for assembled in entries { try self.insert(assembled.entry, assembled.partition) }
            for (partition, output) in outputs { try self.insert(output, partition) }
        } catch {
            self.abandon()
            throw WriteError(cause: error, isOutcomeKnown: true)
        }
        do throws(SQLiteError) {
            try self.commit.run()
        } catch {
            self.abandon()
            if self.holds(entries, outputs) { return }
            throw WriteError(cause: error, isOutcomeKnown: !error.mayHaveCommitted || self.overwrite())
        }
    }

    /// Why a transaction is not in the file.
    struct WriteError: Error {
        let cause: SQLiteError
        /// False if it may turn up again after a restart.
        let isOutcomeKnown: Bool
    }

    /// Rolls back, unless SQLite has done so already.
    private func abandon() {
        // A rollback can fail for lack of a transaction only; the writes that it undoes were never visible.
        if self.database.isInTransaction { try? self.rollback.run() }
    }

    /// Whether a transaction whose COMMIT reported an error is visible all the same. SQLite shows it only after its sync.
    private func holds(_ entries: [EntryAssembler.Assembled], _ outputs: [(PartitionID, OutputEntry)])
        -> Bool
    {
        let place: (table: String, position: UInt64)
        if let last = entries.last {
            place = ("entries_\(last.partition)", last.entry.position.rawValue)
        } else if let last = outputs.last {
            place = ("outputs_\(last.0)", last.1.position.rawValue)
        } else {
            return false
        }
        let sql = "SELECT count(*) FROM \(place.table) WHERE position = \(place.position)"
        return (try? self.database.integer(sql)) == 1
    }

    /// Writes something small and durable over the place where the frames of a failed transaction may stand, so that no
    /// restart can find them. False if this fails as well.
    private func overwrite() -> Bool {
        do throws(SQLiteError) {
            try self.settle.run()
            return true
        } catch {
            self.abandon()
            return false
        }
    }

    private func insert(_ entry: LogEntry, _ partition: PartitionID) throws(SQLiteError) {
        let statement = try self.statement(
            &self.insertEntry[Int(partition.rawValue)],
            "INSERT INTO entries_\(partition) VALUES (?, ?, ?, ?, ?)"
        )
        statement.bind(Int64(bitPattern: entry.position.rawValue), at: 1)
        statement.bind(entry.logTime.milliseconds, at: 2)
        statement.bind(Int64(entry.recordCount), at: 3)
        statement.bind(Int64(entry.checksum(in: partition)), at: 4)
        try statement.run(blob: entry.bytes, at: 5)
    }

    private func insert(_ output: OutputEntry, _ partition: PartitionID) throws(SQLiteError) {
        let statement = try self.statement(
            &self.insertOutput[Int(partition.rawValue)],
            "INSERT INTO outputs_\(partition) VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        statement.bind(Int64(bitPattern: output.position.rawValue), at: 1)
        statement.bind(Int64(bitPattern: output.record.through.rawValue), at: 2)
        // The column has the name of its first purpose, for which it was always 0; files keep that name.
        statement.bind(Int64(bitPattern: output.record.ahead), at: 3)
        statement.bind(Int64(output.record.engineVersion), at: 4)
        statement.bind(Int64(bitPattern: output.record.runningHash), at: 5)
        statement.bind(Int64(output.checksum(in: partition)), at: 6)
        try statement.run(blob: output.record.effects, at: 7)
    }

    private func statement(_ slot: inout Statement?, _ sql: String) throws(SQLiteError) -> Statement {
        if let statement = slot { return statement }
        let statement = try self.database.prepare(sql)
        slot = statement
        return statement
    }
}

extension Database {
    /// A failure that we, not SQLite, found.
    func refusal(_ sentence: String, code: Int32) -> SQLiteError {
        SQLiteError(code: code, systemError: 0, message: sentence, file: self.file)
    }
}
