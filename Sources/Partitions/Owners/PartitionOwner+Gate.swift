package import Journaling
import NIOCore
import NIOPosix
import Ownership

/// The end of an owner's life at an entry behind which other decision rules go on.
extension PartitionOwner {
    /// The outcome of passing the gate.
    package enum GateOutcome: Sendable {
        /// The log names the other rules, and a snapshot holds everything before.
        case passed
        /// The snapshot could not be written: the log goes on by the rules before, at the owner's next start.
        case gaveUp(any Error)
        /// The owner ended by itself, and has said why.
        case ended
    }

    /// The promise of the next step at the gate.
    enum GateWaiting {
        case closing(EventLoopPromise<OwnerCheckpoint>)
        case passing(EventLoopPromise<Void>)
    }

    /// Decides the entry that the owner is at and no other, writes a snapshot of exactly that state, and then commits the gate to
    /// other rules. In any case the life has ended when this comes back.
    ///
    /// Until the gate is committed nothing has changed but that there is one snapshot more, and behind it everything is there that
    /// the other rules begin with. So this may end at any moment.
    package func passGate(to rules: Int, in store: any SnapshotStore) async -> GateOutcome {
        guard let checkpoint = try? await self.loop.flatSubmit({ self.closeGate(to: rules) }).get() else {
            return .ended
        }
        do {
            let writer = SnapshotWriter(of: self, in: store) { try self.checkStop() }
            _ = try await NIOThreadPool.singleton.runIfActive { try writer.write(checkpoint) }
        } catch {
            let hadEnded = try? await self.loop.submit {
                defer { if !self.state.value.hasFailed { self.endLife() } }
                return self.state.value.hasFailed
            }.get()
            return hadEnded == false ? .gaveUp(error) : .ended
        }
        do {
            try await self.loop.flatSubmit { self.openGate() }.get()
            return .passed
        } catch {
            return .ended
        }
    }

    private func closeGate(to rules: Int) -> EventLoopFuture<OwnerCheckpoint> {
        guard !self.isAway, !self.state.value.hasFailed else { return self.loop.makeFailedFuture(self.absence) }
        let isClosed = self.loop.makePromise(of: OwnerCheckpoint.self)
        self.state.value.gate = .closing(isClosed)
        self.state.value.machine.closeGate(to: rules)
        self.takeTurn()
        return isClosed.futureResult
    }

    private func openGate() -> EventLoopFuture<Void> {
        guard !self.state.value.hasFailed else { return self.loop.makeFailedFuture(self.absence) }
        let isPassed = self.loop.makePromise(of: Void.self)
        self.state.value.gate = .passing(isPassed)
        self.drive { $0.stateWritten() }
        return isPassed.futureResult
    }

    /// All that was decided is committed, and the state is to be written down.
    func tellGate(closedAt checkpoint: OwnerCheckpoint) {
        guard case .closing(let isClosed) = self.state.value.gate.take() else { return }
        isClosed.succeed(checkpoint)
    }

    func leaveIfGatePassed() {
        guard self.state.value.machine.hasPassedGate, case .passing(let isPassed) = self.state.value.gate.take()
        else { return }
        self.endLife()
        isPassed.succeed()
    }

    /// The owner ends before it has come through.
    func endGate(_ error: any Error) {
        switch self.state.value.gate.take() {
        case .closing(let isClosed): isClosed.fail(error)
        case .passing(let isPassed): isPassed.fail(error)
        case nil: return
        }
    }
}
