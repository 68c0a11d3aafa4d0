package import WidgetModel

/// The answer of a node that has forgotten its history.
package struct ForgottenHistory: FieldCoded, Hashable, Sendable {
    package static let coding = Fields(Self.init, \.partitions, \.files)

    /// Those that it had.
    package let partitions: [PartitionID]
    /// How many files of the log were removed; of a log on brokers how many partitions' entries.
    package let files: Int

    package init(partitions: [PartitionID], files: Int) { (self.partitions, self.files) = (partitions, files) }
}

/// Forgets the history of the partitions that a node has.
package typealias ForgetHistory = @Sendable () async throws -> ForgottenHistory
