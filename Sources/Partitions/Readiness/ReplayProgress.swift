package import Logging
import NIOCore
import Synchronization
package import WidgetModel

/// Tells readiness and the log how far a partition's replay is, the log at most once a second.
package final class ReplayProgress: Sendable {
    private let partition: PartitionID
    private let partitions: Int
    private let readiness: Readiness
    private let logger: Logger
    private let told = Mutex(NIODeadline.now())

    package init(_ partition: PartitionID, of partitions: Int, _ readiness: Readiness, _ logger: Logger) {
        self.partition = partition
        self.partitions = partitions
        self.readiness = readiness
        self.logger = logger
    }

    /// - Parameters:
    ///   - applied: The entry that was applied last.
    ///   - through: How far the owner was before, which the replay reaches at least.
    package func noteApplied(_ applied: LogPosition, through: LogPosition) {
        let number = Int(self.partition.rawValue) + 1
        self.readiness.progress =
            "partition \(number) of \(self.partitions), entry \(applied) of \(max(applied, through))"
        let now = NIODeadline.now()
        let isDue = self.told.withLock { told in
            guard now - told >= .seconds(1) else { return false }
            told = now
            return true
        }
        guard isDue else { return }
        self.logger.info(
            "replaying",
            metadata: ["partition": "\(self.partition)", "position": "\(applied)", "through": "\(through)"]
        )
    }
}
