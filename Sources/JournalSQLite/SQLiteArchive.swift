import CSQLite
import Glibc
package import Journaling
import Synchronization

/// A record archive in one SQLite file.
///
/// WAL with `synchronous=NORMAL`: a record is with the operating system when ``write(_:removing:)`` returns, on the disk at the next
/// checkpoint; or with `OFF`, which never waits for the disk, and may lose the file in a power cut. A damaged file is put aside and begun
/// anew, since its records can be had again.
package final class SQLiteArchive: RecordArchive {
    /// "FrAr", SQLite's application id.
    private static let applicationID: Int64 = 0x4672_4172
    private static let version: Int64 = 1
    /// The write-ahead log is copied into the file when it has so many pages of 4 KiB.
    private static let checkpointPages = 256
    /// The bytes of the disk that the write-ahead log keeps once it was copied, however large a write made it.
    private static let walBytesKept = 1_048_576

    private let store: Mutex<Store?>
    private let path: String

    /// One connection with its statements. Used under the lock alone.
    private final class Store {
        let database: Database
        let begin: Statement
        let commit: Statement
        let rollback: Statement
        let insert: Statement
        let remove: Statement
        let all: Statement
        let one: Statement

        init(path: String, isSynced: Bool) throws(SQLiteError) {
            self.database = try Database(path: path, access: .readWrite)
            try EarlierBuild.refuse(self.database)
            let mode = try self.database.text("PRAGMA journal_mode = WAL")
            guard mode == "wal" else {
                let sentence = "journal_mode is \(mode) after it was set to wal"
                throw self.database.refusal(sentence, code: SQLITE_CANTOPEN)
            }
            try self.database.execute("PRAGMA synchronous = \(isSynced ? "NORMAL" : "OFF")")
            try self.database.execute("PRAGMA wal_autocheckpoint = \(SQLiteArchive.checkpointPages)")
            try self.database.execute("PRAGMA journal_size_limit = \(SQLiteArchive.walBytesKept)")
            let version = try self.database.integer("PRAGMA user_version")
            if version != SQLiteArchive.version {
                try self.database.execute("BEGIN IMMEDIATE")
                try self.database.execute("DROP TABLE IF EXISTS records")
                try self.database.execute(
                    "CREATE TABLE records (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT"
                )
                try self.database.execute("PRAGMA application_id = \(SQLiteArchive.applicationID)")
                try self.database.execute("PRAGMA user_version = \(SQLiteArchive.version)")
                try self.database.execute("COMMIT")
            }
            self.begin = try self.database.prepare("BEGIN IMMEDIATE")
            self.commit = try self.database.prepare("COMMIT")
            self.rollback = try self.database.prepare("ROLLBACK")
            self.insert = try self.database.prepare("INSERT OR REPLACE INTO records VALUES (?1, ?2)")
            self.remove = try self.database.prepare("DELETE FROM records WHERE number = ?1")
            self.all = try self.database.prepare("SELECT number, bytes FROM records ORDER BY number")
            self.one = try self.database.prepare("SELECT bytes FROM records WHERE number = ?1")
        }

        func read(_ number: UInt64) throws(SQLiteError) -> [UInt8]? {
            defer { self.one.reset() }
            self.one.bind(Int64(clamping: number), at: 1)
            return try self.one.step() ? self.one.bytes(at: 0) : nil
        }

        func removeAll() throws(SQLiteError) {
            try self.database.execute("DELETE FROM records")
            // Free pages keep their old bytes; a file that is made anew has none.
            try self.database.execute("VACUUM")
            try self.database.checkpointAndTruncate()
        }

        func write(_ records: [ArchivedRecord], removing removed: [UInt64]) throws(SQLiteError) {
            try self.begin.run()
            do throws(SQLiteError) {
                for record in records {
                    self.insert.bind(Int64(clamping: record.number), at: 1)
                    try self.insert.run(blob: record.bytes, at: 2)
                }
                for number in removed {
                    self.remove.bind(Int64(clamping: number), at: 1)
                    try self.remove.run()
                }
                try self.commit.run()
            } catch {
                // A failure may have ended the transaction already.
                if self.database.isInTransaction { try? self.rollback.run() }
                throw error
            }
        }

        func readAll(_ body: (ArchivedRecord) -> Void) throws(SQLiteError) {
            defer { self.all.reset() }
            while try self.all.step() {
                // No number below 0 was ever written here: such a row is none of ours.
                guard let number = UInt64(exactly: self.all.integer(at: 0)) else { continue }
                body(ArchivedRecord(number: number, bytes: self.all.bytes(at: 1)))
            }
        }
    }

    /// Opens an archive, or begins it.
    ///
    /// - Parameters:
    ///   - path: Its file; others are made beside it. Nothing else may have it open.
    ///   - isSynced: Whether checkpoints wait for the disk.
    /// - Throws: `.full`, `.readOnly` or `.failing` if the system refuses, `.formatMismatch` for a file of a build before 0.2.0.
    package init(path: String, isSynced: Bool = true) throws(JournalError) {
        self.path = path
        // SQLite opens an existing file; an empty file is an empty database.
        _ = try PosixFile(path: path, flags: O_RDWR | O_CREAT)
        do throws(SQLiteError) {
            self.store = Mutex(try Store(path: path, isSynced: isSynced))
        } catch {
            // A file that cannot be read because of a full or failing disk is there again as soon as the disk is well.
            guard error.isDamage else { throw error.journalError("cannot open the archive") }
            try Self.putAside(path, error)
            do throws(SQLiteError) {
                self.store = Mutex(try Store(path: path, isSynced: isSynced))
            } catch {
                throw error.journalError("cannot begin the archive")
            }
        }
    }

    /// Makes way for a new file where one is damaged, or no database at all.
    private static func putAside(_ path: String, _ failure: SQLiteError) throws(JournalError) {
        // Sound: all paths are only read during the calls.
        for suffix in ["-wal", "-shm"] { _ = unsafe unlink(path + suffix) }
        guard unsafe rename(path, path + ".damaged") == 0 else { throw failure.journalError("cannot open the archive") }
        _ = try PosixFile(path: path, flags: O_RDWR | O_CREAT)
    }

    package func write(_ records: [ArchivedRecord], removing removed: [UInt64]) throws(JournalError) {
        try self.withStore("cannot write \(records.count) records") { (store) throws(SQLiteError) in
            try store.write(records, removing: removed)
        }
    }

    package func readAll(_ body: (ArchivedRecord) -> Void) throws(JournalError) {
        try self.withStore("cannot read all records") { (store) throws(SQLiteError) in try store.readAll(body) }
    }

    package func read(_ number: UInt64) throws(JournalError) -> [UInt8]? {
        var bytes: [UInt8]?
        try self.withStore("cannot read a record") { (store) throws(SQLiteError) in bytes = try store.read(number) }
        return bytes
    }

    package func removeAll() throws(JournalError) {
        try self.withStore("cannot remove all records") { (store) throws(SQLiteError) in try store.removeAll() }
        // Sound: the path is only read during the call. The file that was put aside is no archive, and may not exist.
        _ = unsafe unlink(self.path + ".damaged")
    }

    package func close() {
        self.store.withLock { $0 = nil }
    }

    private func withStore(
        _ action: String,
        _ body: (Store) throws(SQLiteError) -> Void
    ) throws(JournalError) {
        let failure = self.store.withLock { store -> JournalError? in
            guard let store else { return JournalError(.closed, "\(action): the archive is closed") }
            do throws(SQLiteError) {
                try body(store)
                return nil
            } catch {
                return error.journalError(action)
            }
        }
        if let failure { throw failure }
    }
}
