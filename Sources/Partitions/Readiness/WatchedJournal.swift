package import Journaling
package import Logging
package import Metrics
import Ownership
import Synchronization
package import WidgetModel

/// A journal that tells readiness, and the log once, when it stops taking entries and when it takes them again. It counts what
/// it takes for ``StorageWatch``.
///
/// A full, read-only or failing disk is found out here, by the writes themselves. Once it is known to fail it is tried now
/// and then whether it still does (``probe()``), so that a gateway without senders becomes ready again, too. On brokers each partition
/// is stored by itself, and fails by itself.
package final class WatchedJournal: Journal {
    /// A part of the log that can fail by itself.
    private enum Part: Hashable {
        case partition(PartitionID)
        /// Records for all partitions; the whole log where all of it is in one place.
        case all
    }

    private struct State {
        var failing: Set<Part> = []
        /// Those of them that are tried at the moment: brokers may take long to answer.
        var probed: Set<Part> = []
    }

    private let journal: any Journal
    private let readiness: Readiness
    private let logger: Logger
    /// Takes how long each submission took.
    private let commit: Timer?
    private let storage: StorageWatch?
    /// Whether partitions are stored apart from each other.
    private let isApart: Bool
    private let state = Mutex(State())

    package init(
        _ journal: any Journal,
        readiness: Readiness,
        logger: Logger,
        commit: Timer? = nil,
        storage: StorageWatch? = nil,
        isApart: Bool = false
    ) {
        self.isApart = isApart
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
        let part = self.part(submission.partition)
        self.storage?.begin(bytes: bytes)
        self.journal.append(submission) { result in
            self.storage?.end(bytes: bytes, isWritten: result.isSuccess)
            self.commit?.record(duration: begunAt.duration(to: .now))
            self.noteResult(result, part)
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
            self.noteResult(result, .all)
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
            self.noteResult(result, self.part(partition))
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

    package func useLimits(_ limits: JournalLimits) { self.journal.useLimits(limits) }

    package func close() { self.journal.close() }

    /// Writes a tick, which decides nothing, to each part that could not be written.
    package func probe() {
        let due = self.state.withLock { state in
            defer { state.probed.formUnion(state.failing) }
            return state.failing.subtracting(state.probed)
        }
        for part in due {
            let end: @Sendable () -> Void = { _ = self.state.withLock { $0.probed.remove(part) } }
            switch part {
            case .partition(let partition):
                self.append(Submission(partition: partition, records: .tick)) { _ in end() }
            case .all where self.isApart:
                self.appendToAll(SubmissionToAll(.tick), whenDurable: { _ in end() }, whenPlaced: { _ in })
            case .all: self.append(Submission(partition: PartitionID(0), records: .tick)) { _ in end() }
            }
        }
    }

    private func part(_ partition: PartitionID) -> Part { self.isApart ? .partition(partition) : .all }

    private func noteResult<Success>(_ result: Result<Success, JournalError>, _ part: Part) {
        switch result {
        case .success: self.noteState(failure: nil, part)
        case .failure(let error):
            switch error.code {
            case .full, .readOnly, .failing, .unknownOutcome, .corrupt: self.noteState(failure: error, part)
            // A full queue is the load's doing, a refusal the caller's; the disk has nothing to do with them.
            case .unavailable, .fenced, .closed, .formatMismatch, .locked, .invalid: break
            }
        }
    }

    private func noteState(failure: JournalError?, _ part: Part) {
        let hasChanged = self.state.withLock { state in
            let hasChanged =
                failure == nil ? state.failing.remove(part) != nil : state.failing.insert(part).inserted
            if hasChanged {
                self.readiness.set(.journal, met: state.failing.isEmpty, detail: self.words(state.failing))
            }
            return hasChanged
        }
        guard hasChanged else { return }
        let which = self.words([part]).map { " (\($0))" } ?? ""
        if let failure {
            self.logger.error("the log cannot be written\(which); pushes are answered 503: \(failure)")
        } else {
            self.logger.notice("the log can be written again\(which)")
        }
    }

    /// Nil where the log fails as a whole.
    private func words(_ parts: Set<Part>) -> String? {
        guard self.isApart else { return nil }
        let numbers = parts.compactMap { part -> PartitionID? in
            if case .partition(let partition) = part { partition } else { nil }
        }.sorted()
        let list = numbers.map(\.description).joined(separator: ", ")
        let partitions = numbers.isEmpty ? nil : "\(numbers.count == 1 ? "partition" : "partitions") \(list)"
        let all = parts.contains(.all) ? "records for all partitions" : nil
        return [partitions, all].compactMap(\.self).joined(separator: "; ")
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}
