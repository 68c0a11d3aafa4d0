package import Journaling
package import WidgetModel
import WorkerThreads

/// The embedded journal: numbered SQLite files in one directory, one writer thread, one transaction for all that waits.
///
/// Whatever waits when the writer is free, of all partitions, appends and outputs, is committed together, so that one
/// sync of the disk pays for it. WAL with `synchronous=FULL`, both read back: a commit is on the disk when it is
/// answered. Callbacks come on the writer's thread. Reads happen on the caller's thread, newest entries from memory.
///
/// A journal that is dropped without ``close()`` finishes all accepted submissions on its own.
package final class SQLiteJournal: Journal, LogHistory {
    package let format: JournalFormat
    /// The damaged end of the log that was cut off when it was opened, in words; nil if it ended well.
    package let cut: String?
    let shared: LogWriter.Shared
    let directory: DataDirectory
    let snapshotFolder: SnapshotFolder
    private let writer: WorkerThread

    /// Opens a log, or creates it.
    ///
    /// - Parameters:
    ///   - configuration: Where it is and how it is kept.
    ///   - clock: The wall clock; read on the writer's thread, once for each transaction.
    /// - Throws: `.locked` with the process that has it, `.formatMismatch`, `.corrupt` if a file is missing, damaged or
    ///   ends before its outputs do, `.readOnly`, `.full` or `.failing` if the system refuses.
    package init(configuration: Configuration, clock: @escaping @Sendable () -> Instant)
        throws(JournalError)
    {
        let directory = try DataDirectory(path: configuration.directory)
        let format = try directory.openFormat(partitions: configuration.partitions, now: clock())
        let cut = try OpenedLog.cut(in: directory)
        let log = try OpenedLog(directory: directory, format: format)
        let snapshots = try SnapshotFolder(path: directory.snapshotPath, format: format)
        let cacheBytes = configuration.cacheBytesMax / format.partitions
        let shared = LogWriter.Shared(
            queue: WorkQueue(
                partitions: format.partitions,
                limits: configuration.limits,
                appendBytesPerCommit: configuration.walBytesMax / 4
            ),
            tails: Tails(log.ends, cacheBytesMax: cacheBytes),
            reader: LogReader(files: log.files, bytesMax: configuration.readBytesMax),
            observers: AppendObservers(partitions: format.partitions),
            checkpointer: Checkpointer(),
            fileEnd: FileEnd()
        )
        try Self.checkEnds(log.ends, shared.reader)
        let checkpointing = try WorkerThread(name: "journal-copy") { shared.checkpointer.run() }
        // A crash, or a reader, kept them from being finished; they are never opened for writing again.
        for file in log.files.dropLast() where LogDirectory.size(of: file.path + "-wal") > 0 {
            shared.checkpointer.finish(path: file.path)
        }
        // The thread holds no open files but the writer's own: a file that is trimmed has to be closed.
        let writer = LogWriter(
            configuration: configuration,
            format: format,
            directory: directory,
            clock: clock,
            shared: shared,
            log: log
        )
        do throws(JournalError) {
            self.writer = try WorkerThread(name: "journal-write") {
                writer.run()
            } afterwards: {
                // The writer has let go of its file: the calls below leave nothing open behind a `close()` that waits.
                shared.checkpointer.stop()
                checkpointing.join()
                shared.reader.close()
                directory.unlock()
            }
        } catch {
            shared.checkpointer.stop()
            checkpointing.join()
            throw error
        }
        self.format = format
        self.cut = cut
        self.shared = shared
        self.directory = directory
        self.snapshotFolder = snapshots
    }

    deinit { self.shared.queue.close() }
}

// MARK: - Journal

extension SQLiteJournal {
    package var history: any LogHistory { self }

    package func head(_ partition: PartitionID) throws(JournalError) -> LogPosition { try self.firstEntry(partition) }

    package func append(
        _ submission: Submission,
        whenDurable: @escaping @Sendable (Result<AppendReceipt, JournalError>) -> Void
    ) {
        if let refusal = self.shared.queue.submit(.append(submission, whenDurable)) {
            whenDurable(.failure(refusal))
        }
    }

    /// All partitions get it in one transaction, so that it is placed as soon as it is durable.
    package func appendToAll(
        _ submission: SubmissionToAll,
        whenDurable: @escaping @Sendable (Result<Void, JournalError>) -> Void,
        whenPlaced: @escaping @Sendable (AppendReceipt) -> Void
    ) {
        let work = WorkQueue.Work.appendToAll(submission, whenDurable, whenPlaced: whenPlaced)
        if let refusal = self.shared.queue.submit(work) { whenDurable(.failure(refusal)) }
    }

    package func commitOutput(
        _ partition: PartitionID,
        expected: OutputPosition?,
        _ output: OutputRecord,
        whenDurable: @escaping @Sendable (Result<OutputPosition, JournalError>) -> Void
    ) {
        let work = WorkQueue.Work.output(partition, expected: expected, output, whenDurable)
        if let refusal = self.shared.queue.submit(work) { whenDurable(.failure(refusal)) }
    }

    package func readNewestOutput(
        _ partition: PartitionID,
        whenRead: @escaping @Sendable (Result<OutputEntry?, JournalError>) -> Void
    ) {
        whenRead(Result { () throws(JournalError) in try self.lastOutput(partition) })
    }

    package func read(
        _ partition: PartitionID,
        from position: LogPosition,
        entriesMax: Int
    ) throws(JournalError) -> [LogEntry] {
        try self.checkReadable(partition)
        let first = max(position, LogPosition.start.next)
        guard entriesMax > 0 else { return [] }
        if let cached = self.shared.tails.cached(partition, from: first, entriesMax: entriesMax) {
            return cached
        }
        return try self.shared.reader.entries(
            partition,
            from: first,
            through: self.shared.tails.tail(partition),
            entriesMax: entriesMax
        )
    }

    package func observeAppends(
        _ partition: PartitionID,
        _ body: @escaping @Sendable (LogPosition) -> Void
    ) {
        self.shared.observers.add(partition, body)
    }

    /// The newest output of a partition, or nil if there is none.
    package func lastOutput(_ partition: PartitionID) throws(JournalError) -> OutputEntry? {
        try self.checkReadable(partition)
        guard let newest = self.shared.tails.newestOutput(partition) else { return nil }
        return try self.shared.reader.outputs(partition, from: newest, through: newest, outputsMax: 1)
            .first
    }

    package func readOutputs(
        _ partition: PartitionID,
        from position: OutputPosition,
        outputsMax: Int
    ) throws(JournalError) -> [OutputEntry] {
        try self.checkReadable(partition)
        let first = max(position, .first)
        guard let newest = self.shared.tails.newestOutput(partition), first <= newest, outputsMax > 0
        else { return [] }
        return try self.shared.reader.outputs(
            partition,
            from: first,
            through: newest,
            outputsMax: outputsMax
        )
    }

    package func useLimits(_ limits: JournalLimits) { self.shared.queue.useLimits(limits) }

    package func close() {
        self.shared.queue.close()
        if !self.writer.isCurrent { self.writer.join() }
    }

    func checkReadable(_ partition: PartitionID) throws(JournalError) {
        if self.shared.queue.isClosed { throw JournalError(.closed, "the journal is closed") }
        guard Int(partition.rawValue) < self.format.partitions else {
            throw JournalError(
                .invalid,
                "read of partition \(partition) of a log with \(self.format.partitions)"
            )
        }
    }

    /// Reads every partition's newest entry and output: damage at the end is found when the log is opened, not when the
    /// owner gets there, and an output that speaks of entries the log does not have shows that some were lost.
    private static func checkEnds(_ ends: [PartitionStart], _ reader: LogReader) throws(JournalError) {
        for (index, end) in ends.enumerated() {
            let partition = PartitionID(UInt16(index))
            let tail = end.tail.position
            // A log that goes on where another one has ended has no entry yet.
            if tail > reader.files.first?.starts[index].tail.position ?? .start {
                _ = try reader.entries(partition, from: tail, through: tail, entriesMax: 1)
            }
            guard let newest = end.newestOutput else { continue }
            let output = try reader.outputs(partition, from: newest, through: newest, outputsMax: 1)
            if let through = output.first?.record.through, through > tail {
                throw JournalError(
                    .corrupt,
                    "partition \(partition) ends with entry \(tail), but its output \(newest) goes through entry "
                        + "\(through); entries were lost"
                )
            }
        }
    }
}
