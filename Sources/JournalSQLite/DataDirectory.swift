import Glibc
import Journaling
import WidgetModel

/// The directory of one log: `lock`, `journal.format`, `begun`, and the numbered files `journal-000001.sqlite`, ...
///
/// The holder of a value owns the directory: the value holds the lock until ``unlock()``, or until it goes away.
///
/// The lock is on the directory itself, which cannot be removed while it has files, and which is the same by every
/// name. The file `lock` names the process that has it.
final class DataDirectory: Sendable {
    let path: String
    private let itself: PosixFile

    /// Makes the directory if needed, and locks it.
    init(path: String) throws(JournalError) {
        // Sound: both paths are only read during the calls.
        if unsafe mkdir(path, 0o700) == 0 {
            try Self.sync(path + "/..")
        } else if errno != EEXIST {
            throw systemFailure("cannot create the data directory \(path)")
        }
        let itself = try PosixFile(path: path, flags: O_RDONLY | O_DIRECTORY)
        guard try itself.tryLock() else { throw Self.isLocked(path) }
        let lock = try PosixFile(path: path + "/lock", flags: O_RDWR | O_CREAT)
        try lock.replaceContent(Array("\(getpid())\n".utf8))
        self.path = path
        self.itself = itself
    }

    /// Lets another process have the directory.
    func unlock() { self.itself.unlock() }

    static func isLocked(_ path: String) -> JournalError {
        let process = self.lastOwner(of: path).map { "\($0)" } ?? "(unknown)"
        return JournalError(.locked, "data directory \(path) is in use by process \(process)")
    }

    /// The process that has a directory or had it last; nil if the file that names it was removed.
    static func lastOwner(of path: String) -> Int? {
        let bytes = try? PosixFile(path: path + "/lock", flags: O_RDONLY).readAll(bytesMax: 32)
        return Int(String(decoding: bytes ?? [], as: UTF8.self).prefix { $0.isNumber })
    }

    /// The format of the log; writes it first if the directory is new.
    ///
    /// - Parameters:
    ///   - partitions: How many partitions a new log gets, and an existing one must have.
    ///   - now: When a new log is created.
    func openFormat(partitions: Int, now: Instant) throws(JournalError) -> JournalFormat {
        let names = try self.fileNames()
        try EarlierBuild.refuse(self.path, with: names)
        if let found = try ElsewhereFile.read(in: self.path) {
            throw JournalError(
                .formatMismatch,
                "\(self.path) belongs to a log on \(found.place); give another data directory, or configure that log"
            )
        }
        let path = "\(self.path)/\(FormatFile.name)"
        if names.contains(FormatFile.name) {
            let bytes = try PosixFile(path: path, flags: O_RDONLY).readAll()
            let format = try FormatFile.format(from: bytes, path: path)
            guard format.formatVersion == JournalFormat.currentVersion else {
                throw JournalError(
                    .formatMismatch,
                    "\(path) has format version \(format.formatVersion), this program has "
                        + "\(JournalFormat.currentVersion)"
                )
            }
            guard format.partitions == partitions else {
                throw JournalError(
                    .formatMismatch,
                    "\(path) has \(format.partitions) partitions, the configuration \(partitions); the number is fixed "
                        + "when a log is created"
                )
            }
            return format
        }
        guard try self.logFileNumbers().isEmpty else {
            throw JournalError(.corrupt, "\(path) is missing, but there are log files beside it")
        }
        let format = JournalFormat(
            journalID: PushID(version4: .random(in: 0 ... .max), .random(in: 0 ... .max)).description,
            partitions: partitions,
            createdAt: now
        )
        let new = path + ".new"
        try PosixFile(path: new, flags: O_RDWR | O_CREAT).replaceContent(FormatFile.bytes(of: format))
        // Sound: both paths are only read during the call.
        guard unsafe rename(new, path) == 0 else { throw systemFailure("cannot create \(path)") }
        try self.sync()
        return format
    }

    /// The numbers of the log files, ascending.
    func logFileNumbers() throws(JournalError) -> [Int] {
        try self.fileNames().compactMap { LogFileName.number(of: $0) }.sorted()
    }

    func logFilePath(_ number: Int) -> String { "\(self.path)/\(LogFileName.name(of: number))" }

    /// Makes an empty log file with the right mode; SQLite gives its other files the mode of this one.
    func createLogFile(_ number: Int) throws(JournalError) {
        _ = try PosixFile(path: self.logFilePath(number), flags: O_RDWR | O_CREAT | O_EXCL)
        try self.sync()
    }

    /// Where snapshots are.
    var snapshotPath: String { Self.snapshotPath(in: self.path) }

    /// Where snapshots are in a data directory.
    static func snapshotPath(in path: String) -> String { path + "/snapshots" }

    /// The first log file that may still be needed: all before it have been, or are to be, removed. 1 at first.
    func firstKept() throws(JournalError) -> Int { max(1, try self.readNumber("trimmed") ?? 1) }

    /// Notes durably that log files below a number are not needed; to be called before the first of them is removed, so
    /// that one that is missing for another reason is found out.
    func markTrimmed(below number: Int) throws(JournalError) {
        guard try self.firstKept() < number else { return }
        try self.write(note: "trimmed", number)
    }

    /// The newest log file that is known to have been begun here, 0 if there was none: all up to it must be there.
    ///
    /// It may be behind by a crash, never ahead.
    func newestBegun() throws(JournalError) -> Int {
        try self.readNumber("begun") ?? 0
    }

    /// The number in a file that holds nothing else, nil if there is no such file.
    private func readNumber(_ name: String) throws(JournalError) -> Int? {
        guard try self.fileNames().contains(name) else { return nil }
        let path = "\(self.path)/\(name)"
        let bytes = try PosixFile(path: path, flags: O_RDONLY).readAll(bytesMax: 32)
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.hasSuffix("\n"), let number = Int(text.dropLast()), LogFileName.numbers.contains(number) else {
            throw JournalError(.corrupt, "\(path) is damaged; restore the directory from a backup")
        }
        return number
    }

    private func write(note name: String, _ number: Int) throws(JournalError) {
        let path = "\(self.path)/\(name)"
        let bytes = Array("\(number)\n".utf8)
        do throws(JournalError) {
            try PosixFile(path: path + ".new", flags: O_RDWR | O_CREAT).replaceContent(bytes)
            // Sound: both paths are only read during the call.
            guard unsafe rename(path + ".new", path) == 0 else { throw systemFailure("cannot create \(path)") }
            try self.sync()
        } catch {
            // A full disk has no room for a second file, and it is this note that makes room. Numbers only grow, so that the
            // few bytes of the first, which are one sector, can be written over.
            guard let before = try self.readNumber(name), before < number else { throw error }
            let file = try PosixFile(path: path, flags: O_RDWR)
            try file.write(bytes, at: 0)
            try file.sync()
        }
    }

    /// Makes the notes that are written when the disk may be full, so that they are there to be written over.
    func prepareNotes() throws(JournalError) {
        if try self.readNumber("trimmed") == nil { try self.write(note: "trimmed", 1) }
    }

    /// Notes durably that a log file is there; to be called before anything in it is acknowledged.
    func markBegun(_ number: Int) throws(JournalError) {
        guard try self.newestBegun() < number else { return }
        try self.write(note: "begun", number)
    }

    /// Removes a log file that was begun but never held anything, and the files that SQLite put beside it.
    func removeLogFile(_ number: Int) throws(JournalError) {
        for suffix in ["-wal", "-shm", ""] {
            // Sound: the path is only read during the call.
            guard unsafe unlink(self.logFilePath(number) + suffix) == 0 || errno == ENOENT else {
                throw systemFailure("cannot remove \(self.logFilePath(number))\(suffix)")
            }
        }
        try self.sync()
    }

    /// Makes created, renamed and removed names of the directory durable.
    private func sync() throws(JournalError) { try Self.sync(self.path) }

    static func sync(_ path: String) throws(JournalError) {
        try PosixFile(path: path, flags: O_RDONLY | O_DIRECTORY).sync()
    }

    private func fileNames() throws(JournalError) -> [String] { try Self.fileNames(in: self.path) }

    /// The names in a folder, in no order.
    static func fileNames(in path: String) throws(JournalError) -> [String] {
        // Sound: the stream is used by this call only and closed at its end; each name is copied before the next read.
        guard let stream = unsafe opendir(path) else {
            throw systemFailure("cannot list \(path)")
        }
        defer { _ = unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            names.append(name)
        }
        return names
    }
}

/// The names of log files: `journal-` and six digits or more, so that they sort as they follow each other.
enum LogFileName {
    static let prefix = "journal-"
    /// More files than any log has; the number behind each of them is in the range of Int, too.
    static let numbers = 1...1_000_000_000_000

    static func name(of number: Int) -> String {
        let digits = String(number)
        return Self.prefix + String(repeating: "0", count: max(0, 6 - digits.count)) + digits + ".sqlite"
    }

    static func number(of name: String) -> Int? {
        guard name.hasPrefix(Self.prefix), name.hasSuffix(".sqlite") else { return nil }
        guard let number = Int(name.dropFirst(Self.prefix.count).dropLast(7)), Self.numbers.contains(number) else {
            return nil
        }
        return Self.name(of: number) == name ? number : nil
    }
}
