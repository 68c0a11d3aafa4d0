import Engine
import JournalStreams
import Journaling
import Ownership
import Scenarios
import WidgetModel

/// The standbys of partitions that other nodes own.
extension ClusterRun {
    /// The least milliseconds between two attempts of a standby, and until one that has ended begins anew.
    private static let pause: Int64 = 75
    private static let rest: Int64 = 10_000

    mutating func planStandby(of partition: PartitionID, _ node: SimulatedNode) {
        let seat = node.seats[Int(partition.rawValue)]
        if seat.isFollowing, !seat.isBelieved { self.plan(node.agent(.follow(partition))) }
    }

    /// A node begins to follow an owner, or ends it.
    mutating func changeStandbys() {
        let (partition, node) = (self.dice.pick(Self.partitions), self.dice.pick(self.nodes))
        let index = Int(partition.rawValue)
        guard node.isUp, node.stoppedUntil <= self.now else { return }
        if node.seats[index].isFollowing, self.dice.chance(0.3) {
            (node.seats[index].isFollowing, node.seats[index].standby) = (false, nil)
        } else {
            node.seats[index].isFollowing = true
            self.planStandby(of: partition, node)
        }
    }

    mutating func stepStandby(_ agent: Agent, _ partition: PartitionID, _ node: SimulatedNode) {
        let index = Int(partition.rawValue)
        guard node.seats[index].isFollowing, !node.seats[index].isBelieved else { return }
        guard self.canRead() else { return self.plan(agent, in: Self.pause) }
        do {
            guard let standby = node.seats[index].standby else {
                try self.startStandby(of: partition, node)
                return self.plan(agent)
            }
            let hasMore = try self.readOutput(of: standby, node)
            if try self.advance(standby, agent, node) || hasMore { self.plan(agent) }
        } catch {
            self.stoodDown(agent, partition, node, error)
        }
    }

    private mutating func startStandby(of partition: PartitionID, _ node: SimulatedNode) throws {
        let index = Int(partition.rawValue)
        let newest = self.log.newestOutput(partition)
        let standby = try self.makeOwner(of: partition, newest: newest, by: node.rules)
        try standby.machine.standBy(newest: newest)
        standby.machine.announce(LogPosition(node.seats[index].seen))
        (node.seats[index].standby, node.seats[index].nextOutput) = (standby, newest?.position.next ?? .first)
    }

    /// - Returns: Whether there may be more.
    private func readOutput(of standby: SimulatedOwner, _ node: SimulatedNode) throws -> Bool {
        let index = Int(standby.partition.rawValue)
        if self.bug == .standbyRunsAhead, let hash = self.checker.witnesses[index].hash(at: standby.machine.announced) {
            let record = OutputRecord(
                through: standby.machine.announced,
                engineVersion: UInt32(node.rules),
                runningHash: hash,
                effects: [0]
            )
            try standby.machine.takeOutput(record)
        }
        let stream = self.log.names.output(standby.partition)
        guard let message = self.log.streams.message(from: node.seats[index].nextOutput.rawValue, in: stream),
            let output = self.log.output(message, of: standby.partition)
        else { return false }
        node.seats[index].nextOutput = output.position.next
        try standby.machine.takeOutput(output.record)
        return true
    }

    /// - Returns: Whether there is more to do.
    private mutating func advance(_ standby: SimulatedOwner, _ agent: Agent, _ node: SimulatedNode) throws -> Bool {
        var units = self.dice.pick([1, 7, 64, 4096])
        switch try standby.machine.next(&units) {
        case nil: return standby.machine.isBehind
        case .read(let position): try self.read(from: position, standby, agent, node)
        case .tell(let run): self.checker.checkFollowed(run, by: standby)
        case .awaitRetry: standby.machine.retry()
        case .commit, .readNewestOutput, .publish, .writeState, .tellCheckpoint:
            self.checker.fault("partition \(standby.partition): a standby acts as an owner")
        }
        return true
    }

    private mutating func stoodDown(
        _ agent: Agent,
        _ partition: PartitionID,
        _ node: SimulatedNode,
        _ error: any Error
    ) {
        let index = Int(partition.rawValue)
        let wasFollowing = node.seats[index].standby.take() != nil
        switch error {
        case OwnerError.decidedByOthers:
            if wasFollowing { self.checker.noteOccurrence(.standbyGated) }
            return node.seats[index].isFollowing = false
        case OwnerError.noState: break
        case let error as JournalError where error.code == .corrupt: self.checker.noteOccurrence(.standbyOvertaken)
        default:
            return self.checker.fault("partition \(partition): the standby on node \(node.number) ended: \(error)")
        }
        self.plan(agent, in: Self.rest)
    }

    // MARK: Taking over

    /// Takes the standby of a partition, to become its owner.
    mutating func takeStandby(of partition: PartitionID, _ node: SimulatedNode) -> SimulatedOwner? {
        guard let standby = node.seats[Int(partition.rawValue)].standby.take() else { return nil }
        self.checker.noteOccurrence(.standbyTakeover)
        return standby
    }

    /// The newest output, as a new owner takes it.
    mutating func startOutput(of owner: SimulatedOwner, _ newest: OutputEntry?) -> OutputEntry? {
        guard owner.machine.isStandingBy, let newest, newest.record.through > owner.applied else { return newest }
        self.checker.noteOccurrence(.standbyBehind)
        guard self.bug == .standbyTakesOverBehind, owner.machine.isBetweenEntries else { return newest }
        let record = OutputRecord(
            through: owner.applied,
            engineVersion: newest.record.engineVersion,
            runningHash: owner.engine.runningHash,
            effects: [0]
        )
        return OutputEntry(position: newest.position, record: record)
    }

    /// A standby that is left alone comes to its owner's committed state, unless the partition has passed a gate meanwhile.
    mutating func checkStandbys(of node: SimulatedNode) {
        for partition in Self.partitions where node.seats[Int(partition.rawValue)].isFollowing {
            guard node.rules == self.rules(of: partition) else { continue }
            let standby = node.seats[Int(partition.rawValue)].standby
            let committed = self.log.newestOutput(partition)?.record.through ?? .start
            if standby?.applied != committed {
                let place = "the standby on node \(node.number)"
                self.checker.fault("partition \(partition): \(place) is not where its owner is")
            }
        }
    }
}
