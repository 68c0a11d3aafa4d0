import Journaling
import Logging
import NIOCore
package import Ownership
import Synchronization

extension PartitionOwner {
    /// Has the owner apply nothing more, also of the entry that it is at, and stop at its next turn. Any thread.
    ///
    /// Nothing is lost: the next start applies the entries of the log that the owner has not applied.
    package func stop() { self.isStopping.store(true, ordering: .relaxed) }

    /// Stops, and fails the promises that wait for it, also if there is no work that would bring its next turn.
    package func stopNow() {
        self.stop()
        self.loop.execute { self.takeTurn() }
    }

    /// - Throws: `shutDown` after ``stop()``. An entry may be applied in part then: its decisions must not be
    ///   committed.
    package func checkStop() throws(OwnerError) {
        if self.isStopping.load(ordering: .relaxed) { throw .shutDown(partition: self.partition) }
    }

    /// Says why the owner stops, and how far it came.
    func logFailure(_ error: any Error) {
        // A closed journal is the end of a shutdown, too.
        let isShutdown = (error as? OwnerError)?.isShutdown ?? ((error as? JournalError)?.code == .closed)
        self.logger.log(
            level: isShutdown ? .info : .critical,
            "partition \(self.partition) stopped: \(error)",
            metadata: [
                "applied": "\(self.state.value.machine.applied)", "announced": "\(self.state.value.machine.announced)",
            ]
        )
    }
}
