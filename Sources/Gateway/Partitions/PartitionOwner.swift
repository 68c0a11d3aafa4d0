package import Engine
package import Journaling
package import Logging
package import NIOCore
import Synchronization
import Tracing
package import WidgetModel

/// The one reader of a partition's log: applies each entry to the partition's engine and commits what comes out.
///
/// Everything of a partition happens on its ``loop``, which belongs to owners alone. Answers that a registration waits
/// for are expected before the entry is announced (the journal calls back with receipts before it hints at new
/// entries, and both hop to the same loop in that order), so none can be missed.
package final class PartitionOwner: Sendable {
    /// How many entries are read at a time, and applied at most before other work of the loop gets its turn.
    static let entriesPerTurn = 64
    /// The shortest time between two ticks: timers are due to the second, so four looks a second are plenty.
    private static let tickSpacing: TimeAmount = .milliseconds(250)
    /// How long to wait before an output that could not be written is tried again.
    private static let commitRetryDelay: TimeAmount = .milliseconds(100)

    package let partition: PartitionID
    package let loop: any EventLoop
    let journal: any Journal
    let snapshots: (any SnapshotStore)?
    private let clock: LogClock
    let logger: Logger
    let outlets: Outlets
    private let outputBytesPerCommit: Atomic<Int>
    /// Set once, by ``stop()``.
    let isStopping = Atomic<Bool>(false)
    /// Whether reloads of traced pushes are told of.
    let isTraced: Bool
    /// Told of what came and what was done.
    let work: PartitionWork
    let state: NIOLoopBoundBox<State>

    /// Loop-confined state.
    struct State {
        let held: HeldEngine
        var engine: Engine {
            _read { yield self.held.engine }
            nonmutating _modify { yield &self.held.engine }
        }
        /// The last entry that was applied whole.
        var applied: LogPosition = .start
        /// The engine's running hash when it was.
        var appliedHash: UInt64 = 0
        /// The entry behind it, if a part of it is applied.
        var partial: PartialEntry?
        /// Entries that were read, and come next.
        var entries: ArraySlice<LogEntry> = []
        /// Questions that wait until the entry is applied whole.
        var questions: [@Sendable () -> Void] = []
        /// The newest entry that is known to exist.
        var announced: LogPosition = .start
        var lastOutput: OutputPosition?
        /// What that output says of the state, once it is known.
        var committed: OwnerCheckpoint?
        /// Who waits for an output that goes as far as now.
        var checkpoints: [EventLoopPromise<OwnerCheckpoint>] = []
        /// Bytes of the entries that were applied since the start.
        var appliedBytes = 0
        /// Of which usage others were told; nil until the start is over.
        var toldUsage: UInt64?
        /// What is being written to the output log.
        var committing: OutputPieces?
        /// How many effects of entries behind the committed ones the output log held at the start.
        var ahead = 0
        /// Outputs since the start that others had to complete, since they were too large for one commit.
        var outputPieces = 0
        var isDraining = false
        var hasFailed = false
        /// Effects that no output record holds yet.
        var uncommitted = EffectQueue()
        var expected: [AnswerKey: EventLoopPromise<RecordAnswer>] = [:]
        var tick: Scheduled<Void>?
        var lastTick: NIODeadline = .uptimeNanoseconds(0)
        /// Nil where pushes are not traced.
        var traces: PartitionTraces?
        /// What was done since the start, in units.
        var unitsDone = 0
        /// Of that, what others were told of.
        var unitsTold = 0
        /// How long was worked since others were told.
        var nanosecondsUntold = 0
        /// Whether instances came or went since.
        var hasNewAudience = true

        init(_ engine: consuming Engine) { self.held = HeldEngine(engine) }
    }

    /// The engine, which only the loop touches: the loop's box takes no value that cannot be copied.
    final class HeldEngine {
        var engine: Engine

        init(_ engine: consuming Engine) { self.engine = engine }
    }

    struct AnswerKey: Hashable {
        let position: LogPosition
        let index: Int
    }

    /// - Parameters:
    ///   - engine: The state to begin with, where there is no snapshot.
    ///   - partition: Which.
    ///   - loop: Where everything happens.
    ///   - journal: The log.
    ///   - snapshots: Where the state is read from when it starts; nil if the log is replayed from its beginning.
    ///   - clock: Says when a tick is due.
    ///   - logger: Where to write.
    ///   - work: Told of what came and what was done; nil where nothing else asks for that.
    ///   - outlets: What is handed on.
    ///   - outputBytesPerCommit: A larger output is cut into pieces; see ``JournalLimits/outputBytesPerCommit``.
    package init(
        engine: consuming Engine,
        partition: PartitionID,
        loop: any EventLoop,
        journal: any Journal,
        snapshots: (any SnapshotStore)? = nil,
        clock: LogClock,
        logger: Logger,
        tracing: GatewayTracing? = nil,
        work: PartitionWork? = nil,
        outlets: Outlets,
        outputBytesPerCommit: Int = JournalLimits().outputBytesPerCommit
    ) {
        self.partition = partition
        self.isTraced = tracing != nil
        self.work = work ?? PartitionWork(partition)
        self.loop = loop
        self.journal = journal
        self.snapshots = snapshots
        self.clock = clock
        self.logger = logger
        self.outlets = outlets
        self.outputBytesPerCommit = Atomic(outputBytesPerCommit)
        var state = State(engine)
        state.traces = tracing.map { PartitionTraces($0, partition) }
        self.state = NIOLoopBoundBox.makeBoxSendingValue(state, eventLoop: loop)
    }

    /// Cuts the outputs that come from now on into larger or smaller pieces.
    package func use(outputBytesPerCommit: Int) {
        self.outputBytesPerCommit.store(outputBytesPerCommit, ordering: .relaxed)
    }
}

// MARK: - Start

extension PartitionOwner {
    /// Rebuilds the engine from the newest snapshot and the log behind it, and then follows the log.
    ///
    /// - Parameter progress: Told now and then how far the replay is, and how far it has to go at least.
    /// - Returns: How many entries were replayed.
    /// - Throws: ``JournalError``, ``EngineError`` or ``OwnerFault`` if the log cannot be read or was written by an
    ///   engine that decides differently.
    package func start(
        progress: @escaping @Sendable (_ applied: LogPosition, _ through: LogPosition) -> Void
    ) async throws -> Int {
        let state = try await self.load()
        let replayed = try await self.loop.submit {
            try self.replay(behind: state.take(), progress: progress)
        }.get()
        self.journal.observeAppends(self.partition) { [weak self] position in
            guard let self else { return }
            // Here and not on the loop, which may be busy with what came before.
            self.work.noteArrival(position, at: .now())
            self.loop.execute { self.announce(position) }
        }
        // What was appended between the replay and the observer is found by one look.
        try await self.loop.submit {
            while try self.applySlice(upTo: LogPosition(.max), units: .max) {}
            self.state.value.toldUsage = self.state.value.engine.usageVersion
            self.outlets.usage(self.partition, self.state.value.engine.appUsages)
            self.state.value.announced = max(self.state.value.announced, self.state.value.applied)
            // A replay says nothing of the pace: it decides again what the log has, and waits for the disk.
            self.state.value.unitsTold = self.state.value.unitsDone
            self.tellWork(since: .now())
            self.commit()
            self.armTick()
        }.get()
        return replayed
    }

    /// Begins with what a snapshot held.
    private func begin(_ loaded: consuming StateLoader.Loaded) {
        guard let snapshot = loaded.snapshot else { return }
        self.state.value.engine = loaded.engine
        self.state.value.applied = snapshot.position
        self.state.value.appliedHash = self.state.value.engine.runningHash
        self.state.value.traces?.restored(at: snapshot.position)
        self.logger.notice(
            "read a snapshot",
            metadata: ["partition": "\(self.partition)", "position": "\(snapshot.position)"]
        )
    }

    private func replay(
        behind loaded: consuming StateLoader.Loaded?,
        progress: @Sendable (LogPosition, LogPosition) -> Void
    ) throws -> Int {
        let last = try self.journal.lastOutput(self.partition)
        self.state.value.lastOutput = last?.position
        let through = last?.record.through ?? .start
        if let loaded { self.begin(loaded) }
        if let last, through == self.state.value.applied { try self.compare(last) }
        var count = 0
        while true {
            let entries = try self.journal.read(
                self.partition,
                from: self.state.value.applied.next,
                entriesMax: Self.entriesPerTurn
            )
            if entries.isEmpty { break }
            for entry in entries {
                let (output, effects) = try self.apply(entry)
                if self.isTraced { self.state.value.traces?.applied(entry, output, from: nil) }
                // Effects up to the last output record are in the output log already.
                if entry.position > through { self.state.value.uncommitted.append(effects) }
                if let last, entry.position == through { try self.compare(last) }
                count += 1
            }
            progress(self.state.value.applied, through)
        }
        self.state.value.engine.finishLoading()
        if through > self.state.value.applied {
            throw OwnerFault.logEndsEarly(
                partition: self.partition,
                applied: self.state.value.applied,
                through: through
            )
        }
        if let last { try self.dropPieces(last) }
        return count
    }

    /// Leaves out what the pieces of an unfinished output hold already: a replay gives the same effects in the same order.
    private func dropPieces(_ last: OutputEntry) throws {
        guard last.record.ahead > 0 else { return }
        let effects = self.state.value.uncommitted.all
        var reader = ByteReader(last.record.effects)
        guard let ahead = Int(exactly: last.record.ahead), let count = try? reader.readCount(), count <= ahead,
            ahead < effects.count, OutputPieces.pack(effects[(ahead - count)..<ahead]) == last.record.effects
        else { throw OwnerFault.engineDisagrees(partition: self.partition, position: last.record.through.next) }
        self.state.value.uncommitted.removeFirst(ahead)
        self.state.value.ahead = ahead
    }

    /// Whether the engine came to what the newest output says, and that as a checkpoint.
    private func compare(_ last: OutputEntry) throws(OwnerFault) {
        guard last.record.runningHash == self.state.value.engine.runningHash else {
            throw .engineDisagrees(partition: self.partition, position: last.record.through)
        }
        self.state.value.committed = OwnerCheckpoint(
            through: last.record.through,
            runningHash: last.record.runningHash
        )
    }
}

// MARK: - Writing what comes out

extension PartitionOwner {
    /// Writes the effects that came out since the last output record, one record at a time.
    func commit() {
        guard self.state.value.committing == nil, !self.state.value.hasFailed else { return }
        if self.state.value.uncommitted.isEmpty {
            guard !self.state.value.checkpoints.isEmpty else { return }
            if let committed = self.state.value.committed, committed.through == self.state.value.applied {
                return self.tellCheckpoint(committed)
            }
        }
        let effects = self.state.value.uncommitted
        self.state.value.uncommitted = EffectQueue()
        self.state.value.committing = OutputPieces(
            effects,
            ahead: self.state.value.ahead,
            from: self.state.value.committed ?? OwnerCheckpoint(through: .start, runningHash: 0),
            to: OwnerCheckpoint(
                through: self.state.value.applied,
                runningHash: self.state.value.appliedHash
            ),
            bytesMax: self.outputBytesPerCommit.load(ordering: .relaxed)
        )
        self.writeNext()
    }

    private func writeNext() {
        guard let piece = self.state.value.committing?.take() else { return }
        self.write(piece)
    }

    private func tellCheckpoint(_ checkpoint: OwnerCheckpoint) {
        let waiting = self.state.value.checkpoints
        self.state.value.checkpoints = []
        for promise in waiting { promise.succeed(checkpoint) }
    }

    private func write(_ piece: OutputPieces.Piece) {
        self.journal.commitOutput(self.partition, expected: self.state.value.lastOutput, piece.record) { result in
            self.loop.execute {
                switch result {
                case .success(let position):
                    self.committed(piece, at: position)
                case .failure(let error) where error.isRetriable:
                    // The effects stay undelivered until they are durable; the log keeps their cause.
                    self.loop.scheduleTask(in: Self.commitRetryDelay) { self.write(piece) }
                case .failure(let error) where error.code == .unknownOutcome:
                    self.settle(piece, error)
                case .failure(let error):
                    self.fail(error)
                }
            }
        }
    }

    private func committed(_ piece: OutputPieces.Piece, at position: OutputPosition) {
        self.state.value.lastOutput = position
        if piece.isLast {
            self.state.value.committing = nil
            self.state.value.ahead = 0
            let checkpoint = OwnerCheckpoint(through: piece.record.through, runningHash: piece.record.runningHash)
            self.state.value.committed = checkpoint
            self.tellCheckpoint(checkpoint)
        } else {
            self.state.value.outputPieces += 1
        }
        if !piece.effects.isEmpty {
            let spans = self.isTraced ? self.beginReloads(piece.effects) : []
            self.outlets.effects(piece.effects)
            for span in spans { span.end() }
        }
        if piece.isLast { self.commit() } else { self.writeNext() }
    }

    private func beginReloads(_ effects: [Effect]) -> [TracedSpan] {
        self.state.withValue { state in state.traces?.issued(effects, state.held.engine, self.journal) ?? [] }
    }

    /// Reads what became of an output whose outcome is unknown, since writing it again could write it twice.
    ///
    /// If the newest output is the one that was tried, it was written. If it is not, it may still come to light at a
    /// restart, and whatever is written meanwhile could contradict it: the partition stops, and the replay settles it.
    private func settle(_ piece: OutputPieces.Piece, _ unknown: JournalError) {
        let tried = OutputEntry(position: self.state.value.lastOutput?.next ?? .first, record: piece.record)
        do throws(JournalError) {
            guard try self.journal.lastOutput(self.partition) == tried else { return self.fail(unknown) }
        } catch {
            return self.fail(error)
        }
        self.logger.warning("partition \(self.partition): output \(tried.position) was written after all: \(unknown)")
        self.committed(piece, at: tried.position)
    }

    func fail(_ error: any Error) {
        guard !self.state.value.hasFailed else { return }
        self.state.value.hasFailed = true
        self.logFailure(error)
        for promise in self.state.value.expected.values { promise.fail(error) }
        self.state.value.expected = [:]
        for promise in self.state.value.checkpoints { promise.fail(error) }
        self.state.value.checkpoints = []
        self.answerWaitingQuestions()
        self.state.value.tick?.cancel()
        self.outlets.failed(self.partition, error)
    }
}

// MARK: - Ticks

extension PartitionOwner {
    /// Arms one timer for the engine's next due instant, as soon as no entry is applied in part.
    func armTick() {
        self.state.value.tick?.cancel()
        self.state.value.tick = nil
        guard !self.state.value.hasFailed, self.state.value.partial == nil, let due = self.state.value.engine.nextTimer
        else { return }
        let wait = max(0, (due - self.clock.now()).milliseconds)
        let now = NIODeadline.now()
        // A day is long enough: the timer is armed anew whenever an entry is applied.
        let wanted = now + .milliseconds(min(wait, Interval.day.milliseconds))
        let deadline = max(wanted, self.state.value.lastTick + Self.tickSpacing)
        self.state.value.tick = self.loop.scheduleTask(deadline: deadline) { self.tickIfDue() }
    }

    /// Logs a tick, unless the log's clock, which may go slower than the loop's, has not come to what is due: the tick would
    /// do nothing, and the next one, which is due at once, nothing either.
    private func tickIfDue() {
        guard self.state.value.partial == nil, let due = self.state.value.engine.nextTimer, due <= self.clock.now()
        else { return self.armTick() }
        self.appendTick()
    }

    private static let tickRecords: PackedRecords = {
        var records = PackedRecords()
        records.append(Record.tick.bytes)
        return records
    }()

    private func appendTick() {
        self.state.value.lastTick = .now()
        let submission = Submission(partition: self.partition, records: Self.tickRecords)
        self.journal.append(submission) { result in
            // A tick that failed is due again; one that succeeded is announced like any entry.
            guard case .failure = result else { return }
            self.loop.execute { self.armTick() }
        }
    }
}
