import Engine
import Journaling
import Logging
import Ownership
import WidgetModel

/// Makes a snapshot of a partition by a second engine, which reads the snapshot before and the log behind it, and proves it: the
/// replay has to come to the same hash as the owner.
///
/// Waits for the disk: for threads that may.
struct SnapshotWriter: Sendable {
    /// How many entries are read at once.
    private static let entriesPerRead = 64

    let loader: StateLoader
    let journal: any Journal
    /// Throws to give up.
    let checkStop: @Sendable () throws -> Void

    /// - Parameters:
    ///   - owner: Of the partition.
    ///   - store: Where snapshots are.
    ///   - checkStop: Called now and then; throws to give up.
    init(of owner: PartitionOwner, in store: any SnapshotStore, checkStop: @escaping @Sendable () throws -> Void) {
        self.loader = StateLoader(
            partition: owner.partition,
            partitions: owner.journal.format.partitions,
            rules: owner.services.rules,
            store: store,
            logger: owner.logger
        )
        self.journal = owner.journal
        self.checkStop = checkStop
    }

    /// Replays the log behind the newest snapshot up to a checkpoint, and writes the state.
    func write(_ checkpoint: OwnerCheckpoint) throws -> SnapshotID {
        let partition = self.loader.partition
        var state = try self.loader.load(notBeyond: checkpoint.through)
        try state.advance(
            to: checkpoint,
            read: { try self.journal.history.read(partition, from: $0, entriesMax: Self.entriesPerRead) },
            checkStop: self.checkStop
        )
        if let snapshot = state.snapshot, snapshot.position == checkpoint.through { return snapshot }
        let id = SnapshotID(partition: partition, position: checkpoint.through, logTime: state.engine.time)
        var encoder = EngineSnapshotEncoder()
        try self.loader.store.write(id) {
            try self.checkStop()
            return encoder.next(state.engine)
        }
        return id
    }
}
