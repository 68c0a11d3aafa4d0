import JournalStreams
import Journaling
import Ownership
import Scenarios
import WidgetModel

/// The brokers, and the way to them.
extension ClusterRun {
    /// How long an attempt waits for its answer, and how much later than that a message may come, in milliseconds.
    private static let wait: Int64 = 2000
    private static let lateMax = 1_800_000

    /// Sends a message. It comes soon, much later, or never; its sender hears in any case.
    mutating func publish(
        _ bytes: [UInt8],
        to subject: String,
        in stream: String,
        _ expectation: Expectation,
        by agent: Agent
    ) {
        self.attempts += 1
        var publication = Publication(
            agent: agent,
            attempt: self.attempts,
            bytes: bytes,
            subject: subject,
            stream: stream,
            expectation: expectation,
            deadline: self.now + Self.wait
        )
        self.nodes[agent.node].attempts[agent.work] = self.attempts
        publication.isDoubled = self.dice.chance(self.plan.doubled)
        if !self.dice.chance(self.plan.lost) {
            let isLate = self.dice.chance(self.plan.late)
            let delay = 1 + self.dice.below(isLate ? Self.lateMax : self.plan.delayMax + 1)
            self.queue.insert(.arrive(publication), at: self.now + Int64(delay))
        }
        if publication.isDoubled {
            self.queue.insert(.arrive(publication), at: self.now + 1 + Int64(self.dice.below(Self.lateMax)))
        }
        self.queue.insert(
            .outcome(agent, attempt: self.attempts, .unknown("no answer in time")),
            at: publication.deadline
        )
    }

    /// A message reaches the brokers.
    mutating func arrive(_ publication: Publication) {
        if self.now < self.fullUntil[publication.stream, default: 0] {
            self.checker.noteOccurrence(.full)
            if publication.isDoubled { return }
            return self.answer(publication, .refused(JournalError(.full, "the stream is full")))
        }
        if self.now < self.electionUntil {
            switch self.dice.below(3) {
            // Of two, the other one may be taken yet.
            case 0 where !publication.isDoubled:
                self.answer(publication, .notTaken("no responders available for request"))
            case 0: return
            case 1: return
            default: self.queue.insert(.arrive(publication), at: self.electionUntil + Int64(self.dice.below(3000)))
            }
            return
        }
        let outcome = self.log.streams.publish(
            publication.bytes,
            to: publication.subject,
            in: publication.stream,
            publication.expectation,
            stamp: Instant(milliseconds: self.now + self.brokerError)
        )
        let isLate = self.now > publication.deadline
        if case .stored(let sequence) = outcome {
            if isLate { self.checker.noteOccurrence(.storedLate) }
            self.checker.readLog(now: self.now)
            self.announce(sequence, in: publication.stream)
        } else if isLate {
            self.checker.noteOccurrence(.refusedLate)
        }
        if !self.dice.chance(self.plan.lost) { self.answer(publication, outcome) }
    }

    private mutating func answer(_ publication: Publication, _ outcome: PublishOutcome) {
        let at = self.now + 1 + Int64(self.dice.below(self.plan.delayMax + 1))
        self.queue.insert(.outcome(publication.agent, attempt: publication.attempt, outcome), at: at)
    }

    /// Consumers come to a message, each in its time.
    private mutating func announce(_ sequence: UInt64, in stream: String) {
        if let partition = Self.partitions.first(where: { self.log.names.output($0) == stream }) {
            for node in self.nodes where node.isUp { self.planStandby(of: partition, node) }
        }
        let partition = Self.partitions.first { self.log.names.input($0) == stream }
        guard partition != nil || stream == self.log.names.fan else { return }
        for node in self.nodes where node.isUp {
            let lag = Int64(self.dice.below(self.plan.lagMax + 1))
            self.queue.insert(.seen(partition, sequence, node: node.number, life: node.life), at: self.now + 1 + lag)
        }
    }

    /// A node's consumer has come to a message.
    mutating func see(_ sequence: UInt64, of partition: PartitionID?, _ node: SimulatedNode) {
        guard let partition else {
            node.fanSeen = max(node.fanSeen, sequence)
            return self.plan(node.agent(.relay))
        }
        let index = Int(partition.rawValue)
        node.seats[index].seen = max(node.seats[index].seen, sequence)
        node.seats[index].owner?.machine.announce(LogPosition(node.seats[index].seen))
        node.seats[index].standby?.machine.announce(LogPosition(node.seats[index].seen))
        self.planOwner(of: partition, node)
        self.planStandby(of: partition, node)
    }

    // MARK: Changes

    /// A partition's stream takes no more for a while.
    mutating func fill() {
        let stream = self.log.names.input(self.dice.pick(Self.partitions))
        self.fullUntil[stream] = self.now + Int64(self.dice.pick([1000, 60_000, 1_800_000]))
    }

    /// Another broker leads, perhaps one whose clock is off.
    mutating func elect() {
        self.checker.noteOccurrence(.election)
        self.electionUntil = self.now + Int64(self.dice.below(10_000))
        self.brokerError = self.dice.pick([0, 0, 1500, -1500, 30_000, -30_000, 3_600_000, -3_600_000])
        if abs(self.brokerError) >= 3_600_000 { self.checker.noteOccurrence(.clockOff) }
        self.queue.insert(.settleClock, at: self.electionUntil + Int64(self.dice.below(60_000)))
    }
}
