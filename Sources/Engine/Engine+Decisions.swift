import Timelines
import WidgetModel

/// What wants an instance to reload, as far as it may be decided now.
struct Demand {
    /// Pushes of priority 10 and 5 whose not-before, if any, has come.
    var high: Bool
    var normal: Bool
    /// The causes beside pushes.
    var waiting: ReloadCauses
    /// The earliest end of a push, in milliseconds.
    var minExpiry: Int64
    /// The earliest instant that waiting causes are held back until, in milliseconds: a not-before that is still to
    /// come, or the end of a hold.
    var heldUntil = Int64.max
    /// Whether a policy reload is held since nobody sees the instance, or a push since its sender may be paused.
    var isThinned = false
    var isPaused = false
}

extension Demand {
    /// Why nothing is decided now.
    fileprivate var reason: DecisionReason {
        if self.isPaused { return .paused }
        if self.isThinned { return .hidden }
        return self.heldUntil == .max ? .waitsForAnother : .notBefore
    }
}

/// What is to be done about an instance's demand.
enum Plan {
    /// Reload now: not charged for a reason, or charged, to the pushes' share or not.
    case issue(Exemption?, isPush: Bool)
    /// Wait until then, in milliseconds, unless something else happens.
    case wait(until: Int64, DecisionReason)
}

extension Engine {
    /// Decides an instance anew: ends what has expired, reloads if that conforms now, else waits for when it does.
    ///
    /// Called on every event of the instance and by its timer. The reload takes everything along that waits.
    ///
    /// - Parameters:
    ///   - instance: A live instance.
    ///   - isOnce: Whether a push that is now or never was just found to conform and waits for this decision; nothing
    ///     is ended as expired then.
    mutating func decide(_ instance: InstanceNumber, isOnce: Bool = false) {
        if !isOnce, self.instances[active: instance].minExpiry <= self.now { self.expirePending(of: instance) }
        if self.instances[instance].timelineDue <= self.now {
            self.wantPolicy(instance)
        }
        if self.instances[active: instance].isWaiting {
            self.openWindow(of: instance)
            var plan = self.plan(instance, self.demand(of: instance))
            if case .issue(let exemption, let isPush) = plan {
                self.issue(instance, exemption, isPush: isPush, isOnce: isOnce)
                plan = self.plan(instance, self.demand(of: instance))
            }
            guard case .wait(let until, let reason) = plan else {
                preconditionFailure("an instance reloads twice at one instant")
            }
            self.instances[active: instance].wait(until: until, reason)
        } else {
            self.instances[active: instance].endWaiting()
            self.instances[instance].hasPendingDigest = false
        }
        self.instances.rest(instance)
        self.arm(instance)
    }

    /// The timeline's next request is due; where nobody sees the instance, the reload is held.
    private mutating func wantPolicy(_ instance: InstanceNumber) {
        let due = self.instances[instance].timelineDue
        self.instances[instance].timelineDue = .max
        if self.instances[instance].isHostDriven { return self.predict(ReloadCauses(.policy), instance) }
        self.instances[active: instance].waiting.insert(ReloadCauses(.policy))
        self.openWindow(of: instance)
        guard self.isThinned(instance) else { return }
        let intervals = Int64(self.catalogue[self.instances[instance].kind].bare.thinning)
        let until = due + (self.terms(of: instance).interval * intervals).milliseconds
        if until > self.now { self.instances[active: instance].heldUntil = until }
    }

    /// What waits for an instance. O(1), or O(waiting) if some of it has a not-before or a sender is paused.
    @inline(__always)
    func demand(of instance: InstanceNumber) -> Demand {
        let active = self.instances[active: instance]
        var demand = Demand(
            high: active.high > 0,
            normal: active.normal > 0,
            waiting: active.waiting,
            minExpiry: active.minExpiry
        )
        if active.heldUntil > self.now, demand.waiting.contains(.policy) {
            demand.waiting.remove(ReloadCauses(.policy))
            demand.heldUntil = active.heldUntil
            demand.isThinned = true
        }
        guard self.instances[instance].hasScheduled || self.ledger.hasPausedSenders else { return demand }
        demand.high = false
        demand.normal = false
        var slot = active.pending.head
        while !slot.isNone {
            let node = self.reloads[slot]
            let until = self.heldUntil(node)
            if until > self.now {
                demand.heldUntil = min(demand.heldUntil, until)
                demand.isPaused = demand.isPaused || self.ledger.hasPausedSenders
            } else {
                if node.priority == .high { demand.high = true }
                if node.priority == .normal { demand.normal = true }
            }
            slot = node.next
        }
        return demand
    }

    /// Why a reload of an instance is not charged now, or nil.
    @inline(__always)
    func exemption(of instance: InstanceNumber, waiting: ReloadCauses) -> Exemption? {
        let host = self.instances[instance].host
        if self.hosts[host].exemptUntil > self.now {
            if self.hosts[host].foregroundUntil > self.now { return .appForeground }
            for session in HostSession.allCases where self.hosts[host].sessionsUntil[Int(session.rawValue)] > self.now {
                return session.exemption
            }
        }
        let kind = self.instances[instance].kind
        if self.catalogue[self.catalogue[kind].app].developerMode { return .developerMode }
        if !waiting.isDisjoint(with: .free) { return waiting.exemption }
        guard !waiting.isDisjoint(with: .setup) else { return nil }
        let interval = self.catalogue[kind].bare.minimumInterval.milliseconds
        let before = self.instances[instance].freeSetupAt
        guard before == .min || before + interval <= self.now else { return nil }
        return waiting.contains(.added) ? .added : .configured
    }

    /// What is to be done about a demand.
    ///
    /// - Parameter funds: What a question reads the budget from, whose windows need not be open in the tables; nil where
    ///   they are.
    func plan(_ instance: InstanceNumber, _ demand: Demand, _ funds: BudgetFunds? = nil) -> Plan {
        guard demand.high || demand.normal || !demand.waiting.isEmpty else {
            return .wait(until: demand.heldUntil, demand.reason)
        }
        let pausedUntil = self.catalogue[self.instances[instance].kind].pausedUntil
        if pausedUntil > self.now { return .wait(until: pausedUntil, .paused) }
        if self.instances[instance].isHostDriven, let held = self.heldByToken(instance) { return held }
        // An instance reloads once at an instant, so that its reloads' ids are unique.
        let budget = self.instances[instance].budget
        let again = budget.lastReload.map { $0.milliseconds + 1 } ?? .min
        if let exemption = self.exemption(of: instance, waiting: demand.waiting) {
            let kind = self.instances[instance].kind
            let earliest = budget.exemptEarliest(now: self.time, policy: self.catalogue[kind].bare)
            let at = max(again, earliest.milliseconds)
            if at <= self.now { return .issue(exemption, isPush: false) }
            // The interval of exempt reloads is short, so that waiting for it is better than being charged, but for
            // what would expire.
            if demand.minExpiry > at { return .wait(until: min(at, demand.heldUntil), .exemptInterval) }
            let charged = self.chargedPlan(instance, demand, again: again, funds)
            if case .wait(let until, _) = charged, until >= min(at, demand.minExpiry) {
                return .wait(until: min(at, demand.heldUntil), .exemptInterval)
            }
            return charged
        }
        let charged = self.chargedPlan(instance, demand, again: again, funds)
        guard case .wait(let until, _) = charged, !demand.waiting.isDisjoint(with: .setup) else { return charged }
        let free = max(again, self.freeSetup(of: instance))
        return free < until ? .wait(until: free, .minimumInterval) : charged
    }

    /// When `added` and `configured` are not charged again, in milliseconds, if nothing else reloads the instance before.
    private func freeSetup(of instance: InstanceNumber) -> Int64 {
        let kind = self.instances[instance].kind
        let policy = self.catalogue[kind].bare
        let apart = self.instances[instance].budget.exemptEarliest(now: self.time, policy: policy)
        let before = self.instances[instance].freeSetupAt
        return max(apart.milliseconds, before == .min ? .min : before + policy.minimumInterval.milliseconds)
    }

    /// What is to be done if the reload is charged.
    @inline(__always)
    private func chargedPlan(_ instance: InstanceNumber, _ demand: Demand, again: Int64, _ funds: BudgetFunds?) -> Plan
    {
        let terms = funds?.terms ?? self.terms(of: instance)
        let budget = funds?.budget ?? self.budget(of: instance)
        var at = Int64.max
        var isPush = false
        if !demand.waiting.isEmpty {
            let isPaced = self.instances[instance].isPolicyPaced && demand.waiting == ReloadCauses(.policy)
            at = self.earliest(instance, isPaced ? .paced : .urgent, isPush: false, budget, terms)
        }
        if demand.high {
            let high = self.earliest(instance, .urgent, isPush: true, budget, terms)
            if high < at { (at, isPush) = (high, true) }
        }
        if demand.normal, !demand.high {
            let normal = self.earliest(instance, .paced, isPush: true, budget, terms)
            if normal < at { (at, isPush) = (normal, true) }
        }
        at = max(at, again)
        if terms.isRolling { at = max(at, self.rollingEarliest(of: instance, terms).milliseconds) }
        guard at <= self.now else {
            return .wait(until: min(at, demand.heldUntil), self.reason(instance, until: at, budget, terms))
        }
        if demand.waiting.isEmpty, !demand.high, let until = self.policyReload(instance, demand, budget, terms) {
            return .wait(until: min(until, demand.heldUntil), .joinsPolicy)
        }
        return .issue(nil, isPush: isPush)
    }

    @inline(__always)
    private func earliest(
        _ instance: InstanceNumber,
        _ reloadClass: ReloadClass,
        isPush: Bool,
        _ budget: ReloadBudget,
        _ terms: BudgetTerms
    ) -> Int64 {
        budget.earliest(
            reloadClass,
            isPush: isPush,
            now: self.time,
            terms: terms,
            spreadHash: self.addressHash(of: instance)
        )?.milliseconds ?? .max
    }

    /// When the policy reload runs that a push of priority 5 had better wait for, or nil.
    @inline(__always)
    private func policyReload(
        _ instance: InstanceNumber,
        _ demand: Demand,
        _ budget: ReloadBudget,
        _ terms: BudgetTerms
    ) -> Int64? {
        let due = self.instances[instance].timelineDue
        // What a host does by itself proves nothing of what it has read, so nothing joins it.
        guard due - Self.policyJoin.milliseconds <= self.now, !self.instances[instance].isHostDriven else { return nil }
        let isPaced = self.instances[instance].isPolicyPaced
        let until = max(due, self.earliest(instance, isPaced ? .paced : .urgent, isPush: false, budget, terms))
        guard until - Self.policyJoin.milliseconds <= self.now, demand.minExpiry > until else { return nil }
        return until
    }

    /// Why a charged reload waits until then.
    @inline(__always)
    private func reason(
        _ instance: InstanceNumber,
        until: Int64,
        _ budget: ReloadBudget,
        _ terms: BudgetTerms
    ) -> DecisionReason {
        if until >= terms.window.end.milliseconds { return .allowance }
        if terms.isRolling, until == self.rollingEarliest(of: instance, terms).milliseconds { return .allowance }
        if let last = budget.lastCharge,
            until <= (last + terms.minimumInterval).milliseconds
        {
            return .minimumInterval
        }
        return .pace
    }

    /// Notes a decision about an instance.
    mutating func note(
        _ instance: InstanceNumber,
        _ outcome: PushOutcome,
        _ reason: DecisionReason,
        cause: ReloadCause = .push,
        push: PushID? = nil,
        exemption: Exemption? = nil,
        until: Int64 = .max
    ) {
        self.instances[instance].lastDecision = self.ledger.recordDecision(
            Ledger.Decision(
                at: self.time,
                position: self.position,
                push: push ?? PushID(high: 0, low: 0),
                previous: self.instances[instance].lastDecision,
                until: until,
                instance: instance,
                cause: cause,
                outcome: outcome,
                reason: reason,
                exemption: exemption,
                hasPush: push != nil
            )
        )
    }
}

extension ReloadCauses {
    /// What is not charged by itself: `added` and `configured`.
    static let setup = ReloadCauses(rawValue: 1 << ReloadCause.added.rawValue | 1 << ReloadCause.configured.rawValue)
    /// Those that are not lost when a reload fails: the timeline's own, and what the user or the system did. Whoever pushes,
    /// and the app that wishes, is answered instead.
    static let lasting = ReloadCause.allCases.reduce(into: ReloadCauses(rawValue: 0)) { causes, cause in
        if cause != .push, cause != .appRequest { causes.insert(ReloadCauses(cause)) }
    }

    /// The cause with the lowest raw value; `push` of none.
    var first: ReloadCause { ReloadCause(rawValue: UInt8(self.rawValue.trailingZeroBitCount)) ?? .push }
}
