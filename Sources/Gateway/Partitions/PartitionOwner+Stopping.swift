import Journaling
import Logging
import NIOCore
import Synchronization

extension PartitionOwner {
    /// Has the owner apply no further record, also of the entry that it is at, and stop as soon as it would. Any thread.
    ///
    /// Nothing is lost: the next start applies what the log has and the owner has not applied.
    package func stop() { self.isStopping.store(true, ordering: .relaxed) }

    /// - Throws: `shutDown` after ``stop()``. An entry may be applied in part then: what it decided must not be committed.
    func checkStop() throws(OwnerFault) {
        if self.isStopping.load(ordering: .relaxed) { throw .shutDown(partition: self.partition) }
    }

    /// Says why the owner stops, and how far it came.
    func logFailure(_ error: any Error) {
        // A closed journal is the end of a shutdown, too.
        let isShutdown = (error as? OwnerFault)?.isShutdown ?? ((error as? JournalError)?.code == .closed)
        self.logger.log(
            level: isShutdown ? .info : .critical,
            "partition \(self.partition) stopped: \(error)",
            metadata: ["applied": "\(self.state.value.applied)", "announced": "\(self.state.value.announced)"]
        )
    }
}
