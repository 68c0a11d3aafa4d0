import Engine
import Journaling
import Logging
import NIOCore
import NIOPosix
import Ownership
import WidgetModel

/// Brings a partition's state back from the newest snapshot that can be read, or makes an empty one.
///
/// Waits for the disk: for threads that may.
struct StateLoader: Sendable {
    /// The functions that are told which hosts and controls tokens stand for.
    struct Directory: Sendable {
        /// Takes the tokens of hosts from a state that has no instances yet. Called before the other.
        let hosts: @Sendable (borrowing Engine) -> Void
        let changes: @Sendable ([DirectoryChange]) -> Void
    }

    let partition: PartitionID
    let partitions: Int
    /// By which the state goes on.
    let rules: Int
    let store: any SnapshotStore
    let logger: Logger
    /// Reads instances and makes the intent index while the calling thread reads all the rest; nil if one thread is to do it
    /// all. The future is waited for: neither the thread nor the pool's may be the loop's.
    var helper: (threads: NIOThreadPool, loop: any EventLoop)?
    /// Is told of the tokens as soon as they are read, which is before the whole state is; nil if no part needs them.
    var directory: Directory?

    /// The state of the newest usable snapshot, see ``LoadedState``; snapshots that cannot be used are reported.
    ///
    /// - Parameter last: How far the newest output goes.
    func load(notBeyond last: LogPosition) throws -> LoadedState {
        try LoadedState.newest(
            of: self.partition,
            among: self.partitions,
            in: self.store,
            notBeyond: last,
            rules: self.rules,
            seed: .random(in: .min ... .max),
            read: { try self.read($0) },
            refused: { self.logger.error("\($0)") }
        )
    }

    private func read(_ id: SnapshotID) throws -> Engine {
        guard let helper = self.helper else {
            return try self.store.engine(id, among: self.partitions, rules: self.rules)
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
            // This thread does its part for the instances while the index may still be in work.
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

    /// The state but for its instances and its index.
    private func readTables(_ id: SnapshotID) throws -> Engine {
        var decoder = EngineSnapshotDecoder(
            partition: self.partition,
            partitions: self.partitions,
            leavesInstances: true,
            rules: self.rules
        )
        try self.store.read(id, wanting: EngineSnapshotDecoder.needsWithoutInstances) { try decoder.takeFrame($0) }
        let engine = try decoder.finishWithoutInstances()
        guard engine.position == id.position else { throw SnapshotError.otherPartition }
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
                guard try decoder.takeFrame(frame) else { throw Enough() }
            }
        } catch is Enough {}
        return try decoder.finish()
    }

    private func readIndex(_ id: SnapshotID) throws -> EngineIndex {
        var decoder = EngineIndexDecoder()
        do {
            try self.store.read(id, wanting: EngineIndexDecoder.needs) { frame in
                guard try decoder.takeFrame(frame) else { throw Enough() }
            }
        } catch is Enough {}
        return decoder.finish()
    }
}
