import Engine
import Journaling
import Ownership
import Scenarios
import TimelineProviding
import Timelines
import WidgetModel

/// A gateway's heart, its journal, its hosts and senders, with everything that can go wrong between them, from one seed.
///
/// Engines, owners, deliverers and snapshots are the product's, and so is the journal's contract; the network and the peers at its other
/// end are small models, in virtual time. A gateway may die behind everything it does: between two slices of an entry, before and after a
/// commit, between an output's commit and its delivery, between an answer's making and its sending. It starts again from snapshots and the
/// log alone, or another one starts while it does not know. When the faults are over, everything has to come to its end.
package struct FaultRun {
    enum Event: Sendable {
        /// A request reaches the gateway.
        case request(Int)
        /// An answer reaches its client.
        case answer(Int)
        /// A client looks whether its request was answered.
        case retry(Int)
        /// A reload reaches its host, over a connection of that number.
        case reload(Int, session: Int, ReloadEffect)
        /// A push reaches APNs, and its answer the gateway's start that sent it.
        case upstream(DeliveryRequest, start: Int)
        case upstreamAnswer(DeliveryAnswer, DeliveryRequest, start: Int)
        /// A deliverer waits for these: an engine's answer, the time to log again, the next try.
        case findPushes(DeliveryNumber, HostKey, [ReloadID], start: Int)
        case logAgain(DeliveryNumber, start: Int)
        case wakeDeliverer(start: Int)
        case fetch(FetchStep, start: Int)
        case connect(Int)
        /// A host, sender or operator does something new.
        case act
        case tick(PartitionID, start: Int)
        case journalAgain(PartitionID, start: Int)
        /// A callback of the journal that comes late, or once more.
        case callback(JournalInbox.Message)
        case snapshot(PartitionID, OwnerCheckpoint)
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
    /// Owners of gateways that do not know yet that there is another one.
    var rivals: [SimulatedOwner] = []
    /// Of this gateway, and of those that do not know yet that there is another one.
    var deliverers: [SimulatedDeliverer] = []
    /// Those beside them.
    var fetchers: [SimulatedFetcher] = []
    /// The content of timelines on the gateway's disk, by instance the last that was written.
    var disk: [InstanceAddress: StoredTimeline] = [:]
    /// The timeline provider answers 503 until then; in milliseconds.
    var providerIsDownUntil: Int64 = 0
    /// The state of APNs.
    var upstream = SimulatedUpstream()
    var wasTakenOver: Bool { self.checker.occurrences[.takeover, default: 0] > 0 }
    let witnesses: [LogWitness]
    let snapshots = MemorySnapshots()
    /// How many snapshots were damaged.
    var damages = 0
    /// Until when the disk is full, and how far the gateway's clock is off, in milliseconds.
    var isFullUntil: Int64 = 0
    var clockError: Int64 = 0
    /// The hosts and controls behind push tokens, as the gateway knows them from its logs; nil for removed tokens.
    var directory: [DeviceToken: FaultToken?] = [:]
    /// Counts the gateway's starts: callbacks for an earlier start are ignored.
    var start = 0
    var isDown = true
    /// Whether the gateway has read its log, and how often it died before it had.
    var isStarted = false
    var deathsAtStart = 0
    var hosts: [FaultHost]
    var requests: [ClientRequest] = []
    var sessions = 0
    var pushes = 0
    package internal(set) var crashes = 0
    package internal(set) var steps = 0
    /// The occurrences, and how often each came.
    package var occurrences: [Occurrence: Int] { self.checker.occurrences }

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
        var plan = FaultPlan(&dice)
        plan.drawProvider(&dice)
        self.plan = plan
        self.dice = dice
        self.clock = clock
        self.now = FaultWorld.start.milliseconds
        self.journal = MemoryJournal(partitions: FaultWorld.partitions) { clock.now }
        self.checker = FaultChecker(partitions: FaultWorld.partitions)
        self.witnesses = (0..<FaultWorld.partitions).map {
            LogWitness(partition: PartitionID(UInt16($0)), partitions: FaultWorld.partitions, seed: ~seed)
        }
        self.hosts = (0..<FaultWorld.hosts).map { FaultHost(id: FaultWorld.host($0)) }
    }

    /// Runs to the end.
    ///
    /// - Returns: The broken promises; empty if there are none.
    package mutating func run() -> [String] {
        self.configure()
        self.boot()
        for host in self.hosts.indices {
            self.register(host)
        }
        var at = self.now
        for _ in 0..<Self.actions {
            at += Int64(self.dice.pick([10, 500, 20_000, 400_000, 1_500_000]))
            self.queue.insert(.act, at: at + Int64(self.dice.below(1000)))
        }
        self.work(until: at + 60_000)
        self.plan = .quiet
        self.endRivals()
        (self.isFullUntil, self.clockError) = (0, 0)
        if self.isHeld { self.release() }
        for host in self.hosts.indices { self.queue.insert(.connect(host), at: self.now + 1) }
        self.work(until: self.now + 1_800_000)
        self.checkFetches(within: .minutes(30), areTold: true)
        self.work(until: self.now + 5_400_000)
        self.checkFetches(within: .hours(1), areTold: false)
        // Nothing waits for longer than its expiration, a not-before, and the time to acknowledge.
        self.work(until: self.now + 28 * 3_600_000)
        self.judge()
        return self.checker.violations.map { "seed \(self.seed): \($0)" }
    }

    /// The first entry of every log.
    private mutating func configure() {
        let records = PackedRecords(self.settings(FaultWorld.policies[0]).bytes)
        self.journal.appendToAll(SubmissionToAll(records), whenDurable: { _ in }, whenPlaced: { _ in })
    }

    /// - Parameter base: The version that they are worked out from; nil for a start.
    private func settings(_ policy: BudgetPolicy, from base: Int? = nil) -> Record {
        var policy = policy
        if self.mutation == .mintsBudget {
            (policy.rare, policy.typical, policy.frequent) = (80, 80, 120)
            policy.minimumInterval = .zero
        }
        let settings = FaultWorld.settings(policy)
        return base.map { .configure(SettingsChange(settings, from: $0)) } ?? .settings(settings)
    }

    // MARK: Events

    private mutating func work(until end: Int64) {
        while self.checker.violations.isEmpty, let (at, event) = self.queue.popFirst() {
            guard at <= end else {
                self.queue.insert(event, at: at)
                break
            }
            self.now = max(self.now, at)
            self.clock.now = Instant(milliseconds: self.now + self.clockError)
            self.steps += 1
            self.handle(event)
            if self.isDown { self.boot() }
            self.settle()
            if self.steps % 32 == 0 {
                self.checker.checkBooks(self.owners, self.witnesses)
                self.checkDebts()
            }
        }
        self.now = max(self.now, end)
        self.clock.now = Instant(milliseconds: self.now)
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .request(let number): self.acceptRequest(number)
        case .answer(let number): self.requests[number].isAnswered = true
        case .retry(let number): self.send(number)
        case .reload(let host, let session, let reload): self.receive(reload, host, session)
        case .upstream(let request, let start): self.arrive(request, start: start)
        case .upstreamAnswer(let answer, let request, let start): self.takeAnswer(answer, to: request, start: start)
        case .findPushes(let number, let host, let ids, let start):
            let owner = self.owner(PartitionID(of: host, among: FaultWorld.partitions), start: start)
            let pushes = owner.map { ReloadQuestion<OutgoingPush>(ids).answer(from: $0.engine) }
            self.deliverer(start)?.machine.takePushes(pushes, for: number, now: self.clock.now)
        case .logAgain(let number, let start): self.deliverer(start)?.machine.retryLog(number)
        case .wakeDeliverer(let start): self.deliverer(start)?.wakesAt = nil
        case .fetch(let step, let start): self.takeStep(step, start: start)
        case .connect(let host): self.connect(host)
        case .act: self.act()
        case .tick(let partition, let start):
            if start == self.start { self.tick(partition) }
        case .journalAgain(let partition, let start): self.owner(partition, start: start)?.machine.retry()
        case .callback(let message): self.takeMessage(message)
        case .snapshot(let partition, let checkpoint): self.makeSnapshot(partition, checkpoint)
        case .release: self.release()
        }
    }

    /// A message is put on its way: perhaps it is lost, perhaps it comes twice, and others may overtake it.
    mutating func transmit(_ event: Event) {
        if self.dice.chance(self.plan.lost) { return }
        let copies = self.dice.chance(self.plan.doubled) ? 2 : 1
        for _ in 0..<copies { self.queue.insert(event, at: self.now + 1 + Int64(self.dice.below(self.plan.delayMax))) }
    }

    // MARK: Clients

    /// A client sends the gateway a request, again and again until it is answered.
    mutating func ask(
        _ origin: ClientRequest.Origin,
        _ record: Record,
        token: DeviceToken? = nil,
        matchedMax: Int? = nil
    ) {
        if case .push(let push) = record { self.checker.noteSent(push) }
        self.requests.append(
            ClientRequest(
                origin: origin,
                record: record,
                token: token,
                matchedMax: matchedMax,
                partitions: FaultWorld.partitions(of: record)
            )
        )
        self.send(self.requests.count - 1)
    }

    private mutating func send(_ number: Int) {
        guard !self.requests[number].isAnswered else { return }
        self.transmit(.request(number))
        self.queue.insert(.retry(number), at: self.now + 6000 + Int64(self.dice.below(2000)))
    }

    private mutating func act() {
        let host = self.dice.below(self.hosts.count)
        let now = Instant(milliseconds: self.now)
        if self.dice.chance(self.plan.orders) {
            return self.ask(.operators, FaultWorld.order(latest: self.pushes, at: now, &self.dice))
        }
        if self.dice.chance(self.plan.policyChanges) {
            // Of two gateways one may not have seen the other's change.
            let base = self.witnesses[0].engine.settingsVersion - (self.requests.count.isMultiple(of: 4) ? 1 : 0)
            self.ask(.operators, self.settings(self.dice.pick(FaultWorld.policies), from: base))
        }
        if self.dice.chance(self.plan.snapshots) { self.askForSnapshots() }
        if self.dice.chance(self.plan.takeovers) { self.takeOver() }
        if self.dice.chance(self.plan.fullDisks) { self.isFullUntil = self.now + Int64(self.dice.below(120_000)) }
        if self.dice.chance(self.plan.clockSteps) { self.clockError = Int64(self.dice.below(1_200_000)) - 600_000 }
        switch self.dice.below(12) {
        case 0: self.register(host)
        case 1, 2: self.ask(.host(host), FaultWorld.signal(self.hosts[host], &self.dice))
        case 3 where self.dice.chance(self.plan.disconnects):
            self.hosts[host].session = nil
            self.queue.insert(.connect(host), at: self.now + Int64(self.dice.below(120_000)))
        case 4 where self.dice.chance(0.5): self.ask(.sender, FaultWorld.reload(&self.dice))
        default: self.push(to: host, at: now)
        }
    }

    private mutating func register(_ host: Int) {
        self.ask(.host(host), FaultWorld.registration(of: &self.hosts[host], self.plan, &self.dice))
        if self.hosts[host].delivery == .apns {
            self.hosts[host].session = nil
        } else if self.hosts[host].session == nil {
            self.queue.insert(.connect(host), at: self.now + 1)
        }
    }

    private mutating func push(to host: Int, at now: Instant) {
        self.pushes += 1
        guard self.dice.chance(0.5) else {
            let push = FaultWorld.push(self.pushes, to: .app(FaultWorld.app), at: now, &self.dice)
            let matchedMax = self.dice.chance(0.2) ? 1 + self.dice.below(8) : nil
            return self.ask(.sender, .push(push), matchedMax: matchedMax)
        }
        let isControl = self.dice.chance(self.plan.controls * 0.4)
        let id = self.hosts[host].id
        let target = PushDestination.host(id, isControl ? FaultWorld.control : nil)
        let push = FaultWorld.push(self.pushes, to: target, at: now, &self.dice)
        self.ask(
            .sender,
            .push(push),
            token: isControl ? self.hosts[host].controlToken : self.hosts[host].token
        )
    }

    /// A host opens a stream: it is offered everything that is out for it.
    private mutating func connect(_ host: Int) {
        guard !self.isDown, self.hosts[host].delivery == .stream else { return }
        self.sessions += 1
        self.hosts[host].session = self.sessions
        let id = self.hosts[host].id
        let owner = self.owners[Int(PartitionID(of: id, among: FaultWorld.partitions).rawValue)]
        // A reload that is not committed yet follows when it is.
        for reload in owner.engine.outstandingReloads(host: id)
        where !owner.unpublished.contains(reload.id) && !FaultWorld.isFetched(reload) {
            self.deliver(reload, to: host)
        }
    }

    private mutating func receive(_ reload: ReloadEffect, _ host: Int, _ session: Int) {
        // A reload on its way over a connection that broke is lost with it.
        guard self.hosts[host].session == session else { return }
        self.checker.noteReceived(reload)
        if self.dice.chance(self.plan.disconnects) {
            self.hosts[host].session = nil
            self.queue.insert(.connect(host), at: self.now + 1000 + Int64(self.dice.below(60_000)))
            return
        }
        let isNew = self.hosts[host].done.insert(reload.id).inserted
        if isNew, self.dice.chance(self.plan.silences) { return }
        if isNew, self.dice.chance(self.plan.refusals) {
            self.checker.noteRefused(reload)
            return self.ask(
                .host(host),
                .delivery(DeliveryReport(host: reload.host, reload: reload.id, result: .refused(reason: "busy")))
            )
        }
        if isNew || self.mutation == .forgetsReloads { self.checker.noteReloaded(reload) }
        self.ask(.host(host), FaultWorld.report(reload, at: Instant(milliseconds: self.now), &self.dice))
    }

    // MARK: The end

    /// Checks everything that must hold now: the faults are over, and time has run on.
    private mutating func judge() {
        guard self.checker.violations.isEmpty else { return }
        self.checker.checkBooks(self.owners, self.witnesses)
        self.checker.checkAccepted(self.owners, team: FaultWorld.team)
        self.checker.checkTurnedAway(self.owners, team: FaultWorld.team)
        self.checkDebts()
        self.checkFetches(within: .hours(1), areTold: false)
        self.checkContents()
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
            if owner.machine.uncommittedCount > 0 {
                self.checker.fault("partition \(owner.partition): effects not committed")
            }
        }
        if let left = self.deliverer(self.start)?.machine.counts, left != (0, 0) {
            self.checker.fault("\(left.waiting) deliveries wait and \(left.inWork) are in work at the end")
        }
        self.checker.checkOutputs(self.journal, self.witnesses)
        self.replay()
    }

    /// Checks that the debtors that are still there have carried out all committed reloads by now, unless a reload is over.
    private mutating func checkDebts() {
        let sessions = self.hosts.indices.compactMap { host in
            self.hosts[host].session.map { FaultChecker.Debtor.session($0, of: host) }
        }
        let owners = self.owners
        self.checker.checkDebts(at: self.now, debtors: Set(sessions + [.start(self.start)])) { reload in
            guard let owner = owners.first(where: { $0.partition == reload.partition }) else { return false }
            return OutgoingPush.find(reload, in: owner.engine) != nil
        }
    }

    /// The whole log once more, in an engine whose tables are hashed otherwise.
    private mutating func replay() {
        for owner in self.owners {
            let fresh = LogWitness(partition: owner.partition, partitions: FaultWorld.partitions, seed: self.seed)
            guard let entries = try? self.journal.read(owner.partition, from: .start, entriesMax: .max) else {
                continue
            }
            let collateral = self.checker.collateral(in: owner.partition)
            for entry in entries {
                let brought = collateral[entry.position] ?? [:]
                let before = brought.keys.sorted().map { fresh.engine.instance($0)?.budget }
                do throws(EngineError) {
                    _ = try fresh.read(self.mutated(entry))
                } catch {
                    self.checker.fault("\(error)")
                }
                for (address, budget) in zip(brought.keys.sorted(), before) {
                    guard let budget, let collateral = brought[address] else { continue }
                    self.checkPrice(collateral, of: address, before: budget, entry, fresh)
                }
            }
            if fresh.engine.stateDigest() != owner.engine.stateDigest() {
                self.checker.fault("partition \(owner.partition): the log does not give the state once more")
            }
        }
    }

    /// Collateral is charged where the budget would have let an urgent push through, and nowhere else.
    ///
    /// - Parameters:
    ///   - budget: Before the entry that brought it.
    ///   - fresh: Behind that entry.
    private mutating func checkPrice(
        _ collateral: Collateral,
        of address: InstanceAddress,
        before budget: BudgetView,
        _ entry: LogEntry,
        _ fresh: LogWitness
    ) {
        // An entry of another kind may have changed the budget itself before the push went out.
        let plain: [Record.Tag] = [.push, .appReload, .tick]
        guard entry.records.allSatisfy({ range in plain.contains { $0.rawValue == entry.bytes[range.lowerBound] } }),
            let after = fresh.engine.instance(address)?.budget, after.windowStart == budget.windowStart,
            after.observedReloads == budget.observedReloads
        else { return }
        if (budget.nextHigh <= fresh.engine.time) != (collateral == .conforming) {
            self.checker.fault("\(address) at \(entry.position): \(collateral), and could at \(budget.nextHigh)")
        }
    }
}
