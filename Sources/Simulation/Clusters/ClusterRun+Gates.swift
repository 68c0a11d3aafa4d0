import Engine
import Journaling
import Ownership
import Scenarios
import WidgetModel

/// Nodes of two programs with different decision rules, and partitions that go from one to the other.
extension ClusterRun {
    /// The rules by which a partition goes on.
    func rules(of partition: PartitionID) -> Int {
        self.log.newestOutput(partition).map { Int($0.record.engineVersion) } ?? 1
    }

    /// A node becomes the other program's, operators want other rules, and owners follow that.
    mutating func changeRules() {
        if self.dice.chance(self.plan.gates) {
            let node = self.dice.pick(self.nodes)
            node.rules = 3 - node.rules
            self.kill(node)
        }
        if self.dice.chance(self.plan.gates) { self.wishedRules = 3 - self.wishedRules }
        for partition in Self.partitions {
            for node in self.nodes where node.rules != self.wishedRules && self.dice.chance(self.plan.gates) {
                guard let owner = node.seats[Int(partition.rawValue)].owner, !owner.machine.isReplaying else {
                    continue
                }
                owner.machine.closeGate(to: self.wishedRules)
                self.planOwner(of: partition, node)
            }
        }
    }

    /// All is committed that an owner has decided: its state is to be written down.
    mutating func writeLastState(_ checkpoint: OwnerCheckpoint, _ partition: PartitionID, _ node: SimulatedNode) {
        let index = Int(partition.rawValue)
        node.seats[index].isClosed = true
        guard self.bug != .gatesBeforeState else { return self.stateWritten(partition, node) }
        node.seats[index].checkpoint = checkpoint
        self.plan(node.agent(.snapshot(partition)), in: Int64(self.dice.below(5000)))
    }

    /// A snapshot is there: where the owner waits for it, it commits the gate.
    mutating func stateWritten(_ partition: PartitionID, _ node: SimulatedNode) {
        let index = Int(partition.rawValue)
        guard node.seats[index].isClosed else { return }
        node.seats[index].isClosed = false
        node.seats[index].owner?.machine.stateWritten()
        self.planOwner(of: partition, node)
    }

    /// The owner has ended behind a gate.
    mutating func passed(_ partition: PartitionID, _ node: SimulatedNode) {
        self.leave(partition, node)
        self.handOn(partition, node, to: self.rules(of: partition))
    }

    /// A partition is not a node's, whose program has other rules.
    mutating func handOn(_ partition: PartitionID, _ node: SimulatedNode, to rules: Int) {
        let index = Int(partition.rawValue)
        node.seats[index].isBelieved = false
        let others = self.nodes.filter { $0.rules == rules && $0 !== node }
        guard !others.isEmpty else { return }
        let other = self.dice.pick(others)
        other.seats[index].isBelieved = true
        self.planOwner(of: partition, other)
    }

    /// Before an owner starts: the state that other rules have left is made its own, if the log has passed the gate to its rules.
    ///
    /// - Returns: The newest output as the owner takes it.
    mutating func takeOver(_ partition: PartitionID, _ newest: OutputEntry?, _ node: SimulatedNode) throws
        -> OutputEntry?
    {
        guard let newest else { return nil }
        guard Int(newest.record.engineVersion) == node.rules else {
            guard self.bug == .ignoresRules else {
                throw OwnerError.decidedByOthers(partition: partition, rules: Int(newest.record.engineVersion))
            }
            let record = OutputRecord(
                through: newest.record.through,
                ahead: newest.record.ahead,
                engineVersion: UInt32(node.rules),
                runningHash: newest.record.runningHash,
                effects: newest.record.effects
            )
            try self.makeOwn(partition, newest.record.through, node)
            return OutputEntry(position: newest.position, record: record)
        }
        try self.makeOwn(partition, newest.record.through, node)
        return newest
    }

    private mutating func makeOwn(_ partition: PartitionID, _ through: LogPosition, _ node: SimulatedNode) throws {
        var store = ClusterSnapshots(log: self.log)
        guard let id = store.snapshots(partition).first(where: { $0.position <= through }),
            let rules = try RulesStanding.rules(of: id, in: store), rules != node.rules
        else { return }
        let standing = RulesStanding(
            partition: partition,
            snapshot: RulesStanding.State(id: id, rules: rules),
            rules: node.rules,
            through: through,
            entriesBehind: nil
        )
        guard case .takeOver = standing.step(of: node.rules) else { throw OwnerError.otherRules([standing]) }
        self.uploads += 1
        store.upload = self.uploads
        // It may die in the middle.
        if self.dice.chance(self.plan.crashes * 10) { store.messagesMax = self.dice.below(3) }
        try RulesStanding.takeOver(id, among: FaultWorld.partitions, in: store, as: node.rules)
    }
}
