import CSQLite
import Glibc
import Journaling
import WorkerThreads

/// SQLite's error on one call.
struct SQLiteError: Error, Hashable, Sendable {
    /// The extended result code.
    let code: Int32
    /// The system's error behind it, 0 if there is none.
    let systemError: Int32
    /// SQLite's sentence.
    let message: String
    /// The file's name.
    let file: String

    /// The result code without its extension.
    var primaryCode: Int32 { self.code & 0xFF }

    /// Whether a COMMIT that failed like this may have left a whole transaction in the file, to be found after a crash.
    ///
    /// The frame that completes a transaction is written last, so a write that failed leaves it incomplete; any other
    /// I/O error can come from the sync behind it.
    var mayHaveCommitted: Bool { self.primaryCode == SQLITE_IOERR && self.code != Self.writeError }

    /// Whether the file's content is damaged, so that each further read will fail, too.
    var isDamage: Bool { self.meaning == .corrupt }

    /// `SQLITE_IOERR_WRITE`, a macro with operators, which Swift does not import.
    private static let writeError = SQLITE_IOERR | 3 << 8

    /// - Parameter action: The operation that failed and its object, as in `append of 3 entries`.
    func journalError(_ action: String) -> JournalError {
        JournalError(self.meaning, "\(action) in \(self.file): \(self.sentence)")
    }

    var sentence: String {
        let system = self.systemError == 0 ? "" : ", \(systemErrorText(self.systemError))"
        return "\(self.message) (SQLite code \(self.code)\(system))"
    }

    private var meaning: JournalError.Code {
        switch self.primaryCode {
        case SQLITE_FULL: .full
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .readOnly
        case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
        // Which SQLite itself does not use.
        case SQLITE_FORMAT: .formatMismatch
        // Positions are primary keys: another writer has written this one.
        case SQLITE_CONSTRAINT: .fenced
        case SQLITE_IOERR, SQLITE_CANTOPEN: journalCode(ofSystemError: self.systemError)
        default: .unavailable
        }
    }
}

/// The journal's code that fits an error of the system best.
func journalCode(ofSystemError code: Int32) -> JournalError.Code {
    switch code {
    case ENOSPC, EDQUOT, EFBIG: .full
    case EROFS, EACCES, EPERM: .readOnly
    default: .failing
    }
}
