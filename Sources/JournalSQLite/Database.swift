import CSQLite
import Glibc

/// One connection to one SQLite file. Belongs to one thread at a time.
@safe
final class Database {
    /// Owned; closed in `deinit`. Statements hold the connection, so it outlives them.
    private let handle: OpaquePointer
    /// The file's name, for messages.
    let file: String
    /// Written by SQLite's hook, in the thread that commits.
    private let walSize = WALSize()

    /// The state that the write-ahead log's hook may touch: it must not reach the connection.
    private final class WALSize {
        var pages = 0
    }

    enum Access: Sendable {
        case readWrite
        case readOnly
    }

    /// How far a checkpoint came.
    struct Checkpoint: Hashable, Sendable {
        /// Pages in the write-ahead log.
        let pages: Int
        /// How many of them are in the database file.
        let copied: Int
    }

    /// Opens a file that exists.
    init(path: String, access: Access) throws(SQLiteError) {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let mode = access == .readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        var handle: OpaquePointer?
        // Sound: SQLite copies the path; the out pointer is a local. NOMUTEX because no two threads share a connection.
        let code = unsafe sqlite3_open_v2(
            path,
            &handle,
            mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
            nil
        )
        guard code == SQLITE_OK, let opened = unsafe handle else {
            let failure = unsafe Self.failure(handle, code, file: name)
            // Sound: a handle comes back from a failed open too and must be closed; closing nil does nothing.
            _ = unsafe sqlite3_close_v2(handle)
            throw failure
        }
        unsafe self.handle = opened
        self.file = name
        // Only a foreign process can be in the way (an operator's shell); give it a moment.
        self.waitForOthers(milliseconds: 1000)
    }

    /// How long a call waits for others that are in the way before it fails.
    func waitForOthers(milliseconds: Int32) {
        // Sound: the handle is open until `deinit`; the same holds for every use below. It cannot fail.
        _ = unsafe sqlite3_busy_timeout(self.handle, milliseconds)
    }

    /// Lets ``walPages`` be counted from now on. It takes the place of automatic checkpoints.
    func countWALPages() {
        // Sound: the context is an object of this connection, which unregisters the hook by closing before it goes.
        _ = unsafe sqlite3_wal_hook(
            self.handle,
            { context, _, _, pages in
                guard let context = unsafe context else { return SQLITE_OK }
                unsafe Unmanaged<WALSize>.fromOpaque(context).takeUnretainedValue().pages = Int(pages)
                return SQLITE_OK
            },
            Unmanaged.passUnretained(self.walSize).toOpaque()
        )
    }

    /// How many pages the write-ahead log had after this connection's last commit.
    var walPages: Int { self.walSize.pages }

    deinit {
        // Sound: no other object has the handle, and no statement is left, since each holds this object.
        _ = unsafe sqlite3_close_v2(self.handle)
    }

    func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        var statement: OpaquePointer?
        let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
        // Sound: the text is copied; the out pointer is a local.
        let code = unsafe sqlite3_prepare_v3(self.handle, sql, -1, flags, &statement, nil)
        guard code == SQLITE_OK, let prepared = unsafe statement else { throw self.failure(code) }
        return unsafe Statement(owned: prepared, of: self)
    }

    /// Runs a statement to its end.
    func execute(_ sql: String) throws(SQLiteError) {
        let statement = try self.prepare(sql)
        while try statement.step() {}
    }

    /// The first column of a query's only row.
    func integer(_ sql: String) throws(SQLiteError) -> Int64 {
        let statement = try self.prepare(sql)
        return try statement.step() ? statement.integer(at: 0) : 0
    }

    /// The first column of a query's only row.
    func text(_ sql: String) throws(SQLiteError) -> String {
        let statement = try self.prepare(sql)
        return try statement.step() ? statement.text(at: 0) : ""
    }

    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(self.handle) == 0 }

    /// Copies pages from the write-ahead log into the file without making readers or the writer wait.
    func checkpoint() throws(SQLiteError) -> Checkpoint {
        try self.checkpoint(mode: SQLITE_CHECKPOINT_PASSIVE)
    }

    /// Copies all pages, so that the next commit starts the write-ahead log over. Fails if a reader still needs its
    /// pages.
    func checkpointAndRestart() throws(SQLiteError) {
        _ = try self.checkpoint(mode: SQLITE_CHECKPOINT_RESTART)
        self.walSize.pages = 0
    }

    /// The same, and empties its file; for a database that is no longer written.
    func checkpointAndTruncate() throws(SQLiteError) {
        _ = try self.checkpoint(mode: SQLITE_CHECKPOINT_TRUNCATE)
        self.walSize.pages = 0
    }

    private func checkpoint(mode: Int32) throws(SQLiteError) -> Checkpoint {
        var pages: Int32 = -1
        var copied: Int32 = -1
        // Sound: both out pointers are locals.
        let code = unsafe sqlite3_wal_checkpoint_v2(self.handle, nil, mode, &pages, &copied)
        guard code == SQLITE_OK else { throw self.failure(code) }
        // A connection that has read nothing yet does not know that there is a write-ahead log: SQLite does nothing then,
        // and says OK.
        guard pages >= 0, copied >= 0 else {
            throw self.refusal("the checkpoint found no write-ahead log", code: SQLITE_MISUSE)
        }
        return Checkpoint(pages: Int(pages), copied: Int(copied))
    }

    func failure(_ code: Int32) -> SQLiteError {
        unsafe Self.failure(self.handle, code, file: self.file)
    }

    /// Sound: the message is copied before the handle is used again.
    private static func failure(_ handle: OpaquePointer?, _ code: Int32, file: String)
        -> SQLiteError
    {
        let current = errno
        let message = unsafe handle == nil ? sqlite3_errstr(code) : sqlite3_errmsg(handle)
        // SQLite 3.40 does not note the system's error of a failed COMMIT; `errno` still has it, since it was cleared
        // before the step and nothing has failed since. For other kinds of failure either would be stale.
        let noted = unsafe handle == nil ? 0 : sqlite3_system_errno(handle)
        let system = noted == 0 ? current : noted
        let isSystem = [SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_FULL].contains(code & 0xFF)
        return SQLiteError(
            code: code,
            systemError: isSystem ? system : 0,
            message: unsafe message.map { unsafe String(cString: $0) } ?? "no message",
            file: file
        )
    }
}

/// One prepared statement, bound and stepped on its connection's thread.
@safe
final class Statement {
    /// Owned; finalized in `deinit`, before the connection can close.
    private let handle: OpaquePointer
    private let database: Database

    fileprivate init(owned handle: OpaquePointer, of database: Database) {
        unsafe self.handle = handle
        self.database = database
    }

    deinit {
        // Sound: the only reference to the statement ends here.
        _ = unsafe sqlite3_finalize(self.handle)
    }

    /// Binds an integer to parameter `index`, counted from 1.
    func bind(_ value: Int64, at index: Int32) {
        // Sound: integers are copied. It can only fail for an index the statement does not have.
        let code = unsafe sqlite3_bind_int64(self.handle, index, value)
        precondition(code == SQLITE_OK, "no parameter \(index)")
    }

    /// Runs a statement that returns no rows, with a blob bound to parameter `index`.
    func run(blob bytes: [UInt8], at index: Int32) throws(SQLiteError) {
        let failure = unsafe bytes.withUnsafeBytes { buffer -> SQLiteError? in
            // Sound: no destructor means that SQLite reads the bytes in place; they are in scope until the step is
            // over, and the binding is cleared before they go. An empty array may have no address: a zeroblob then.
            let bound =
                unsafe buffer.isEmpty
                ? sqlite3_bind_zeroblob(self.handle, index, 0)
                : sqlite3_bind_blob64(self.handle, index, buffer.baseAddress, UInt64(buffer.count), nil)
            guard bound == SQLITE_OK else { return self.database.failure(bound) }
            errno = 0
            let code = unsafe sqlite3_step(self.handle)
            let failure = code == SQLITE_DONE ? nil : self.database.failure(code)
            _ = unsafe sqlite3_reset(self.handle)
            _ = unsafe sqlite3_bind_null(self.handle, index)
            return failure
        }
        if let failure { throw failure }
    }

    /// Runs a statement that returns no rows.
    func run() throws(SQLiteError) {
        defer { self.reset() }
        _ = try self.step()
    }

    /// Goes to the next row; false at the end.
    func step() throws(SQLiteError) -> Bool {
        // Sound: the handle is valid until `deinit`, as for every use below.
        errno = 0
        let code = unsafe sqlite3_step(self.handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw self.database.failure(code)
        }
    }

    /// Ends the statement's read transaction and makes it ready to run again.
    func reset() {
        _ = unsafe sqlite3_reset(self.handle)
    }

    func isNull(at column: Int32) -> Bool {
        unsafe sqlite3_column_type(self.handle, column) == SQLITE_NULL
    }

    func integer(at column: Int32) -> Int64 {
        unsafe sqlite3_column_int64(self.handle, column)
    }

    func text(at column: Int32) -> String {
        // Sound: the text is copied before the statement moves on.
        unsafe sqlite3_column_text(self.handle, column).map { unsafe String(cString: $0) } ?? ""
    }

    func bytes(at column: Int32) -> [UInt8] {
        // Sound: the pointer is asked for before the size, as SQLite demands, and the bytes are copied at once.
        guard let start = unsafe sqlite3_column_blob(self.handle, column) else { return [] }
        let count = unsafe Int(sqlite3_column_bytes(self.handle, column))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
