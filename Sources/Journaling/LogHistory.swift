package import WidgetModel

/// A read-only log: a running gateway's, or that of a data directory.
///
/// Its entries were durable when they were read. All methods wait for the store: do not call them from an event loop.
package protocol LogHistory: Sendable {
    /// The format that the log was created with.
    var format: JournalFormat { get }

    /// The position of the first entry of a partition that is still there, or that the next one will have.
    func head(_ partition: PartitionID) throws(JournalError) -> LogPosition

    /// Reads durable entries in order.
    ///
    /// - Parameters:
    ///   - partition: The log's partition.
    ///   - position: The first entry wanted; ``LogPosition/start`` means the first there is, where nothing was trimmed.
    ///   - entriesMax: The most entries to return. Fewer may come back even if there are more; none only at the end.
    /// - Throws: `.corrupt` with the position if an entry is damaged or missing: nothing is ever skipped.
    func read(_ partition: PartitionID, from position: LogPosition, entriesMax: Int) throws(JournalError) -> [LogEntry]

    /// Reads durable outputs in order.
    ///
    /// - Parameters:
    ///   - partition: The output log's partition.
    ///   - position: The first output wanted.
    ///   - outputsMax: The most outputs to return. Fewer may come back even if there are more; none only at the end.
    func readOutputs(
        _ partition: PartitionID,
        from position: OutputPosition,
        outputsMax: Int
    ) throws(JournalError) -> [OutputEntry]
}
