import Synchronization
package import WidgetModel

/// The reference journal, in memory: the model for every other journal, and the journal of tests and simulations.
///
/// It has no thread: a caller that appends while no commit is under way commits all that waits and calls back. So
/// without ``hold()`` every call has its answer when it returns, unless it came from a callback or another thread was
/// committing.
package final class MemoryJournal: Journal, LogHistory {
    package let format: JournalFormat
    private let clock: @Sendable () -> Instant
    private let state: Mutex<State>

    private typealias Delivery = @Sendable () -> Void

    private struct State {
        var limits: JournalLimits
        var partitions: [Partition]
        var pending: [Pending] = []
        var appendBytes = 0
        var outputBytes = 0
        var isHeld = false
        var isDraining = false
        var isClosed = false
        var appendFaults: [Fault] = []
        var outputFaults: [Fault] = []
    }

    private struct Partition {
        var entries: [LogEntry] = []
        var outputs: [OutputRecord] = []
        var observers: [@Sendable (LogPosition) -> Void] = []

        var tail: EntryAssembler.Tail {
            self.entries.last.map { EntryAssembler.Tail(position: $0.position, logTime: $0.logTime) }
                ?? EntryAssembler.Tail()
        }
        var newestOutput: OutputPosition? {
            self.outputs.isEmpty ? nil : OutputPosition(UInt64(self.outputs.count))
        }
    }

    private struct Fault {
        let error: JournalError
        /// Whether it is stored although the caller is told of the error.
        let isStored: Bool
    }

    private enum Pending {
        case append(Submission, @Sendable (Result<AppendReceipt, JournalError>) -> Void)
        case appendToAll(
            SubmissionToAll,
            @Sendable (Result<Void, JournalError>) -> Void,
            whenPlaced: @Sendable (AppendReceipt) -> Void
        )
        case output(
            PartitionID,
            expected: OutputPosition?,
            OutputRecord,
            @Sendable (Result<OutputPosition, JournalError>) -> Void
        )
    }

    /// - Parameters:
    ///   - partitions: How many partitions the log has.
    ///   - journalID: The log's id.
    ///   - limits: How much is taken at once.
    ///   - clock: Read once for each commit.
    package convenience init(
        partitions: Int,
        journalID: String = "00000000-0000-4000-8000-000000000000",
        limits: JournalLimits = JournalLimits(),
        clock: @escaping @Sendable () -> Instant
    ) {
        precondition((1...JournalFormat.partitionsMax).contains(partitions))
        let format = JournalFormat(journalID: journalID, partitions: partitions, createdAt: clock())
        let empty = Array(repeating: Partition(), count: partitions)
        self.init(format: format, limits: limits, clock: clock, partitions: empty)
    }

    private init(
        format: JournalFormat,
        limits: JournalLimits,
        clock: @escaping @Sendable () -> Instant,
        partitions: [Partition]
    ) {
        self.format = format
        self.clock = clock
        self.state = Mutex(State(limits: limits, partitions: partitions))
    }

    /// The same log in a new journal, as after a restart: with its committed entries, without observers and faults.
    package func reopened() -> MemoryJournal {
        let (limits, stored) = self.state.withLock { state in
            (state.limits, state.partitions.map { Partition(entries: $0.entries, outputs: $0.outputs) })
        }
        return MemoryJournal(format: self.format, limits: limits, clock: self.clock, partitions: stored)
    }
}

// MARK: - Faults for tests

extension MemoryJournal {
    /// Makes later submissions wait.
    package func hold() {
        self.state.withLock { $0.isHeld = true }
    }

    /// Commits all that waits, in one commit, and lets nothing wait any more.
    package func release() {
        self.state.withLock { $0.isHeld = false }
        self.drain()
    }

    /// How many submissions and outputs wait.
    package var waiting: Int { self.state.withLock { $0.pending.count } }

    /// Fails the next submission that has no fault of its own yet. Faults queue up.
    ///
    /// - Parameters:
    ///   - error: The error for its caller.
    ///   - isStored: Whether its records are stored all the same, as after an unknown outcome.
    package func failNextAppend(with error: JournalError, isStored: Bool = false) {
        self.state.withLock { $0.appendFaults.append(Fault(error: error, isStored: isStored)) }
    }

    /// Fails the next output that would be committed, like ``failNextAppend(with:isStored:)``.
    package func failNextOutput(with error: JournalError, isStored: Bool = false) {
        self.state.withLock { $0.outputFaults.append(Fault(error: error, isStored: isStored)) }
    }
}

// MARK: - Journal

extension MemoryJournal {
    package var history: any LogHistory { self }

    package func head(_ partition: PartitionID) throws(JournalError) -> LogPosition { LogPosition.start.next }

    package func useLimits(_ limits: JournalLimits) { self.state.withLock { $0.limits = limits } }

    package func append(
        _ submission: Submission,
        whenDurable: @escaping @Sendable (Result<AppendReceipt, JournalError>) -> Void
    ) {
        let refusal = self.takeSubmission(.append(submission, whenDurable), bytes: submission.byteCount) {
            limits,
            waiting in
            limits.refusal(of: submission, partitions: self.format.partitions, waiting: waiting)
        }
        if let refusal { whenDurable(.failure(refusal)) } else { self.drain() }
    }

    package func appendToAll(
        _ submission: SubmissionToAll,
        whenDurable: @escaping @Sendable (Result<Void, JournalError>) -> Void,
        whenPlaced: @escaping @Sendable (AppendReceipt) -> Void
    ) {
        let pending = Pending.appendToAll(submission, whenDurable, whenPlaced: whenPlaced)
        let refusal = self.takeSubmission(pending, bytes: submission.byteCount) { limits, waiting in
            limits.refusal(of: submission, partitions: self.format.partitions, waiting: waiting)
        }
        if let refusal { whenDurable(.failure(refusal)) } else { self.drain() }
    }

    /// Lets a submission wait, or says why not.
    private func takeSubmission(
        _ pending: Pending,
        bytes: Int,
        _ refusal: (JournalLimits, _ waiting: Int) -> JournalError?
    ) -> JournalError? {
        self.state.withLock { state in
            if state.isClosed { return JournalError(.closed, "the journal is closed") }
            if let refusal = refusal(state.limits, state.appendBytes) { return refusal }
            state.appendBytes += bytes
            state.pending.append(pending)
            return nil
        }
    }

    package func commitOutput(
        _ partition: PartitionID,
        expected: OutputPosition?,
        _ output: OutputRecord,
        whenDurable: @escaping @Sendable (Result<OutputPosition, JournalError>) -> Void
    ) {
        let refusal = self.state.withLock { state -> JournalError? in
            if state.isClosed { return JournalError(.closed, "the journal is closed") }
            let refusal = state.limits.refusal(
                of: output,
                to: partition,
                partitions: self.format.partitions,
                waiting: state.outputBytes
            )
            if let refusal { return refusal }
            state.outputBytes += output.effects.count
            state.pending.append(.output(partition, expected: expected, output, whenDurable))
            return nil
        }
        if let refusal { whenDurable(.failure(refusal)) } else { self.drain() }
    }

    package func read(
        _ partition: PartitionID,
        from position: LogPosition,
        entriesMax: Int
    ) throws(JournalError) -> [LogEntry] {
        let result = self.stored(partition) { stored in
            Array(stored.entries.dropFirst(Int(clamping: max(position.rawValue, 1) - 1)).prefix(max(entriesMax, 0)))
        }
        return try result.get()
    }

    package func readNewestOutput(
        _ partition: PartitionID,
        whenRead: @escaping @Sendable (Result<OutputEntry?, JournalError>) -> Void
    ) {
        whenRead(Result { () throws(JournalError) in try self.lastOutput(partition) })
    }

    package func observeAppends(_ partition: PartitionID, _ body: @escaping @Sendable (LogPosition) -> Void) {
        self.state.withLock { $0.partitions[Int(partition.rawValue)].observers.append(body) }
    }

    /// The newest output of a partition, or nil if there is none.
    package func lastOutput(_ partition: PartitionID) throws(JournalError) -> OutputEntry? {
        let result = self.stored(partition) { stored in
            stored.newestOutput.flatMap { position in
                stored.outputs.last.map { OutputEntry(position: position, record: $0) }
            }
        }
        return try result.get()
    }

    package func readOutputs(
        _ partition: PartitionID,
        from position: OutputPosition,
        outputsMax: Int
    ) throws(JournalError) -> [OutputEntry] {
        let result = self.stored(partition) { stored -> [OutputEntry] in
            let first = Int(clamping: max(position.rawValue, 1) - 1)
            return stored.outputs.enumerated().dropFirst(first).prefix(max(outputsMax, 0)).map {
                OutputEntry(position: OutputPosition(UInt64($0.offset) + 1), record: $0.element)
            }
        }
        return try result.get()
    }

    package func close() {
        self.state.withLock { state in
            state.isClosed = true
            state.isHeld = false
        }
        self.drain()
    }

    private func stored<Value>(_ partition: PartitionID, _ body: (Partition) -> Value) -> Result<Value, JournalError> {
        self.state.withLock { state in
            if state.isClosed { return .failure(JournalError(.closed, "the journal is closed")) }
            guard Int(partition.rawValue) < state.partitions.count else {
                let count = state.partitions.count
                return .failure(JournalError(.invalid, "read of partition \(partition) of a log with \(count)"))
            }
            return .success(body(state.partitions[Int(partition.rawValue)]))
        }
    }
}

// MARK: - Committing

extension MemoryJournal {
    /// Commits group after group until nothing waits, unless another thread does so already.
    private func drain() {
        var isMine = false
        while true {
            let deliveries = self.state.withLock { state -> [Delivery] in
                guard isMine || !state.isDraining else { return [] }
                isMine = !state.isHeld && !state.pending.isEmpty
                state.isDraining = isMine
                return isMine ? self.commitGroup(&state) : []
            }
            guard isMine else { return }
            for deliver in deliveries { deliver() }
        }
    }

    /// Commits all that waits as one group and returns the callbacks, receipts and outputs first.
    private func commitGroup(_ state: inout State) -> [Delivery] {
        let group = state.pending
        state.pending = []
        state.appendBytes = 0
        state.outputBytes = 0
        let before = state.partitions.map(\.tail)
        var assembler = EntryAssembler(tails: before, now: self.clock(), entryBytesMax: state.limits.entryBytesMax)
        var deliveries: [Delivery] = []
        for pending in group {
            switch pending {
            case .append(let submission, let whenDurable):
                let fault = state.appendFaults.isEmpty ? nil : state.appendFaults.removeFirst()
                let receipt = fault.map(\.isStored) ?? true ? assembler.add(submission) : nil
                if let fault {
                    deliveries.append { whenDurable(.failure(fault.error)) }
                } else if let receipt {
                    deliveries.append { whenDurable(.success(receipt)) }
                }
            case .appendToAll(let submission, let whenDurable, let whenPlaced):
                let fault = state.appendFaults.isEmpty ? nil : state.appendFaults.removeFirst()
                let receipts = fault.map(\.isStored) ?? true ? assembler.add(submission) : []
                deliveries.append {
                    if let fault { return whenDurable(.failure(fault.error)) }
                    whenDurable(.success(()))
                    for receipt in receipts { whenPlaced(receipt) }
                }
            case .output(let partition, let expected, let output, let whenDurable):
                let result = Self.commit(output, to: partition, expected: expected, before: before, &state)
                deliveries.append { whenDurable(result) }
            }
        }
        for assembled in assembler.finish() {
            state.partitions[Int(assembled.partition.rawValue)].entries.append(assembled.entry)
        }
        for (index, partition) in state.partitions.enumerated() where partition.tail != before[index] {
            let position = partition.tail.position
            for observer in partition.observers { deliveries.append { observer(position) } }
        }
        return deliveries
    }

    private static func commit(
        _ output: OutputRecord,
        to partition: PartitionID,
        expected: OutputPosition?,
        before: [EntryAssembler.Tail],
        _ state: inout State
    ) -> Result<OutputPosition, JournalError> {
        let index = Int(partition.rawValue)
        if let refusal = OutputRule.refusal(
            of: output,
            to: partition,
            expected: expected,
            newest: state.partitions[index].newestOutput,
            tail: before[index].position
        ) {
            return .failure(refusal)
        }
        let fault = state.outputFaults.isEmpty ? nil : state.outputFaults.removeFirst()
        if fault.map(\.isStored) ?? true { state.partitions[index].outputs.append(output) }
        if let fault { return .failure(fault.error) }
        return .success(expected.map(\.next) ?? .first)
    }
}
