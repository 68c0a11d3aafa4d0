import WidgetModel

/// The content of this node's beats.
extension PlacementMachine {
    /// Takes what operators are told of this node, with its next beats.
    package mutating func reports(_ report: NodeReport) { self.report = report }

    var toldPhase: Beat.Phase {
        switch self.phase {
        case .joining: .joining
        case .member: .member
        case .leaving, .over: .leaving
        }
    }

    var ownHoldings: [Beat.Holding] { self.slots.compactMap { self.holding(of: $0) } }

    private func holding(of slot: Slot) -> Beat.Holding? {
        let (epoch, standing, successor): (Epoch, Beat.Standing, NodeName?)
        switch slot.holding {
        case .starting(let own): (epoch, standing, successor) = (own, .starting, nil)
        case .running(let own): (epoch, standing, successor) = (own, .running, nil)
        case .handingOver(let own, let to): (epoch, standing, successor) = (own, .stopping, to)
        case .releasing(let own, let release): (epoch, standing, successor) = (own, .stopping, release.successor)
        case .gating(let own, _): (epoch, standing, successor) = (own, .stopping, nil)
        case .failed(let own): (epoch, standing, successor) = (own, .failed, nil)
        case .none, .claiming, .givingUp:
            guard let released = slot.released, self.now < released.until else { return nil }
            return Beat.Holding(
                partition: slot.partition,
                epoch: released.epoch,
                standing: .released,
                successor: released.release.successor,
                rules: released.release.rules == self.own.rules ? nil : released.release.rules
            )
        }
        return Beat.Holding(
            partition: slot.partition,
            epoch: epoch,
            standing: standing,
            applied: slot.applied,
            successor: successor
        )
    }
}
