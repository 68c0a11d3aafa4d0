import Engine
import Journaling
import NIOCore
import NIOPosix
import WidgetModel

extension PartitionOwner {
    /// Reads the newest snapshot that can be read, if there are any, on threads of its own.
    func load() async throws -> Handover<StateLoader.Loaded> {
        let state = Handover<StateLoader.Loaded>()
        guard let snapshots = self.snapshots else { return state }
        let threads = NIOThreadPool(numberOfThreads: 3)
        threads.start()
        var loader = StateLoader(
            partition: self.partition,
            partitions: self.journal.format.partitions,
            store: snapshots,
            logger: self.logger
        )
        loader.helper = (threads, self.loop)
        loader.directory = StateLoader.Directory(
            hosts: { self.outlets.hosts(self.partition, $0) },
            changes: { self.outlets.directory(self.partition, $0) }
        )
        do {
            try await threads.runIfActive { [loader] in
                let last = try self.journal.lastOutput(self.partition)
                state.give(try loader.load(notBehind: last?.record.through ?? .start))
            }
        } catch {
            try? await threads.shutdownGracefully()
            throw error
        }
        try await threads.shutdownGracefully()
        return state
    }
}
