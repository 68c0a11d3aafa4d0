package import WidgetModel

/// Snapshots that are only read: a running gateway's, or those of a data directory beside or without one.
///
/// Whoever writes them may remove the older ones at any time.
package protocol SnapshotHistory: Sendable {
    /// A partition's snapshots, the newest first.
    func snapshots(_ partition: PartitionID) throws(JournalError) -> [SnapshotID]

    /// Reads a snapshot from its first frame to its last.
    ///
    /// - Parameters:
    ///   - id: Which.
    ///   - body: Takes the next frame; what it throws ends the reading.
    /// - Throws: `.corrupt` if the file is damaged or not whole; frames before the damage were given to `body`.
    func read(_ id: SnapshotID, _ body: ([UInt8]) throws -> Void) throws

    /// Reads the frames of a snapshot whose first byte is wanted, in their order. The others are stepped over, and what is
    /// wrong in them may go unnoticed: for one of several who read a snapshot's parts.
    func read(_ id: SnapshotID, wanting isWanted: (UInt8) -> Bool, _ body: ([UInt8]) throws -> Void) throws
}

extension SnapshotHistory {
    package func read(
        _ id: SnapshotID,
        wanting isWanted: (UInt8) -> Bool,
        _ body: ([UInt8]) throws -> Void
    ) throws {
        try self.read(id) { frame in if frame.first.map(isWanted) ?? false { try body(frame) } }
    }
}
