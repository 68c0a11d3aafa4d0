import Engine
import Journaling
import Logging
import NIOCore
import Ownership
import Synchronization
import Tracing
import WidgetModel

/// How the machine is driven: it gets events, and its actions are performed, in slices between which other work has the
/// loop.
extension PartitionOwner {
    /// How much work is done before other work of the loop gets its turn: at most some 5 ms.
    static let unitsPerTurn = 2048
    /// How much is replayed before it is looked whether the gateway ends.
    private static let unitsPerReplayTurn = 65_536
    /// How many entries are read at a time.
    private static let entriesPerRead = 64
    /// How long to wait before the journal is asked again that did not write or read.
    private static let retryDelay: TimeAmount = .milliseconds(100)

    func announce(_ position: LogPosition) {
        self.loop.assertInEventLoop()
        self.state.value.machine.announce(position)
        if !self.state.value.isTurnPlanned { self.takeTurn() }
    }

    /// Passes an event to the machine, and carries out its actions before more of the log is applied.
    func drive(_ event: (inout OwnerMachine) throws -> Void) {
        guard !self.state.value.hasFailed else { return }
        do {
            try event(&self.state.value.machine)
            try self.follow(units: 0)
        } catch {
            return self.fail(error)
        }
        self.leaveIfSettled()
    }

    /// Does something on the loop, if a life has not ended by then.
    private func execute(in life: Int, _ body: @escaping @Sendable () -> Void) {
        self.loop.execute { if self.state.value.life == life { body() } }
    }

    /// Applies announced entries, or goes on with a search, a slice a turn.
    func takeTurn() {
        // A replay finds the entries that are announced during it.
        guard !self.state.value.hasFailed,
            !self.state.value.machine.isReplaying || self.isStandby.load(ordering: .relaxed)
        else { return }
        do {
            try self.checkStop()
            if !self.isSearching() { try self.follow(units: Self.unitsPerTurn) }
        } catch {
            return self.fail(error)
        }
        let hasMore = self.state.value.machine.isBehind || !self.state.value.searches.isEmpty
        if hasMore, !self.state.value.isTurnPlanned {
            self.state.value.isTurnPlanned = true
            self.loop.execute {
                self.state.value.isTurnPlanned = false
                self.takeTurn()
            }
        }
        self.armTick()
        self.leaveIfSettled()
    }

    /// A replay that is under way.
    struct Replay {
        /// Where it began.
        let first: LogPosition
        let progress: (LogPosition) -> Void
        /// Gets how many entries it had.
        let isOver: EventLoopPromise<Int>
    }

    /// Replays the log, and carries out the actions at its end.
    ///
    /// - Parameter progress: Told now and then how far it is.
    /// - Returns: How many entries it had.
    func replay(progress: @escaping (LogPosition) -> Void) -> EventLoopFuture<Int> {
        let isOver = self.loop.makePromise(of: Int.self)
        let replay = Replay(first: self.state.value.machine.applied, progress: progress, isOver: isOver)
        self.state.value.replay = replay
        self.goOn(replay)
        return isOver.futureResult
    }

    /// Replays the entries that are there; the rest when they were read.
    private func goOn(_ replay: Replay) {
        do {
            while self.state.value.machine.isReplaying {
                try self.checkStop()
                try self.follow(units: Self.unitsPerReplayTurn)
                replay.progress(self.state.value.machine.applied)
                if self.state.value.machine.isReading { return }
            }
            self.state.value.replay = nil
            replay.isOver.succeed(Int(self.state.value.machine.applied.rawValue - replay.first.rawValue))
        } catch {
            self.state.value.replay = nil
            replay.isOver.fail(error)
        }
    }

    /// Performs the machine's actions, and tells the work that was done.
    private func follow(units: Int) throws {
        let begunAt = NIODeadline.now()
        let before = self.state.value.machine.applied
        let isReplaying = self.state.value.machine.isReplaying
        var left = units
        self.noteBeginning()
        while let action = try self.state.value.machine.next(&left) { try self.perform(action) }
        if self.state.value.machine.isBetweenEntries { self.state.value.entryBegunAt = nil }
        guard !isReplaying else { return }
        if before < self.state.value.machine.applied { self.sinks.applied() }
        if units > 0 { self.tellWork(since: begunAt) }
    }

    private func perform(_ action: OwnerAction) throws {
        let life = self.state.value.life
        switch action {
        case .read(let position): try self.read(from: position)
        case .tell(let run): self.tell(run)
        case .commit(let record, let expected):
            self.journal.commitOutput(self.partition, expected: expected, record) { result in
                self.execute(in: life) { self.drive { machine in try machine.committed(result) } }
            }
        case .awaitRetry:
            self.loop.scheduleTask(in: Self.retryDelay) {
                guard self.state.value.life == life else { return }
                self.drive { machine in machine.retry() }
                self.goOn()
            }
        case .readNewestOutput(let unknown):
            self.journal.readNewestOutput(self.partition) { result in
                self.execute(in: life) { self.drive { machine in try self.settle(unknown, result, &machine) } }
            }
        case .publish(let output): self.publish(output)
        case .writeState(let checkpoint): self.tellGate(closedAt: checkpoint)
        case .tellCheckpoint(let checkpoint): self.tell(checkpoint)
        }
    }

    /// Asks for entries. Those in memory are there before this returns, and no time is lost.
    private func read(from position: LogPosition) throws {
        let life = self.state.value.life
        self.state.value.isAskingForEntries = true
        self.journal.read(self.partition, from: position, entriesMax: Self.entriesPerRead) { result in
            if self.loop.inEventLoop, self.state.value.isAskingForEntries { return self.takeAtOnce(result) }
            self.execute(in: life) { self.takeLater(result) }
        }
        self.state.value.isAskingForEntries = false
        if let failure = self.state.value.readFailure.take() { throw failure }
    }

    private func takeAtOnce(_ result: Result<[LogEntry], JournalError>) {
        do {
            try self.state.value.machine.takeEntries(result)
        } catch {
            self.state.value.readFailure = error
        }
    }

    private func takeLater(_ result: Result<[LogEntry], JournalError>) {
        guard !self.state.value.hasFailed else { return }
        do {
            try self.state.value.machine.takeEntries(result)
        } catch {
            if let replay = self.state.value.replay.take() { return replay.isOver.fail(error) }
            return self.fail(error)
        }
        self.goOn()
    }

    /// Goes on with the log: with its replay, until that is over.
    private func goOn() {
        if let replay = self.state.value.replay { self.goOn(replay) } else { self.takeTurn() }
    }

    /// An output may have been written, and the newest one says whether it was.
    private func settle(
        _ unknown: JournalError,
        _ result: Result<OutputEntry?, JournalError>,
        _ machine: inout OwnerMachine
    ) throws {
        let newest = try result.get()
        try machine.takeNewestOutput(newest)
        let place = newest?.position.description ?? ""
        self.logger.warning("partition \(self.partition): output \(place) was written after all: \(unknown)")
    }

    private func publish(_ output: CommittedEffects) {
        let spans = self.services.tracing == nil ? [] : self.beginReloads(output.effects)
        self.state.value.news(.committed(output))
        for span in spans { span.end() }
    }

    private func beginReloads(_ effects: [Effect]) -> [TracedSpan] {
        self.state.withValue { state in state.traces?.issued(effects, state.held.machine.engine, self.journal) ?? [] }
    }

    /// An entry is about to be begun, or to be gone on with.
    private func noteBeginning() {
        guard self.services.tracing != nil, !self.state.value.machine.isReplaying, self.state.value.entryBegunAt == nil
        else { return }
        self.state.value.entryBegunAt = DefaultTracerClock.now
    }

    /// Tells of an entry that was applied whole.
    private func tell(_ run: EntryRun) {
        let (entry, output) = (run.entry, run.output)
        self.state.value.appliedBytes += entry.bytes.count
        let begunAt = self.state.value.entryBegunAt
        self.state.value.traces?.applied(entry, output, from: begunAt)
        self.state.value.entryBegunAt = nil
        self.noteBeginning()
        // Until the partition is this node's, its owner says what tokens stand for.
        let isStandby = self.state.value.machine.isStandingBy
        if !isStandby, !output.directory.isEmpty { self.sinks.directory(self.partition, output.directory) }
        if !output.audit.isEmpty { self.sinks.audit(output.audit, self.partition, entry.position, entry.logTime) }
        self.tellUsage()
        // No sender waits for the decision about a push, so most of the time none of these is expected.
        for answer in output.answers where !self.state.value.expected.isEmpty {
            let place = RecordPlace(position: entry.position, index: answer.recordIndex)
            self.state.value.expected.removeValue(forKey: place)?.succeed(answer.result)
        }
        if self.services.elsewhere != nil { self.keepAnswers(output.answers, at: entry.position) }
        self.countWork(run)
        self.answerWaitingQuestions()
    }

    private func keepAnswers(_ answers: [RecordAnswer], at position: LogPosition) {
        for answer in answers where answer.result.isAwaited {
            let place = RecordPlace(position: position, index: answer.recordIndex)
            self.state.value.recentAnswers.keep(answer.result, at: place)
        }
    }

    /// Tells each app's share of the registry, if that has changed.
    private func tellUsage() {
        let version = self.state.value.engine.usageVersion
        guard let told = self.state.value.toldUsage, told != version else { return }
        self.state.value.toldUsage = version
        self.sinks.usage(self.partition, self.state.value.engine.appUsages)
    }

    private func tell(_ checkpoint: OwnerCheckpoint) {
        let waiting = self.state.value.checkpoints
        self.state.value.checkpoints = []
        for promise in waiting { promise.succeed(checkpoint) }
    }

    func fail(_ error: any Error) {
        guard !self.state.value.hasFailed else { return }
        if self.isStandby.load(ordering: .relaxed) { return self.failStandby(error) }
        self.logFailure(error)
        if self.services.elsewhere != nil, (error as? JournalError)?.code == .fenced {
            self.endLife()
        } else {
            self.state.value.hasFailed = true
            self.endWaiting(error)
        }
        self.sinks.failed(self.partition, error)
    }

    /// Ends all work, and fails the promises that wait for it.
    func endWaiting(_ error: any Error) {
        self.state.value.machine.stop()
        for promise in self.state.value.expected.values { promise.fail(error) }
        self.state.value.expected = [:]
        for promise in self.state.value.checkpoints { promise.fail(error) }
        self.state.value.checkpoints = []
        self.answerWaitingQuestions()
        self.endSearches()
        self.state.value.tick?.cancel()
        self.endGate(error)
        let leaving = self.state.value.leaving
        self.state.value.leaving = []
        for promise in leaving { promise.succeed() }
    }
}
