package import WidgetModel

/// The durable, ordered log of a gateway: one log of entries and one log of outputs for each partition.
///
/// Entries say what was accepted; outputs say what an owner made of them and up to which entry. Positions of a
/// partition start at 1 and have no gaps. An entry's time is `max(previous entry's time, clock)`, stored with it.
///
/// All methods may be called from any thread. Callbacks come on the journal's own thread, one after the other, of
/// appends in the order of their calls, and of a partition's outputs in the order of theirs, so they must be short and must not wait. One exception: what is refused at once (a
/// closed journal, a full queue, an impossible argument) is called back on the calling thread before the call returns.
package protocol Journal: Sendable {
    /// What the log was created with.
    var format: JournalFormat { get }

    /// Appends the packed records of one submission to every partition it names, in one transaction.
    ///
    /// Everything that waits is committed together. A submission's records for a partition are always together in one
    /// entry, possibly behind those of other submissions.
    ///
    /// - Parameters:
    ///   - submission: The records, at least one; see ``JournalLimits`` for how many bytes.
    ///   - whenDurable: Called exactly once. Success means that a power cut cannot take the records away; there is one
    ///     receipt for each partition, in the submission's order. A failure other than `.unknownOutcome` means that
    ///     nothing of the submission is or will be in the log.
    func append(
        _ submission: Submission,
        whenDurable: @escaping @Sendable (Result<[AppendReceipt], JournalError>) -> Void
    )

    /// Reads durable entries in order.
    ///
    /// - Parameters:
    ///   - partition: Whose log.
    ///   - position: The first entry wanted; ``LogPosition/start`` means the first there is.
    ///   - entriesMax: The most entries to return. Fewer may come back even if there are more; none only at the end.
    /// - Throws: `.corrupt` with file and position if an entry is damaged or missing: nothing is ever skipped.
    func read(_ partition: PartitionID, from position: LogPosition, entriesMax: Int) throws(JournalError) -> [LogEntry]

    /// Asks to be told of new entries from now on.
    ///
    /// - Parameters:
    ///   - partition: Whose log.
    ///   - body: Called after every commit with the newest position, after the receipts of that commit. It is a hint:
    ///     several commits may be told as one.
    func observeAppends(_ partition: PartitionID, _ body: @escaping @Sendable (LogPosition) -> Void)

    /// The newest output of a partition, or nil if there is none.
    func lastOutput(_ partition: PartitionID) throws(JournalError) -> OutputEntry?

    /// Appends an output, but only behind the one that the caller knows as the newest (compare-and-append).
    ///
    /// - Parameters:
    ///   - partition: Whose output log.
    ///   - expected: The newest output the caller knows of; nil if it knows of none.
    ///   - output: The output. Its `through` must not be beyond the newest entry (`.invalid`).
    ///   - whenDurable: Called exactly once. `.fenced` means that another owner has written: stop at once.
    ///     `.unknownOutcome` means that only ``lastOutput(_:)`` can tell.
    func commitOutput(
        _ partition: PartitionID,
        expected: OutputPosition?,
        _ output: OutputRecord,
        whenDurable: @escaping @Sendable (Result<OutputPosition, JournalError>) -> Void
    )

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

    /// Takes more or less at once from now on; what was accepted stays accepted. See ``JournalLimits``.
    func use(appendBytesInFlightMax: Int, outputBytesPerCommit: Int)

    /// Finishes what was accepted, calls it back, and lets go of the store. Later calls are refused with `.closed`;
    /// closing again does nothing.
    ///
    /// Waits for the journal's thread, except when a callback calls it.
    func close()
}
