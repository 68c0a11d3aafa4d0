package import WidgetModel

/// Entries of a partition that a broker and a writer stamped too differently, as this node has read them since it opened the log. The
/// partition's time stands still at each.
package struct ClockTrouble: Hashable, Sendable {
    /// How long after such an entry the clocks count as apart.
    private static let lasting = Duration.seconds(300)

    package let partition: PartitionID
    package let entries: Int
    /// When the newest of them was stored and written, by the clocks of the broker and of the gateway that did it.
    package let storedAt: Instant
    package let writtenAt: Instant
    private let readAt: ContinuousClock.Instant

    package init(
        partition: PartitionID,
        entries: Int,
        storedAt: Instant,
        writtenAt: Instant,
        readAt: ContinuousClock.Instant
    ) {
        self.partition = partition
        self.entries = entries
        self.storedAt = storedAt
        self.writtenAt = writtenAt
        self.readAt = readAt
    }

    /// Whether there was such an entry in the last five minutes.
    package func isPresent(at now: ContinuousClock.Instant) -> Bool { now - self.readAt < Self.lasting }
}
