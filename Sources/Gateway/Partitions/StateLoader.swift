import Engine
import Journaling
import Logging
import WidgetModel

/// Brings a partition's state back from the newest snapshot that can be read, or makes an empty one.
///
/// Waits for the disk: for threads that may.
struct StateLoader: Sendable {
    /// A state, and where the log goes on behind it.
    struct Loaded {
        var engine: Engine
        /// Nil if the log is to be replayed from its beginning.
        let snapshot: SnapshotID?
    }

    let partition: PartitionID
    let partitions: Int
    let store: any SnapshotStore
    let logger: Logger

    /// The newest state that is not behind a position of the log.
    ///
    /// A snapshot that is damaged is reported, set aside, and the one before is taken. What another version wrote is left
    /// where it is.
    ///
    /// - Throws: ``OwnerFault/noState(partition:reason:)`` if there is none and the log no longer begins with its first
    ///   entry, ``JournalError`` if the disk cannot be read.
    func load(notBehind last: LogPosition) throws -> Loaded {
        var refusal = "there is no snapshot"
        for id in try self.store.snapshots(self.partition) {
            guard id.position <= last else {
                refusal = "the \(id) is ahead of the log's outputs, which end at position \(last)"
                self.logger.error("\(refusal)")
                continue
            }
            do {
                return Loaded(engine: try self.read(id), snapshot: id)
            } catch let error as SnapshotFault {
                refusal = "the \(id) cannot be used: \(error)"
                self.logger.error("\(refusal)")
                if case .damaged = error { try? self.store.setAside(id) }
            } catch let error as JournalError where error.code == .corrupt || error.code == .formatMismatch {
                refusal = "the \(id) cannot be used: \(error)"
                self.logger.error("\(refusal)")
                if error.code == .corrupt { try? self.store.setAside(id) }
            }
        }
        guard try self.store.firstEntry(self.partition) == LogPosition.start.next else {
            throw OwnerFault.noState(partition: self.partition, reason: refusal)
        }
        return Loaded(engine: Engine(partition: self.partition, partitions: self.partitions), snapshot: nil)
    }

    private func read(_ id: SnapshotID) throws -> Engine {
        var decoder = EngineSnapshotDecoder(partition: self.partition, partitions: self.partitions)
        try self.store.read(id) { try decoder.take($0) }
        let engine = try decoder.finish()
        guard engine.position == id.position else { throw SnapshotFault.otherPartition }
        return engine
    }
}
