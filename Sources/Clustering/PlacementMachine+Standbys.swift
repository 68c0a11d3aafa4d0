package import WidgetModel

/// The partitions that a node follows, to have them next.
extension PlacementMachine {
    /// Whether this node follows the owner of a partition that another one has.
    enum Standby: Hashable {
        case none
        /// It reads the state.
        case starting
        /// It has not applied so many entries that the owner has committed.
        case following(lag: UInt64)
        /// It could not, and does not try before that.
        case resting(until: Instant)
    }

    /// How many times as long as others are silent it rests.
    private static let silencesPerRest: Int64 = 5

    /// A partition's state is read, and its owner is followed.
    package mutating func standbyFollows(_ partition: PartitionID, lag: UInt64) {
        let index = Int(partition.rawValue)
        switch self.slots[index].standby {
        case .none, .resting: return
        case .following: self.slots[index].standby = .following(lag: lag)
        case .starting:
            self.slots[index].standby = .following(lag: lag)
            self.beat()
            self.decide()
        }
    }

    /// An owner of another node's is not followed any more.
    package mutating func standbyEnded(_ partition: PartitionID, _ end: StandbyEnd) {
        let index = Int(partition.rawValue)
        switch self.slots[index].standby {
        case .none, .resting: return
        case .starting, .following: break
        }
        if end == .disagreed { self.counts.standbysDisagreed += 1 }
        // One that disagrees would do so again: a log is decided in one way.
        let rest = end == .disagreed ? self.limits.memory : self.limits.silence * Self.silencesPerRest
        self.slots[index].standby = .resting(until: self.now + rest)
        self.decide()
    }

    /// The node that has a partition when its owner dies.
    func next(for slot: Slot) -> NodeName? {
        let owner = slot.claim.flatMap { $0.isReleased ? nil : $0.node.name }
        return self.ranking(for: slot).first { $0 != owner }
    }

    /// Begins to follow the partitions that this node is to have next, and ends the other standbys.
    mutating func decideStandbys() {
        var isBusy = self.slots.contains { slot in
            switch slot.holding {
            case .claiming, .starting: true
            case .none, .running, .handingOver, .gating, .givingUp, .releasing, .failed: slot.standby == .starting
            }
        }
        for index in self.slots.indices {
            let isWanted = self.isOwnToFollow(self.slots[index])
            switch self.slots[index].standby {
            case .resting(let until) where self.now < until: continue
            case .none, .resting:
                self.slots[index].standby = .none
                guard isWanted, !isBusy else { continue }
                isBusy = true
                self.slots[index].standby = .starting
                self.actions.append(.startStandby(self.slots[index].partition))
            case .starting, .following: if !isWanted { self.endStandby(index) }
            }
        }
    }

    /// Follows nothing any more.
    mutating func endStandbys() {
        for index in self.slots.indices { self.endStandby(index) }
    }

    private mutating func endStandby(_ index: Int) {
        switch self.slots[index].standby {
        case .none: return
        case .starting, .following: self.actions.append(.stopStandby(self.slots[index].partition))
        case .resting: break
        }
        self.slots[index].standby = .none
    }

    /// Whether this node is to follow the owner of a partition. By other decision rules it would come to something else, and is not
    /// in the ranking.
    private func isOwnToFollow(_ slot: Slot) -> Bool {
        guard self.limits.standsBy, let claim = slot.claim, claim.node.name != self.own.name else { return false }
        switch slot.holding {
        case .none: return self.next(for: slot) == self.own.name
        case .claiming: return true
        case .starting, .running, .handingOver, .gating, .givingUp, .releasing, .failed: return false
        }
    }

    var ownFollowings: [Beat.Following] {
        self.slots.compactMap { slot in
            switch slot.standby {
            case .none, .resting: nil
            case .starting: Beat.Following(partition: slot.partition, lag: nil)
            case .following(let lag): Beat.Following(partition: slot.partition, lag: lag)
            }
        }
    }

    /// Whether a node that is to have a partition follows it, or would not: it goes on at once with a partition that it
    /// follows.
    static func isReady(_ peer: Peer, _ partition: PartitionID) -> Bool {
        guard let own = peer.followings.first(where: { $0.partition == partition }) else {
            // One partition after the other.
            return peer.followings.allSatisfy { $0.lag != nil }
        }
        return own.lag != nil
    }

    /// The living node that follows the owner of a partition.
    func standby(of slot: Slot) -> ClusterView.Standby? {
        if case .following(let lag) = slot.standby { return ClusterView.Standby(node: self.own.name, lag: lag) }
        for peer in self.peers.values.sorted(by: { $0.node.name < $1.node.name }) where !self.isSilent(peer) {
            guard let lag = peer.followings.first(where: { $0.partition == slot.partition })?.lag else { continue }
            return ClusterView.Standby(node: peer.node.name, lag: lag)
        }
        return nil
    }
}
