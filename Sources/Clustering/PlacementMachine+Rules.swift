package import WidgetModel

/// By which decision rules partitions go on, and how that changes.
///
/// The outputs of a partition's log are the truth: the newest one names the rules. Claims say it, too, so that nodes need not read
/// outputs. Where a claim says something else, since its node died between the two, the next owner finds it out at its start, or a
/// node with other rules asks when no node has those that the claim names.
extension PlacementMachine {
    /// How long a node waits when a partition of its could not pass the gate: the next one probably could not, either.
    static let gatePause = Interval.seconds(60)

    /// The rules by which a partition's log goes on; nil if it was never claimed.
    func rules(of slot: Slot) -> UInt32? {
        if let found = slot.found, found.epoch == slot.claim?.epoch { return found.rules }
        return slot.claim?.rules
    }

    /// The other rules to which a partition of this node's is to pass, and the node that has it then; nil for none.
    func rulesToChange(of slot: Slot) -> (rules: UInt32, taker: NodeName)? {
        guard !self.areWishesOld, let rules = self.wishes.rules, rules != self.own.rules,
            self.now >= self.gateNotBefore, let first = self.first(for: slot, by: rules),
            !self.wishes.drained.contains(first)
        else { return nil }
        return (rules, first)
    }

    mutating func passGate(_ index: Int, _ epoch: Epoch, to rules: UInt32) {
        self.slots[index].holding = .gating(epoch, rules: rules)
        self.actions.append(.stopOwner(self.slots[index].partition, .behindGate(rules: rules)))
        self.beat()
    }

    /// No node has the rules that a partition's claim names: its log may have passed a gate of which the claim does not know.
    mutating func askForRules(_ index: Int) {
        let slot = self.slots[index]
        guard let due = slot.rulesDue, self.now >= due, let rules = self.rules(of: slot), rules != self.own.rules,
            let claim = slot.claim, claim.isReleased || !self.isAlive(claim.node), self.ranking(for: slot).isEmpty
        else { return }
        self.slots[index].rulesDue = nil
        self.actions.append(.readRules(slot.partition, behind: claim.epoch))
    }

    /// The rules that the newest output of a partition names; nil if the brokers did not answer.
    ///
    /// - Parameter epoch: Of the claim that was known when it was asked for.
    package mutating func rulesRead(_ partition: PartitionID, behind epoch: Epoch?, _ rules: UInt32?) {
        let index = Int(partition.rawValue)
        self.slots[index].rulesDue = self.now + self.limits.beat * Self.beatsPerRead
        if let rules { self.slots[index].found = (epoch, rules) }
        self.decide()
    }
}

extension Claim {
    /// As a node tells it of itself.
    init(_ holding: Beat.Holding, of node: ClusterNode) {
        guard holding.standing == .released else {
            self.init(epoch: holding.epoch, node: node)
            return
        }
        let release = Release(to: holding.successor, rules: holding.rules ?? node.rules)
        self.init(epoch: holding.epoch, node: node, release)
    }
}
