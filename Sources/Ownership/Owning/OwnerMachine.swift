package import Engine
package import Journaling
package import WidgetModel

/// The owner of one partition, as a value: it decides what is read, applied, committed and published, in which order.
///
/// Its driver reports events, and asks ``next(_:)`` for the next step, one ``OwnerAction`` after the other. It has no
/// clock, no log and no thread: the gateway's owner runs it on its loop, and the fault simulator in virtual time.
///
/// Its rules:
/// - Entries are applied in order, each whole before the next, and only after they were announced, so that callers that
///   wait for their answers are registered first.
/// - Effects are published once their output is durable, in the order of the log.
/// - One output is written at a time. If its outcome is unknown, it is looked up and never written again.
/// - A replay publishes no effect that the output log has. It reaches the state that the newest output names, or it
///   ends.
/// - A standby is a start that is held open: it applies the outputs of another owner, and no more, and reaches the
///   states that they name, or it ends. It writes nothing. ``start(newest:)`` goes on from where it is.
/// - It decides only behind an output of its own rules. Other rules go on behind a gate: an output that names them and has
///   no effects, at an entry whose state was written down before. An owner that did not know of that output is fenced off by it.
package struct OwnerMachine: ~Copyable {
    /// How far its life is.
    private enum Phase {
        /// It has a state, and does not know the log.
        case new
        /// It applies the entries that another owner has decided.
        case standingBy(StandbyGoal)
        /// It applies the log; the newest output says which of the effects are known already.
        case replaying(OutputEntry?)
        case following
        case stopped
    }

    /// Where the output is that is written. The chunk is the one that the journal has or is to have, the rest is not cut yet.
    private enum Writing {
        case idle
        /// The journal is to have it.
        case ready(OutputChunk, rest: OutputChunks)
        /// The journal has it, and has not called back.
        case underWay(OutputChunk, rest: OutputChunks)
        /// It was refused for now.
        case refused(OutputChunk, rest: OutputChunks)
        /// It may have been written.
        case unknown(OutputChunk, rest: OutputChunks, JournalError)
    }

    /// How far it is on the way to other decision rules.
    private enum Gate {
        /// No entry is begun any more, and decided effects are committed.
        case closing(to: Int)
        /// The state after the last entry is written down.
        case closed(to: Int)
        /// The output that names the other rules is to be written.
        case ready(to: Int)
        case passed
    }

    package let partition: PartitionID
    /// The state. While ``isBetweenEntries`` is false, a part of an entry is in it.
    package private(set) var engine: Engine
    /// The last entry that was applied whole.
    package private(set) var applied: LogPosition
    /// The engine's running hash when it was.
    private var appliedHash: UInt64
    /// The newest entry that is known to exist.
    package private(set) var announced: LogPosition
    /// The most bytes of an output that holds more than one effect: a larger one is written in chunks.
    package var chunkBytesMax: Int
    /// Whether it begins no other entry: decided effects are committed, and another owner goes on from there.
    package var isLeaving = false
    /// Whether it asks for no tick any more, so that the log ends with an entry of others: due timers wait for the next start.
    package var hasEndedTicks = false
    /// Outputs that others had to complete, since they were too large for one commit.
    package private(set) var chunksWritten = 0

    /// The shortest time between two ticks: timers are due to the second, so four looks a second are plenty.
    private static let tickSpacing = Interval.milliseconds(250)
    /// The driver's uptime at the last tick.
    private var lastTick: Interval?

    private var phase = Phase.new
    private var reading = EntryReading.idle
    /// Whether it has asked to be told when to try again.
    private var awaitsRetry = false
    /// Entries that were read, and come next.
    private var entries: ArraySlice<LogEntry> = []
    /// The entry that is applied in part.
    private var run: EntryRun?
    /// Effects that no output holds yet.
    private var uncommitted = EffectQueue()
    private var writing = Writing.idle
    private var gate: Gate?
    /// The newest output that is known.
    package private(set) var lastOutput: OutputPosition?
    /// The state after the newest whole output, as that tells it, once it is known.
    private var committed: OwnerCheckpoint?
    /// How many effects of entries behind the committed ones the output log held at the start.
    private var ahead = 0
    /// How far a checkpoint has to go that is asked for.
    private var checkpointFrom: LogPosition?
    /// The actions that come before all others.
    private var urgent: ArraySlice<OwnerAction> = []

    /// - Parameters:
    ///   - engine: An empty state, or one that a snapshot held: the log goes on behind its position.
    ///   - chunkBytesMax: See ``chunkBytesMax``.
    package init(_ engine: consuming Engine, chunkBytesMax: Int) {
        self.partition = engine.partition
        self.applied = engine.position
        self.announced = engine.position
        self.appliedHash = engine.runningHash
        self.chunkBytesMax = chunkBytesMax
        self.engine = engine
    }

    /// Whether entries are awaited: nothing more of the log is applied until they are there.
    package var isReading: Bool { if case .idle = self.reading { false } else { true } }

    /// Whether no entry is applied in part: the state is that of the log up to ``applied``.
    package var isBetweenEntries: Bool { self.run == nil }

    /// Whether other rules decide from here on.
    package var hasPassedGate: Bool { if case .passed = self.gate { true } else { false } }

    package var isStopped: Bool { if case .stopped = self.phase { true } else { false } }

    /// Whether another owner decides, and this one follows it.
    package var isStandingBy: Bool { if case .standingBy = self.phase { true } else { false } }

    /// How many entries another owner has committed that are not applied here; zero where none is followed.
    package var standbyLag: UInt64 {
        guard case .standingBy(let goal) = self.phase else { return 0 }
        return goal.newest.rawValue - self.applied.rawValue
    }

    /// Whether the log is replayed, and nothing is committed yet.
    package var isReplaying: Bool {
        switch self.phase {
        case .new, .standingBy, .replaying: true
        case .following, .stopped: false
        }
    }

    /// Whether all that was decided is durable, and nothing is written.
    package var isSettled: Bool {
        guard case .idle = self.writing else { return false }
        return self.uncommitted.isEmpty && self.isBetweenEntries
    }

    /// How many effects are not durable yet.
    package var uncommittedCount: Int {
        switch self.writing {
        case .idle: self.uncommitted.count
        case .ready(let chunk, let rest), .underWay(let chunk, let rest), .refused(let chunk, let rest),
            .unknown(let chunk, let rest, _):
            self.uncommitted.count + rest.remaining + chunk.effects.count
        }
    }

    /// How long it is until a tick is to be appended: nil if nothing will be due, or an entry is applied in part. At most a day: a driver
    /// asks again whenever an entry was applied.
    ///
    /// - Parameters:
    ///   - time: The log's time, by which timers are due. Its clock may go slower than the driver's.
    ///   - uptime: The driver's, by which ticks are apart.
    package func tickDelay(at time: Instant, uptime: Interval) -> Interval? {
        guard case .following = self.phase, self.isBetweenEntries, !self.hasEndedTicks, let due = self.engine.nextTimer
        else { return nil }
        let spacing = self.lastTick.map { $0 + Self.tickSpacing - uptime } ?? .zero
        return min(max(due - time, spacing, .zero), .day)
    }

    /// The answer to a question; nil if it must wait until the present entry is applied whole.
    package func answer<Question: EngineQuestion>(_ question: Question) -> Question.Answer? {
        let isReady = self.isBetweenEntries || (question.moment == .anyTime && self.engine.isAskable)
        return isReady ? question.answer(from: self.engine) : nil
    }
}

// MARK: - Events

extension OwnerMachine {
    /// Another owner decides: applies the entries that it has committed, until this one starts.
    ///
    /// - Parameter newest: The newest output, nil if there is none.
    /// - Throws: ``OwnerError/engineDisagrees(partition:position:)`` if it names another state than the one to begin with,
    ///   ``OwnerError/decidedByOthers(partition:rules:)`` if it names other rules than the engine's.
    package mutating func standBy(newest: OutputEntry?) throws(OwnerError) {
        self.phase = .standingBy(StandbyGoal(from: self.applied))
        if let newest { try self.takeOutput(newest.record) }
    }

    /// Another owner has committed; nothing unless this one stands by.
    ///
    /// - Throws: ``OwnerError/engineDisagrees(partition:position:)`` if it came to another state,
    ///   ``OwnerError/decidedByOthers(partition:rules:)`` if other rules go on. The machine has stopped.
    package mutating func takeOutput(_ output: OutputRecord) throws(OwnerError) {
        guard case .standingBy(var goal) = self.phase else { return }
        do {
            try output.check(rules: self.engine.rules, of: self.partition)
        } catch {
            self.stop()
            throw error
        }
        goal.takeOutput(output)
        self.phase = .standingBy(goal)
        self.announce(output.through)
        try self.compareWithGoal()
    }

    /// The log is there: replays it, and follows it from then on. Entries that a standby has asked to read must not be given to it any
    /// more.
    ///
    /// - Parameter newest: The newest output, nil if there is none.
    /// - Throws: ``OwnerError/engineDisagrees(partition:position:)`` if it names another state than the one to begin with,
    ///   ``OwnerError/decidedByOthers(partition:rules:)`` if it names other rules than the engine's,
    ///   ``OwnerError/aheadOfOutputs(partition:applied:through:)`` if that state has entries whose decisions were never committed.
    package mutating func start(newest: OutputEntry?) throws(OwnerError) {
        if let newest { try newest.record.check(rules: self.engine.rules, of: self.partition) }
        let (begun, through) = (self.run?.entry.position ?? self.applied, newest?.record.through ?? .start)
        guard begun <= through else {
            throw .aheadOfOutputs(partition: self.partition, applied: begun, through: through)
        }
        (self.reading, self.awaitsRetry) = (.idle, false)
        self.lastOutput = newest?.position
        self.phase = .replaying(newest)
        if let newest, newest.record.through == self.applied { try self.compare(newest) }
    }

    /// There are entries up to a position, at least.
    package mutating func announce(_ position: LogPosition) { self.announced = max(self.announced, position) }

    /// Takes entries that were read: all that come next, or the first of them; none if there are none. A log that is away, as on
    /// brokers during an election, comes back with all that it had: it is asked again after a while.
    ///
    /// - Throws: ``OwnerError`` if the log ends at another position than its outputs say, the journal's error if it cannot be read.
    package mutating func takeEntries(_ result: Result<[LogEntry], JournalError>) throws {
        guard case .underWay(let through) = self.reading else { return }
        if case .failure(let error) = result, error.code == .unavailable {
            self.reading = .refused
            return self.awaitRetry()
        }
        self.reading = .idle
        // Some may have been taken already: a result may come twice.
        let (read, applied) = (try result.get(), self.applied)
        let entries = read.drop { $0.position <= applied }
        switch self.phase {
        case .replaying(let newest):
            if read.isEmpty { try self.finishReplay(newest) }
            self.entries = entries
        case .following, .standingBy:
            self.entries = entries.prefix { $0.position <= self.announced }
            // More may have been announced while they were read.
            if read.isEmpty, self.announced == through { self.announced = self.applied }
        case .new, .stopped: break
        }
    }

    /// Takes the journal's result for an output.
    ///
    /// - Throws: The journal's error, if it takes no more output from this owner: the machine has stopped.
    package mutating func committed(_ result: Result<OutputPosition, JournalError>) throws(JournalError) {
        guard case .underWay(let chunk, let rest) = self.writing else { return }
        switch result {
        // A result of another output that comes late: this one's is still to come.
        case .success(let position) where position != (self.lastOutput?.next ?? .first): break
        case .success(let position): self.written(chunk, rest, at: position)
        case .failure(let error) where error.isRetriable:
            // The effects stay unpublished until they are durable; the log keeps their cause.
            self.writing = .refused(chunk, rest: rest)
            self.awaitRetry()
        case .failure(let error) where error.code == .unknownOutcome:
            self.writing = .unknown(chunk, rest: rest, error)
            self.urgent.append(.readNewestOutput(error))
        case .failure(let error):
            self.stop()
            throw error
        }
    }

    /// One wait is for all that was refused.
    private mutating func awaitRetry() {
        if !self.awaitsRetry, !self.isStopped { self.urgent.append(.awaitRetry) }
        self.awaitsRetry = true
    }

    /// The time to wait before another try is over.
    package mutating func retry() {
        self.awaitsRetry = false
        if case .refused = self.reading { self.reading = .idle }
        if case .refused(let chunk, let rest) = self.writing { self.writing = .ready(chunk, rest: rest) }
    }

    /// Takes the newest output, after an output with an unknown outcome.
    ///
    /// If it is the output that was tried, that was written. If not, the tried output may still appear at a restart,
    /// and another one that is written meanwhile could contradict it: the machine stops, and the replay settles it.
    ///
    /// - Throws: The error that left the outcome open.
    package mutating func takeNewestOutput(_ newest: OutputEntry?) throws(JournalError) {
        guard case .unknown(let chunk, let rest, let error) = self.writing else { return }
        let tried = OutputEntry(position: self.lastOutput?.next ?? .first, record: chunk.record)
        guard newest == tried else {
            self.stop()
            throw error
        }
        self.written(chunk, rest, at: tried.position)
    }

    /// The delay of the next tick is over: whether to append it now. One that comes before a timer is due would do nothing.
    package mutating func takeTick(at time: Instant, uptime: Interval) -> Bool {
        guard self.tickDelay(at: time, uptime: uptime) == .zero else { return false }
        self.lastTick = uptime
        return true
    }

    /// Asks for an output that goes as far as now, or further: one without effects if there is none yet.
    package mutating func askForCheckpoint() { self.checkpointFrom = self.applied }

    /// Other decision rules are to go on: it begins no other entry, and asks for the state to be written down once all that was
    /// decided is committed.
    package mutating func closeGate(to rules: Int) { self.gate = self.gate ?? .closing(to: rules) }

    /// The state at the checkpoint that ``OwnerAction/writeState(_:)`` named is durable. When the next output is, too,
    /// ``hasPassedGate`` is true, and the machine has stopped.
    package mutating func stateWritten() {
        guard case .closed(let rules) = self.gate else { return }
        self.gate = .ready(to: rules)
    }

    /// Stops all work. Uncommitted decisions are made again at the next start.
    package mutating func stop() {
        self.phase = .stopped
        self.urgent = []
    }
}

// MARK: - Actions

extension OwnerMachine {
    /// The next step; nil if there is none before another event, or no unit is left.
    ///
    /// - Parameter units: The most work on the log before this returns, see ``WorkUnits``; returns the unused rest. The
    ///   division of work changes no result.
    /// - Throws: ``EngineError`` if an entry cannot be applied, ``OwnerError`` if a replay has another state than the
    ///   log's outputs. The machine has stopped.
    package mutating func next(_ units: inout Int) throws -> OwnerAction? {
        if let action = self.urgent.popFirst() { return action }
        do {
            switch self.phase {
            case .new, .stopped: return nil
            case .standingBy, .replaying: return try self.nextOfLog(&units)
            case .following: return try self.nextOfLog(&units) ?? self.nextCommit()
            }
        } catch {
            self.stop()
            throw error
        }
    }

    /// Whether there is more of the log to apply, and it is not awaited.
    package var isBehind: Bool {
        guard !self.isReading else { return false }
        return switch self.phase {
        case .new, .stopped: false
        case .standingBy(let goal): self.run != nil || self.applied < min(goal.through, self.announced)
        case .replaying: true
        case .following:
            self.run != nil || (self.applied < self.announced && !self.isLeaving && self.gate == nil)
        }
    }

    private mutating func nextOfLog(_ units: inout Int) throws -> OwnerAction? {
        guard self.isBehind, units > 0 else { return nil }
        if self.run == nil {
            guard let entry = self.entries.popFirst() else {
                self.reading = .underWay(through: self.announced)
                return .read(from: self.applied.next)
            }
            precondition(entry.position == self.applied.next, "an entry was skipped")
            self.run = EntryRun(entry)
        }
        guard try self.run?.advance(&self.engine, &units) ?? false, let run = self.run.take() else { return nil }
        self.applied = run.entry.position
        self.appliedHash = self.engine.runningHash
        switch self.phase {
        case .standingBy: try self.compareWithGoal()
        case .replaying(let newest?) where newest.record.through >= self.applied:
            // Effects up to the newest output are in the output log already.
            if newest.record.through == self.applied { try self.compare(newest) }
        default: self.uncommitted.append(run.effects)
        }
        return .tell(run)
    }

    private mutating func nextCommit() -> OwnerAction? {
        switch self.writing {
        case .underWay, .refused, .unknown: return nil
        case .ready(let chunk, let rest):
            self.writing = .underWay(chunk, rest: rest)
            return .commit(chunk.record, expected: self.lastOutput)
        case .idle:
            var rules = self.engine.rules
            if self.uncommitted.isEmpty {
                if let checkpoint = self.checkpointReached() { return .tellCheckpoint(checkpoint) }
                switch self.gate {
                case .closing(let next) where self.isBetweenEntries:
                    if let committed = self.committed, committed.through == self.applied {
                        self.gate = .closed(to: next)
                        return .writeState(committed)
                    }
                case .ready(let next): rules = next
                case .closing, .closed, .passed, nil: guard self.checkpointFrom != nil else { return nil }
                }
            }
            var chunks = OutputChunks(
                self.uncommitted,
                ahead: self.ahead,
                from: self.committed ?? OwnerCheckpoint(through: .start, runningHash: 0),
                to: OwnerCheckpoint(through: self.applied, runningHash: self.appliedHash),
                bytesMax: self.chunkBytesMax,
                rules: rules
            )
            self.uncommitted = EffectQueue()
            let chunk = chunks.cutNext()
            self.writing = .underWay(chunk, rest: chunks)
            return .commit(chunk.record, expected: self.lastOutput)
        }
    }

    /// An output is durable.
    private mutating func written(_ chunk: OutputChunk, _ rest: consuming OutputChunks, at position: OutputPosition) {
        self.lastOutput = position
        // Lets go of the rest, so that it is not copied when the next chunk is cut.
        self.writing = .idle
        self.urgent.append(.publish(CommittedEffects(chunk.effects, at: position)))
        guard chunk.isLast else {
            self.chunksWritten += 1
            let next = rest.cutNext()
            self.writing = .ready(next, rest: rest)
            return
        }
        self.ahead = 0
        self.committed = OwnerCheckpoint(through: chunk.record.through, runningHash: chunk.record.runningHash)
        if let checkpoint = self.checkpointReached() { self.urgent.append(.tellCheckpoint(checkpoint)) }
        if case .ready(let rules) = self.gate, chunk.record.engineVersion == UInt32(rules) {
            (self.gate, self.phase) = (.passed, .stopped)
        }
    }

    /// The committed state, once, if it is far enough for the checkpoint that was asked for.
    private mutating func checkpointReached() -> OwnerCheckpoint? {
        guard let from = self.checkpointFrom, let committed = self.committed, committed.through >= from else {
            return nil
        }
        self.checkpointFrom = nil
        return committed
    }
}

// MARK: - A replay

extension OwnerMachine {
    /// Compares the engine with the outputs of another owner, as far as it came.
    private mutating func compareWithGoal() throws(OwnerError) {
        guard case .standingBy(var goal) = self.phase, let reached = goal.reach(self.applied) else { return }
        guard reached.runningHash == self.appliedHash else {
            self.stop()
            throw .engineDisagrees(partition: self.partition, position: reached.through)
        }
        self.phase = .standingBy(goal)
    }

    /// Compares the engine with the newest output, and keeps that as a checkpoint.
    private mutating func compare(_ newest: OutputEntry) throws(OwnerError) {
        guard newest.record.runningHash == self.engine.runningHash else {
            throw .engineDisagrees(partition: self.partition, position: newest.record.through)
        }
        self.committed = OwnerCheckpoint(through: newest.record.through, runningHash: newest.record.runningHash)
    }

    private mutating func finishReplay(_ newest: OutputEntry?) throws(OwnerError) {
        self.engine.finishLoading()
        if let newest {
            guard newest.record.through <= self.applied else {
                throw .logEndsEarly(partition: self.partition, applied: self.applied, through: newest.record.through)
            }
            guard let ahead = OutputChunks.ahead(in: newest.record, of: self.uncommitted) else {
                throw .engineDisagrees(partition: self.partition, position: newest.record.through.next)
            }
            self.uncommitted.removeFirst(ahead)
            self.ahead = ahead
        }
        self.announced = max(self.announced, self.applied)
        self.phase = .following
    }
}
