import Engine
import Journaling
import NIOCore
import NIOPosix
import Ownership
import WidgetModel

extension PartitionOwner {
    /// Reads the newest snapshot that can be read, if there are any, on threads of its own.
    ///
    /// - Parameter tellsDirectory: Whether the hosts and controls behind tokens are handed on.
    func load(tellsDirectory: Bool) async throws -> Handover<LoadedState> {
        let state = Handover<LoadedState>()
        guard let snapshots = self.services.snapshots else { return state }
        let threads = NIOThreadPool(numberOfThreads: 3)
        threads.start()
        var loader = StateLoader(
            partition: self.partition,
            partitions: self.journal.format.partitions,
            rules: self.services.rules,
            store: snapshots,
            logger: self.logger
        )
        loader.helper = (threads, self.loop)
        if tellsDirectory {
            loader.directory = StateLoader.Directory(
                hosts: { self.sinks.hosts(self.partition, $0) },
                changes: { self.sinks.directory(self.partition, $0) }
            )
        }
        do {
            let last = try await self.journal.newestOutput(self.partition)
            try await threads.runIfActive { [loader] in
                state.give(try loader.load(notBeyond: last?.record.through ?? .start))
            }
        } catch {
            try? await threads.shutdownGracefully()
            throw error
        }
        try await threads.shutdownGracefully()
        return state
    }
}
