import TestSupport
import WidgetModel

@testable import Engine
@testable import Timelines

/// Replays a schedule record by record and holds each against what the log obliges an engine to: orders, leases, dates, limits
/// and repeats are read off the records, never off the engine's own books of them.
struct ObligationCheck: ~Copyable {
    typealias Entry = (record: Record, at: LogPosition, time: Instant)

    private(set) var engine = Engine(partition: PartitionID(0), partitions: 1)
    private(set) var coverage = ScheduleCoverage()
    private(set) var faults: [String] = []
    private var output = EngineOutput()
    private var sent: [PushID: PushRecord] = [:]
    /// The pushes whose dates are still to come, or have just come.
    private var dated: [PushRecord] = []
    /// The last ids, as many as the repeat window has.
    private var recent: [PushID] = []
    private let repeatsMax: Int
    /// Until when something is paused, in milliseconds.
    private var pauses: [OrderScope: Int64] = [:]

    private let isRolling: Bool

    /// - Parameters:
    ///   - repeatsMax: By the settings, all along.
    ///   - isRolling: Whether the strict rule is in force all along.
    init(repeatsMax: Int, isRolling: Bool) {
        self.repeatsMax = repeatsMax
        self.isRolling = isRolling
    }

    /// A lease that ends with a record, and the pushes that wait for the host's widgets until that second or before.
    private struct Lease {
        let host: HostKey
        let tokens: [DeviceToken]
        let expiring: [(address: InstanceAddress, push: PushID)]
    }

    /// An instance's books before a record.
    private struct Books {
        let generation: UInt32
        let confirmedBy: LogPosition
        let windowMinute: UInt32
        let count: Int
        let rolling: Int
        /// The outstanding reloads that count in the last 24 hours.
        let counted: [LogPosition]
        /// Reloads that the host did by itself.
        let observed: Int
        /// Why it waits, if it does.
        let reason: DecisionReason?
    }

    /// The facts before a record, which are asked again behind it.
    private struct Before {
        let standings: [ScheduleCoverage.Standing]
        let books: [Books]
        let leases: [Lease]
        let isAlone: Bool
    }

    mutating func apply(_ entry: Entry) throws {
        let before = self.lookAhead(entry)
        self.output.removeAll()
        try self.engine.apply(entry, into: &self.output)
        let decisions = self.decisions(since: before, entry)
        self.checkLeases(before, decisions, entry)
        self.checkDates(decisions, entry)
        self.checkPauses(entry)
        self.checkBooks(before, decisions, entry)
        switch entry.record {
        case .push(let push): self.check(push, before, entry)
        case .order(let order): self.check(order, entry)
        default: break
        }
        self.note(before, entry)
    }

    /// Goes on with an engine that was read back from a snapshot of this one.
    mutating func readBack() {
        let (digest, rows) = (self.engine.stateDigest(), Self.rows(of: self.engine))
        do {
            self.engine = try SnapshotTests.engine(of: SnapshotTests.frames(of: self.engine))
        } catch {
            self.faults.append("\(self.engine.position): a snapshot cannot be read: \(error)")
        }
        // The digest is of what snapshots hold: it does not tell what they forget.
        if self.engine.stateDigest() != digest || Self.rows(of: self.engine) != rows {
            self.faults.append("\(self.engine.position): a snapshot differs")
        }
        self.coverage.note("snapshots read back")
    }

    /// Everything that the schedule has of each instance, but where its active row is.
    private static func rows(of engine: borrowing Engine) -> [String] {
        engine.registry.usedInstances().map { instance in
            var resting = engine.schedule[instance]
            resting.active = ActiveTable.rest
            return "\(resting), \(engine.schedule[cold: instance]), \(engine.schedule[active: instance])"
        }
    }

    private mutating func fault(_ entry: Entry, _ what: String) { self.faults.append("\(entry.at): \(what)") }

    // MARK: Before a record

    private func lookAhead(_ entry: Entry) -> Before {
        let standings = ScheduleCoverage.standings(self.engine)
        let time = max(entry.time, self.engine.time)
        return Before(
            standings: standings,
            books: standings.map { self.books(of: $0.instance) },
            leases: RandomSchedule.hosts.compactMap { self.lease(of: HostKey($0), endingBy: time) },
            isAlone: self.engine.nextTimer.map { $0 > time } ?? true
        )
    }

    private func books(of instance: InstanceNumber) -> Books {
        let budget = self.engine.schedule[instance].budget
        let isWaiting = self.engine.schedule.phase(of: instance).isWaiting
        var counted: [LogPosition] = []
        self.engine.reloads.forEach(in: self.engine.schedule[active: instance].outstanding) { reload in
            if reload.isCounted { counted.append(reload.position) }
        }
        return Books(
            generation: UInt32(self.engine.registry[instance].generation),
            confirmedBy: self.engine.registry.confirmedBy(of: instance),
            windowMinute: budget.windowMinute,
            count: Int(budget.count),
            rolling: self.engine.schedule.rollingDay(of: instance)?.count(at: self.engine.time) ?? 0,
            counted: counted,
            observed: Int(self.engine.registry[observed: instance].observedReloads),
            reason: isWaiting ? self.engine.schedule[active: instance].reason : nil
        )
    }

    private func lease(of host: HostKey, endingBy time: Instant) -> Lease? {
        guard let view = self.engine.host(host), let ends = view.leaseEnds else { return nil }
        let second = Self.second(of: ends)
        guard second <= time.seconds else { return nil }
        var expiring: [(InstanceAddress, PushID)] = []
        for instance in view.instances {
            let address = InstanceAddress(host: host, instance: instance.id)
            for pending in self.engine.instance(address, decisions: 0)?.pending ?? [] {
                guard let push = pending.push, let expiry = pending.expiresAt, Self.second(of: expiry) <= second else {
                    continue
                }
                expiring.append((address, push))
            }
        }
        return Lease(host: host, tokens: view.tokens, expiring: expiring)
    }

    /// The second at which a timer for an instant is due.
    private static func second(of instant: Instant) -> Int64 { (instant.milliseconds + 999) / 1000 }

    /// The decisions of a record, by instance, the newest first.
    private mutating func decisions(since before: Before, _ entry: Entry) -> [InstanceNumber: [DecisionLog.Entry]] {
        let standings = Dictionary(uniqueKeysWithValues: before.standings.map { ($0.instance, $0) })
        var found: [InstanceNumber: [DecisionLog.Entry]] = [:]
        for instance in self.engine.registry.usedInstances() {
            let known = standings[instance]
            var number = self.engine.schedule[instance].lastDecision
            while number != Ledger.noDecision, number != known?.lastDecision,
                let decision = self.engine.ledger.decisions[number], decision.instance == instance,
                decision.position == entry.at
            {
                found[instance, default: []].append(decision)
                self.coverage.note(
                    decision,
                    of: known,
                    Self.tag(of: entry),
                    isAlone: before.isAlone || entry.record == .tick
                )
                number = decision.previous
            }
        }
        return found
    }

    private static func tag(of entry: Entry) -> Record.Tag { Record.Tag(rawValue: entry.record.bytes[0])! }

    // MARK: Behind it

    /// A host whose lease has ended is gone before the record, and its tokens are told of. It took nothing from a widget that was due in
    /// the same second.
    private mutating func checkLeases(
        _ before: Before,
        _ decisions: [InstanceNumber: [DecisionLog.Entry]],
        _ entry: Entry
    ) {
        for lease in before.leases {
            self.coverage.note("leases that ended")
            for token in lease.tokens {
                let isTold = self.output.directory.contains { change in
                    if case .removed(token, _, .leaseEnded, _) = change { true } else { false }
                }
                if !isTold { self.fault(entry, "nobody is told that a token of \(lease.host) is removed") }
            }
            for (address, push) in lease.expiring {
                let own = decisions.first { self.engine.address(of: $0.key) == address }?.value ?? []
                let isTaken = own.contains { $0.hasPush && $0.push == push && $0.outcome == .removed }
                let isIssued = own.contains { $0.outcome == .issued }
                if isTaken, !isIssued { self.fault(entry, "a lease takes \(push) before it expires") }
            }
            guard case .push(let push) = entry.record, case .host(lease.host, _) = push.target,
                case .push(let matched, false)? = self.output.answers.first?.result, matched > 0
            else { continue }
            self.fault(entry, "a push matches \(lease.host), whose lease has ended")
        }
    }

    /// No push reloads before its not-before or after its expiration, or takes another team's place.
    private mutating func checkDates(_ decisions: [InstanceNumber: [DecisionLog.Entry]], _ entry: Entry) {
        for decision in decisions.values.joined() where decision.hasPush {
            // One that is sent again after it was forgotten is another push with the same id.
            let accepted = self.engine.push(decision.push)
            let isOver = accepted.allSatisfy { decision.at >= $0.expiresAt && decision.at > $0.acceptedAt }
            if decision.outcome == .issued, !accepted.isEmpty, isOver {
                self.fault(entry, "\(decision.push) reloads after its expiration")
            }
            guard decision.reason == .collapseID, let old = self.sent[decision.push] else { continue }
            guard case .push(let new) = entry.record, new.team == old.team, new.collapseID == old.collapseID else {
                self.fault(entry, "\(old.id) is superseded by what is not its own")
                continue
            }
        }
        let now = self.engine.time
        for push in self.dated {
            for view in self.engine.push(push.id, team: push.team) {
                let early = [.issued, .reloaded, .exempt].reduce(0) { $0 + view.counts[$1 as PushOutcome] }
                if let notBefore = push.notBefore, notBefore > now, early > 0 {
                    self.fault(entry, "\(push.id) reloads before its not-before")
                }
                if let expiration = push.expiration, expiration <= now.seconds, view.counts[.deferred] > 0 {
                    self.fault(entry, "\(push.id) waits beyond its expiration")
                }
            }
        }
        self.dated.removeAll { push in
            let last = max(push.notBefore ?? .epoch, Instant(seconds: push.expiration ?? 0))
            return last + .minutes(2) < now
        }
    }

    /// A paused instance does not reload, except with another's push to the token that both share.
    private mutating func checkPauses(_ entry: Entry) {
        defer { self.takePause(entry) }
        // Another pause may end sooner.
        if case .order(let order) = entry.record, order.isPauseOrResume { return }
        for (reload, collateral) in self.output.effects.flatMap(Scene.members) where collateral == nil {
            let isFirst = self.output.effects.contains { effect in
                if case .push(let push) = effect { push.members[0].reload.id == reload.id } else { false }
            }
            guard reload.delivery != .apns || isFirst else { continue }
            for scope in [.app(Scene.sports), .kind(Scene.sports, reload.kind)] as [OrderScope]
            where self.pauses[scope] ?? .min > reload.issuedAt.milliseconds {
                self.fault(entry, "\(reload.id) reloads while \(scope) is paused")
            }
            guard reload.delivery != .apns, reload.causes == ReloadCauses(.push), let push = reload.push,
                let team = self.sent[push]?.team
            else { continue }
            if self.pauses[.sender(team)] ?? .min > reload.issuedAt.milliseconds {
                self.fault(entry, "\(reload.id) reloads for a sender that is paused")
            }
        }
    }

    private mutating func takePause(_ entry: Entry) {
        guard case .order(let order) = entry.record else { return }
        switch order.action {
        case .pause(let until): self.pauses[order.scope] = until?.milliseconds ?? .max
        case .resume: self.pauses[order.scope] = nil
        case .cancel, .grant, .reload: break
        }
    }

    /// A reload is counted once, a refusal gives it back, and what an instance shows is known from ever later reloads.
    private mutating func checkBooks(
        _ before: Before,
        _ decisions: [InstanceNumber: [DecisionLog.Entry]],
        _ entry: Entry
    ) {
        for (standing, old) in zip(before.standings, before.books) {
            let instance = standing.instance
            let new = self.books(of: instance)
            let made = decisions[instance] ?? []
            let name = "\(self.engine.address(of: instance))"
            if let reason = new.reason, reason != old.reason { self.coverage.note(reason) }
            if new.generation == old.generation, new.confirmedBy < old.confirmedBy, new.confirmedBy != .start {
                self.fault(entry, "\(name) is confirmed by \(new.confirmedBy) after \(old.confirmedBy)")
            }
            let reloads = made.count { $0.outcome == .issued }
            switch entry.record {
            case .register, .signal, .timeline, .configure: break
            default:
                // A host's own reloads are booked, too. With the instance they are forgotten, and not to be told from others.
                guard self.engine.registry[instance].isLive else { break }
                let others = max(0, new.observed - old.observed)
                if new.windowMinute == old.windowMinute, new.count - old.count > reloads + others {
                    self.fault(entry, "\(name): \(reloads) reloads are counted as \(new.count - old.count)")
                }
            }
            guard case .delivery(let report) = entry.record, case .refused = report.result, before.isAlone,
                report.reload.instance == instance, old.counted.contains(report.reload.position),
                !new.counted.contains(report.reload.position), reloads == 0, new.windowMinute == old.windowMinute
            else { continue }
            if self.isRolling, old.rolling > 0, new.rolling >= old.rolling {
                self.fault(entry, "\(name): a refusal gives nothing back to the last 24 hours")
            }
        }
    }

    /// A push is a repeat if it is among the last, matches whom it is for, and fails only if these are too many.
    private mutating func check(_ push: PushRecord, _ before: Before, _ entry: Entry) {
        guard case .push(let matched, let isRepeat)? = self.output.answers.first?.result else { return }
        let isKnown = self.recent.contains(push.id)
        if isRepeat != isKnown { self.fault(entry, "\(push.id) is \(isRepeat ? "" : "not ")answered as a repeat") }
        guard !isRepeat else { return }
        self.sent[push.id] = push
        self.dated.append(push)
        self.recent.append(push.id)
        if self.recent.count > self.repeatsMax { self.recent.removeFirst() }
        var question = push
        (question.id, question.matchedMax) = (PushID(high: 1, low: 1), nil)
        let expected = self.engine.matchCount(question).matched
        let isTooMany = push.matchedMax.map { expected > $0 } ?? false
        if matched != (isTooMany ? 0 : expected) {
            self.fault(entry, "\(push.id) matches \(matched) of \(expected), at most \(push.matchedMax ?? .max)")
        }
    }

    /// A cancelled push waits no more.
    private mutating func check(_ order: OperatorOrder, _ entry: Entry) {
        guard order.action == .cancel else { return }
        for host in RandomSchedule.hosts {
            for instance in self.engine.host(HostKey(host))?.instances ?? [] {
                let address = InstanceAddress(host: HostKey(host), instance: instance.id)
                for pending in self.engine.instance(address, decisions: 0)?.pending ?? [] {
                    guard let push = pending.push, let record = self.sent[push] else { continue }
                    let isMeant =
                        switch order.scope {
                        case .app: true
                        case .kind(_, let kind): instance.kind == kind
                        case .sender(let team): record.team == team
                        case .host(let host): host == address.host
                        case .instance(let other): other == address
                        case .push(let id, let team, _): id == push && (team == nil || team == record.team)
                        }
                    if isMeant { self.fault(entry, "\(push) waits for \(address), though it is cancelled") }
                }
            }
        }
    }

    // MARK: Coverage

    private mutating func note(_ before: Before, _ entry: Entry) {
        self.coverage.note(Self.tag(of: entry))
        for effect in self.output.effects {
            if case .push(let push) = effect {
                self.coverage.note(push.isControl ? "pushes to a control's token" : "pushes to tokens")
            }
            if case .invalidation = effect { self.coverage.note("invalidations") }
        }
        if !self.engine.standing.isEmpty { self.coverage.note("records under a standing pause") }
        if self.engine.stats().tombstones > 0 { self.coverage.note("records with tombstones") }
        switch entry.record {
        case .configure: self.coverage.note("policies that changed")
        case .channel: self.coverage.note("records with channels")
        case .order(let order):
            let name =
                switch order.action {
                case .pause: "pause"
                case .resume: "resume"
                case .cancel: "cancel"
                case .grant: "grant"
                case .reload: "reload"
                }
            self.coverage.note("orders: \(name)")
        default: break
        }
    }
}

extension OperatorOrder {
    fileprivate var isPauseOrResume: Bool {
        switch self.action {
        case .pause, .resume: true
        case .cancel, .grant, .reload: false
        }
    }
}
