package import Engine
package import Journaling
package import WidgetModel

/// Begins with the newest snapshot that is old enough, or with the log where there is none.
package struct SnapshotStart: HistoryStart {
    private let store: any SnapshotStore

    package init(_ store: any SnapshotStore) {
        self.store = store
    }

    /// A snapshot that is damaged, or that another version wrote, is passed by; the next older one takes longer to replay.
    package func engine(of partition: PartitionID, among partitions: Int, notAfter instant: Instant) throws -> Engine {
        for id in try self.store.snapshots(partition) where id.logTime <= instant {
            var decoder = EngineSnapshotDecoder(partition: partition, partitions: partitions, seed: 1)
            guard (try? self.store.read(id, { try decoder.take($0) })) != nil, let engine = try? decoder.finish() else {
                continue
            }
            return engine
        }
        return EmptyStart().engine(of: partition, among: partitions, notAfter: instant)
    }
}
