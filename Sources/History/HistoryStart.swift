package import Engine
package import Journaling
package import WidgetModel

/// Which of the states that are kept a replay begins with.
package enum HistoryReach: Hashable, Sendable {
    /// The newest that is not after an instant: the shortest way there.
    case newest(notAfter: Instant)
    /// The oldest that there is, the log's beginning as long as it has one; not after an instant, if one is given.
    case oldest(notAfter: Instant?)
}

/// Where a replay of history begins: a kept state of a partition, from which on the log has every entry.
///
/// A question to history needs the state at some instant, and the records from there on. ``SnapshotStart`` has kept
/// states, which saves the replay the way to that instant; ``EmptyStart`` has none.
package protocol HistoryStart: Sendable {
    /// A state to begin with.
    ///
    /// - Parameters:
    ///   - partition: The partition.
    ///   - history: The log; reading it goes on behind the engine's ``Engine/position``.
    ///   - reach: Which state.
    ///   - host: The one host that is asked about: the state may know no other; nil for all of them.
    /// - Throws: ``HistoryError`` if no state that is kept reaches back so far and has all of the log behind it.
    func engine(
        of partition: PartitionID,
        in history: any LogHistory,
        _ reach: HistoryReach,
        only host: HostKey?
    ) throws -> Engine
}

extension HistoryStart {
    /// A state with all hosts.
    package func engine(of partition: PartitionID, in history: any LogHistory, _ reach: HistoryReach) throws -> Engine {
        try self.engine(of: partition, in: history, reach, only: nil)
    }
}

/// Begins with the log.
package struct EmptyStart: HistoryStart {
    package init() {}

    package func engine(
        of partition: PartitionID,
        in history: any LogHistory,
        _ reach: HistoryReach,
        only host: HostKey?
    ) throws -> Engine {
        let first = try history.head(partition)
        guard first == LogPosition.start.next else {
            throw HistoryError.noState(partition: partition, first: first, reason: "no snapshots are kept")
        }
        return self.engine(of: partition, among: history.format.partitions)
    }

    /// The state before the first entry.
    package func engine(of partition: PartitionID, among partitions: Int) -> Engine {
        // A fixed seed: where tables keep their rows changes nothing that comes out.
        Engine(partition: partition, partitions: partitions, seed: 1)
    }
}
