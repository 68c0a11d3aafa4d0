package import Engine
package import Journaling
import Ownership
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
/// A question to history needs the state at some instant, and the records from there on. Snapshots save the replay the
/// way to that instant; without them it begins with the log, as long as that has its first entry.
package struct HistoryStart: Sendable {
    private let snapshots: (any SnapshotHistory)?

    /// - Parameter snapshots: The kept states; nil if there are none.
    package init(_ snapshots: (any SnapshotHistory)? = nil) {
        self.snapshots = snapshots
    }

    /// A state to begin with. A snapshot that is damaged, or that another version wrote, is passed by for the next one; nothing
    /// becomes of it.
    ///
    /// - Parameters:
    ///   - partition: The partition.
    ///   - history: The log; reading it goes on behind the engine's ``Engine/position``.
    ///   - reach: Which state.
    ///   - host: The one host that is asked about: the state may know no other; nil for all of them.
    /// - Throws: ``HistoryError`` if no state that is kept reaches back so far and has all of the log behind it.
    package func engine(
        of partition: PartitionID,
        in history: any LogHistory,
        _ reach: HistoryReach,
        only host: HostKey? = nil
    ) throws -> Engine {
        let first = try history.head(partition)
        let partitions = history.format.partitions
        let hasFirst = first == LogPosition.start.next
        guard let snapshots = self.snapshots else {
            if hasFirst { return Self.empty(of: partition, among: partitions) }
            throw HistoryError.noState(partition: partition, first: first, reason: "no snapshots are kept")
        }
        // Behind an older one there are entries missing.
        let all = try snapshots.snapshots(partition).filter { $0.position.next >= first }
        // Only the same decision rules can replay the entries behind a state.
        let usable = Array(all.prefix { Self.isOwn($0, in: snapshots) })
        let isWhole = hasFirst && usable.count == all.count
        var refusal = "there is no snapshot after which the log has every entry"
        let tried: [SnapshotID]
        switch reach {
        case .newest(let instant): tried = usable.filter { $0.logTime <= instant }
        case .oldest where isWhole: tried = []
        case .oldest(let instant): tried = usable.reversed().filter { id in instant.map { id.logTime <= $0 } ?? true }
        }
        for id in tried {
            do {
                return try snapshots.engine(id, among: partitions, seed: Self.seed, only: host)
            } catch {
                refusal = "the \(id) cannot be used: \(error)"
            }
        }
        if isWhole { return Self.empty(of: partition, among: partitions) }
        for id in usable.reversed() where !tried.contains(id) && (try? snapshots.engine(id, among: partitions)) != nil {
            throw HistoryError.tooLongAgo(partition: partition, earliest: id.logTime)
        }
        throw HistoryError.noState(partition: partition, first: first, reason: refusal)
    }

    /// The state before the first entry.
    package static func empty(of partition: PartitionID, among partitions: Int) -> Engine {
        Engine(partition: partition, partitions: partitions, seed: Self.seed)
    }

    /// A fixed one: where tables keep their rows changes nothing that comes out.
    private static let seed: UInt64 = 1

    /// Whether this program's rules led to a snapshot's state; one that cannot be read is passed by where it is tried.
    private static func isOwn(_ id: SnapshotID, in snapshots: any SnapshotHistory) -> Bool {
        guard let rules = try? RulesStanding.rules(of: id, in: snapshots) else { return true }
        return rules == Engine.version
    }
}
