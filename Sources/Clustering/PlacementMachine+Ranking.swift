import WidgetModel

/// The nodes that are there, and the order of owners for each partition.
extension PlacementMachine {
    /// Whether a node is dead, as far as a node can tell that hears itself.
    func isSilent(_ peer: Peer) -> Bool { self.lastHeardOwn - peer.heardAt >= self.limits.silence }

    private func member(_ name: NodeName) -> Peer? {
        guard let peer = self.peers[name], peer.phase == .member, !self.isSilent(peer) else { return nil }
        return peer
    }

    func isMember(_ name: NodeName) -> Bool { name == self.own.name || self.member(name) != nil }

    func isAlive(_ node: ClusterNode) -> Bool {
        if node.name == self.own.name { return node.incarnation == self.own.incarnation }
        guard let peer = self.peers[node.name], peer.node.incarnation == node.incarnation else { return false }
        return !self.isSilent(peer)
    }

    /// Members that may own a partition, by how much it is theirs, and as operators want it: those that decide by the rules that
    /// its log goes on by; before the first claim, those with the lowest.
    func ranking(for slot: Slot) -> [NodeName] { self.ranking(for: slot, by: self.rules(of: slot)) }

    /// - Parameter rules: Nil for the lowest that a member has.
    func ranking(for slot: Slot, by rules: UInt32?) -> [NodeName] {
        var nodes = self.peers.keys.compactMap { self.member($0)?.node }
        if self.phase == .member { nodes.append(self.own) }
        guard let rules = rules ?? nodes.map(\.rules).min() else { return [] }
        let names = Rendezvous.ranking(of: nodes.filter { $0.rules == rules }.map(\.name), for: slot.partition)
        return self.wishes.ranking(names, for: slot.partition)
    }

    func first(for slot: Slot) -> NodeName? { self.ranking(for: slot).first }

    func first(for slot: Slot, by rules: UInt32) -> NodeName? { self.ranking(for: slot, by: rules).first }

    /// Whether a partition is to be claimed now.
    func isOwnToClaim(_ slot: Slot) -> Bool {
        guard let claim = slot.claim else { return self.first(for: slot) == self.own.name }
        if claim.isReleased {
            // The named successor goes first, for a while.
            if let successor = claim.successor, self.now - slot.learnedAt < self.limits.silence {
                if successor == self.own.name { return self.own.rules == self.rules(of: slot) }
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
            case .handingOver, .gating, .releasing: true
            case .none: slot.released.map { self.now < $0.until } ?? false
            case .claiming, .starting, .running, .givingUp, .failed: false
            }
        }
    }

    /// The node that a partition is to be moved to now; nil to keep it.
    func successor(of slot: Slot) -> NodeName? {
        // Nodes that want different things would hand a partition to and fro.
        guard !self.areWishesOld, let first = self.first(for: slot), first != self.own.name,
            self.isReady(first, for: slot.partition)
        else { return nil }
        return first
    }

    /// Whether another node can take a partition now.
    func isReady(_ name: NodeName, for partition: PartitionID) -> Bool {
        guard let peer = self.member(name), let since = peer.memberSince, self.now - since >= self.limits.silence
        else { return false }
        return Self.isReady(peer, partition)
            && !peer.holdings.contains { $0.standing == .starting || $0.standing == .stopping }
    }
}
