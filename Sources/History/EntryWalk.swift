package import Journaling
package import WidgetModel

/// The entries of a partition behind a state, in order, without a gap.
package struct EntryWalk {
    /// The entry that comes next.
    package private(set) var next: LogPosition
    private let history: any LogHistory
    private let partition: PartitionID

    /// - Parameter position: The state's: the last entry that it has seen.
    package init(_ history: any LogHistory, _ partition: PartitionID, behind position: LogPosition) {
        self.history = history
        self.partition = partition
        self.next = position.next
    }

    /// The next entries, at most so many; none at the end.
    ///
    /// - Throws: ``HistoryError/noState(partition:first:reason:)`` where the log begins behind the state;
    ///   ``JournalError`` if it cannot be read.
    package mutating func take(_ entriesMax: Int) throws -> [LogEntry] {
        let entries = try self.history.read(self.partition, from: self.next, entriesMax: entriesMax)
        guard let first = entries.first, let last = entries.last else { return [] }
        guard first.position == self.next else {
            let reason = "the state in use ends with entry \(self.next.rawValue - 1)"
            throw HistoryError.noState(partition: self.partition, first: first.position, reason: reason)
        }
        self.next = last.position.next
        return entries
    }
}
