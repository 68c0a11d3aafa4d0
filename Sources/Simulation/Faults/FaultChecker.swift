import Engine
import Journaling
import Ownership
import Timelines
import WidgetModel

/// Watches a run from outside and checks the promises. It remembers everything that a gateway forgets when it dies.
struct FaultChecker: Sendable {
    private struct Charge: Sendable {
        let id: ReloadID
        let at: Instant
        let windowStart: Instant
        /// The limit of the window at that moment, grants and the pace's spare reloads included.
        let limit: Int
        let burst: Int
        let interval: Interval
    }

    /// The party that has to do something about a committed reload, as long as it is there.
    enum Debtor: Hashable, Sendable {
        /// A connection of a host: the reload comes over it.
        case session(Int, of: Int)
        /// A start of the gateway: it sends the push to APNs.
        case start(Int)
    }

    private struct Debt: Sendable {
        let debtor: Debtor
        let due: Int64
        let host: HostKey
        /// The entry by which it stands.
        let since: LogPosition
    }

    /// A push that may match only so many.
    private struct Guarded: Sendable {
        let matchedMax: Int
        /// By partition, where it is applied.
        var matched: [Int]
    }

    private(set) var violations: [String] = []
    /// Pushes whose acceptance a gateway was told of, with the partitions that they went to.
    private(set) var accepted: [(id: PushID, partitions: [PartitionID])] = []
    private var acceptedIDs: Set<PushID> = []
    private let partitions: Int
    /// Every reload that was ever issued, looked up only.
    private var issued: [ReloadID: LogWitness.Issued] = [:]
    /// By partition.
    private var obligations: [FaultObligations]
    /// The destinations that senders mean.
    private var sent: [PushID: PushDestination] = [:]
    private var guarded: [PushID: Guarded] = [:]
    private var turnedAway: Set<PushID> = []
    private(set) var occurrences: [Occurrence: Int] = [:]
    private var committed: Set<ReloadID> = []
    private var outputsRead: [OutputPosition]
    private var reloaded: Set<ReloadID> = []
    private var refused: Set<ReloadID> = []
    private var charges: [InstanceAddress: [Charge]] = [:]
    private var debts: [ReloadID: Debt] = [:]
    /// By reload and token.
    private var deliveryIDs: [String: PushID] = [:]
    private var goneTokens: Set<DeviceToken> = []
    private static let violationsMax = 20

    init(partitions: Int) {
        self.partitions = partitions
        self.outputsRead = Array(repeating: .first, count: partitions)
        self.obligations = Array(repeating: FaultObligations(), count: partitions)
    }

    mutating func fault(_ sentence: String) {
        if self.violations.count < Self.violationsMax { self.violations.append(sentence) }
    }

    mutating func noteOccurrence(_ occurrence: Occurrence, _ count: Int = 1) {
        if count > 0 { self.occurrences[occurrence, default: 0] += count }
    }

    // MARK: Accepted pushes

    mutating func noteSent(_ push: PushRecord) { self.sent[push.id] = push.target }

    /// A push that may match so many only is appended, perhaps again.
    mutating func noteGuarded(_ push: PushID, matchedMax: Int) {
        guard self.guarded[push] == nil else { return }
        self.guarded[push] = Guarded(matchedMax: matchedMax, matched: Array(repeating: 0, count: self.partitions))
    }

    /// A push was not accepted, and never appended before.
    mutating func noteTurnedAway(_ push: PushID) { self.turnedAway.insert(push) }

    /// A push is appended, perhaps one that was turned away when it came the first time.
    mutating func noteTaken(_ push: PushID) { self.turnedAway.remove(push) }

    mutating func noteAccepted(_ push: PushID, _ partitions: [PartitionID]) {
        guard self.acceptedIDs.insert(push).inserted else { return }
        self.accepted.append((push, partitions))
    }

    /// Everything that was accepted is known, once, and adds up.
    mutating func checkAccepted(_ owners: [SimulatedOwner], team: TeamID) {
        for (id, partitions) in self.accepted {
            for partition in partitions {
                let views = owners[Int(partition.rawValue)].engine.push(id, team: team)
                guard views.count == 1, let view = views.first else {
                    self.fault("push \(id) was accepted, and partition \(partition) knows \(views.count) of it")
                    continue
                }
                if view.matched != view.counts.total {
                    self.fault("push \(id): \(view.matched) matched, \(view.counts.total) outcomes")
                }
            }
        }
    }

    // MARK: Applied entries and committed outputs

    /// An entry is in the log.
    ///
    /// - Parameter witness: Behind it.
    mutating func noteApplied(_ entry: LogEntry, _ applied: LogWitness.Applied, _ witness: LogWitness) {
        let partition = Int(witness.partition.rawValue)
        let records = Self.bindingRecords(of: entry)
        for issue in applied.issued { self.noteIssued(issue) }
        self.obligations[partition].follow(records, applied, witness)
        self.takeFindings(from: partition)
        for push in applied.pushes { self.check(push, records, witness) }
        for timeline in applied.additional { self.check(timeline, applied.issued) }
        for case .push(let push) in records where records.count == 1 { self.checkGuarded(push.id, witness) }
    }

    /// A timeline for no reload costs nothing.
    private mutating func check(_ timeline: LogWitness.Additional, _ issued: [LogWitness.Issued]) {
        guard let after = timeline.after, after.windowStart == timeline.before.windowStart,
            !issued.contains(where: { $0.reload.address == timeline.address })
        else { return }
        if after.charged != timeline.before.charged || after.lastReload != timeline.before.lastReload {
            self.fault("\(timeline.address) is charged for a timeline that no reload brought")
        }
    }

    private mutating func takeFindings(from partition: Int) {
        let (faults, occurrences) = self.obligations[partition].takeFindings()
        for sentence in faults { self.fault(sentence) }
        self.occurrences.merge(occurrences) { $0 + $1 }
    }

    /// The binding records of an entry, without those that only report events.
    private static func bindingRecords(of entry: LogEntry) -> [Record] {
        let binding: [Record.Tag] = [.push, .register, .unregister, .order, .settings, .configure, .appReload]
        return entry.records.compactMap { range in
            guard binding.contains(where: { $0.rawValue == entry.bytes[range.lowerBound] }) else { return nil }
            var reader = ByteReader(entry.bytes, in: range)
            return try? Record(from: &reader)
        }
    }

    private mutating func noteIssued(_ issue: LogWitness.Issued) {
        let reload = issue.reload
        if self.issued[reload.id] != nil { self.fault("\(reload.id) came out twice") }
        self.issued[reload.id] = issue
        self.checkTarget(of: issue)
        guard issue.isCharged, let budget = issue.budget, let limit = budget.allowance else { return }
        self.charges[reload.address, default: []].append(
            Charge(
                id: reload.id,
                at: reload.issuedAt,
                windowStart: budget.windowStart,
                limit: limit,
                burst: budget.burst,
                interval: budget.interval
            )
        )
    }

    /// A push reloads only the targets of its sender: a control by its own token, widgets by their host's.
    private mutating func checkTarget(of issue: LogWitness.Issued) {
        guard issue.collateral == nil, let push = issue.reload.push else { return }
        if self.turnedAway.contains(push) {
            self.fault("\(issue.reload.id) is for push \(push), which was turned away")
        }
        guard case .host(let host, let instance)? = self.sent[push] else { return }
        let isMeant = instance.map { $0 == issue.reload.instance } ?? (issue.reload.instance != FaultWorld.control)
        if host != issue.reload.host || !isMeant {
            self.fault("\(issue.reload.id) has another target than push \(push)")
        }
    }

    /// One push through APNs: a control alone, or all push-enabled widgets of a host, each of which it counts for.
    private mutating func check(_ push: TokenPush, _ records: [Record], _ owner: LogWitness) {
        self.noteOccurrence(push.isControl ? .controlPush : .tokenPush)
        let addresses = push.members.map(\.reload.address)
        let controls = addresses.count { $0.instance == FaultWorld.control }
        if push.isControl ? addresses.count != 1 || controls != 1 : controls != 0 {
            self.fault("the push of \(push.id) takes widgets and controls together")
        }
        for (index, member) in push.members.enumerated() {
            let id = member.reload.id
            self.noteOccurrence(.collateral, member.collateral == .conforming ? 1 : 0)
            self.noteOccurrence(.collateralOver, member.collateral == .over ? 1 : 0)
            let hasOwnDemand = member.reload.pushCount > 0 || member.reload.causes.contains(.appRequest)
            if index == 0 ? member.collateral != nil : member.isCharged && member.collateral == nil && !hasOwnDemand {
                self.fault("\(id) has a wrong charge in the push of \(push.id)")
            }
            guard member.reload.isCharged, let budget = self.issued[id]?.budget else { continue }
            let distance = self.minimumInterval(at: id.position, in: owner.partition)
            if budget.lastReload != push.issuedAt || budget.nextHigh < push.issuedAt + distance {
                self.fault("\(id) has not counted: the next one may come at \(budget.nextHigh)")
            }
        }
        // The entry's own registrations come after the timers that were due.
        guard !push.isControl, !records.contains(where: { $0.isOfRegistry }), let host = owner.engine.host(push.host)
        else { return }
        let shown = host.instances.filter { $0.pushEnabled && $0.controlToken == nil }.map(\.id)
        if addresses.map(\.instance).sorted() != shown.sorted() {
            self.fault("the push of \(push.id) reloads \(addresses), and its host shows \(shown)")
        }
    }

    /// A push matches no more than it may over all partitions, whatever was registered between the question and its record.
    private mutating func checkGuarded(_ push: PushID, _ owner: LogWitness) {
        guard var guarded = self.guarded[push],
            let view = owner.engine.push(push, team: FaultWorld.team).first, view.position == owner.applied
        else { return }
        guarded.matched[Int(owner.partition.rawValue)] = view.matched
        self.guarded[push] = guarded
        let matched = guarded.matched.reduce(0, +)
        if matched > guarded.matchedMax {
            self.fault("push \(push) matched \(matched), and may match \(guarded.matchedMax)")
        }
    }

    /// Reads the outputs that were committed since the last call: each reload is in the output log once, and the state behind each output
    /// must be the one that it names.
    mutating func readOutputs(_ log: any OutputLog, _ witnesses: [LogWitness]) {
        for (partition, witness) in witnesses.enumerated() {
            for output in log.outputs(of: witness.partition, from: self.outputsRead[partition]) {
                self.outputsRead[partition] = output.position.next
                let (position, through) = (output.position, output.record.through)
                guard let effects = try? output.record.readEffects() else {
                    self.fault("output \(position) of partition \(witness.partition) cannot be read")
                    continue
                }
                for reload in effects.flatMap(\.reloads) where !self.committed.insert(reload.id).inserted {
                    self.fault("\(reload.id) was committed twice: one charge would be two")
                }
                if through > .start, witness.hash(at: through) != output.record.runningHash {
                    self.fault("output \(position) of partition \(witness.partition) says another state at \(through)")
                }
            }
        }
    }

    /// The output log holds the effects of the log's entries, all of them and in their order.
    mutating func checkOutputs(_ log: any OutputLog, _ witnesses: [LogWitness]) {
        for witness in witnesses {
            let outputs = log.outputs(of: witness.partition, from: .first)
            let written = outputs.flatMap { (try? $0.record.readEffects()) ?? [] }
            if written != witness.effects.flatMap(\.self) {
                self.fault(
                    "partition \(witness.partition): the output log does not hold the effects of the log's entries"
                )
            }
        }
    }

    // MARK: Reloads at hosts

    /// Whether a reload was for a stream when it was issued, and its host has one ever since: the fetcher was told of it.
    func isForStream(_ reload: ReloadID) -> Bool {
        guard let issued = self.issued[reload]?.reload, issued.delivery == .stream else { return false }
        return self.obligations[Int(reload.partition.rawValue)].moves[issued.host].map { $0 <= reload.position } ?? true
    }

    /// A reload was committed, and a debtor is there that has to act on it.
    ///
    /// - Parameter since: The entry that the debtor knew. A host that changes between streams and APNs behind it is offered its
    ///   reloads by another way, or anew at the gateway's next start.
    mutating func expect(_ reload: ReloadEffect, from debtor: Debtor, by due: Int64, since: LogPosition) {
        self.debts[reload.id] = Debt(debtor: debtor, due: due, host: reload.host, since: since)
    }

    private func hasMoved(_ debt: Debt, _ partition: PartitionID) -> Bool {
        self.obligations[Int(partition.rawValue)].moves[debt.host].map { $0 > debt.since } ?? false
    }

    /// A push was sent to APNs, or a reload over a host's connection.
    mutating func settle(_ reload: ReloadID) { self.debts[reload] = nil }

    mutating func noteReceived(_ reload: ReloadEffect) {
        if !self.committed.contains(reload.id) { self.fault("\(reload.id) reached its host before it was committed") }
        self.settle(reload.id)
    }

    /// A host reloads.
    mutating func noteReloaded(_ reload: ReloadEffect) {
        if !self.reloaded.insert(reload.id).inserted { self.fault("\(reload.id) was done twice, and charged once") }
    }

    /// A host did not reload, or APNs refused its push, and the gateway may have given the charge back: of everything that
    /// one push brought, also if the host was behind APNs when that went out and again when the gateway hears of it.
    mutating func noteRefused(_ reload: ReloadEffect) {
        for other in self.issued.values.map(\.reload)
        where other.id.position == reload.id.position && other.host == reload.host {
            self.refused.insert(other.id)
        }
    }

    /// Everything that had to be done by now has been, by those who are still there.
    ///
    /// - Parameter isOut: Whether a reload that is to be delivered is still to be.
    mutating func checkDebts(at now: Int64, debtors: Set<Debtor>, isOut: (ReloadID) -> Bool) {
        let late = self.debts.filter { $0.value.due <= now }
        for id in late.keys.sorted(by: { $0.description < $1.description }) {
            guard let debt = late[id] else { continue }
            self.debts[id] = nil
            guard debtors.contains(debt.debtor), !self.hasMoved(debt, id.partition) else { continue }
            if case .start = debt.debtor, !isOut(id) { continue }
            self.fault("\(id) was committed and never reached its host")
        }
    }

    // MARK: Deliveries

    /// A push is sent to APNs, perhaps again.
    mutating func noteSent(_ request: DeliveryRequest) {
        for reload in request.reloads {
            self.settle(reload.id)
            let name = Self.name(of: reload, request.push.token)
            if let known = self.deliveryIDs.updateValue(request.id, forKey: name), known != request.id {
                self.fault("\(reload.id) went to one token under two ids")
            }
        }
    }

    private static func name(of reload: ReloadEffect, _ token: DeviceToken) -> String { "\(reload.id) \(token.hex)" }

    /// APNs said that a token is not valid.
    mutating func noteGone(_ token: DeviceToken) {
        self.noteOccurrence(.goneToken)
        self.goneTokens.insert(token)
    }

    /// A deliverer takes a token away.
    mutating func noteRemoved(_ removal: HostRemoval) {
        guard let token = removal.token, !self.goneTokens.contains(token) else { return }
        self.fault("a token of \(removal.host) is taken away, and APNs never called it invalid")
    }

    // MARK: Budgets

    /// Charges of each instance, conforming collateral among them: within the allowance of their window and the instance's
    /// grants, apart, and no more in any span than the pace lets through.
    mutating func checkBudgets() {
        for address in self.charges.keys.sorted() {
            guard let charges = self.charges[address] else { continue }
            let partition = PartitionID(of: address.host, among: self.partitions)
            for (early, late) in zip(charges, charges.dropFirst())
            where late.at - early.at < self.minimumInterval(at: late.id.position, in: partition) {
                self.fault("\(early.id) and \(late.id) were charged within the minimum interval")
            }
            self.checkSpans(charges)
            self.checkWindows(charges, of: address)
        }
    }

    private func minimumInterval(at position: LogPosition, in partition: PartitionID) -> Interval {
        self.obligations[Int(partition.rawValue)].policies(at: position).map(\.minimumInterval).min() ?? .zero
    }

    /// The longest window's allowance, in a host's first days.
    private static func allowanceMax(_ policy: BudgetPolicy) -> Int {
        policy.learning.factor.roundedDown(of: policy.frequent) * 25 / 24 + 1
    }

    private mutating func checkSpans(_ charges: [Charge]) {
        for (first, early) in charges.enumerated() {
            var (burst, interval) = (early.burst, early.interval)
            for (last, late) in charges.enumerated().dropFirst(first + 1) {
                (burst, interval) = (max(burst, late.burst), min(interval, late.interval))
                let most = burst + Int((late.at - early.at).milliseconds / interval.milliseconds) + 1
                if last - first + 1 > most { self.fault("\(last - first + 1) charged from \(early.id) to \(late.id)") }
            }
        }
    }

    private mutating func checkWindows(_ charges: [Charge], of address: InstanceAddress) {
        let obligations = self.obligations[Int(PartitionID(of: address.host, among: self.partitions).rawValue)]
        var windows: [Instant: (count: Int, allowance: ClosedRange<Int>, last: LogPosition)] = [:]
        for charge in charges {
            let position = charge.id.position
            // A window's allowance is fixed when it opens, and a change of policy makes it no larger: its limit is that and the grants since.
            let granted = obligations.granted(address, in: charge.windowStart, at: position)
            let allowance = charge.limit - granted.upperBound...charge.limit - granted.lowerBound
            var before = windows[charge.windowStart] ?? (0, allowance, position)
            if obligations.hasChangedPolicy(in: before.last...position),
                allowance.lowerBound <= before.allowance.upperBound
            {
                self.noteOccurrence(.changedWindow)
                before.allowance = allowance
            }
            if !before.allowance.overlaps(allowance) {
                self.fault("\(charge.id): a limit of \(charge.limit), \(before.allowance) and \(granted) granted")
            }
            let count = before.count + (self.refused.contains(charge.id) ? 0 : 1)
            windows[charge.windowStart] = (count, before.allowance.clamped(to: allowance), position)
            if count > before.allowance.upperBound { self.noteOccurrence(.granted) }
            if count > charge.limit { self.fault("\(charge.id): \(count) charged of \(charge.limit) in a window") }
            let allowanceMax = obligations.policies(at: position).map(Self.allowanceMax).max() ?? 0
            if allowance.lowerBound > allowanceMax { self.fault("\(address): an allowance of \(allowance)") }
        }
    }

    /// Checks the engines' books against their effects.
    mutating func checkBooks(_ owners: [SimulatedOwner], _ witnesses: [LogWitness]) {
        for (owner, witness) in zip(owners, witnesses) {
            for sentence in owner.engine.checkInvariants() { self.fault("partition \(owner.partition): \(sentence)") }
            let stats = owner.engine.stats()
            // Its owner may not have heard of the last entries.
            let issued = self.issued.values.filter {
                $0.reload.id.partition == owner.partition && $0.reload.id.position <= owner.applied
            }
            let books = [
                ("charges", stats.reloadsCharged, issued.count { $0.isCharged && $0.collateral == nil }),
                ("collateral", stats.reloadsCollateral, issued.count { $0.collateral == .conforming }),
                ("collateral beyond", stats.reloadsCollateralOver, issued.count { $0.collateral == .over }),
            ]
            for (name, booked, real) in books where booked != real {
                self.fault("partition \(owner.partition): \(name) of \(booked) for \(real) reloads")
            }
            if stats.matched != stats.outcomes.total {
                self.fault("partition \(owner.partition): \(stats.matched) matched, \(stats.outcomes.total) outcomes")
            }
            self.obligations[Int(owner.partition.rawValue)].checkPushes(witness)
            self.takeFindings(from: Int(owner.partition.rawValue))
        }
    }

    /// Checks that no engine knows a push that was never accepted.
    mutating func checkTurnedAway(_ owners: [SimulatedOwner], team: TeamID) {
        for push in self.turnedAway.sorted(by: { $0.low < $1.low }) {
            for owner in owners where !owner.engine.push(push, team: team).isEmpty {
                self.fault("push \(push) was turned away, and partition \(owner.partition) knows it")
            }
        }
    }
}

/// The committed outputs, as an observer sees them.
protocol OutputLog {
    /// All outputs of a partition from a position on.
    func outputs(of partition: PartitionID, from first: OutputPosition) -> [OutputEntry]
}

extension MemoryJournal: OutputLog {
    func outputs(of partition: PartitionID, from first: OutputPosition) -> [OutputEntry] {
        (try? self.readOutputs(partition, from: first, outputsMax: .max)) ?? []
    }
}

extension FaultChecker {
    /// The parts of brought-along reloads in their pushes, by the positions of a partition.
    func collateral(in partition: PartitionID) -> [LogPosition: [InstanceAddress: Collateral]] {
        var found: [LogPosition: [InstanceAddress: Collateral]] = [:]
        for issue in self.issued.values where issue.reload.id.partition == partition {
            guard let collateral = issue.collateral else { continue }
            found[issue.reload.id.position, default: [:]][issue.reload.address] = collateral
        }
        return found
    }
}

extension Record {
    /// Whether it says who is there.
    fileprivate var isOfRegistry: Bool {
        switch self {
        case .register, .unregister: true
        default: false
        }
    }
}
