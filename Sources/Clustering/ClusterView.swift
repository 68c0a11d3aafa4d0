package import WidgetModel

/// A cluster as one of its nodes knows it.
package struct ClusterView: Hashable, Sendable {
    package struct Node: Hashable, Sendable {
        package let node: ClusterNode
        package let phase: Beat.Phase
        /// How long it has not been heard.
        package let silentFor: Interval
        package let isAlive: Bool
        /// Whether operators want it to have nothing.
        package let isDrained: Bool
        /// Its newest report; nil if it has told none.
        package let report: NodeReport?

        /// Whether it is missed: it has not said that it ends, and is not drained.
        package var isMissing: Bool { !self.isAlive && self.phase != .leaving && !self.isDrained }
    }

    /// How a partition is.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// Its owner reads the state and the log.
        case starting
        case running
        /// It is on its way to another node.
        case moving
        /// Its owner cannot go on.
        case failed
        /// No living node has it.
        case unowned
    }

    package struct Partition: Hashable, Sendable {
        package let partition: PartitionID
        /// Nil if no node has claimed it yet, or its node released it.
        package let owner: ClusterNode?
        package let epoch: Epoch?
        /// Its owner's last word of it; nil while that is not known.
        package let standing: Beat.Standing?
        package let applied: LogPosition
        /// The node that it is handed over to; nil if it is not, or to no one node.
        package let successor: NodeName?
        /// The node that has it when its owner dies.
        package let next: NodeName?
        /// The living node that follows the owner, to go on from where that is; nil if none does.
        package let standby: Standby?
        /// The node that operators want to have it.
        package let wished: NodeName?
        /// The decision rules by which its log goes on; nil if it was never claimed.
        package let rules: UInt32?
        package let state: State
    }

    /// The standby that follows the owner of a partition.
    package struct Standby: Hashable, Sendable {
        package let node: NodeName
        /// How many entries the owner has committed and it has not applied, as it told last.
        package let lag: UInt64

        package init(node: NodeName, lag: UInt64) {
            self.node = node
            self.lag = lag
        }
    }

    package let own: ClusterNode
    /// By name.
    package let nodes: [Node]
    package let partitions: [Partition]
    package let counts: ClusterCounts
    /// The decision rules that operators want partitions to go on by; nil for those that they have.
    package let wishedRules: UInt32?
}

extension ClusterView {
    /// How many nodes live and are neither about to join nor to leave.
    package var livingMembers: Int { self.nodes.count { $0.isAlive && $0.phase == .member } }

    /// What this node tells of itself; nil if it has told nothing yet.
    package var ownReport: NodeReport? { self.nodes.first { $0.node == self.own }?.report }

    /// Since when a partition has entries that no snapshot holds, by its owner's word, if that is too long; else nil.
    package func overdueSince(_ partition: Partition) -> Instant? {
        let owner = self.nodes.first { $0.isAlive && $0.node == partition.owner }
        return owner?.report?.overdue.first { $0.partition == partition.partition }?.since
    }

    /// The decision rules that living nodes have.
    package var livingRules: Set<UInt32> { Set(self.nodes.filter(\.isAlive).map(\.node.rules)) }

    /// Partitions without an owner whose decision rules no living node has, by those rules.
    package var strandedPartitions: [UInt32: [PartitionID]] {
        let there = self.livingRules
        let stranded = self.partitions.filter { seen in
            seen.state == .unowned && seen.rules.map { !there.contains($0) } ?? false
        }
        return Dictionary(grouping: stranded) { $0.rules ?? 0 }.mapValues { $0.map(\.partition) }
    }
}

/// A node's counts since its start.
package struct ClusterCounts: Hashable, Sendable {
    /// Partitions that it has let go of, for another node or because it ends.
    package internal(set) var moves = 0
    /// Partitions that it has claimed from a node that had not let go of them.
    package internal(set) var takeovers = 0
    /// Beats of other nodes that it should have heard, and did not.
    package internal(set) var beatsMissed = 0
    /// Standbys that it had to end, since they came to another state than the owner.
    package internal(set) var standbysDisagreed = 0

    package init() {}
}

extension PlacementMachine {
    package var view: ClusterView {
        let others = self.peers.values.map { peer in
            ClusterView.Node(
                node: peer.node,
                phase: peer.phase,
                silentFor: max(.zero, self.now - peer.heardAt),
                isAlive: !self.isSilent(peer),
                isDrained: self.wishes.drained.contains(peer.node.name),
                report: peer.report
            )
        }
        let own = ClusterView.Node(
            node: self.own,
            phase: self.toldPhase,
            silentFor: .zero,
            isAlive: true,
            isDrained: self.wishes.drained.contains(self.own.name),
            report: self.report
        )
        return ClusterView(
            own: self.own,
            nodes: (others + [own]).sorted { $0.node.name < $1.node.name },
            partitions: self.slots.map { self.view(of: $0) },
            counts: self.counts,
            wishedRules: self.wishes.rules
        )
    }

    /// The node that claimed a partition last, and has not let go of it.
    package func owner(of partition: PartitionID) -> ClusterNode? {
        self.slots[Int(partition.rawValue)].claim.flatMap { $0.isReleased ? nil : $0.node }
    }

    /// Whether others may have taken this node's partitions over without its knowing yet: it has not heard itself for as long as it takes
    /// them to call it dead, or has not listened long enough since.
    package func isCutOff(at now: Instant) -> Bool {
        if case .joining = self.phase { return true }
        return now - self.lastHeardOwn >= self.limits.silence
    }

    /// Whether other nodes were heard of lately. O(1).
    package var hasPeers: Bool { !self.peers.isEmpty }

    private func view(of slot: Slot) -> ClusterView.Partition {
        let claim = slot.claim.flatMap { $0.isReleased ? nil : $0 }
        let told = claim.flatMap { claim -> Beat.Holding? in
            let holdings =
                claim.node == self.own ? self.ownHoldings : self.peers[claim.node.name]?.holdings ?? []
            return holdings.first { $0.partition == slot.partition && $0.epoch == claim.epoch }
        }
        let released = slot.claim.flatMap { $0.isReleased ? $0.successor : nil }
        return ClusterView.Partition(
            partition: slot.partition,
            owner: claim?.node,
            epoch: slot.claim?.epoch,
            standing: told?.standing,
            applied: told?.applied ?? .start,
            successor: released ?? told?.successor,
            next: self.next(for: slot),
            standby: self.standby(of: slot),
            wished: self.wishes.places[slot.partition],
            rules: self.rules(of: slot),
            state: self.state(of: slot, told?.standing)
        )
    }

    private func state(of slot: Slot, _ standing: Beat.Standing?) -> ClusterView.State {
        guard let claim = slot.claim else { return .unowned }
        if claim.isReleased { return claim.successor.map(self.isMember) ?? false ? .moving : .unowned }
        guard self.isAlive(claim.node) else { return .unowned }
        return switch standing {
        case .running: .running
        case .stopping, .released: .moving
        case .failed: .failed
        // A claim that its node has not told of yet.
        case .starting, nil: .starting
        }
    }
}
