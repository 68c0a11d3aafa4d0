import Glibc
package import Journaling

/// The data directory of a gateway whose log moves elsewhere, with another directory's files beside that log. It gets its name
/// once the log has moved; until then it is ``partialPath``.
package struct MovedBesideLog: Sendable {
    private let path: String

    /// - Parameter path: A new directory, or an empty one.
    package init(path: String) { self.path = path }

    package var partialPath: String { self.path + ".partial" }

    /// - Throws: `.invalid` if something is in the place.
    package func check() throws(JournalError) {
        guard try LogBackup.isFree(self.path) else {
            throw JournalError(
                .invalid,
                "\(self.path) exists and is not empty; set dataDirectory to a new directory: the gateway keeps files there beside the log"
            )
        }
    }

    /// Copies. It removes the files of an attempt before.
    ///
    /// - Parameters:
    ///   - source: The directory that the log moves out of.
    ///   - log: The log's id.
    ///   - place: Where it moves to, as ``DirectoryBesideLog`` says it.
    package func copy(from source: String, log: String, place: String) throws(JournalError) -> LogBackup.Summary {
        try LogBackup.removeFiles(in: self.partialPath)
        try LogBackup.makeDirectory(self.partialPath)
        let summary = try LogBackup(from: source, to: self.path).copyBesideLog(to: self.partialPath)
        try ElsewhereFile(log: log, place: place).write(in: self.partialPath)
        return summary
    }

    package func finish() throws(JournalError) {
        // An empty directory may be in the place: rename(2) replaces it.
        // Sound: both paths are only read during the call.
        guard unsafe rename(self.partialPath, self.path) == 0 else {
            throw systemFailure("cannot rename \(self.partialPath)")
        }
        try DataDirectory.sync(self.path + "/..")
    }
}
