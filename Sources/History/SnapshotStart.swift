package import Engine
package import Journaling
import Ownership
package import WidgetModel

/// Begins with a snapshot that is old enough, or with the log as long as it has its first entry.
package struct SnapshotStart: HistoryStart {
    private let store: any SnapshotHistory

    package init(_ store: any SnapshotHistory) {
        self.store = store
    }

    /// A snapshot that is damaged, or that another version wrote, is passed by for the next one; nothing becomes of it.
    package func engine(
        of partition: PartitionID,
        in history: any LogHistory,
        _ reach: HistoryReach,
        only host: HostKey?
    ) throws -> Engine {
        let first = try history.head(partition)
        let partitions = history.format.partitions
        // Behind an older one there are entries missing.
        let all = try self.store.snapshots(partition).filter { $0.position.next >= first }
        // Only the same decision rules can replay the entries behind a state.
        let usable = Array(all.prefix { self.isOwn($0) })
        let isWhole = first == LogPosition.start.next && usable.count == all.count
        var refusal = "there is no snapshot after which the log has every entry"
        let tried: [SnapshotID]
        switch reach {
        case .newest(let instant): tried = usable.filter { $0.logTime <= instant }
        case .oldest where isWhole: tried = []
        case .oldest(let instant): tried = usable.reversed().filter { id in instant.map { id.logTime <= $0 } ?? true }
        }
        for id in tried {
            do {
                return try self.engine(id, among: partitions, only: host)
            } catch {
                refusal = "the \(id) cannot be used: \(error)"
            }
        }
        if isWhole { return EmptyStart().engine(of: partition, among: partitions) }
        for id in usable.reversed() where !tried.contains(id) && (try? self.engine(id, among: partitions)) != nil {
            throw HistoryError.tooLongAgo(partition: partition, earliest: id.logTime)
        }
        throw HistoryError.noState(partition: partition, first: first, reason: refusal)
    }

    /// Whether this program's rules led to a snapshot's state; one that cannot be read is passed by where it is tried.
    private func isOwn(_ id: SnapshotID) -> Bool {
        guard let rules = try? RulesStanding.rules(of: id, in: self.store) else { return true }
        return rules == Engine.version
    }

    /// The state that a snapshot holds, of all hosts or of one.
    ///
    /// - Throws: ``SnapshotError`` or ``JournalError`` if it cannot be read.
    package func engine(_ id: SnapshotID, among partitions: Int, only host: HostKey? = nil) throws -> Engine {
        var decoder = EngineSnapshotDecoder(partition: id.partition, partitions: partitions, seed: 1, only: host)
        try self.store.read(id) { try decoder.takeFrame($0) }
        let engine = try decoder.finish()
        guard engine.position == id.position else { throw SnapshotError.otherPartition }
        return engine
    }
}
