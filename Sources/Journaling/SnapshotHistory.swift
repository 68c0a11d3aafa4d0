package import WidgetModel

/// Read-only snapshots: a running gateway's, or those of a data directory.
///
/// Their writer may remove the older ones at any time.
package protocol SnapshotHistory: Sendable {
    /// A partition's snapshots, the newest first.
    func snapshots(_ partition: PartitionID) throws(JournalError) -> [SnapshotID]

    /// Reads the frames of a snapshot whose first byte is wanted, in their order. The others are stepped over, and
    /// their faults may go unnoticed: for one of several threads that read a snapshot's parts.
    ///
    /// - Parameters:
    ///   - id: Which.
    ///   - body: Takes the next frame; an error that it throws ends the reading.
    /// - Throws: `.corrupt` if the file is damaged or not whole; frames before the damage were given to `body`.
    func read(_ id: SnapshotID, wanting isWanted: (UInt8) -> Bool, _ body: ([UInt8]) throws -> Void) throws
}

extension SnapshotHistory {
    /// Reads a snapshot from its first frame to its last.
    package func read(_ id: SnapshotID, _ body: ([UInt8]) throws -> Void) throws {
        try self.read(id, wanting: { _ in true }, body)
    }
}
