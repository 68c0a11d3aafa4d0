import Engine
import JournalStreams
import Journaling
import Ownership
import Scenarios
import WidgetModel

/// Several machines that have one log on streams open, with everything that can go wrong between them, from one seed.
///
/// The deciding parts are the product's: owners, engines, snapshots, and of the journal on streams all that appends, copies, reads and
/// trims, as values. The brokers, the network, the nodes' beliefs and their clocks are small models in virtual time. A node may die behind
/// every step, be stopped and go on as if nothing had happened, and have false beliefs. Only the log keeps them apart. When the faults are
/// over, each partition has one owner, and everything has to come to its end.
package struct ClusterRun {
    enum Event: Sendable {
        /// A request reaches a node, an answer its client; a client looks whether it was answered.
        case request(Int, node: Int)
        case answer(Int)
        case retry(Int)
        /// A host, sender or operator does something new.
        case act
        case step(Agent)
        /// A message reaches the brokers, and its outcome reaches its sender.
        case arrive(Publication)
        case outcome(Agent, attempt: Int, PublishOutcome)
        /// A consumer of a node has come to a message; of the stream for all without a partition.
        case seen(PartitionID?, UInt64, node: Int, life: Int)
        case tick(Agent)
        case reload(ReloadEffect)
        case boot(node: Int)
        /// A leader whose clock is off is followed by one whose is right.
        case settleClock
    }

    package let seed: UInt64
    let bug: ClusterBug?
    var plan: ClusterPlan
    var dice: Dice
    var checker: ClusterChecker
    var queue = EventQueue<Event>()
    var now: Int64
    let log: SimulatedLog
    let writerIDs = Counter()
    var nodes: [SimulatedNode] = []
    /// Until when the brokers have no leader, and how far the leader's clock is off, in milliseconds.
    var electionUntil: Int64 = 0
    var brokerError: Int64 = 0
    /// Until when a stream takes no messages.
    var fullUntil: [String: Int64] = [:]
    var attempts = 0
    /// Counts the starts of owners, and the snapshots.
    var starts = 0
    var uploads: UInt64 = 0
    var damaged: Set<SnapshotID> = []
    /// The decision rules that operators want.
    var wishedRules = 1
    var hosts: [FaultHost]
    var requests: [ClientRequest] = []
    var pushes = 0
    package internal(set) var crashes = 0
    package internal(set) var steps = 0
    /// The occurrences, and how often each came.
    package var occurrences: [ClusterOccurrence: Int] { self.checker.occurrences }

    /// How many things happen in a run.
    static let actions = 40
    static let partitions = (0..<FaultWorld.partitions).map { PartitionID(UInt16($0)) }
    /// The most that a clock of a node is off, in milliseconds.
    static let clockErrorMax: Int64 = 240_000

    /// - Parameters:
    ///   - seed: All of the run's luck.
    ///   - bug: One to put in.
    package init(seed: UInt64, bug: ClusterBug? = nil) {
        var dice = Dice(seed: seed)
        self.seed = seed
        self.bug = bug
        self.plan = ClusterPlan(&dice)
        self.dice = dice
        self.now = FaultWorld.start.milliseconds
        self.log = SimulatedLog(bug: bug)
        self.checker = ClusterChecker(self.log, seed: seed)
        self.hosts = (0..<FaultWorld.hosts).map { FaultHost(id: FaultWorld.host($0)) }
        let ids = self.writerIDs
        self.nodes = (0..<self.plan.nodes).map { number in
            SimulatedNode(number: number) { MessageWriter(to: "") { ids.next() } }
        }
    }

    /// Runs to the end.
    ///
    /// - Returns: The broken promises; empty if there are none.
    package mutating func run() -> [String] {
        self.configure()
        for node in self.nodes { self.boot(node) }
        for partition in Self.partitions { self.dice.pick(self.nodes).seats[Int(partition.rawValue)].isBelieved = true }
        for node in self.nodes { self.planAll(of: node) }
        for host in self.hosts.indices {
            self.ask(.host(host), FaultWorld.registration(of: &self.hosts[host], self.plan.world, &self.dice))
        }
        var at = self.now
        for _ in 0..<Self.actions {
            at += Int64(self.dice.pick([10, 500, 20_000, 100_000, 600_000]))
            self.queue.insert(.act, at: at + Int64(self.dice.below(1000)))
        }
        self.work(until: at + 60_000)
        self.calmDown()
        // Nothing waits for longer than its expiration, a not-before, and the time to acknowledge.
        self.work(until: self.now + 30 * 3_600_000)
        self.judge()
        return self.checker.violations.map { "cluster \(self.seed): \($0)" }
    }

    /// The first entry of every log.
    private mutating func configure() {
        let records = PackedRecords(Record.settings(FaultWorld.settings(FaultWorld.policies[0])).bytes)
        for partition in Self.partitions {
            let stream = self.log.names.input(partition)
            let id = MessageID(writer: self.writerIDs.next(), number: 1)
            let message = InputMessage(id: id, writtenAt: FaultWorld.start, records: records)
            self.checker.noteSubmitted(records, to: partition)
            _ = self.log.streams.publish(
                message.bytes(SimulatedLog.journalID, in: stream),
                to: self.log.names.input(partition, of: id.writer),
                in: stream,
                .lastOfStream(0),
                stamp: FaultWorld.start
            )
        }
        self.checker.readLog(now: self.now)
    }

    // MARK: Events

    private mutating func work(until end: Int64) {
        while self.checker.violations.isEmpty, let (at, event) = self.queue.popFirst() {
            guard at <= end else {
                self.queue.insert(event, at: at)
                break
            }
            self.now = max(self.now, at)
            self.steps += 1
            self.handle(event)
        }
        self.now = max(self.now, end)
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .act: self.act()
        case .request(let number, let node): self.acceptRequest(number, at: self.nodes[node])
        case .answer(let number): self.requests[number].isAnswered = true
        case .retry(let number): self.send(number)
        case .reload(let reload): self.receive(reload)
        case .boot(let number):
            guard !self.nodes[number].isUp else { return }
            self.boot(self.nodes[number])
            self.planAll(of: self.nodes[number])
        case .settleClock: self.brokerError = 0
        case .arrive(let publication): self.arrive(publication)
        case .step(let agent): self.asNode(agent, event) { run, node in run.step(agent, node) }
        case .outcome(let agent, let attempt, let outcome):
            self.asNode(agent, event) { run, node in run.takeOutcome(outcome, attempt, agent, node) }
        case .tick(let agent): self.asNode(agent, event) { run, node in run.tick(agent, node) }
        case .seen(let partition, let sequence, let number, let life):
            let agent = Agent(node: number, life: life, work: .relay)
            self.asNode(agent, event) { run, node in run.see(sequence, of: partition, node) }
        }
    }

    /// Has a node do something if it still lives that life; later if it is stopped.
    private mutating func asNode(_ agent: Agent, _ event: Event, _ body: (inout ClusterRun, SimulatedNode) -> Void) {
        let node = self.nodes[agent.node]
        guard node.isUp, node.life == agent.life else { return }
        guard node.stoppedUntil <= self.now else { return self.queue.insert(event, at: node.stoppedUntil) }
        body(&self, node)
    }

    private mutating func step(_ agent: Agent, _ node: SimulatedNode) {
        node.planned.remove(agent.work)
        switch agent.work {
        case .append, .appendToAll: self.stepLane(agent, node)
        case .relay: self.stepRelay(agent, node)
        case .own(let partition): self.stepOwner(agent, partition, node)
        case .follow(let partition): self.stepStandby(agent, partition, node)
        case .commit(let partition): self.stepCommit(agent, partition, node)
        case .snapshot(let partition): self.makeSnapshot(of: partition, node)
        case .trim(let partition): self.stepTrim(agent, partition, node)
        }
        if self.dice.chance(self.plan.crashes) { self.kill(node) }
    }

    private mutating func takeOutcome(_ outcome: PublishOutcome, _ attempt: Int, _ agent: Agent, _ node: SimulatedNode)
    {
        guard node.attempts[agent.work] == attempt else { return }
        node.attempts[agent.work] = nil
        switch agent.work {
        case .append, .appendToAll: self.published(outcome, agent, node)
        case .relay: self.copied(outcome, agent, node)
        case .commit(let partition): self.committed(outcome, agent, partition, node)
        case .trim(let partition): self.noted(outcome, agent, partition, node)
        case .own, .follow, .snapshot: return
        }
        if self.dice.chance(self.plan.crashes) { self.kill(node) }
    }

    /// Has an agent do its next step soon, unless it will.
    mutating func plan(_ agent: Agent, in least: Int64 = 1) {
        guard self.nodes[agent.node].planned.insert(agent.work).inserted else { return }
        self.queue.insert(.step(agent), at: self.now + least + Int64(self.dice.below(self.plan.delayMax + 1)))
    }

    /// Whether the brokers answer a question.
    mutating func canRead() -> Bool {
        self.now >= self.electionUntil && !self.dice.chance(self.plan.failedReads)
    }

    // MARK: Nodes

    /// The time by a node's clock.
    func clock(of node: SimulatedNode) -> Instant { Instant(milliseconds: self.now + node.clockError) }

    mutating func kill(_ node: SimulatedNode) {
        guard node.isUp else { return }
        self.checker.noteOccurrence(.death)
        self.crashes += 1
        node.isUp = false
        node.life += 1
        for partition in Self.partitions { node.seats[Int(partition.rawValue)].owner?.machine.stop() }
        self.queue.insert(.boot(node: node.number), at: self.now + 10 + Int64(self.dice.below(60_000)))
    }

    /// A node starts: it knows the streams' contents, and nothing else.
    mutating func boot(_ node: SimulatedNode) {
        let ids = self.writerIDs
        node.isUp = true
        node.stoppedUntil = 0
        (node.attempts, node.planned, node.copying) = ([:], [], nil)
        node.copier = FanCopier(partitions: FaultWorld.partitions)
        (node.foundEnd, node.fanSeen, node.fanNext) = (nil, 0, 1)
        node.fanLane = SimulatedLane(MessageWriter(to: self.log.names.fan) { ids.next() })
        node.lanes = Self.partitions.map { partition in
            SimulatedLane(MessageWriter(to: self.log.names.input(partition)) { ids.next() })
        }
        let before = node.seats.map(\.isBelieved)
        node.seats = Self.partitions.map { partition in
            var seat = Seat()
            seat.isBelieved = before.isEmpty ? false : before[Int(partition.rawValue)] && self.dice.chance(0.5)
            return seat
        }
        self.openConsumers(of: node)
    }

    private mutating func openConsumers(of node: SimulatedNode) {
        for partition in Self.partitions.map(Optional.some) + [nil] {
            let last = self.log.streams.ends(of: partition.map(self.log.names.input) ?? self.log.names.fan).last
            let lag = Int64(self.dice.below(self.plan.lagMax + 1))
            self.queue.insert(.seen(partition, last, node: node.number, life: node.life), at: self.now + 1 + lag)
        }
    }

    mutating func planAll(of node: SimulatedNode) {
        self.plan(node.agent(.relay))
        for partition in Self.partitions {
            self.planOwner(of: partition, node)
            self.planStandby(of: partition, node)
        }
    }

    // MARK: The end

    /// The faults are over: each partition has one owner, and knows it.
    private mutating func calmDown() {
        // Both programs are there, so that each partition may stay with the rules that it has.
        for (node, rules) in zip(self.nodes, [1, 2]) where self.plan.gates > 0 && node.rules != rules {
            node.rules = rules
            self.kill(node)
        }
        self.plan = .quiet
        (self.electionUntil, self.brokerError, self.fullUntil) = (0, 0, [:])
        for node in self.nodes {
            (node.stoppedUntil, node.clockError) = (0, 0)
            if !node.isUp {
                self.boot(node)
                self.plan(node.agent(.relay))
            }
        }
        for partition in Self.partitions {
            let index = Int(partition.rawValue)
            let rules = self.rules(of: partition)
            let owner = self.dice.pick(self.nodes.filter { $0.rules == rules })
            for node in self.nodes {
                node.seats[index].isBelieved = node === owner
                node.seats[index].isFollowing = node !== owner && node.rules == rules
                if node !== owner { self.leave(partition, node) }
                self.planStandby(of: partition, node)
            }
            self.planOwner(of: partition, owner)
        }
    }

    private mutating func judge() {
        guard self.checker.violations.isEmpty else { return }
        for request in self.requests.indices where !self.requests[request].isAnswered {
            self.checker.fault("request \(request) was never answered")
        }
        let owners = Self.partitions.compactMap { partition in
            self.nodes.compactMap { $0.seats[Int(partition.rawValue)].owner }.first { !$0.machine.isStopped }
        }
        guard owners.count == FaultWorld.partitions else { return self.checker.fault("a partition has no owner") }
        self.checker.judge(owners)
        for node in self.nodes { self.checkStandbys(of: node) }
        for partition in Self.partitions { self.checkStart(of: partition) }
    }

    /// One more start: snapshots and the rest of the log give the same as the whole log.
    private mutating func checkStart(of partition: PartitionID) {
        do {
            let newest = self.log.newestOutput(partition)
            let rules = self.rules(of: partition)
            var state = try self.loadState(of: partition, notBeyond: newest?.record.through ?? .start, by: rules)
            let witness = self.checker.witnesses[Int(partition.rawValue)]
            let end = OwnerCheckpoint(through: witness.applied, runningHash: witness.engine.runningHash)
            try state.advance(to: end, read: self.reading(of: partition), checkStop: {})
            if state.engine.stateDigest() != witness.engine.stateDigest() {
                self.checker.fault("partition \(partition): a snapshot and the log give another state than the log")
            }
        } catch {
            self.checker.fault("partition \(partition) does not start: \(error)")
        }
    }
}
