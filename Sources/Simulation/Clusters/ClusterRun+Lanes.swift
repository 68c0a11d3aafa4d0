import Engine
import JournalStreams
import Journaling
import Ownership
import Scenarios
import WidgetModel

/// The records that nodes append: requests of clients, ticks, copies.
extension ClusterRun {
    /// How long an append is tried, and the least pause between two attempts, in milliseconds.
    private static let patience: Int64 = 10_000
    private static let pause: Int64 = 75
    /// How many submissions a message takes at most.
    private static let packedMax = 3

    private func lane(_ agent: Agent, _ node: SimulatedNode) -> SimulatedLane {
        if case .append(let partition) = agent.work { node.lanes[Int(partition.rawValue)] } else { node.fanLane }
    }

    private func set(_ lane: SimulatedLane, _ agent: Agent, _ node: SimulatedNode) {
        if case .append(let partition) = agent.work {
            node.lanes[Int(partition.rawValue)] = lane
        } else {
            node.fanLane = lane
        }
    }

    private static func partition(of agent: Agent) -> PartitionID? {
        if case .append(let partition) = agent.work { partition } else { nil }
    }

    /// - Parameter partition: Nil for all.
    mutating func append(_ records: PackedRecords, to partition: PartitionID?, request: Int?, _ node: SimulatedNode) {
        let agent = node.agent(partition.map { .append($0) } ?? .appendToAll)
        self.checker.noteSubmitted(records, to: partition)
        var lane = self.lane(agent, node)
        lane.waiting.append(PendingRecords(records: records, request: request))
        self.set(lane, agent, node)
        self.beginMessage(agent, node)
    }

    private mutating func beginMessage(_ agent: Agent, _ node: SimulatedNode) {
        var lane = self.lane(agent, node)
        guard lane.underWay.isEmpty, !lane.waiting.isEmpty else { return }
        let count = agent.work == .appendToAll ? 1 : Self.packedMax
        lane.underWay = Array(lane.waiting.prefix(count))
        lane.waiting.removeFirst(lane.underWay.count)
        var records = PackedRecords()
        for pending in lane.underWay { records.append(contentsOf: pending.records) }
        let (id, step) = lane.writer.begin()
        let now = self.clock(of: node)
        let names = self.log.names
        if let partition = Self.partition(of: agent) {
            let message = InputMessage(id: id, writtenAt: now, records: records)
            lane.bytes = message.bytes(SimulatedLog.journalID, in: names.input(partition))
            lane.subject = names.input(partition, of: id.writer)
        } else {
            let message = FanMessage(id: id, writtenAt: now, submission: SubmissionToAll(records))
            lane.bytes = message.bytes(SimulatedLog.journalID, in: names.fan)
            lane.subject = names.fan(of: id.writer)
        }
        (lane.end, lane.isTried, lane.newest) = (self.now + Self.patience, false, nil)
        self.follow(step, &lane, agent, node)
        self.set(lane, agent, node)
    }

    private mutating func follow(
        _ step: MessageWriter.Step,
        _ lane: inout SimulatedLane,
        _ agent: Agent,
        _ node: SimulatedNode
    ) {
        lane.step = step
        switch step {
        case .publish(let expectation):
            let stream = Self.partition(of: agent).map(self.log.names.input) ?? self.log.names.fan
            var expected = expectation
            if self.bug == .opensBehindNothing, case .lastOfStream = expectation { expected = .lastOfSubject(0) }
            lane.isTried = true
            self.publish(lane.bytes, to: lane.subject, in: stream, expected, by: agent)
        case .look: self.plan(agent)
        case .pause: self.plan(agent, in: Self.pause)
        case .settled(let result): self.settle(result, &lane, agent, node)
        }
    }

    /// The outcome of an attempt is known, or no caller waits any longer.
    mutating func published(_ outcome: PublishOutcome, _ agent: Agent, _ node: SimulatedNode) {
        var lane = self.lane(agent, node)
        if case .unknown = outcome { self.checker.noteOccurrence(.unknownAppend) }
        self.follow(self.unlessOver(lane.writer.published(outcome), &lane), &lane, agent, node)
        self.set(lane, agent, node)
        self.beginMessage(agent, node)
    }

    mutating func stepLane(_ agent: Agent, _ node: SimulatedNode) {
        var lane = self.lane(agent, node)
        guard !lane.underWay.isEmpty else { return }
        switch lane.step {
        case .publish, .settled: return
        case .pause: self.follow(self.unlessOver(lane.writer.goOn(), &lane), &lane, agent, node)
        case .look:
            if let step = self.look(&lane, agent) {
                self.follow(self.unlessOver(step, &lane), &lane, agent, node)
            } else {
                self.plan(agent)
            }
        }
        self.set(lane, agent, node)
        self.beginMessage(agent, node)
    }

    private func unlessOver(_ step: MessageWriter.Step, _ lane: inout SimulatedLane) -> MessageWriter.Step {
        if case .settled = step { return step }
        return lane.isTried && self.now > lane.end ? lane.writer.giveUp() : step
    }

    /// Two questions, one after the other; nil behind the first.
    private mutating func look(_ lane: inout SimulatedLane, _ agent: Agent) -> MessageWriter.Step? {
        let stream = Self.partition(of: agent).map(self.log.names.input) ?? self.log.names.fan
        guard self.canRead() else {
            (lane.newest, lane.isTried) = (nil, true)
            return lane.writer.failed(JournalError(.unavailable, "a fault of the simulation"))
        }
        guard let newest = lane.newest else {
            lane.newest = .some(self.log.streams.newest(in: stream, of: lane.subject)?.sequence)
            return nil
        }
        lane.newest = nil
        let step = lane.writer.found(newest: newest, ends: self.log.streams.ends(of: stream))
        if case .settled(.success) = step { self.checker.noteOccurrence(.foundStored) }
        return step
    }

    private mutating func settle(
        _ result: Result<UInt64, JournalError>,
        _ lane: inout SimulatedLane,
        _ agent: Agent,
        _ node: SimulatedNode
    ) {
        let partition = Self.partition(of: agent)
        let settled = lane.underWay
        lane.underWay = []
        switch result {
        case .success(let sequence):
            let stream = partition.map(self.log.names.input) ?? self.log.names.fan
            self.checker.checkStored(lane.bytes, at: sequence, in: stream)
            for pending in settled {
                if let request = pending.request { self.answer(request) }
            }
        case .failure(let error):
            if error.code == .corrupt { self.checker.fault("an append of node \(node.number): \(error)") }
            // A tick that failed is due again.
            if let partition { self.planOwner(of: partition, node) }
            guard self.bug == .renamesRepeats, error.code == .unknownOutcome else { return }
            lane.waiting = settled + lane.waiting
        }
    }

    // MARK: Copies

    mutating func stepRelay(_ agent: Agent, _ node: SimulatedNode) {
        guard node.attempts[.relay] == nil else { return }
        switch node.copier.step(at: Instant(milliseconds: self.now)) {
        case .pause: self.plan(agent, in: Self.pause)
        case .findProgress(let partition): self.findProgress(of: partition, agent, node)
        case .follow(let first):
            node.fanNext = first
            node.copier.followed()
            self.plan(agent)
        case .read: self.readOriginal(agent, node)
        case .copy(let message, let fan, let partition, let expectation):
            let copy = InputMessage(
                id: message.id,
                writtenAt: message.writtenAt,
                fan: fan,
                records: message.submission.records(for: partition)
            )
            let stream = self.log.names.input(partition)
            node.copying = partition
            self.publish(
                copy.bytes(SimulatedLog.journalID, in: stream),
                to: self.log.names.copies(partition),
                in: stream,
                expectation,
                by: agent
            )
        }
    }

    mutating func copied(_ outcome: PublishOutcome, _ agent: Agent, _ node: SimulatedNode) {
        guard let partition = node.copying.take() else { return }
        if case .otherEnd = outcome { self.checker.noteOccurrence(.copyRefused) }
        node.copier.copied(outcome, to: partition, at: Instant(milliseconds: self.now))
        self.plan(agent)
    }

    /// The end of the stream first, and later its messages.
    private mutating func findProgress(of partition: PartitionID, _ agent: Agent, _ node: SimulatedNode) {
        self.plan(agent)
        let stream = self.log.names.input(partition)
        guard self.canRead() else {
            node.foundEnd = nil
            return node.copier.missed(partition, at: Instant(milliseconds: self.now))
        }
        guard let (found, end) = node.foundEnd, found == partition else {
            node.foundEnd = (partition, self.log.streams.ends(of: stream).last)
            return
        }
        node.foundEnd = nil
        var progress = self.progress(of: partition, end: end)
        if self.bug == .copiesWhateverIsNewer {
            progress.fan = Self.partitions.map { self.progress(of: $0, end: end).fan }.max() ?? 0
        }
        node.copier.found(progress, of: partition)
    }

    private func progress(of partition: PartitionID, end: UInt64) -> FanCopier.Progress {
        let newest = self.log.streams.newest(in: self.log.names.input(partition), of: self.log.names.copies(partition))
        let copy = self.log.input(newest, of: partition)
        let trimmed = (try? self.log.trimmed(partition).note)?.fan ?? 0
        guard let newest, let fan = copy?.fan else {
            var progress = FanCopier.Progress(end: end, newest: nil, trimmed: trimmed)
            if self.bug == .copiesBehindNothing { progress.expected = .lastOfSubject(0) }
            return progress
        }
        return FanCopier.Progress(end: end, newest: (newest.sequence, fan), trimmed: trimmed)
    }

    private mutating func readOriginal(_ agent: Agent, _ node: SimulatedNode) {
        let stream = self.log.names.fan
        if self.dice.chance(self.plan.lost) {
            node.copier.startOver()
            return self.plan(agent)
        }
        guard let message = self.log.streams.message(from: node.fanNext, in: stream), message.sequence <= node.fanSeen
        else {
            guard self.canRead() else { return self.plan(agent, in: 500) }
            let last = self.log.streams.ends(of: stream).last
            node.copier.nothingCame(last: last)
            // A new message wakes it.
            if last >= node.fanNext || node.copier.hasLeftBehind { self.plan(agent, in: 500) }
            return
        }
        node.fanNext = message.sequence + 1
        do throws(MessageError) {
            let original = try FanMessage(message.bytes, SimulatedLog.journalID, in: stream)
            node.copier.received(original, at: message.sequence)
        } catch {
            self.checker.fault("an original cannot be read: \(error.sentence)")
        }
        self.plan(agent)
    }
}
