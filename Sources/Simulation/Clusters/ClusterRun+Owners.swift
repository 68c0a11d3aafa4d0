import Engine
import JournalStreams
import Journaling
import Ownership
import Scenarios
import WidgetModel

/// The nodes' work on the partitions that they believe are theirs.
extension ClusterRun {
    /// The least milliseconds between two ticks of a partition: a node without brokers would try very many.
    private static let tickSpacing: Int64 = 10_000
    /// And between two attempts of an owner.
    private static let pause: Int64 = 75
    /// How long one waits for a consumer that lags, and how slow a slow reader is at most, in milliseconds.
    private static let lagPause: Int64 = 1000
    private static let slowMax = 3_600_000
    /// The log does not answer for now.
    private static let away = JournalError(.unavailable, "a fault of the simulation")
    /// How often a node that believes in itself may fail to start in a row.
    private static let failuresMax = 30

    mutating func planOwner(of partition: PartitionID, _ node: SimulatedNode) {
        if node.seats[Int(partition.rawValue)].isBelieved { self.plan(node.agent(.own(partition))) }
    }

    /// A node does not believe any more that a partition is its, or begins anew.
    mutating func leave(_ partition: PartitionID, _ node: SimulatedNode) {
        let index = Int(partition.rawValue)
        node.seats[index].owner?.machine.stop()
        (node.seats[index].owner, node.seats[index].newest) = (nil, nil)
        if node.seats[index].isClosed { self.checker.noteOccurrence(.gateCut) }
        node.seats[index].isClosed = false
        (node.seats[index].commit, node.seats[index].checkpoint) = (nil, nil)
        node.attempts[.commit(partition)] = nil
    }

    mutating func stepOwner(_ agent: Agent, _ partition: PartitionID, _ node: SimulatedNode) {
        let index = Int(partition.rawValue)
        guard node.seats[index].isBelieved else { return }
        guard let owner = node.seats[index].owner else { return self.start(agent, partition, node) }
        do {
            var units = self.dice.pick([1, 7, 64, 4096])
            guard let action = try owner.machine.next(&units) else {
                if owner.machine.hasPassedGate { return self.passed(partition, node) }
                if owner.machine.isBehind { self.plan(agent) } else { self.planTick(agent, owner) }
                return
            }
            try self.perform(action, owner, agent, node)
            self.plan(agent)
        } catch {
            self.stopped(partition, node, error)
        }
    }

    /// Makes an owner: the newest output first, a state later.
    private mutating func start(_ agent: Agent, _ partition: PartitionID, _ node: SimulatedNode) {
        let index = Int(partition.rawValue)
        guard self.canRead() else { return self.plan(agent, in: Self.pause) }
        self.plan(agent)
        guard let newest = node.seats[index].newest.take() else {
            node.seats[index].newest = .some(self.log.newestOutput(partition))
            return
        }
        do {
            let standby = self.takeStandby(of: partition, node)
            let own = try self.takeOver(partition, newest, node)
            let known = standby.map { self.startOutput(of: $0, newest) } ?? own
            let owner = try standby ?? self.makeOwner(of: partition, newest: newest, by: node.rules)
            self.starts += 1
            owner.start = self.starts
            if self.nodes.contains(where: { $0 !== node && $0.seats[index].owner != nil }) {
                self.checker.noteOccurrence(.twoOwners)
            }
            if self.starts > FaultWorld.partitions { self.checker.noteOccurrence(.takeover) }
            try owner.machine.start(newest: known)
            owner.machine.announce(LogPosition(node.seats[index].seen))
            (node.seats[index].owner, node.seats[index].hasCommitted) = (owner, false)
        } catch let error as JournalError where error.code == .closed {
            self.kill(node)
        } catch {
            self.stopped(partition, node, error)
        }
    }

    /// One with the state of a snapshot, or an empty one.
    mutating func makeOwner(of partition: PartitionID, newest: OutputEntry?, by rules: Int) throws -> SimulatedOwner {
        let last = self.bug == .startsAhead ? LogPosition(.max) : newest?.record.through ?? .start
        let state = try self.loadState(of: partition, notBeyond: last, by: rules)
        return SimulatedOwner(
            state.makeOwner(chunkBytesMax: self.dice.pick([1, 200, 2000, 262_144])),
            start: self.starts
        )
    }

    /// An owner does not go on. A node that still believes to have the partition begins anew.
    private mutating func stopped(_ partition: PartitionID, _ node: SimulatedNode, _ error: any Error) {
        let index = Int(partition.rawValue)
        self.leave(partition, node)
        var isPlanned = false
        switch error {
        case OwnerError.noState, OwnerError.otherRules: isPlanned = true
        case OwnerError.decidedByOthers(_, let rules):
            self.checker.noteOccurrence(.otherRules)
            return self.handOn(partition, node, to: rules)
        case let error as JournalError where error.code == .fenced:
            self.checker.noteOccurrence(.fenced)
            isPlanned = true
        case let error as JournalError where error.code == .corrupt:
            self.checker.noteOccurrence(.overtaken)
            isPlanned = true
        default: break
        }
        node.seats[index].failures += 1
        guard isPlanned, node.seats[index].failures <= Self.failuresMax else {
            return self.checker.fault("partition \(partition) on node \(node.number) stopped: \(error)")
        }
        // One of two that think so lets go, or both go on.
        if (error as? JournalError)?.code == .fenced, self.dice.chance(self.plan.beliefs) {
            node.seats[index].isBelieved = false
        }
        self.plan(node.agent(.own(partition)), in: Self.pause)
    }

    private mutating func perform(_ action: OwnerAction, _ owner: SimulatedOwner, _ agent: Agent, _ node: SimulatedNode)
        throws
    {
        let partition = owner.partition
        let index = Int(partition.rawValue)
        switch action {
        case .read(let position): try self.read(from: position, owner, agent, node)
        case .tell(let run): self.checker.checkApplied(run, by: owner)
        case .commit(let record, let expected):
            let bytes = OutputMessage.bytes(record, SimulatedLog.journalID, in: self.log.names.output(partition))
            let writer = OutputWriter(of: partition, behind: expected, bytes)
            node.seats[index].commit = (writer, writer.goOn(), owner.start)
            self.followCommit(partition, node)
        case .awaitRetry: owner.machine.retry()
        case .readNewestOutput: try owner.machine.takeNewestOutput(self.log.newestOutput(partition))
        case .publish(let output): self.publish(output.effects)
        case .writeState(let checkpoint): self.writeLastState(checkpoint, partition, node)
        case .tellCheckpoint(let checkpoint):
            guard owner.wantsSnapshot else { return }
            owner.wantsSnapshot = false
            node.seats[index].checkpoint = checkpoint
            self.plan(node.agent(.snapshot(partition)), in: Int64(self.dice.below(5000)))
        }
    }

    mutating func read(
        from position: LogPosition,
        _ owner: SimulatedOwner,
        _ agent: Agent,
        _ node: SimulatedNode
    ) throws {
        let partition = owner.partition
        let index = Int(partition.rawValue)
        if self.dice.chance(self.plan.slowReads) {
            self.plan(agent, in: Int64(self.dice.below(Self.slowMax)))
            self.replace(node)
            return try owner.machine.takeEntries(.failure(Self.away))
        }
        guard self.canRead() else {
            self.plan(agent, in: Self.pause)
            return try owner.machine.takeEntries(.failure(Self.away))
        }
        let ends = self.log.streams.ends(of: self.log.names.input(partition))
        let seen = node.seats[index].seen
        let last = self.bug == .endsAtConsumer ? seen : ends.last
        guard position.rawValue <= last else { return try owner.machine.takeEntries(.success([])) }
        guard position.rawValue >= ends.first else {
            throw JournalError(.corrupt, "read of position \(position): the log begins with position \(ends.first)")
        }
        guard position.rawValue <= seen else {
            self.checker.noteOccurrence(.lag)
            self.plan(agent, in: Self.lagPause)
            return try owner.machine.takeEntries(.failure(Self.away))
        }
        let (entries, known) = try self.log.entries(
            of: partition,
            from: position,
            through: seen,
            entriesMax: 1 + self.dice.below(8),
            known: node.seats[index].known.flatMap { $0.position < position ? $0 : nil }
        )
        node.seats[index].known = known
        node.seats[index].failures = 0
        try owner.machine.takeEntries(.success(entries))
    }

    // MARK: Outputs

    private mutating func followCommit(_ partition: PartitionID, _ node: SimulatedNode) {
        let index = Int(partition.rawValue)
        guard let (writer, step, start) = node.seats[index].commit else { return }
        let agent = node.agent(.commit(partition))
        switch step {
        case .publish(let expectation):
            let isBlind = self.bug == .expectsNothing && !node.seats[index].hasCommitted
            self.publish(
                writer.bytes,
                to: self.log.names.outputs(partition),
                in: self.log.names.output(partition),
                isBlind ? .nothing : expectation,
                by: agent
            )
        case .look: self.plan(agent)
        case .pause: self.plan(agent, in: Self.pause)
        case .settled(let result):
            node.seats[index].commit = nil
            guard let owner = node.seats[index].owner, owner.start == start else { return }
            node.seats[index].hasCommitted = true
            self.tell(result, of: writer, owner, node)
        }
    }

    private mutating func tell(
        _ result: Result<OutputPosition, JournalError>,
        of writer: OutputWriter,
        _ owner: SimulatedOwner,
        _ node: SimulatedNode
    ) {
        var told = result
        if self.bug == .ignoresFence, case .failure(let error) = result, error.code == .fenced {
            guard case .publish(.lastOfStream(let expected)) = writer.goOn() else { return }
            told = .success(OutputPosition(expected + 1))
        }
        if case .success(let position) = told {
            let stream = self.log.names.output(owner.partition)
            self.checker.checkStored(writer.bytes, at: position.rawValue, in: stream)
        }
        do {
            try owner.machine.committed(told)
            self.planOwner(of: owner.partition, node)
        } catch {
            self.stopped(owner.partition, node, error)
        }
    }

    mutating func committed(_ outcome: PublishOutcome, _ agent: Agent, _ partition: PartitionID, _ node: SimulatedNode)
    {
        let index = Int(partition.rawValue)
        guard let step = node.seats[index].commit?.writer.published(outcome) else { return }
        node.seats[index].commit?.step = step
        self.followCommit(partition, node)
    }

    mutating func stepCommit(_ agent: Agent, _ partition: PartitionID, _ node: SimulatedNode) {
        let index = Int(partition.rawValue)
        guard var commit = node.seats[index].commit else { return }
        switch commit.step {
        case .publish, .settled: return
        case .pause: commit.step = commit.writer.goOn()
        case .look:
            let stream = self.log.names.output(partition)
            commit.step =
                self.canRead()
                ? commit.writer.found(
                    newest: self.log.streams.newest(in: stream, of: self.log.names.outputs(partition))
                ) : commit.writer.failed(Self.away)
        }
        node.seats[index].commit = commit
        self.followCommit(partition, node)
    }

    private mutating func publish(_ effects: [Effect]) {
        for effect in effects {
            guard case .reload(let reload) = effect else { continue }
            self.checker.noteIssued(reload)
            if self.dice.chance(self.plan.lost) { continue }
            let copies = self.dice.chance(self.plan.doubled) ? 2 : 1
            for _ in 0..<copies {
                let at = self.now + 1 + Int64(self.dice.below(self.plan.delayMax + 1))
                self.queue.insert(.reload(reload), at: at)
            }
        }
    }

    // MARK: Ticks

    /// Plans the next tick.
    private mutating func planTick(_ agent: Agent, _ owner: SimulatedOwner) {
        let clock = self.clock(of: self.nodes[agent.node])
        guard let delay = owner.machine.tickDelay(at: clock, uptime: .milliseconds(self.now)) else { return }
        let at = self.now + max(delay.milliseconds, Self.tickSpacing)
        if let planned = owner.tickAt, planned <= at { return }
        owner.tickAt = at
        self.queue.insert(.tick(agent), at: at)
    }

    mutating func tick(_ agent: Agent, _ node: SimulatedNode) {
        guard case .own(let partition) = agent.work, let owner = node.seats[Int(partition.rawValue)].owner,
            let at = owner.tickAt, at <= self.now
        else { return }
        owner.tickAt = nil
        guard owner.machine.takeTick(at: self.clock(of: node), uptime: .milliseconds(self.now)) else {
            return self.planTick(agent, owner)
        }
        self.append(.tick, to: partition, request: nil, node)
    }
}
