package import WidgetModel

/// Where a partition of a log has ended, so that another log can go on from there.
package struct PartitionEnd: Hashable, Sendable {
    package let partition: PartitionID
    /// The state that holds everything up to the end; nil if nothing was ever appended.
    package let snapshot: SnapshotID?
    /// The newest outputs in their order, the newest of all last; none if there never was one.
    package let outputs: [OutputEntry]

    package init(partition: PartitionID, snapshot: SnapshotID?, outputs: [OutputEntry]) {
        self.partition = partition
        self.snapshot = snapshot
        self.outputs = outputs
    }
}

/// A log that another one is made of.
package protocol SourceLog: LogHistory, SnapshotHistory {
    /// The outputs of a partition that are there; nil for none.
    func outputRange(_ partition: PartitionID) throws(JournalError) -> ClosedRange<OutputPosition>?
}

extension SourceLog {
    /// The newest outputs of a partition in their order: as many as there are, and at most so many.
    package func newestOutputs(_ partition: PartitionID, max count: Int) throws(JournalError) -> [OutputEntry] {
        guard let range = try self.outputRange(partition) else { return [] }
        var next = max(range.lowerBound, range.upperBound.before(by: UInt64(count)).next)
        var outputs: [OutputEntry] = []
        while next <= range.upperBound {
            let more = try self.readOutputs(partition, from: next, outputsMax: count - outputs.count)
            guard let last = more.last else { break }
            outputs += more
            next = last.position.next
        }
        return outputs
    }
}

/// A new log that is made to go on where another one has ended: with its id, and behind its positions.
///
/// Nothing opens it before ``finish()``. If an attempt did not come to that, the next one removes its remains. All methods wait for the
/// store.
package protocol LogSuccessor: AnyObject {
    /// - Throws: `.formatMismatch` or `.invalid` with what to do if it cannot be made, since something is in its place.
    func check(_ format: JournalFormat) throws(JournalError)

    /// Makes it, with the outputs of the other one's ends.
    ///
    /// - Parameters:
    ///   - format: The other one's.
    ///   - ends: Of every partition, in their order.
    func begin(_ format: JournalFormat, behind ends: [PartitionEnd]) throws(JournalError)

    /// Writes the state that a partition has ended with, as ``SnapshotStore/write(_:_:)`` does.
    func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws

    /// From here on it is a log as any other.
    func finish() throws(JournalError)
}
