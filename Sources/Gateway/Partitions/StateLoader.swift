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
    struct Loaded: ~Copyable, Sendable {
        var engine: Engine
        /// Nil if the log is to be replayed from its beginning.
        let snapshot: SnapshotID?
    }

    /// What is told what tokens stand for.
    struct Directory: Sendable {
        /// Takes the tokens of hosts from a state that has no instances yet. Called before the other.
        let hosts: @Sendable (borrowing Engine) -> Void
        let changes: @Sendable ([DirectoryChange]) -> Void
    }

    let partition: PartitionID
    let partitions: Int
    let store: any SnapshotStore
    let logger: Logger
    /// Reads instances and makes the intent index while the calling thread reads all the rest; nil if one thread is to do it
    /// all. The future is waited for: neither the thread nor the pool's may be the loop's.
    var helper: (threads: NIOThreadPool, loop: any EventLoop)?
    /// Is told what tokens stand for as soon as that is read, which is before the whole state is; nil if nobody wants to know.
    var directory: Directory?

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
            } catch let error as SnapshotError {
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
        guard let helper = self.helper else {
            var decoder = EngineSnapshotDecoder(partition: self.partition, partitions: self.partitions)
            try self.store.read(id) { try decoder.take($0) }
            return try self.checked(decoder.finish(), id)
        }
        let instances = Handover<EngineInstances>()
        let index = Handover<EngineIndex>()
        // The longer one first.
        let others = [
            helper.threads.runIfActive(eventLoop: helper.loop) { index.give(try self.readIndex(id)) },
            helper.threads.runIfActive(eventLoop: helper.loop) { instances.give(try self.readInstances(id)) },
        ]
        do {
            var engine = try self.readTables(id)
            // What instances need of this thread is done while the index may still be in work.
            try others[1].wait()
            guard let instances = instances.take() else { throw SnapshotError.otherPartition }
            let controls = instances.controls
            try engine.adopt(instances)
            try others[0].wait()
            guard let index = index.take() else { throw SnapshotError.otherPartition }
            try engine.adopt(index)
            if let directory = self.directory { engine.controlTokens(of: controls, directory.changes) }
            return engine
        } catch {
            for other in others { try? other.wait() }
            throw error
        }
    }

    private func checked(_ engine: consuming Engine, _ id: SnapshotID) throws -> Engine {
        guard engine.position == id.position else { throw SnapshotError.otherPartition }
        return engine
    }

    /// The state but for its instances and its index.
    private func readTables(_ id: SnapshotID) throws -> Engine {
        var decoder = EngineSnapshotDecoder(
            partition: self.partition,
            partitions: self.partitions,
            leavesInstances: true
        )
        try self.store.read(id, wanting: EngineSnapshotDecoder.needsWithoutInstances) { try decoder.take($0) }
        let engine = try self.checked(decoder.finishWithoutInstances(), id)
        if let directory = self.directory {
            directory.hosts(engine)
            engine.removedTokens(directory.changes)
        }
        return engine
    }

    /// Nothing that is wrong: the frames that come are not needed.
    private struct Enough: Error {}

    private func readInstances(_ id: SnapshotID) throws -> EngineInstances {
        var decoder = EngineInstancesDecoder()
        do {
            try self.store.read(id, wanting: EngineInstancesDecoder.needs) { frame in
                guard try decoder.take(frame) else { throw Enough() }
            }
        } catch is Enough {}
        return try decoder.finish()
    }

    private func readIndex(_ id: SnapshotID) throws -> EngineIndex {
        var decoder = EngineIndexDecoder()
        do {
            try self.store.read(id, wanting: EngineIndexDecoder.needs) { frame in
                guard try decoder.take(frame) else { throw Enough() }
            }
        } catch is Enough {}
        return decoder.finish()
    }
}
