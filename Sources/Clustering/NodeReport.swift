package import WidgetModel

/// A node's facts for operators, who compare nodes by them. Placement does not use them.
package struct NodeReport: Hashable, Sendable {
    /// A partition of the node's with entries that no snapshot has held for too long.
    package struct Overdue: Hashable, Sendable {
        package let partition: PartitionID
        /// Since when, by the node's clock.
        package let since: Instant

        package init(partition: PartitionID, since: Instant) {
            (self.partition, self.since) = (partition, since)
        }
    }

    /// The version of its program, which alone knows what its digests are of.
    package let program: String
    /// A digest of the settings by which partitions would decide if they decided by its configuration.
    package let settings: UInt64
    /// A digest of the credentials that it has in force. It is of ids and public keys, and of no secret.
    package let credentials: UInt64
    /// In no order.
    package let overdue: [Overdue]

    package init(program: String, settings: UInt64, credentials: UInt64, overdue: [Overdue] = []) {
        self.program = program
        self.settings = settings
        self.credentials = credentials
        self.overdue = overdue
    }
}
