import Engine
package import Journaling
package import Logging
import NIOCore
import NIOPosix
import Ownership
import Settings
package import WidgetModel

/// Decides everything that a log has, writes a snapshot of each partition that holds it all, and ends. It does the same as a gateway that
/// starts and is told to end, but opens no listeners.
///
/// Nothing is delivered. The gateway that starts next delivers the effects that are decided meanwhile.
package struct LogSettling: Sendable {
    private let journal: any Journal
    private let store: any SnapshotStore
    private let clock: LogClock
    private let logger: Logger

    /// - Parameters:
    ///   - journal: The log; closed once this is through.
    ///   - store: Where its snapshots are.
    ///   - clock: Stamps the ticks for timers that are due by now.
    ///   - logger: Where to write.
    package init(journal: any Journal, store: any SnapshotStore, clock: LogClock, logger: Logger) {
        self.journal = journal
        self.store = store
        self.clock = clock
        self.logger = logger
    }

    /// - Parameter progress: Told now and then how far a partition is, and how far it has to go at least.
    /// - Returns: The last snapshots; a partition without an entry has none.
    /// - Throws: ``OwnerError``, ``EngineError`` or ``JournalError`` if a partition cannot be decided to its end,
    ///   `OwnerError.noState` if its snapshot could not be written.
    package func run(
        progress: @escaping @Sendable (PartitionID, LogPosition, LogPosition) -> Void
    ) async throws -> [SnapshotID] {
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let partitions = self.journal.format.partitions
        let services = PartitionOwner.Services(
            journal: self.journal,
            snapshots: self.store,
            clock: self.clock,
            logger: self.logger
        )
        let owners = (0..<partitions).map { number in
            let partition = PartitionID(UInt16(number))
            return PartitionOwner(
                engine: Engine(partition: partition, partitions: partitions),
                partition: partition,
                loop: loops.next(),
                services: services,
                sinks: .init(hosts: { _, _ in }, directory: { _, _ in }, failed: { _, _ in })
            )
        }
        let snapshotter = Snapshotter(
            owners: owners,
            journal: self.journal,
            store: self.store,
            settings: GatewayConfiguration.Snapshots(),
            clock: self.clock,
            logger: self.logger
        )
        do {
            try await RulesAdoption(journal: self.journal, store: self.store, logger: self.logger).run()
            // One after the other: each may take as much memory as it needs.
            for owner in owners { _ = try await owner.start { progress(owner.partition, $0, $1) } }
            let made = await snapshotter.makeLastSnapshots()
            var settled: [SnapshotID] = []
            for (owner, id) in zip(owners, made) {
                if let id { settled.append(id); continue }
                guard try await owner.progress().applied == .start else {
                    throw OwnerError.noState(partition: owner.partition, reason: "its snapshot could not be written")
                }
            }
            await self.end(owners, snapshotter, loops)
            return settled
        } catch {
            await self.end(owners, snapshotter, loops)
            throw error
        }
    }

    private func end(
        _ owners: [PartitionOwner],
        _ snapshotter: Snapshotter,
        _ loops: MultiThreadedEventLoopGroup
    ) async {
        for owner in owners { owner.stop() }
        await snapshotter.stop()
        // Nothing may come back to a loop that is gone.
        self.journal.close()
        try? await loops.shutdownGracefully()
    }
}
