import Engine
import Glibc
package import Journaling
package import Logging
import NIOPosix
import Ownership
package import Settings
import Synchronization
package import WidgetModel

/// Writes snapshots of the partitions, one after the other, and lets the log go that they make needless.
///
/// It never touches a partition's engine. A snapshot is made by a second engine that reads the snapshot before and the log
/// behind it, on a thread of its own that gives way to all others: so no push ever waits for one, and each snapshot was
/// proved by a replay that came to the same hash as the owner. It costs that replay, and the memory of one partition's
/// state while it lasts.
package final class Snapshotter: Sendable {
    /// The counts of snapshots since the start.
    package struct Counters: Hashable, Sendable {
        package var written = 0
        package var failed = 0
        package var trimmedFiles = 0
        /// How often history went before its time, since the disk was nearly full.
        package var shortened = 0
        /// The newest one of each partition that has one.
        package var newest: [SnapshotID] = []
        /// Partitions with entries that no snapshot has held for ``overdueIntervals``, the oldest first.
        package var overdue: [Overdue] = []

        package init() {}
    }

    /// A partition with entries that no snapshot holds, and since when.
    package struct Overdue: Hashable, Sendable {
        package var partition: PartitionID
        package var since: Instant

        package init(partition: PartitionID, since: Instant) {
            self.partition = partition
            self.since = since
        }
    }

    /// After so many intervals without a snapshot something is wrong: one may fail, or wait for others.
    package static let overdueIntervals: Int64 = 3

    /// How often it is looked whether a snapshot is due.
    private static let lookSpacing = Duration.seconds(1)

    struct State {
        var counters = Counters()
        /// When room was made last, and how much had been logged then.
        var madeRoom: (at: Instant, writtenBytes: Int)?
        /// By partition.
        var timings: [SnapshotTiming]
    }

    let owners: [PartitionOwner]
    let journal: any Journal
    let store: any SnapshotStore
    private let live: Shared<GatewayConfiguration.Snapshots>
    var settings: GatewayConfiguration.Snapshots { self.live.value }
    let clock: LogClock
    let logger: Logger
    /// The watch over the disk's room; nil where it does not matter.
    let storage: StorageWatch?
    let thread = NIOThreadPool(numberOfThreads: 1)
    private let isStopping = Atomic<Bool>(false)
    let state: Mutex<State>

    /// - Parameters:
    ///   - owners: The owner of every partition, in the partitions' order.
    ///   - journal: The log.
    ///   - store: Where snapshots go.
    ///   - settings: When, and how much is kept.
    ///   - clock: The log's.
    ///   - logger: Where to write.
    ///   - storage: The watch over the disk's room; nil where it does not matter.
    package init(
        owners: [PartitionOwner],
        journal: any Journal,
        store: any SnapshotStore,
        settings: GatewayConfiguration.Snapshots,
        clock: LogClock,
        logger: Logger,
        storage: StorageWatch? = nil
    ) {
        self.owners = owners
        self.journal = journal
        self.store = store
        self.live = Shared(settings)
        self.clock = clock
        self.logger = logger
        self.storage = storage
        let now = clock.now()
        // Spread over the interval, so that partitions take turns.
        let spread = Int64(max(1, owners.count))
        let timings = owners.indices.map { index in
            SnapshotTiming(from: now - .milliseconds(settings.interval.milliseconds * Int64(index) / spread))
        }
        self.state = Mutex(State(timings: timings))
        self.thread.start()
    }

    /// Keeps to other settings from now on.
    package func applySettings(_ settings: GatewayConfiguration.Snapshots) { self.live.set(settings) }

    package var counters: Counters {
        let limit = self.clock.now() - .milliseconds(self.settings.interval.milliseconds * Self.overdueIntervals)
        return self.state.withLock { state in
            var counters = state.counters
            for (timing, owner) in zip(state.timings, self.owners) {
                guard let since = timing.unsavedSince, since <= limit else { continue }
                counters.overdue.append(Overdue(partition: owner.partition, since: since))
            }
            counters.overdue.sort { $0.since < $1.since }
            return counters
        }
    }

    /// Makes snapshots as they become due, until it is cancelled.
    package func run() async {
        while !Task.isCancelled {
            await self.look()
            try? await Task.sleep(for: Self.lookSpacing)
        }
    }

    /// Makes room if the disk is nearly full, and the snapshots that are due now, one partition after the other.
    package func look() async {
        await self.makeRoomIfNeeded()
        for owner in self.owners where !Task.isCancelled {
            let index = Int(owner.partition.rawValue)
            guard let progress = try? await owner.progress(), !progress.hasFailed else {
                self.state.withLock { $0.timings[index].suspend() }
                continue
            }
            let (now, settings) = (self.clock.now(), self.settings)
            let step = self.state.withLock { state in
                state.timings[index].step(
                    applied: progress.appliedBytes,
                    at: now,
                    every: settings.interval,
                    orAfter: settings.logBytesMax,
                    history: settings.history
                )
            }
            switch step {
            case .wait: break
            case .write: await self.makeSnapshot(of: owner)
            case .stir:
                self.journal.append(Submission(partition: owner.partition, records: .tick)) { _ in }
            }
        }
    }

    /// Makes a snapshot of every partition that holds everything committed, for a gateway that ends: a start has nothing to replay then,
    /// and other decision rules may go on from there. No other caller may append any more.
    ///
    /// - Returns: The snapshots, by partition; nil for one whose snapshot could not be made, which is reported, and for one that is
    ///   another node's.
    @discardableResult
    package func makeLastSnapshots() async -> [SnapshotID?] {
        var made: [SnapshotID?] = []
        for owner in self.owners { made.append(owner.isAway ? nil : await self.makeLastSnapshot(of: owner)) }
        return made
    }

    private func makeLastSnapshot(of owner: PartitionOwner) async -> SnapshotID? {
        do {
            try await owner.endTicks()
            // A tick may have been on its way.
            for _ in 0..<Self.lastAttemptsMax {
                let newest = try await self.thread.runIfActive { try self.store.snapshots(owner.partition).first }
                if let newest, try await self.isLast(newest) { return newest }
                let applied = try await owner.progress().applied
                guard applied > .start, await self.makeSnapshot(of: owner) != nil else { return nil }
            }
        } catch {
            self.logger.error(
                "no last snapshot could be made; the next start replays the log",
                metadata: ["partition": "\(owner.partition)", "error": "\(error)"]
            )
        }
        return nil
    }

    /// How often a last snapshot is tried behind which there are entries.
    private static let lastAttemptsMax = 4

    /// Whether nothing is committed behind a snapshot.
    private func isLast(_ id: SnapshotID) async throws -> Bool {
        try await self.thread.runIfActive {
            try self.journal.history.read(id.partition, from: id.position.next, entriesMax: 1).isEmpty
        }
    }

    /// Gives up the snapshot that is being written, and ends the thread.
    package func stop() async {
        self.isStopping.store(true, ordering: .relaxed)
        try? await self.thread.shutdownGracefully()
    }

    /// Makes a snapshot of a partition now, and removes the snapshots and log files that it makes needless; a failure
    /// is reported and counted.
    ///
    /// - Returns: The snapshot; nil if it could not be made.
    @discardableResult
    package func makeSnapshot(of owner: PartitionOwner) async -> SnapshotID? {
        let partition = owner.partition
        do {
            let bytes = try await owner.progress().appliedBytes
            let checkpoint = try await owner.checkpoint()
            let id = try await self.thread.runIfActive {
                _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, self.settings.niceness)
                let writer = SnapshotWriter(of: owner, in: self.store) {
                    if self.isStopping.load(ordering: .relaxed) { throw CancellationError() }
                }
                return try writer.write(checkpoint)
            }
            let now = self.clock.now()
            self.state.withLock { state in
                state.timings[Int(partition.rawValue)].written(applied: bytes, at: now)
                state.counters.written += 1
                state.counters.newest.removeAll { $0.partition == partition }
                state.counters.newest.append(id)
                state.counters.newest.sort { $0.partition < $1.partition }
            }
            let removed = try await self.thread.runIfActive { try self.tidy(now, history: self.settings.history) }
            self.state.withLock { $0.counters.trimmedFiles += removed }
            return id
        } catch {
            guard !self.isStopping.load(ordering: .relaxed) else { return nil }
            let now = self.clock.now()
            self.state.withLock { state in
                state.counters.failed += 1
                state.timings[Int(partition.rawValue)].failed(at: now)
            }
            self.logger.error(
                "no snapshot could be made; the log is kept, and a restart replays it",
                metadata: ["partition": "\(partition)", "error": "\(error)"]
            )
            return nil
        }
    }

    /// Removes the snapshots that are not needed, then the log behind the oldest that is.
    ///
    /// - Parameter history: How much of the log is kept whatever snapshots there are.
    /// - Returns: How many files of the log were removed.
    func tidy(_ now: Instant, history: Interval) throws -> Int {
        var oldest: [LogPosition] = []
        for owner in self.owners {
            // Another node's are that one's to keep.
            guard !owner.isAway else {
                oldest.append(.start)
                continue
            }
            let all = try self.store.snapshots(owner.partition)
            let kept = SnapshotRetention.kept(of: all, now: now, history: history)
            for id in all where !kept.contains(id) { try self.store.remove(id) }
            // With one snapshot alone there is nothing to fall back to but the log.
            oldest.append(kept.count < SnapshotRetention.newestKept ? .start : kept.last?.position ?? .start)
        }
        return try self.store.trim(through: oldest, loggedBefore: now - history)
    }
}
