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

    /// Becomes as new; nothing of an earlier life is left.
    func beginLife() {
        let before = self.state.value
        let engine = Engine(
            partition: self.partition,
            partitions: self.journal.format.partitions,
            rules: self.services.rules
        )
        var state = State(OwnerMachine(engine, chunkBytesMax: before.machine.chunkBytesMax))
        state.news = before.news
        state.isObserving = before.isObserving
        state.life = before.life + 1
        state.traces = self.services.tracing.map { PartitionTraces($0, self.partition) }
        self.state.value = state
        self.isStopping.store(false, ordering: .relaxed)
        self.work.come()
    }

    /// The partition is another node's from here on.
    func endLife() {
        let hadArrived = !self.isAbsent.exchange(true, ordering: .relaxed)
        self.state.value.hasFailed = true
        self.state.value.life += 1
        self.endWaiting(self.absence)
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
