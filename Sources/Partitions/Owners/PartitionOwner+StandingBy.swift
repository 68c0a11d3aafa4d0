import Engine
package import Journaling
import Logging
import NIOCore
import Ownership
import Synchronization
import WidgetModel

/// The lives of an owner that follows another node's, to go on in its place.
extension PartitionOwner {
    /// Reads the newest snapshot and the log behind it, and applies from then on the entries decided by another node's owner. It comes to
    /// the states that this one came to, or ends. Nothing is written, and no question is answered.
    ///
    /// - Throws: As ``start(progress:)``, if the state cannot be read.
    package func standBy() async throws {
        try await self.loop.submit { self.beginLife() }.get()
        // Before the newest output is read, so that none is missed that comes meanwhile.
        self.isStandby.store(true, ordering: .relaxed)
        do {
            let state = try await self.load(tellsDirectory: false)
            let newest = try await self.journal.newestOutput(self.partition)
            try await self.loop.submit {
                self.observe()
                if let loaded = state.take() { self.begin(loaded) }
                self.state.value.newestOutput = self.newer(newest)
                try self.state.value.machine.standBy(newest: self.state.value.newestOutput)
                self.takeTurn()
            }.get()
        } catch {
            await self.standDown()
            throw error
        }
    }

    /// Another node's owner has committed; nothing unless this one stands by. Any thread.
    package func noteOutput(_ output: OutputEntry) {
        guard self.isStandby.load(ordering: .relaxed) else { return }
        self.loop.execute {
            guard self.isStandby.load(ordering: .relaxed), !self.state.value.hasFailed else { return }
            self.state.value.newestOutput = self.newer(output)
            do {
                try self.state.value.machine.takeOutput(output.record)
            } catch {
                return self.fail(error)
            }
            if !self.state.value.isTurnPlanned { self.takeTurn() }
        }
    }

    /// How far it is; nil unless it stands by.
    ///
    /// - Throws: Once, why it does not stand by any more.
    package func standbyProgress() async throws -> StandbyProgress? {
        try await self.loop.submit { () -> StandbyProgress? in
            if let fault = self.state.value.standbyFault.take() { throw fault }
            guard self.state.value.machine.isStandingBy else { return nil }
            return StandbyProgress(
                partition: self.partition,
                applied: self.state.value.machine.applied,
                lag: self.state.value.machine.standbyLag
            )
        }.get()
    }

    /// Lets go of the state, if it stands by.
    package func standDown() async {
        try? await self.loop.submit {
            if self.isStandby.load(ordering: .relaxed) { self.dropLife(self.absence) }
        }.get()
    }

    /// The newer one of an output and the newest that a standby was told of: brokers may answer with one from before.
    func newer(_ output: OutputEntry?) -> OutputEntry? {
        guard let known = self.state.value.newestOutput else { return output }
        return output.map { $0.position > known.position ? $0 : known } ?? known
    }

    /// The partition is to be this node's. Its state is announced, as a snapshot's is while it is read.
    func endStandingBy() {
        self.isStandby.store(false, ordering: .relaxed)
        // Entries that were asked for until now are of no use.
        self.state.value.life += 1
        self.sinks.hosts(self.partition, self.state.value.engine)
        let changes: ([DirectoryChange]) -> Void = { self.sinks.directory(self.partition, $0) }
        self.state.value.engine.removedTokens(changes)
        self.state.value.engine.controlTokens(changes)
        self.logger.notice(
            "goes on from its standby",
            metadata: ["partition": "\(self.partition)", "position": "\(self.state.value.machine.applied)"]
        )
    }

    /// A standby does not go on; another node's decisions are not touched by it.
    func failStandby(_ error: any Error) {
        let isPlanned =
            switch error {
            case OwnerError.shutDown, OwnerError.decidedByOthers: true
            default: (error as? JournalError)?.code == .closed
            }
        self.logger.log(
            level: isPlanned ? .info : .error,
            "the standby of partition \(self.partition) has ended; its owner is not touched by it: \(error)",
            metadata: ["applied": "\(self.state.value.machine.applied)"]
        )
        self.dropLife(self.absence)
        self.state.value.standbyFault = error
    }
}
