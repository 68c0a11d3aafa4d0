package import Journaling
package import WidgetModel

extension SQLiteJournal: SnapshotStore {
    /// So many of the newest log files stay unless all that can go has to: the one that is written, and the one before,
    /// which may still be copied.
    private static let filesKept = 2

    package func snapshots(_ partition: PartitionID) throws(JournalError) -> [SnapshotID] {
        try self.checkReadable(partition)
        return try self.snapshotFolder.files.snapshots(partition)
    }

    package func read(
        _ id: SnapshotID,
        wanting isWanted: (UInt8) -> Bool,
        _ body: ([UInt8]) throws -> Void
    ) throws {
        try self.checkReadable(id.partition)
        try self.snapshotFolder.files.read(id, wanting: isWanted, body)
    }

    package func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws {
        try self.checkReadable(id.partition)
        try self.snapshotFolder.write(id, next)
    }

    package func remove(_ id: SnapshotID) throws(JournalError) {
        try self.checkReadable(id.partition)
        try self.snapshotFolder.remove(id)
    }

    package func setAside(_ id: SnapshotID) throws(JournalError) {
        try self.checkReadable(id.partition)
        try self.snapshotFolder.setAside(id)
    }

    package func firstEntry(_ partition: PartitionID) throws(JournalError) -> LogPosition {
        try self.checkReadable(partition)
        guard let first = self.shared.reader.files.first else { return LogPosition.start.next }
        return first.starts[Int(partition.rawValue)].tail.position.next
    }

    package var newestFile: Int { self.shared.reader.files.last?.number ?? 0 }

    package func endFile() { self.shared.fileEnd.ask() }

    package func removeDamaged() throws(JournalError) {
        try self.checkReadable(PartitionID(0))
        try self.snapshotFolder.removeDamaged()
    }

    package func trim(through positions: [LogPosition], loggedBefore instant: Instant) throws(JournalError) -> Int {
        try self.trim(through: positions, loggedBefore: instant, keeping: Self.filesKept)
    }

    package func trimAll(through positions: [LogPosition]) throws(JournalError) -> Int {
        try self.trim(through: positions, loggedBefore: Instant(milliseconds: .max), keeping: 1)
    }

    private func trim(
        through positions: [LogPosition],
        loggedBefore instant: Instant,
        keeping kept: Int
    ) throws(JournalError) -> Int {
        try self.checkReadable(PartitionID(0))
        guard positions.count == self.format.partitions else {
            throw JournalError(
                .invalid,
                "trim with \(positions.count) positions of \(self.format.partitions) partitions"
            )
        }
        let files = self.shared.reader.files
        // A file ends where the next one begins.
        let removable = files.indices.dropLast(kept).prefix { index in
            self.isDone(files[index + 1].starts, positions, instant)
        }
        guard let last = removable.last else { return 0 }
        try self.directory.markTrimmed(below: files[last].number + 1)
        self.shared.reader.drop(below: files[last].number + 1)
        for index in removable { try self.directory.removeLogFile(files[index].number) }
        return removable.count
    }

    /// Whether no partition needs an entry or output from before these starts.
    private func isDone(_ starts: [PartitionStart], _ positions: [LogPosition], _ instant: Instant) -> Bool {
        for (index, start) in starts.enumerated() {
            guard start.tail.position <= positions[index], start.tail.logTime < instant else { return false }
            guard let output = start.newestOutput else { continue }
            guard let newest = self.shared.tails.newestOutput(PartitionID(UInt16(index))), output < newest else {
                return false
            }
        }
        return true
    }
}
