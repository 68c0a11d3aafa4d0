import Engine
import Journaling
import NIOCore
package import Ownership
import Synchronization
import WidgetModel

extension OwnerError {
    /// Whether an owner did not answer since its partition is another node's.
    static func isAbsence(_ error: any Error) -> Bool {
        if let error = error as? OwnerError, case .away = error { true } else { false }
    }
}

/// The lives of an owner whose log several nodes share.
extension PartitionOwner {
    /// Whether the partition is another node's, or its state is not read yet. Any thread.
    package var isAway: Bool { self.isAbsent.load(ordering: .relaxed) }

    /// Why nothing is answered.
    package var absence: OwnerError {
        self.isAway
            ? .away(partition: self.partition, owner: self.services.elsewhere?(self.partition))
            : .stopped(partition: self.partition)
    }

    /// The next life is one that owns the partition.
    ///
    /// - Returns: Whether it goes on from where a standby came to, with nothing left to read but the log.
    func beginToOwn() -> Bool {
        guard self.services.elsewhere != nil else { return false }
        let isStandby = self.state.value.machine.isStandingBy
        if isStandby { self.endStandingBy() } else { self.beginLife() }
        self.work.come()
        return isStandby
    }

    /// Becomes as new; nothing of an earlier life is left but a count that others compare with the one that they have seen.
    func beginLife() {
        let before = self.state.value
        var state = State(self.emptyMachine())
        state.news = before.news
        state.isObserving = before.isObserving
        state.life = before.life + 1
        state.appliedBytes = before.appliedBytes
        state.traces = self.services.tracing.map { PartitionTraces($0, self.partition) }
        self.state.value = state
        self.isStopping.store(false, ordering: .relaxed)
    }

    /// One with no state.
    private func emptyMachine() -> OwnerMachine {
        let engine = Engine(
            partition: self.partition,
            partitions: self.journal.format.partitions,
            rules: self.services.rules
        )
        return OwnerMachine(engine, chunkBytesMax: self.state.value.machine.chunkBytesMax)
    }

    /// Ends all work that is under way, and gives up the memory of the state.
    func dropLife(_ error: any Error) {
        self.state.value.hasFailed = true
        self.state.value.life += 1
        self.endWaiting(error)
        self.isStandby.store(false, ordering: .relaxed)
        self.state.value.newestOutput = nil
        self.state.value.machine = self.emptyMachine()
        self.state.value.machine.stop()
    }

    /// The partition is another node's from here on.
    func endLife() {
        let hadArrived = !self.isAbsent.exchange(true, ordering: .relaxed)
        self.dropLife(self.absence)
        self.work.leave()
        self.sinks.left(self.partition, hadArrived)
        if hadArrived { self.state.value.news(.ends) }
    }

    /// Ends a life, and comes back when that is over. One that is starting ends by ``stop()``, and at once.
    ///
    /// - Parameter isCommitting: Whether the entry that the owner is at is applied whole, and all that is decided is committed.
    package func leave(committing isCommitting: Bool) async {
        let promise = self.loop.makePromise(of: Void.self)
        self.loop.execute {
            guard !self.isAway else { return promise.succeed() }
            self.state.value.leaving.append(promise)
            if isCommitting, !self.state.value.hasFailed {
                self.state.value.machine.isLeaving = true
                self.takeTurn()
            } else {
                self.endLife()
            }
        }
        try? await promise.futureResult.get()
    }

    /// A start that did not come to its end leaves nothing.
    package func giveUpStart() async {
        try? await self.loop.submit { self.endLife() }.get()
    }

    func leaveIfSettled() {
        self.leaveIfGatePassed()
        guard self.state.value.machine.isLeaving, self.state.value.machine.isSettled, !self.state.value.hasFailed
        else { return }
        self.endLife()
    }
}
