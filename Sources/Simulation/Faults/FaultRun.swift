import Engine
import Journaling
import Scenarios
import Timelines
import WidgetModel

/// A gateway's heart, its journal, its hosts and senders, with everything that can go wrong between them, from one seed.
///
/// The engines are the product's, and so is the journal's contract; owner, deliverer and network are small models of the
/// gateway's, in virtual time. A gateway may die at every point where it could have written something or told somebody:
/// before and after a commit, between an output's commit and its delivery, between an answer's making and its sending. It
/// starts again from the log alone. When the faults are over, everything has to come to its end.
package struct FaultRun: Sendable {
    enum Event: Sendable {
        /// A request reaches the gateway.
        case request(Int)
        /// An answer reaches whoever asked.
        case answer(Int)
        /// A client looks whether its request was answered.
        case retry(Int)
        /// A reload reaches its host, over a connection of that number.
        case reload(Int, session: Int, ReloadEffect)
        case connect(Int)
        /// Somebody does something new.
        case act
        case tick(PartitionID, start: Int)
        case commitAgain(PartitionID, start: Int)
        case release
    }

    package let seed: UInt64
    let mutation: Mutation?
    var plan: FaultPlan
    var dice: Dice
    var checker: FaultChecker
    var queue = EventQueue<Event>()
    var now: Int64
    let clock: VirtualClock
    let inbox = JournalInbox()
    var journal: MemoryJournal
    var isHeld = false
    var owners: [SimulatedOwner] = []
    /// Counts the gateway's starts: what an earlier one was called back for is nobody's business any more.
    var start = 0
    var isDown = true
    var hosts: [FaultHost]
    var requests: [ClientRequest] = []
    var sessions = 0
    var pushes = 0
    package internal(set) var crashes = 0
    package internal(set) var steps = 0

    /// How many things senders and hosts do in a run.
    static let actions = 40

    /// - Parameters:
    ///   - seed: All of the run's luck.
    ///   - mutation: A bug to put in.
    package init(seed: UInt64, mutation: Mutation? = nil) {
        var dice = Dice(seed: seed)
        let clock = VirtualClock(FaultWorld.start)
        self.seed = seed
        self.mutation = mutation
        self.plan = FaultPlan(&dice)
        self.dice = dice
        self.clock = clock
        self.now = FaultWorld.start.milliseconds
        self.journal = MemoryJournal(partitions: FaultWorld.partitions) { clock.now }
        self.checker = FaultChecker(partitions: FaultWorld.partitions, policy: FaultWorld.policy)
        self.hosts = (0..<FaultWorld.hosts).map { FaultHost(id: HostID("h\($0)")) }
    }

    /// Runs to the end.
    ///
    /// - Returns: What did not hold; empty if all did.
    package mutating func run() -> [String] {
        self.configure()
        self.boot()
        for host in self.hosts.indices {
            self.ask(.host(host), FaultWorld.registration(of: &self.hosts[host], &self.dice))
            self.queue.put(.connect(host), at: self.now + 1)
        }
        var at = self.now
        for _ in 0..<Self.actions {
            at += Int64(self.dice.pick([10, 500, 20_000, 400_000, 1_500_000]))
            self.queue.put(.act, at: at + Int64(self.dice.below(1000)))
        }
        self.work(until: at + 60_000)
        self.plan = .quiet
        if self.isHeld { self.release() }
        for host in self.hosts.indices { self.queue.put(.connect(host), at: self.now + 1) }
        // Nothing waits for longer than its expiration, a not-before, and the time to acknowledge.
        self.work(until: self.now + 30 * 3_600_000)
        self.judge()
        return self.checker.violations.map { "seed \(self.seed): \($0)" }
    }

    /// The first entry of every log.
    private mutating func configure() {
        var budget = FaultWorld.policy
        if self.mutation == .mintsBudget {
            (budget.rare, budget.typical, budget.frequent) = (80, 80, 120)
            budget.minimumInterval = .zero
        }
        let records = FaultWorld.settings(budget)
        var packed = PackedRecords()
        packed.append(Record.settings(records).bytes)
        let batches = (0..<FaultWorld.partitions).map {
            Submission.Batch(partition: PartitionID(UInt16($0)), records: packed)
        }
        self.journal.append(Submission(batches)) { _ in }
    }

    // MARK: Events

    private mutating func work(until end: Int64) {
        while self.checker.violations.isEmpty, let (at, event) = self.queue.take() {
            guard at <= end else {
                self.queue.put(event, at: at)
                break
            }
            self.now = max(self.now, at)
            self.clock.now = Instant(milliseconds: self.now)
            self.steps += 1
            self.handle(event)
            if self.isDown { self.boot() }
            self.settle()
            if self.steps % 32 == 0 {
                self.checker.checkBooks(self.owners)
                self.checker.checkDebts(at: self.now, sessions: self.hosts.map(\.session))
            }
        }
        self.now = max(self.now, end)
        self.clock.now = Instant(milliseconds: self.now)
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .request(let number): self.accept(number)
        case .answer(let number): self.requests[number].isAnswered = true
        case .retry(let number): self.send(number)
        case .reload(let host, let session, let reload): self.receive(reload, host, session)
        case .connect(let host): self.connect(host)
        case .act: self.act()
        case .tick(let partition, let start):
            guard start == self.start else { return }
            self.owners[Int(partition.rawValue)].tickAt = nil
            self.append(.tick, to: [partition], request: nil)
        case .commitAgain(let partition, let start):
            guard start == self.start else { return }
            self.owners[Int(partition.rawValue)].isCommitting = false
        case .release: self.release()
        }
    }

    /// A message is put on its way: perhaps it is lost, perhaps it comes twice, and others may overtake it.
    mutating func transmit(_ event: Event) {
        if self.dice.chance(self.plan.lost) { return }
        let copies = self.dice.chance(self.plan.doubled) ? 2 : 1
        for _ in 0..<copies { self.queue.put(event, at: self.now + 1 + Int64(self.dice.below(self.plan.delayMax))) }
    }

    // MARK: Clients

    /// Somebody has something to tell the gateway, and does so until it is answered.
    mutating func ask(_ origin: ClientRequest.Origin, _ record: Record) {
        let host: HostID?
        switch record {
        case .push(let push):
            if case .host(let id, _) = push.target { host = id } else { host = nil }
        default:
            if case .host(let number) = origin { host = self.hosts[number].id } else { host = nil }
        }
        let all = (0..<FaultWorld.partitions).map { PartitionID(UInt16($0)) }
        let partitions = host.map { [PartitionID(of: $0, among: FaultWorld.partitions)] } ?? all
        self.requests.append(ClientRequest(origin: origin, record: record, partitions: partitions))
        self.send(self.requests.count - 1)
    }

    private mutating func send(_ number: Int) {
        guard !self.requests[number].isAnswered else { return }
        self.transmit(.request(number))
        self.queue.put(.retry(number), at: self.now + 6000 + Int64(self.dice.below(2000)))
    }

    private mutating func act() {
        let host = self.dice.below(self.hosts.count)
        switch self.dice.below(10) {
        case 0: self.ask(.host(host), FaultWorld.registration(of: &self.hosts[host], &self.dice))
        case 1, 2: self.ask(.host(host), FaultWorld.signal(self.hosts[host], &self.dice))
        case 3 where self.dice.chance(self.plan.disconnects):
            self.hosts[host].session = nil
            self.queue.put(.connect(host), at: self.now + Int64(self.dice.below(120_000)))
        default:
            self.pushes += 1
            let push = FaultWorld.push(self.pushes, at: Instant(milliseconds: self.now), &self.dice)
            self.ask(.sender, .push(push))
        }
    }

    /// A host opens a stream: it is offered everything that is out for it.
    private mutating func connect(_ host: Int) {
        guard !self.isDown else { return }
        self.sessions += 1
        self.hosts[host].session = self.sessions
        let id = self.hosts[host].id
        let owner = self.owners[Int(PartitionID(of: id, among: FaultWorld.partitions).rawValue)]
        // What is not committed yet follows when it is.
        let pending = Set((owner.committing + owner.uncommitted).compactMap { $0.reload?.id })
        for reload in owner.engine.outstandingReloads(host: id) where !pending.contains(reload.id) {
            self.deliver(reload, to: host)
        }
    }

    private mutating func receive(_ reload: ReloadEffect, _ host: Int, _ session: Int) {
        // What was on its way over a connection that broke is lost with it.
        guard self.hosts[host].session == session else { return }
        self.checker.noteReceived(reload)
        if self.dice.chance(self.plan.disconnects) {
            self.hosts[host].session = nil
            self.queue.put(.connect(host), at: self.now + 1000 + Int64(self.dice.below(60_000)))
            return
        }
        let isNew = self.hosts[host].done.insert(reload.id).inserted
        if isNew, self.dice.chance(self.plan.silences) { return }
        if isNew, self.dice.chance(self.plan.refusals) {
            self.checker.noteRefused(reload)
            return self.ask(
                .host(host),
                .delivery(DeliveryReport(reload: reload.id, result: .refused(reason: "busy")))
            )
        }
        if isNew || self.mutation == .forgetsReloads { self.checker.noteReloaded(reload) }
        self.ask(.host(host), FaultWorld.report(reload, at: Instant(milliseconds: self.now), &self.dice))
    }

    // MARK: The end

    /// The faults are over, and time has run on: what has to be true now?
    private mutating func judge() {
        guard self.checker.violations.isEmpty else { return }
        self.checker.checkBooks(self.owners)
        self.checker.checkAccepted(self.owners, team: FaultWorld.team)
        self.checker.checkDebts(at: self.now, sessions: self.hosts.map(\.session))
        self.checker.checkBudgets()
        for request in self.requests.indices where !self.requests[request].isAnswered {
            self.checker.fault("request \(request) was never answered")
        }
        for owner in self.owners {
            let stats = owner.engine.stats()
            if stats.outcomes[.deferred] + stats.outcomes[.issued] > 0 {
                self.checker.fault(
                    "partition \(owner.partition): \(stats.outcomes[.deferred]) deferred and"
                        + " \(stats.outcomes[.issued]) issued at the end"
                )
            }
            if !owner.uncommitted.isEmpty { self.checker.fault("partition \(owner.partition): effects not committed") }
        }
        self.replay()
    }

    /// The whole log once more, in an engine whose tables are hashed otherwise.
    private mutating func replay() {
        for owner in self.owners {
            var fresh = SimulatedOwner(partition: owner.partition, partitions: FaultWorld.partitions, seed: self.seed)
            guard let entries = try? self.journal.read(owner.partition, from: .start, entriesMax: .max) else {
                continue
            }
            for entry in entries {
                do throws(EngineFault) {
                    _ = try fresh.apply(entry, logTime: entry.logTime)
                } catch {
                    self.checker.fault("\(error)")
                }
            }
            if fresh.engine.stateDigest() != owner.engine.stateDigest() {
                self.checker.fault("partition \(owner.partition): the log does not give the state once more")
            }
        }
    }
}
