package import WidgetModel

/// The durable, ordered log of a gateway: one log of entries and one log of outputs for each partition.
///
/// Entries have the accepted records; outputs have an owner's results, and the entry up to which they go. Positions of
/// a partition start at 1 and have no gaps. An entry's time is `max(previous entry's time, clock)`, stored with it.
///
/// All methods may be called from any thread, and none of them waits. Callbacks come on the journal's own threads,
/// those of a partition's appends in the order of their calls, and so those of its outputs; they must be short and must
/// not wait. An immediate refusal (a closed journal, a full queue, an impossible argument) is called back on the
/// calling thread before the call returns.
package protocol Journal: Sendable {
    /// The format that the log was created with.
    var format: JournalFormat { get }

    /// The same log for threads that may wait.
    var history: any LogHistory { get }

    /// Appends the packed records of one submission to the partition that it names: all of them or none.
    ///
    /// They are together in one entry, in their order, possibly behind those of other submissions.
    ///
    /// - Parameters:
    ///   - submission: The records, at least one; see ``JournalLimits`` for how many bytes.
    ///   - whenDurable: Called exactly once. Success means that a power cut cannot take the records away. A failure other
    ///     than `.unknownOutcome` means that nothing of the submission is or will be in the log.
    func append(
        _ submission: Submission,
        whenDurable: @escaping @Sendable (Result<AppendReceipt, JournalError>) -> Void
    )

    /// Appends records to every partition: each gets its own, exactly once, and all get such submissions in one order.
    ///
    /// Not at one instant: one partition may have them while another does not yet. There is no promise about the order
    /// among these records and those that are appended to a partition alone. Within a partition they are together in
    /// one entry, in their order.
    ///
    /// - Parameters:
    ///   - submission: The records, at least one for each partition; see ``JournalLimits`` for how many bytes.
    ///   - whenDurable: Called exactly once. Success means that a power cut cannot take the records away, and that every
    ///     partition has them or will have them. A failure other than `.unknownOutcome` means that none has or will.
    ///   - whenPlaced: Called behind success, once for each partition, when they are in its log.
    func appendToAll(
        _ submission: SubmissionToAll,
        whenDurable: @escaping @Sendable (Result<Void, JournalError>) -> Void,
        whenPlaced: @escaping @Sendable (AppendReceipt) -> Void
    )

    /// Reads durable entries in order.
    ///
    /// - Parameters:
    ///   - partition: The log's partition.
    ///   - position: The first entry wanted; ``LogPosition/start`` means the first there is.
    ///   - entriesMax: The most entries to return. Fewer may come back even if there are more; none only at the end.
    ///   - whenRead: Called exactly once: before the call returns, on the calling thread, if the journal need not wait for
    ///     the entries, else on a thread of the journal's. `.corrupt` with the position if an entry is damaged or missing:
    ///     nothing is ever skipped.
    func read(
        _ partition: PartitionID,
        from position: LogPosition,
        entriesMax: Int,
        whenRead: @escaping @Sendable (Result<[LogEntry], JournalError>) -> Void
    )

    /// Asks to be told of new entries from now on.
    ///
    /// - Parameters:
    ///   - partition: The log's partition.
    ///   - body: Called after every commit with the newest position, after the receipts of that commit. It is a hint:
    ///     several commits may be told as one.
    func observeAppends(_ partition: PartitionID, _ body: @escaping @Sendable (LogPosition) -> Void)

    /// Reads the newest output of a partition, nil if there is none.
    ///
    /// - Parameter whenRead: Called exactly once, as that of ``read(_:from:entriesMax:whenRead:)``.
    func readNewestOutput(
        _ partition: PartitionID,
        whenRead: @escaping @Sendable (Result<OutputEntry?, JournalError>) -> Void
    )

    /// Appends an output, but only behind the one that the caller knows as the newest (compare-and-append).
    ///
    /// - Parameters:
    ///   - partition: The output log's partition.
    ///   - expected: The newest output the caller knows of; nil if it knows of none.
    ///   - output: The output. Its `through` must not be beyond the newest entry (`.invalid`).
    ///   - whenDurable: Called exactly once. `.fenced` means that another owner has written: stop at once.
    ///     `.unknownOutcome` means that only ``readNewestOutput(_:whenRead:)`` can tell.
    func commitOutput(
        _ partition: PartitionID,
        expected: OutputPosition?,
        _ output: OutputRecord,
        whenDurable: @escaping @Sendable (Result<OutputPosition, JournalError>) -> Void
    )

    /// Takes more or less at once from now on; accepted submissions stay accepted.
    func useLimits(_ limits: JournalLimits)

    /// Finishes accepted work, calls it back, and lets go of the store. Later calls are refused with `.closed`; closing
    /// again does nothing.
    ///
    /// Waits for the journal's thread, except when a callback calls it.
    func close()
}

/// A journal that is its own history calls back on the calling thread: entries that are not in memory are read from the
/// disk there.
extension Journal where Self: LogHistory {
    package func read(
        _ partition: PartitionID,
        from position: LogPosition,
        entriesMax: Int,
        whenRead: @escaping @Sendable (Result<[LogEntry], JournalError>) -> Void
    ) {
        whenRead(Result { () throws(JournalError) in try self.read(partition, from: position, entriesMax: entriesMax) })
    }
}
