import Engine
import History
import Journaling
package import Logging
import NIOPosix
import Synchronization
package import WidgetModel

/// Writes decisions down beside everything else: engines make them, and this asks for them, a block at a time.
///
/// The ring in which an engine keeps its last decisions is the queue: nothing waits for a disk here, and those that the ring has dropped
/// before they were asked for are left out and counted.
package final class DecisionFiler: Sendable {
    /// Decisions in a block: one is asked for in a millisecond or two of a partition's time.
    package static let blockRows = FiledDecisionsQuestion.limitMax
    /// How often it is looked whether there are enough for one, and how many looks later fewer will do.
    private static let lookSpacing = Duration.seconds(1)
    private static let looksMax = 10
    /// Between two full blocks of a partition, so that it does other things, too.
    private static let rest = Duration.milliseconds(5)

    /// How far a replay is that makes decisions again.
    package struct Progress: Hashable, Sendable {
        package var isRunning = true
        /// Entries of the log that were applied, of so many.
        package var entries: UInt64 = 0
        package var of: UInt64 = 0
        /// Why it did not come to its end; nil if it did, or is on its way.
        package var fault: String?
    }

    package let store: DecisionStore
    private let log: CommandLog
    private let history: HistoryQuestions?
    private let clock: LogClock
    private let hasRoom: @Sendable () -> Bool
    private let logger: Logger
    /// By partition; nil where none was ever begun.
    private let replays: Mutex<[Progress?]>
    /// Threads that may wait.
    private let pool = NIOThreadPool.singleton

    /// - Parameters:
    ///   - history: Replays the log where decisions are lost; nil where they are lost for good.
    ///   - hasRoom: Whether the disk has room for data that can be made again.
    package init(
        _ store: DecisionStore,
        log: CommandLog,
        history: HistoryQuestions?,
        clock: LogClock,
        hasRoom: @escaping @Sendable () -> Bool = { true },
        logger: Logger
    ) {
        self.store = store
        self.log = log
        self.history = history
        self.clock = clock
        self.hasRoom = hasRoom
        self.logger = logger
        self.replays = Mutex(Array(repeating: nil, count: log.partitions))
    }

    /// Writes, until the task is cancelled. Decisions that are not written then are in the engines' rings at the next
    /// start.
    package func run() async {
        guard await self.load() else { return }
        var looks = 0
        while !Task.isCancelled {
            looks += 1
            await self.file(atLeast: looks.isMultiple(of: Self.looksMax) ? 1 : Self.blockRows)
            do {
                try await Task.sleep(for: Self.lookSpacing)
            } catch {
                return
            }
        }
    }

    /// Reads the decisions that an earlier process has left; where they are lost, replays begin that make them again.
    ///
    /// - Returns: Whether it can be written to.
    package func load() async -> Bool {
        let store = self.store
        do {
            if try await self.pool.runIfActive({ try store.load() }) { return true }
        } catch {
            self.logger.warning("decisions are kept in memory only", metadata: ["error": "\(error)"])
            return false
        }
        guard store.isOn else { return true }
        for number in 0..<self.log.partitions {
            let partition = PartitionID(UInt16(number))
            // Where an engine has all that it ever decided, nothing is lost.
            let oldest = try? await self.log.ask(partition, KeptDecisionsQuestion()).oldest
            if let oldest, oldest > 0 { self.replay(partition) }
        }
        return true
    }

    /// Writes every engine's decisions since the last time.
    ///
    /// - Parameter least: Not where there are fewer.
    package func file(atLeast least: Int = 1) async {
        for partition in self.log.partitionIDs
        where self.store.isOn && self.hasRoom() && self.log.isPresent(partition) {
            do {
                try await self.file(partition, least)
            } catch {
                self.logger.warning(
                    "decisions cannot be written; they are kept in memory only",
                    metadata: ["error": "\(error)"]
                )
            }
        }
        let (store, now) = (self.store, self.clock.now())
        do {
            try await self.pool.runIfActive { try store.prune(now: now) }
        } catch {
            self.logger.warning("old decisions cannot be removed", metadata: ["error": "\(error)"])
        }
    }

    private func file(_ partition: PartitionID, _ least: Int) async throws {
        let (store, now) = (self.store, self.clock.now())
        while !Task.isCancelled {
            let place = store.place(in: partition)
            let from = place.next
            let question = FiledDecisionsQuestion(from: from ?? 0, atLeast: least, limit: Self.blockRows)
            let page = try await self.log.ask(partition, question)
            if (from ?? 0) > page.count {
                self.logger.warning("the stored decisions belong to another log, and are removed")
                try await self.pool.runIfActive { try store.removeAll() }
                continue
            }
            guard !page.rows.isEmpty else { return }
            let block = DecisionBlock(partition, first: page.first, page.rows, about: page.instances)
            let leftOut = from.map { block.head.first - $0 } ?? 0
            try await self.pool.runIfActive { try store.write(block, at: place, leftOut: leftOut, now: now) }
            guard page.rows.count == Self.blockRows else { return }
            try await Task.sleep(for: Self.rest)
        }
    }

    /// Removes everything that is kept.
    package func removeAll() async throws {
        let store = self.store
        try await self.pool.runIfActive { try store.removeAll() }
    }

    // MARK: Replays

    /// How far the last replay of a partition is; nil if none was begun.
    package func progress(_ partition: PartitionID) -> Progress? {
        self.replays.withLock { $0[Int(partition.rawValue)] }
    }

    /// Makes a partition's decisions again that are not in the store, from the oldest state that is kept on, in the background; does
    /// nothing while that is under way.
    package func replay(_ partition: PartitionID) {
        guard let history = self.history, self.store.isOn else { return }
        let index = Int(partition.rawValue)
        let isBegun = self.replays.withLock { replays in
            if replays[index]?.isRunning == true { return false }
            replays[index] = Progress()
            return true
        }
        guard isBegun else { return }
        Task {
            var fault: String?
            do throws(Problem) {
                let applied = await self.log.progress().first { $0.partition == partition }?.applied ?? .start
                let oldest = try await self.log.ask(partition, KeptDecisionsQuestion()).oldest
                let replay = DecisionReplay(
                    partition: partition,
                    store: self.store,
                    // Later decisions come from the filing of the engines' new ones.
                    until: self.store.place(in: partition).next ?? oldest,
                    through: applied,
                    now: self.clock.now()
                )
                try await history.ask { log, start, isCancelled in
                    try replay.run(log, start, isCancelled) { done, all in
                        self.replays.withLock { $0[index] = Progress(entries: done, of: all) }
                    }
                }
            } catch {
                fault = error.detail
                self.logger.warning(
                    "missing decisions cannot be restored from the log",
                    metadata: ["error": "\(error.detail)"]
                )
            }
            self.replays.withLock { [fault] in
                $0[index]?.isRunning = false
                $0[index]?.fault = fault
            }
        }
    }
}
