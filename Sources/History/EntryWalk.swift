package import Journaling
package import WidgetModel

/// The entries of a partition behind a state, in order, without a gap.
package struct EntryWalk {
    private static let entriesPerRead = 256

    private let history: any LogHistory
    private let partition: PartitionID
    /// The newest entry that was read, or the state's.
    private var last: LogPosition
    /// Entries that were read, and come next.
    private var entries: ArraySlice<LogEntry> = []

    /// - Parameter position: The state's: the last entry that it has seen.
    package init(_ history: any LogHistory, _ partition: PartitionID, behind position: LogPosition) {
        self.history = history
        self.partition = partition
        self.last = position
    }

    /// The next entry; nil at the end.
    ///
    /// - Throws: ``HistoryError/noState(partition:first:reason:)`` where the log begins behind the state;
    ///   ``JournalError`` if it cannot be read.
    package mutating func next() throws -> LogEntry? {
        if let entry = self.entries.popFirst() { return entry }
        let entries = try self.history.read(self.partition, from: self.last.next, entriesMax: Self.entriesPerRead)
        guard let first = entries.first, let last = entries.last else { return nil }
        guard first.position == self.last.next else {
            let reason = "the state in use ends with entry \(self.last)"
            throw HistoryError.noState(partition: self.partition, first: first.position, reason: reason)
        }
        self.last = last.position
        self.entries = entries.dropFirst()
        return first
    }
}
