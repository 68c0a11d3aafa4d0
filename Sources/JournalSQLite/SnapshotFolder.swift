import Glibc
import Journaling
import WidgetModel

/// The folder of snapshots beside the log files, to which they are written.
///
/// A file gets its name once it is whole and on the disk, so every file with a name was written to its end; a file that a crash
/// left behind has another name and is removed when the folder is opened.
final class SnapshotFolder: Sendable {
    /// So many bytes are on the disk before more are written: a large file must not make a commit of the log wait for all
    /// of it.
    private static let syncBytes = 4_194_304

    /// Those that are there.
    let files: SnapshotFiles
    private let path: String
    private let format: JournalFormat

    init(path: String, format: JournalFormat) throws(JournalError) {
        self.files = SnapshotFiles(path: path, format: format)
        self.path = path
        self.format = format
        // Sound: the path is only read during the call.
        if unsafe mkdir(path, 0o700) == 0 {
            try DataDirectory.sync(path + "/..")
        } else if errno != EEXIST {
            throw systemFailure("cannot create \(path)")
        }
        for name in try DataDirectory.fileNames(in: path) where name.hasSuffix(".new") { try self.unlink(name) }
    }

    func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws {
        try self.write(id) { put in while let frame = try next() { try put(frame) } }
    }

    /// Writes a snapshot whose frames are put one after the other.
    func write(_ id: SnapshotID, frames: (_ put: ([UInt8]) throws -> Void) throws -> Void) throws {
        let name = SnapshotFiles.name(of: id)
        let temporary = name + ".new"
        do {
            let file = try PosixFile(path: "\(self.path)/\(temporary)", flags: O_RDWR | O_CREAT | O_TRUNC)
            let head = SnapshotFile.Head(journalID: self.format.journalID, partitions: self.format.partitions, id: id)
            var bytes = SnapshotFile.bytes(of: head)
            var offset = 0
            var synced = 0
            var count: UInt64 = 0
            try frames { frame in
                bytes += SnapshotFile.bytes(of: frame, number: count)
                count += 1
                guard bytes.count >= 262_144 else { return }
                try file.write(bytes, at: offset)
                offset += bytes.count
                bytes.removeAll(keepingCapacity: true)
                if offset - synced >= Self.syncBytes {
                    try file.sync()
                    synced = offset
                }
            }
            bytes += SnapshotFile.end(frames: count)
            try file.write(bytes, at: offset)
            try file.sync()
            try self.rename(temporary, name)
        } catch {
            // The unfinished file has no snapshot's name, and is removed when the folder is opened at the latest.
            try? self.unlink(temporary)
            throw error
        }
    }

    func remove(_ id: SnapshotID) throws(JournalError) {
        try self.unlink(SnapshotFiles.name(of: id))
        try DataDirectory.sync(self.path)
    }

    func setAside(_ id: SnapshotID) throws(JournalError) {
        let name = SnapshotFiles.name(of: id)
        try self.rename(name, name + ".damaged")
    }

    /// Removes the snapshots that were set aside.
    func removeDamaged() throws(JournalError) {
        for name in try DataDirectory.fileNames(in: self.path) where name.hasSuffix(".damaged") {
            try self.unlink(name)
        }
        try DataDirectory.sync(self.path)
    }

    private func rename(_ old: String, _ new: String) throws(JournalError) {
        // Sound: both paths are only read during the call.
        guard unsafe Glibc.rename("\(self.path)/\(old)", "\(self.path)/\(new)") == 0 else {
            throw systemFailure("cannot rename \(self.path)/\(old)")
        }
        try DataDirectory.sync(self.path)
    }

    private func unlink(_ name: String) throws(JournalError) {
        // Sound: the path is only read during the call.
        guard unsafe Glibc.unlink("\(self.path)/\(name)") == 0 || errno == ENOENT else {
            throw systemFailure("cannot remove \(self.path)/\(name)")
        }
    }
}
