import Glibc
package import Journaling

/// Keeps gateways from a data directory, and changes nothing of its log, for as long as it lives.
package final class HeldDirectory: Sendable {
    private let itself: PosixFile

    /// - Throws: `.locked` if a gateway has it.
    package init(path: String) throws(JournalError) {
        self.itself = try PosixFile(path: path, flags: O_RDONLY | O_DIRECTORY)
        guard try self.itself.tryLock() else { throw DataDirectory.isLocked(path) }
        // Who wants it meanwhile is told who has it. One that cannot be written to needs no such word.
        try? PosixFile(path: path + "/lock", flags: O_RDWR).replaceContent(Array("\(getpid())\n".utf8))
    }
}
