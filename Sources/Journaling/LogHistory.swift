package import WidgetModel

/// A log that is only read: a running gateway's, or a data directory's beside or without one.
///
/// What there is was durable when it was read.
package protocol LogHistory: Sendable {
    /// What the log was created with.
    var format: JournalFormat { get }

    /// The position of the first entry of a partition that is still there, or that the next one will have.
    func head(_ partition: PartitionID) throws(JournalError) -> LogPosition

    /// Reads entries in order, as ``Journal/read(_:from:entriesMax:)`` does.
    func read(_ partition: PartitionID, from position: LogPosition, entriesMax: Int) throws(JournalError) -> [LogEntry]

    /// Reads outputs in order, as ``Journal/readOutputs(_:from:outputsMax:)`` does.
    func readOutputs(
        _ partition: PartitionID,
        from position: OutputPosition,
        outputsMax: Int
    ) throws(JournalError) -> [OutputEntry]
}

/// The history of a journal that is open for writing as well.
package struct JournalHistory: LogHistory {
    private let journal: any Journal

    package init(_ journal: any Journal) {
        self.journal = journal
    }

    package var format: JournalFormat { self.journal.format }

    package func head(_ partition: PartitionID) throws(JournalError) -> LogPosition {
        try self.journal.read(partition, from: .start, entriesMax: 1).first?.position ?? LogPosition.start.next
    }

    package func read(
        _ partition: PartitionID,
        from position: LogPosition,
        entriesMax: Int
    ) throws(JournalError) -> [LogEntry] {
        try self.journal.read(partition, from: position, entriesMax: entriesMax)
    }

    package func readOutputs(
        _ partition: PartitionID,
        from position: OutputPosition,
        outputsMax: Int
    ) throws(JournalError) -> [OutputEntry] {
        try self.journal.readOutputs(partition, from: position, outputsMax: outputsMax)
    }
}
