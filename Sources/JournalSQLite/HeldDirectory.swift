import Glibc
package import Journaling

/// Keeps gateways from a data directory, and changes nothing of its log, for as long as it lives.
package final class HeldDirectory: Sendable {
    private let itself: PosixFile

    /// - Throws: `.locked` if a gateway has it.
    package init(path: String) throws(JournalError) {
        self.itself = try PosixFile(path: path, flags: O_RDONLY | O_DIRECTORY)
        guard try self.itself.tryLock() else { throw DataDirectory.isLocked(path) }
        // A process that wants it meanwhile learns the holder's id. A directory that cannot be written to needs no such
        // word.
        try? PosixFile(path: path + "/lock", flags: O_RDWR).replaceContent(Array("\(getpid())\n".utf8))
    }
}
