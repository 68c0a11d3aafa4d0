import Engine
import Journaling
import Logging
import NIOCore
import NIOPosix
import WidgetModel

/// Brings a partition's state back from the newest snapshot that can be read, or makes an empty one.
///
/// Waits for the disk: for threads that may.
struct StateLoader: Sendable {
    /// A state, and where the log goes on behind it.
    struct Loaded: Sendable {
        var engine: Engine
        /// Nil if the log is to be replayed from its beginning.
        let snapshot: SnapshotID?
    }

    let partition: PartitionID
    let partitions: Int
    let store: any SnapshotStore
    let logger: Logger
    /// Makes the intent index while the calling thread reads all the rest; nil if one thread is to do it all. The future is
    /// waited for: neither the thread nor the pool's may be the loop's.
    var helper: (threads: NIOThreadPool, loop: any EventLoop)?
    /// Is given a state as soon as it is read, which may be before its index is.
    var hasRead: @Sendable (borrowing Engine) -> Void = { _ in }

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
        let index = Handover<EngineIndex>()
        let isMade = self.helper.map { helper in
            helper.threads.runIfActive(eventLoop: helper.loop) { index.give(try self.readIndex(id)) }
        }
        var engine: Engine
        do {
            engine = try self.readTables(id)
            self.hasRead(engine)
        } catch {
            try? isMade?.wait()
            throw error
        }
        try isMade?.wait()
        if let index = index.take() { try engine.adopt(index) }
        return engine
    }

    /// The state, with its index if nobody else makes that.
    private func readTables(_ id: SnapshotID) throws -> Engine {
        var decoder = EngineSnapshotDecoder(partition: self.partition, partitions: self.partitions)
        try self.store.read(id) { try decoder.take($0) }
        let engine = try self.helper == nil ? decoder.finish() : decoder.finishWithoutIndex()
        guard engine.position == id.position else { throw SnapshotFault.otherPartition }
        return engine
    }

    private func readIndex(_ id: SnapshotID) throws -> EngineIndex {
        /// Nothing that is wrong: the frames that come are not needed.
        struct Enough: Error {}
        var decoder = EngineIndexDecoder()
        do {
            try self.store.read(id) { frame in
                guard try decoder.take(frame) else { throw Enough() }
            }
        } catch is Enough {}
        return decoder.finish()
    }
}
