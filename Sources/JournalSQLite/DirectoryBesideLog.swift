import Glibc
package import Journaling

/// A data directory whose log is elsewhere: it has the files that are kept beside the log, and a file that names the
/// log.
///
/// It is locked until this goes away, as one with a log is.
package final class DirectoryBesideLog: Sendable {
    private let directory: DataDirectory

    /// Makes the directory if needed, and locks it.
    ///
    /// - Parameters:
    ///   - path: The data directory.
    ///   - log: The log's id.
    ///   - place: Where the log is, as "NATS JetStream, cluster scores".
    /// - Throws: `.locked` if another process has the directory, `.formatMismatch` if it holds a log, or belongs to another one.
    package init(path: String, log: String, place: String) throws(JournalError) {
        self.directory = try DataDirectory(path: path)
        if let found = try ElsewhereFile.read(in: path) {
            guard found.log != log else { return }
            throw JournalError(
                .formatMismatch,
                "\(path) belongs to log \(found.log) (\(found.place)), and this is log \(log); give another data "
                    + "directory"
            )
        }
        let names = try DataDirectory.fileNames(in: path)
        try EarlierBuild.refuse(path, with: names)
        guard !names.contains(FormatFile.name) else {
            throw JournalError(
                .formatMismatch,
                "\(path) has a log of its own, and this one is on \(place); give another data directory"
            )
        }
        try ElsewhereFile(log: log, place: place).write(in: path)
    }
}

/// The file of a data directory that says where the log is, if it is not there.
struct ElsewhereFile {
    static let name = "journal.elsewhere"
    private static let bytesMax = 4096

    let log: String
    let place: String

    /// Nil if there is none.
    static func read(in path: String) throws(JournalError) -> ElsewhereFile? {
        guard try DataDirectory.fileNames(in: path).contains(Self.name) else { return nil }
        let file = "\(path)/\(Self.name)"
        let bytes = try PosixFile(path: file, flags: O_RDONLY).readAll(bytesMax: Self.bytesMax)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.count == 2 else { throw JournalError(.corrupt, "\(file) is damaged; give another data directory") }
        return ElsewhereFile(log: String(lines[0]), place: String(lines[1]))
    }

    func write(in path: String) throws(JournalError) {
        let file = "\(path)/\(Self.name)"
        try PosixFile(path: file + ".new", flags: O_RDWR | O_CREAT).replaceContent(
            Array("\(self.log)\n\(self.place)\n".utf8)
        )
        // Sound: both paths are only read during the call.
        guard unsafe rename(file + ".new", file) == 0 else { throw systemFailure("cannot create \(file)") }
        try DataDirectory.sync(path)
    }

    /// Refuses a directory whose log is elsewhere.
    static func refuse(_ path: String) throws(JournalError) {
        guard let found = try Self.read(in: path) else { return }
        throw JournalError(
            .formatMismatch,
            "\(path) has no log: the log is on \(found.place); ask its gateway instead (--server); freshet backup, log export and log outputs read it with --config"
        )
    }
}
