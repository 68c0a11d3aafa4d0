package import Journaling
package import WidgetModel

extension LogDirectory: SnapshotHistory {
    private var snapshotFiles: SnapshotFiles {
        SnapshotFiles(path: DataDirectory.snapshotPath(in: self.path), format: self.format)
    }

    /// A partition's snapshots, the newest first; of those that came since the log was opened none.
    package func snapshots(_ partition: PartitionID) throws(JournalError) -> [SnapshotID] {
        let tail = try self.tail(partition)
        guard Self.isDirectory(self.snapshotFiles.path) else { return [] }
        return try self.snapshotFiles.snapshots(partition).filter { $0.position <= tail }
    }

    package func read(
        _ id: SnapshotID,
        wanting isWanted: (UInt8) -> Bool,
        _ body: ([UInt8]) throws -> Void
    ) throws {
        try self.snapshotFiles.read(id, wanting: isWanted, body)
    }
}
