package import WidgetModel

/// Who is there, and whose each partition is.
extension PlacementMachine {
    /// Whether a node is dead, as far as one can tell that hears itself.
    func isSilent(_ peer: Peer) -> Bool { self.lastHeardOwn - peer.heardAt >= self.limits.silence }

    private func member(_ name: NodeName) -> Peer? {
        guard let peer = self.peers[name], peer.phase == .member, !self.isSilent(peer) else { return nil }
        return peer
    }

    private func isAlive(_ node: ClusterNode) -> Bool {
        if node.name == self.own.name { return node.incarnation == self.own.incarnation }
        guard let peer = self.peers[node.name], peer.node.incarnation == node.incarnation else { return false }
        return !self.isSilent(peer)
    }

    /// Members that may own a partition, by how much it is theirs. Those go first that decide as the last one did; where there are
    /// none, those whose rules are the next.
    func ranking(for slot: Slot) -> [NodeName] {
        var nodes = self.peers.keys.compactMap { self.member($0)?.node }
        if self.phase == .member { nodes.append(self.own) }
        let floor = slot.claim?.node.rules ?? 0
        guard let rules = nodes.map(\.rules).filter({ $0 >= floor }).min() else { return [] }
        return Rendezvous.ranking(of: nodes.filter { $0.rules == rules }.map(\.name), for: slot.partition)
    }

    func first(for slot: Slot) -> NodeName? { self.ranking(for: slot).first }

    /// Whether a partition is to be claimed now.
    func isOwnToClaim(_ slot: Slot) -> Bool {
        guard let claim = slot.claim else { return self.first(for: slot) == self.own.name }
        if claim.isReleased {
            // Who is named goes first, for a while.
            if let successor = claim.successor, self.now - slot.learnedAt < self.limits.silence {
                if successor == self.own.name { return true }
                if self.member(successor) != nil { return false }
            }
        } else if claim.node != self.own, self.isAlive(claim.node) {
            return false
        }
        return self.first(for: slot) == self.own.name
    }

    /// Whether this node is giving a partition to another one, or has just done so.
    var isMoving: Bool {
        self.slots.contains { slot in
            switch slot.holding {
            case .handingOver, .releasing: true
            case .none: slot.released.map { self.now < $0.until } ?? false
            case .claiming, .starting, .running, .givingUp, .failed: false
            }
        }
    }

    /// The node that a partition is to be moved to now; nil to keep it.
    func successor(of slot: Slot) -> NodeName? {
        guard let first = self.first(for: slot), first != self.own.name, let peer = self.member(first),
            let since = peer.memberSince, self.now - since >= self.limits.silence,
            !peer.holdings.contains(where: { $0.standing == .starting || $0.standing == .stopping })
        else { return nil }
        return first
    }
}

// MARK: - What there is to see

/// A cluster as one of its nodes knows it.
package struct ClusterView: Hashable, Sendable {
    package struct Node: Hashable, Sendable {
        package let node: ClusterNode
        package let phase: Beat.Phase
        /// How long it has not been heard.
        package let silentFor: Interval
        package let isAlive: Bool
    }

    package struct Partition: Hashable, Sendable {
        package let partition: PartitionID
        /// Nil if no node has claimed it yet, or its node released it.
        package let owner: ClusterNode?
        package let epoch: Epoch?
        /// What its owner last said of it; nil while that is not known.
        package let standing: Beat.Standing?
        package let applied: LogPosition
        /// Who has it when its owner dies.
        package let next: NodeName?
    }

    package let own: ClusterNode
    /// By name.
    package let nodes: [Node]
    package let partitions: [Partition]
}

extension PlacementMachine {
    package var view: ClusterView {
        let others = self.peers.values.map { peer in
            ClusterView.Node(
                node: peer.node,
                phase: peer.phase,
                silentFor: max(.zero, self.now - peer.heardAt),
                isAlive: !self.isSilent(peer)
            )
        }
        let own = ClusterView.Node(node: self.own, phase: self.toldPhase, silentFor: .zero, isAlive: true)
        return ClusterView(
            own: self.own,
            nodes: (others + [own]).sorted { $0.node.name < $1.node.name },
            partitions: self.slots.map { self.view(of: $0) }
        )
    }

    /// The node that claimed a partition last, and has not let go of it.
    package func owner(of partition: PartitionID) -> ClusterNode? {
        self.slots[Int(partition.rawValue)].claim.flatMap { $0.isReleased ? nil : $0.node }
    }

    private func view(of slot: Slot) -> ClusterView.Partition {
        let claim = slot.claim.flatMap { $0.isReleased ? nil : $0 }
        let told = claim.flatMap { claim -> Beat.Holding? in
            let holdings =
                claim.node == self.own ? self.ownHoldings : self.peers[claim.node.name]?.holdings ?? []
            return holdings.first { $0.partition == slot.partition && $0.epoch == claim.epoch }
        }
        return ClusterView.Partition(
            partition: slot.partition,
            owner: claim?.node,
            epoch: slot.claim?.epoch,
            standing: told?.standing,
            applied: told?.applied ?? .start,
            next: self.ranking(for: slot).first { $0 != claim?.node.name }
        )
    }
}
