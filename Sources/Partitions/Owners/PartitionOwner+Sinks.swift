package import Engine
package import WidgetModel

extension PartitionOwner {
    /// The owner's sinks. Called on the owner's loop, but for the directory's news while a snapshot is read.
    package struct Sinks: Sendable {
        /// The hosts of a snapshot, with their tokens; the state has nothing else yet that could be asked for.
        package let hosts: @Sendable (PartitionID, borrowing Engine) -> Void
        /// Tokens that were bound or removed, as soon as they are applied.
        package let directory: @Sendable (PartitionID, [DirectoryChange]) -> Void
        /// The operators' requests in an applied entry; again when it is replayed.
        package let audit: @Sendable ([AuditedRecord], PartitionID, LogPosition, Instant) -> Void
        /// The usage of each app, once the start is over, if it has changed: before the answers to the records that
        /// have changed it.
        package let usage: @Sendable (PartitionID, [AppUsage]) -> Void
        /// Entries were applied: followers may look again.
        package let applied: @Sendable () -> Void
        /// The whole state of a partition was handed on, and the partition is this node's.
        package let arrived: @Sendable (PartitionID) -> Void
        /// The partition is another node's from here on: the state that was handed on of it is of no use any more.
        package let left: @Sendable (PartitionID, _ hadArrived: Bool) -> Void
        /// The partition cannot go on: another owner fenced it, or its log is damaged.
        package let failed: @Sendable (PartitionID, any Error) -> Void

        package init(
            hosts: @escaping @Sendable (PartitionID, borrowing Engine) -> Void,
            directory: @escaping @Sendable (PartitionID, [DirectoryChange]) -> Void,
            audit: @escaping @Sendable ([AuditedRecord], PartitionID, LogPosition, Instant) -> Void = { _, _, _, _ in },
            usage: @escaping @Sendable (PartitionID, [AppUsage]) -> Void = { _, _ in },
            applied: @escaping @Sendable () -> Void = {},
            arrived: @escaping @Sendable (PartitionID) -> Void = { _ in },
            left: @escaping @Sendable (PartitionID, _ hadArrived: Bool) -> Void = { _, _ in },
            failed: @escaping @Sendable (PartitionID, any Error) -> Void
        ) {
            self.hosts = hosts
            self.directory = directory
            self.audit = audit
            self.usage = usage
            self.applied = applied
            self.arrived = arrived
            self.left = left
            self.failed = failed
        }
    }
}
