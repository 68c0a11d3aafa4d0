package import WidgetModel

/// A log that is only read: a running gateway's, or a data directory's beside or without one.
///
/// What there is was durable when it was read. All methods wait for the store: none of them from an event loop.
package protocol LogHistory: Sendable {
    /// What the log was created with.
    var format: JournalFormat { get }

    /// The position of the first entry of a partition that is still there, or that the next one will have.
    func head(_ partition: PartitionID) throws(JournalError) -> LogPosition

    /// Reads durable entries in order.
    ///
    /// - Parameters:
    ///   - partition: Whose log.
    ///   - position: The first entry wanted; ``LogPosition/start`` means the first there is, where nothing was trimmed.
    ///   - entriesMax: The most entries to return. Fewer may come back even if there are more; none only at the end.
    /// - Throws: `.corrupt` with the position if an entry is damaged or missing: nothing is ever skipped.
    func read(_ partition: PartitionID, from position: LogPosition, entriesMax: Int) throws(JournalError) -> [LogEntry]

    /// Reads durable outputs in order.
    ///
    /// - Parameters:
    ///   - partition: Whose output log.
    ///   - position: The first output wanted.
    ///   - outputsMax: The most outputs to return. Fewer may come back even if there are more; none only at the end.
    func readOutputs(
        _ partition: PartitionID,
        from position: OutputPosition,
        outputsMax: Int
    ) throws(JournalError) -> [OutputEntry]
}
