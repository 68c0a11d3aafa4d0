import Engine
package import Journaling
package import Logging
package import Metrics
import Synchronization
package import WidgetModel

/// A journal that tells readiness, and the log once, when it stops taking entries and when it takes them again. It counts what
/// it takes for ``StorageWatch``.
///
/// A full, read-only or failing disk is found out here, by the writes themselves. Once it is known to fail it is tried now
/// and then whether it still does (``probe()``), so that a gateway without senders becomes ready again, too.
package final class WatchedJournal: Journal {
    private let journal: any Journal
    private let readiness: Readiness
    private let logger: Logger
    /// Takes how long each submission took.
    private let commit: Timer?
    private let storage: StorageWatch?
    private let isFailing = Mutex(false)

    package init(
        _ journal: any Journal,
        readiness: Readiness,
        logger: Logger,
        commit: Timer? = nil,
        storage: StorageWatch? = nil
    ) {
        self.commit = commit
        self.storage = storage
        self.journal = journal
        self.readiness = readiness
        self.logger = logger
    }

    package var format: JournalFormat { self.journal.format }
    package var history: any LogHistory { self.journal.history }

    package func append(
        _ submission: Submission,
        whenDurable: @escaping @Sendable (Result<AppendReceipt, JournalError>) -> Void
    ) {
        let begunAt = ContinuousClock.now
        let bytes = submission.byteCount
        self.storage?.begin(bytes: bytes)
        self.journal.append(submission) { result in
            self.storage?.end(bytes: bytes, isWritten: result.isSuccess)
            self.commit?.record(duration: begunAt.duration(to: .now))
            self.note(result)
            whenDurable(result)
        }
    }

    package func appendToAll(
        _ submission: SubmissionToAll,
        whenDurable: @escaping @Sendable (Result<Void, JournalError>) -> Void,
        whenPlaced: @escaping @Sendable (AppendReceipt) -> Void
    ) {
        let begunAt = ContinuousClock.now
        let bytes = submission.byteCount(among: self.format.partitions)
        self.storage?.begin(bytes: bytes)
        let told: @Sendable (Result<Void, JournalError>) -> Void = { result in
            self.storage?.end(bytes: bytes, isWritten: result.isSuccess)
            self.commit?.record(duration: begunAt.duration(to: .now))
            self.note(result)
            whenDurable(result)
        }
        self.journal.appendToAll(submission, whenDurable: told, whenPlaced: whenPlaced)
    }

    package func commitOutput(
        _ partition: PartitionID,
        expected: OutputPosition?,
        _ output: OutputRecord,
        whenDurable: @escaping @Sendable (Result<OutputPosition, JournalError>) -> Void
    ) {
        let bytes = output.effects.count
        self.storage?.begin(bytes: bytes)
        self.journal.commitOutput(partition, expected: expected, output) { result in
            self.storage?.end(bytes: bytes, isWritten: result.isSuccess)
            self.note(result)
            whenDurable(result)
        }
    }

    package func read(
        _ partition: PartitionID,
        from position: LogPosition,
        entriesMax: Int,
        whenRead: @escaping @Sendable (Result<[LogEntry], JournalError>) -> Void
    ) {
        self.journal.read(partition, from: position, entriesMax: entriesMax, whenRead: whenRead)
    }

    package func observeAppends(_ partition: PartitionID, _ body: @escaping @Sendable (LogPosition) -> Void) {
        self.journal.observeAppends(partition, body)
    }

    package func readNewestOutput(
        _ partition: PartitionID,
        whenRead: @escaping @Sendable (Result<OutputEntry?, JournalError>) -> Void
    ) {
        self.journal.readNewestOutput(partition, whenRead: whenRead)
    }

    package func use(appendBytesInFlightMax: Int, outputBytesPerCommit: Int) {
        self.journal.use(appendBytesInFlightMax: appendBytesInFlightMax, outputBytesPerCommit: outputBytesPerCommit)
    }

    package func close() { self.journal.close() }

    /// Writes a tick, which decides nothing, if the last write failed.
    package func probe() {
        guard self.isFailing.withLock({ $0 }) else { return }
        var records = PackedRecords()
        records.append(Record.tick.bytes)
        self.append(Submission(partition: PartitionID(0), records: records)) { _ in }
    }

    private func note<Success>(_ result: Result<Success, JournalError>) {
        switch result {
        case .success: self.note(failure: nil)
        case .failure(let error):
            switch error.code {
            case .full, .readOnly, .failing, .unknownOutcome, .corrupt: self.note(failure: error)
            // A full queue is the load's doing, a refusal the caller's; the disk has nothing to do with them.
            case .unavailable, .fenced, .closed, .formatMismatch, .locked, .invalid: break
            }
        }
    }

    private func note(failure: JournalError?) {
        let hasChanged = self.isFailing.withLock { isFailing in
            defer { isFailing = failure != nil }
            return isFailing != (failure != nil)
        }
        guard hasChanged else { return }
        self.readiness.set(.journal, met: failure == nil)
        if let failure {
            self.logger.error("the log cannot be written; pushes are answered 503: \(failure)")
        } else {
            self.logger.notice("the log can be written again")
        }
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}
