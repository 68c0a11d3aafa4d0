import Engine
import Logging
import NIOCore
import NIOPosix
import Ownership
import Partitions
import ServiceLifecycle
import Settings
import WidgetModel

extension Gateway {
    /// An owner for each partition, each on its own event loop; none has started.
    static func owners(
        of configuration: GatewayConfiguration,
        on loops: MultiThreadedEventLoopGroup,
        _ services: PartitionOwner.Services,
        _ work: WorkAdmission,
        _ sinks: PartitionOwner.Sinks
    ) -> [PartitionOwner] {
        (0..<configuration.partitions).map { number in
            let partition = PartitionID(UInt16(number))
            return PartitionOwner(
                engine: Engine(
                    partition: partition,
                    partitions: configuration.partitions,
                    rules: services.rules
                ),
                partition: partition,
                loop: loops.next(),
                services: services,
                work: work.partitions[number],
                sinks: sinks,
                outputBytesPerCommit: configuration.limits.outputCommitBytesMax
            )
        }
    }

    /// Starts the partitions side by side.
    ///
    /// - Throws: ``OwnerError/shutDown(partition:)`` if the gateway is told to end before they have started.
    func startOwners() async throws {
        let logger = self.logs.logger(.partitions)
        if let placed = self.placed { return try await self.settle(placed) }
        if let snapshots = self.stores.snapshots {
            try await RulesAdoption(journal: self.watched, store: snapshots, logger: logger).run()
        }
        let started = NIODeadline.now()
        let owners = self.owners
        // A log that takes long is no reason to outlast a signal.
        let replayed = try await withTaskCancellationOrGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for owner in owners {
                    let progress = ReplayProgress(owner.partition, of: owners.count, self.readiness, logger)
                    group.addTask { try await owner.start { progress.noteApplied($0, through: $1) } }
                }
                return try await group.reduce(0, +)
            }
        } onCancelOrGracefulShutdown: {
            for owner in owners { owner.stop() }
        }
        // Some may have had nothing left to apply.
        for owner in owners { try owner.checkStop() }
        if replayed > 0 {
            let milliseconds = (NIODeadline.now() - started).nanoseconds / 1_000_000
            logger.notice("replayed", metadata: ["entries": "\(replayed)", "milliseconds": "\(milliseconds)"])
        }
    }
}
