import CSQLite
import Journaling

/// The files of builds before 0.2.0: their formats are read no more, and are refused by name rather than taken for
/// damage.
enum EarlierBuild {
    /// The name of the format file of a journal.
    private static let formatFile = "format"
    /// How the names of a journal's log files begin.
    private static let logFilePrefix = "log-"
    /// SQLite's application ids of log files ("Frsh") and archives ("Frsa").
    private static let applicationIDs: Set<Int64> = [0x4672_7368, 0x4672_7361]

    /// Refuses a data directory that such a build made.
    ///
    /// - Parameters:
    ///   - path: The directory, for the message.
    ///   - names: The names of its files.
    /// - Throws: ``JournalError/Code/formatMismatch``.
    static func refuse(_ path: String, with names: [String]) throws(JournalError) {
        let isEarlier = names.contains { name in
            name == Self.formatFile || (name.hasPrefix(Self.logFilePrefix) && name.hasSuffix(".sqlite"))
        }
        if isEarlier { throw .earlierBuild(path) }
    }

    /// Refuses a database that such a build made.
    static func refuse(_ database: Database) throws(SQLiteError) {
        guard Self.applicationIDs.contains(try database.integer("PRAGMA application_id")) else { return }
        throw database.refusal(JournalError.earlierBuildSentence, code: SQLITE_FORMAT)
    }
}
