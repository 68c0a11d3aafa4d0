package import Journaling
package import Logging
import NIOPosix
import Ownership
package import WidgetModel

/// Lets a program take over what other decision rules have left behind, or refuse it, before any owner starts.
package struct RulesAdoption: Sendable {
    private let journal: any Journal
    private let store: any SnapshotStore
    private let logger: Logger

    package init(journal: any Journal, store: any SnapshotStore, logger: Logger) {
        self.journal = journal
        self.store = store
        self.logger = logger
    }

    /// How partitions stand, in their order. Changes nothing.
    private func readStandings(of partitions: [PartitionID]) async throws -> [RulesStanding] {
        var standings: [RulesStanding] = []
        for partition in partitions {
            let newest = try await self.journal.newestOutput(partition)
            standings += [
                try await NIOThreadPool.singleton.runIfActive {
                    try RulesStanding.read(partition, newestOutput: newest, in: self.journal.history, self.store)
                }
            ]
        }
        return standings
    }

    /// Takes every partition over, or none.
    ///
    /// - Parameter partitions: Which; by default all.
    /// Partitions that were taken over before a fault keep that: another program takes them back in the same way.
    ///
    /// - Returns: The snapshots that are this program's now.
    /// - Throws: ``OwnerError/otherRules(_:)`` if something has to be decided by other rules first; nothing was changed then.
    @discardableResult
    package func run(_ partitions: [PartitionID]? = nil) async throws -> [SnapshotID] {
        let all = (0..<self.journal.format.partitions).map { PartitionID(UInt16($0)) }
        let standings = try await self.readStandings(of: partitions ?? all)
        let unsettled = standings.filter { $0.step() == .settle }
        guard unsettled.isEmpty else { throw OwnerError.otherRules(unsettled) }
        var adopted: [SnapshotID] = []
        for standing in standings {
            guard case .adopt(let id) = standing.step() else { continue }
            try await NIOThreadPool.singleton.runIfActive {
                try RulesStanding.adopt(id, among: self.journal.format.partitions, in: self.store)
            }
            self.logger.notice(
                "adopted a state that other decision rules wrote",
                metadata: ["was": "\(standing)"]
            )
            adopted.append(id)
        }
        return adopted
    }
}
