package import Engine
package import WidgetModel

/// Where a replay of history begins: the newest state that is kept of a partition and is not too new.
///
/// What is asked of history needs the state at some instant, and the records from there on. Whoever keeps states (a
/// snapshot, say) saves the replay the way to it; ``EmptyStart`` keeps none.
package protocol HistoryStart: Sendable {
    /// The newest state kept whose time is not after an instant.
    ///
    /// - Parameters:
    ///   - partition: Whose.
    ///   - partitions: How many partitions the log has.
    ///   - instant: The beginning of what is asked about.
    /// - Returns: An engine; reading the log goes on behind its ``Engine/position``.
    func engine(of partition: PartitionID, among partitions: Int, notAfter instant: Instant) throws -> Engine
}

/// Begins with the log.
package struct EmptyStart: HistoryStart {
    package init() {}

    package func engine(of partition: PartitionID, among partitions: Int, notAfter instant: Instant) -> Engine {
        // A fixed seed: where tables keep their rows changes nothing that comes out.
        Engine(partition: partition, partitions: partitions, seed: 1)
    }
}
