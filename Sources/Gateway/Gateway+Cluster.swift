import Clustering
import Delivery
import Journaling
import Logging
import Ownership
import Partitions
import ServiceLifecycle
import Settings
import WidgetModel

/// Where several nodes share a log.
extension Gateway {
    /// The placement, which starts and ends the owners where nodes share them; nil where this gateway has all of them.
    static func placement(
        _ stores: GatewayStores,
        _ owners: [PartitionOwner],
        _ journal: any Journal,
        _ readiness: Readiness,
        _ logger: Logger
    ) -> PlacedOwners? {
        guard let membership = stores.membership else { return nil }
        let adoption = stores.snapshots.map { snapshots in
            RulesAdoption(
                journal: journal,
                store: snapshots,
                rules: stores.rules,
                authority: .operators,
                logger: logger
            )
        }
        return PlacedOwners(membership, owners, readiness, logger, snapshots: stores.snapshots) { partition in
            _ = try await adoption?.run([partition])
        }
    }

    /// Joins the cluster, and waits until this node has its partitions. From here on it answers other nodes' questions about them.
    func settle(_ placed: PlacedOwners) async throws {
        try placed.answerOthers()
        Task { await placed.run() }
        try await self.unlessToldToEnd { try await placed.settle() }
    }

    /// Waits for something that brokers may delay, unless the gateway is told to end.
    ///
    /// - Throws: ``OwnerError/shutDown(partition:)`` then.
    func unlessToldToEnd(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let waiting = Task { try await body() }
        try await withTaskCancellationOrGracefulShutdownHandler {
            do {
                try await waiting.value
            } catch is CancellationError {
                throw OwnerError.shutDown(partition: PartitionID(0))
            }
        } onCancelOrGracefulShutdown: {
            waiting.cancel()
        }
    }

    /// A partition has come to this node while it serves.
    func takeUp(_ partition: PartitionID, _ delivering: Delivering) async {
        do {
            try await self.logSettings(of: partition)
        } catch {
            self.logger.error("a partition has no settings yet: \(error)")
        }
        await delivering.outgoing.deliverer.takeUp(partition)
        await delivering.providers.refill()
        // The partition may move on before all of it is looked through.
        Task { await delivering.providers.restore(partition) }
        await delivering.outgoing.receipts.takeUp(partition)
    }

    /// Hands over all partitions, and leaves the cluster.
    func leaveCluster() async {
        guard let placed = self.placed else { return }
        await placed.leave(within: self.settings.inForce.timeouts.drain)
    }
}
