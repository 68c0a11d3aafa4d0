package import Engine
package import Journaling
package import Logging
package import NIOCore
package import Ownership
import Synchronization
import Tracing
package import WidgetModel

/// The one reader of a partition's log: applies each entry to the partition's engine and commits the effects.
///
/// An `OwnerMachine` decides the actions; this has the loop, the journal, the clock and the promises of waiting callers.
///
/// Everything of a partition happens on its ``loop``, which belongs to owners alone. Answers that a registration waits
/// for are expected before the entry is announced (the journal calls back with receipts before it hints at new
/// entries, and both hop to the same loop in that order), so none can be missed.
///
/// Where several nodes share the log it has more than one life: ``start(progress:)`` begins one, ``leave(committing:)`` ends it.
/// Meanwhile it may follow the owner that another node has: see ``standBy()``.
package final class PartitionOwner: Sendable {
    package let partition: PartitionID
    package let loop: any EventLoop
    let services: Services
    let sinks: Sinks
    /// Set by ``stop()``, once in a life.
    let isStopping = Atomic<Bool>(false)
    /// Whether the partition is another node's, or not read yet.
    let isAbsent: Atomic<Bool>
    /// Whether outputs of another node's owner are wanted.
    let isStandby = Atomic<Bool>(false)
    /// Told of arrivals and of the work that was done.
    let work: PartitionWork
    let state: NIOLoopBoundBox<State>

    /// The services that an owner works with.
    package struct Services: Sendable {
        /// The log.
        package let journal: any Journal
        /// Where the state is read from when it starts; nil if the log is replayed from its beginning.
        package let snapshots: (any SnapshotStore)?
        /// Says when a tick is due.
        package let clock: LogClock
        /// Where to write.
        package let logger: Logger
        /// Nil where pushes are not traced.
        package let tracing: GatewayTracing?
        /// Says where partitions are that are not here; nil where all are.
        package let elsewhere: Elsewhere?
        /// The decision rules that it decides by.
        package let rules: Int

        /// Where another node has a partition, nil if none has.
        package typealias Elsewhere = @Sendable (PartitionID) -> String?

        package init(
            journal: any Journal,
            snapshots: (any SnapshotStore)? = nil,
            clock: LogClock,
            logger: Logger,
            tracing: GatewayTracing? = nil,
            elsewhere: Elsewhere? = nil,
            rules: Int = Engine.version
        ) {
            self.journal = journal
            self.snapshots = snapshots
            self.clock = clock
            self.logger = logger
            self.tracing = tracing
            self.elsewhere = elsewhere
            self.rules = rules
        }
    }

    var journal: any Journal { self.services.journal }
    var logger: Logger { self.services.logger }

    /// Loop-confined state.
    struct State {
        let held: HeldMachine
        /// Told of outputs that are durable: nothing, until ``PartitionOwner/serve(_:)``.
        var news: @Sendable (OwnerNews) -> Void = { _ in }
        var machine: OwnerMachine {
            _read { yield self.held.machine }
            nonmutating _modify { yield &self.held.machine }
        }
        var engine: Engine {
            _read { yield self.held.machine.engine }
        }
        /// Questions that wait until the entry is applied whole.
        var questions: [@Sendable () -> Void] = []
        /// Searches, the first of which is under way.
        var searches: [HeldSearch] = []
        /// The promises that wait for an output that goes as far as now.
        var checkpoints: [EventLoopPromise<OwnerCheckpoint>] = []
        /// Bytes of the entries that were applied since the process started, in all lives.
        var appliedBytes = 0
        /// Of which usage others were told; nil until the start is over.
        var toldUsage: UInt64?
        /// Whether there will be another turn in any case.
        var isTurnPlanned = false
        var hasFailed = false
        /// Counts the owner's lives: results that were asked for in an earlier life are of no use in this one.
        var life = 0
        /// While it stands by: the newest output that another node's owner is known to have written.
        var newestOutput: OutputEntry?
        /// Why it does not stand by any more, until that is told.
        var standbyFault: (any Error)?
        /// Whether entries are observed, in this life or an earlier one.
        var isObserving = false
        /// The promises that wait at the gate to other rules.
        var gate: GateWaiting?
        /// The promises that wait until the owner has left.
        var leaving: [EventLoopPromise<Void>] = []
        /// While a read is asked for: entries that come before the journal returns are taken at once.
        var isAskingForEntries = false
        /// The fault of entries that came like that.
        var readFailure: (any Error)?
        /// The replay, until it is over.
        var replay: Replay?
        var expected: [RecordPlace: EventLoopPromise<RecordAnswer.Result>] = [:]
        /// The answers to the last records, for other nodes whose clients wait.
        var recentAnswers = RecentAnswers()
        var tick: Scheduled<Void>?
        /// Nil where pushes are not traced.
        var traces: PartitionTraces?
        /// When the entry was begun that is applied in part, where that is told.
        var entryBegunAt: DefaultTracerClock.Timestamp?
        /// The work since the start, in units.
        var unitsDone = 0
        /// The part of it that was told.
        var unitsTold = 0
        /// The nanoseconds of work since the last telling.
        var nanosecondsUntold = 0
        /// Whether instances came or went since.
        var hasNewAudience = true

        init(_ machine: consuming OwnerMachine) { self.held = HeldMachine(machine) }
    }

    /// The machine, which only the loop touches: the loop's box takes no value that cannot be copied.
    final class HeldMachine {
        var machine: OwnerMachine

        init(_ machine: consuming OwnerMachine) { self.machine = machine }
    }

    /// - Parameters:
    ///   - engine: The state to begin with, where there is no snapshot.
    ///   - partition: The partition.
    ///   - loop: Where everything happens.
    ///   - services: The log, and the other services.
    ///   - work: Told of arrivals and of the work that was done; nil where no other part reads that.
    ///   - sinks: The functions that take the handed on results.
    ///   - outputBytesPerCommit: A larger output is written in chunks; see ``JournalLimits/outputBytesPerCommit``.
    package init(
        engine: consuming Engine,
        partition: PartitionID,
        loop: any EventLoop,
        services: Services,
        work: PartitionWork? = nil,
        sinks: Sinks,
        outputBytesPerCommit: Int = JournalLimits().outputBytesPerCommit
    ) {
        self.partition = partition
        self.work = work ?? PartitionWork(partition)
        self.loop = loop
        self.services = services
        self.sinks = sinks
        self.isAbsent = Atomic(services.elsewhere != nil)
        if services.elsewhere != nil { self.work.leave() }
        let chunkBytesMax = Self.chunkBytesMax(outputBytesPerCommit)
        var state = State(OwnerMachine(engine, chunkBytesMax: chunkBytesMax))
        state.traces = services.tracing.map { PartitionTraces($0, partition) }
        self.state = NIOLoopBoundBox.makeBoxSendingValue(state, eventLoop: loop)
    }

    /// Hands on the effects that are committed from now on: those before are found in the state.
    ///
    /// - Parameter news: Told of outputs that are durable, and behind which they are, on the owner's loop.
    package func serve(_ news: @escaping @Sendable (OwnerNews) -> Void) async throws {
        try await self.loop.submit {
            self.state.value.news = news
            if !self.isAway, !self.state.value.machine.isReplaying { self.tellBeginning() }
        }.get()
    }

    private func tellBeginning() { self.state.value.news(.begins(behind: self.state.value.machine.lastOutput)) }

    /// Cuts the outputs that come from now on into larger or smaller chunks.
    package func setOutputBytesPerCommit(_ bytes: Int) {
        self.loop.execute { self.state.value.machine.chunkBytesMax = Self.chunkBytesMax(bytes) }
    }

    /// No journal takes an output that is larger than one effect may be.
    private static func chunkBytesMax(_ outputBytesPerCommit: Int) -> Int {
        min(outputBytesPerCommit, JournalLimits.effectBytesMax)
    }
}

// MARK: - Start

extension PartitionOwner {
    /// Rebuilds the engine from the newest snapshot and the log behind it, and then follows the log. One that stands by goes on from
    /// where it is.
    ///
    /// - Parameter progress: Told now and then how far the replay is, and how far it has to go at least.
    /// - Returns: How many entries were replayed.
    /// - Throws: ``JournalError``, ``EngineError`` or ``OwnerError`` if the log cannot be read or was written by an
    ///   engine that decides differently.
    package func start(
        progress: @escaping @Sendable (_ applied: LogPosition, _ through: LogPosition) -> Void
    ) async throws -> Int {
        let isStandby = try await self.loop.submit { self.beginToOwn() }.get()
        let state = try await isStandby ? Handover<LoadedState>() : self.load(tellsDirectory: true)
        try await self.loop.submit { self.observe() }.get()
        let newest = try await self.journal.newestOutput(self.partition)
        let replay = self.loop.flatSubmit { () -> EventLoopFuture<Int> in
            do {
                if let loaded = state.take() { self.begin(loaded) }
                try self.state.value.machine.start(newest: self.newer(newest))
                self.state.value.newestOutput = nil
            } catch {
                return self.loop.makeFailedFuture(error)
            }
            return self.replay { progress($0, newest?.record.through ?? .start) }
        }
        return try await replay.map { replayed in
            self.state.value.toldUsage = self.state.value.engine.usageVersion
            self.sinks.usage(self.partition, self.state.value.engine.appUsages)
            // A replay says nothing of the pace: it decides the log's entries again, and waits for the disk.
            self.state.value.unitsTold = self.state.value.unitsDone
            self.state.value.nanosecondsUntold = 0
            self.tellWork(since: .now())
            guard self.services.elsewhere != nil else {
                self.tellBeginning()
                self.armTick()
                return replayed
            }
            self.isAbsent.store(false, ordering: .relaxed)
            self.sinks.arrived(self.partition)
            self.tellBeginning()
            // Commits effects that another node has decided and not committed, although nothing more may come.
            self.takeTurn()
            return replayed
        }.get()
    }

    /// Observes appends. Called before the replay, which finds the entries that were appended until then.
    func observe() {
        guard !self.state.value.isObserving else { return }
        self.state.value.isObserving = true
        self.journal.observeAppends(self.partition) { [weak self] position in
            guard let self else { return }
            // Here and not on the loop, which may be busy with earlier entries.
            self.work.noteArrival(position, at: .now())
            self.loop.execute { self.announce(position) }
        }
    }

    /// Begins with the state of a snapshot.
    func begin(_ loaded: consuming LoadedState) {
        guard let snapshot = loaded.snapshot else { return }
        let chunkBytesMax = self.state.value.machine.chunkBytesMax
        self.state.value.machine = loaded.makeOwner(chunkBytesMax: chunkBytesMax)
        self.state.value.traces?.restored(at: snapshot.position)
        self.logger.notice(
            "read a snapshot",
            metadata: ["partition": "\(self.partition)", "position": "\(snapshot.position)"]
        )
    }
}
