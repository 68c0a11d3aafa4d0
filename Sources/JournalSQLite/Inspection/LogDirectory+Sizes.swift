import Glibc
package import Journaling
package import WidgetModel

extension LogDirectory {
    /// The process that has a data directory or had it last; nil if none is known.
    package static func lastOwner(of path: String) -> Int? { DataDirectory.lastOwner(of: path) }

    /// The sizes of a data directory and its file system, file by file: O(files), a few dozen system calls.
    ///
    /// - Throws: A system's error if the directory cannot be read.
    package static func sizes(of path: String) throws(JournalError) -> StorageSizes {
        var sizes = StorageSizes()
        for name in try DataDirectory.fileNames(in: path) {
            let file = "\(path)/\(name)"
            // A file that goes meanwhile has no size.
            guard !Self.isDirectory(file) else { continue }
            let bytes = Self.size(of: file)
            if name.hasPrefix(LogFileName.prefix) {
                if name.hasSuffix(".sqlite") { sizes.log += bytes } else { sizes.writeAheadLog += bytes }
            } else if (Self.archives + Self.caches).contains(where: { name.hasPrefix($0) }) {
                sizes.archives += bytes
            } else {
                sizes.other += bytes
            }
        }
        let snapshots = DataDirectory.snapshotPath(in: path)
        if Self.isDirectory(snapshots) {
            for name in try DataDirectory.fileNames(in: snapshots) where name != "." && name != ".." {
                let bytes = Self.size(of: "\(snapshots)/\(name)")
                sizes.snapshots += bytes
                sizes.largestSnapshot = max(sizes.largestSnapshot, bytes)
            }
        }
        sizes.lastBackup = Self.lastBackup(of: path)
        var system = statvfs()
        // Sound: the path is only read during the call, and the status is a local.
        guard unsafe statvfs(path, &system) == 0 else { throw systemFailure("cannot read the file system of \(path)") }
        sizes.fileSystem = Self.bytes(UInt64(system.f_blocks), UInt64(system.f_frsize))
        sizes.free = Self.bytes(UInt64(system.f_bavail), UInt64(system.f_frsize))
        return sizes
    }

    /// The file whose time is that of the last copy.
    static let lastBackup = "last-backup"

    /// When the log of a data directory was last copied; nil if that is not known.
    package static func lastBackup(of path: String) -> Instant? {
        var status = stat()
        // Sound: the path is only read during the call, and the status is a local.
        guard unsafe stat("\(path)/\(Self.lastBackup)", &status) == 0 else { return nil }
        return Instant(seconds: Int64(status.st_mtim.tv_sec))
    }

    private static func bytes(_ blocks: UInt64, _ blockBytes: UInt64) -> Int {
        let (bytes, overflow) = blocks.multipliedReportingOverflow(by: blockBytes)
        return overflow ? .max : Int(clamping: bytes)
    }
}
