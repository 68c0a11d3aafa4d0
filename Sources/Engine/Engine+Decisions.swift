import Timelines
import WidgetModel

extension Engine {
    /// Decides an instance anew: ends the pushes that have expired, reloads if that conforms now, else waits until it
    /// does.
    ///
    /// Called on every event of the instance and by its timer. The reload serves every waiting cause.
    ///
    /// - Parameters:
    ///   - instance: A live instance.
    ///   - isOnce: Whether a push that is now or never was just found to conform and waits for this decision; nothing
    ///     is ended as expired then.
    mutating func decide(_ instance: InstanceNumber, isOnce: Bool = false) {
        if !isOnce, self.schedule[active: instance].minExpiry <= self.time { self.expirePending(of: instance) }
        let isDue = self.schedule[instance].timelineDue <= self.time
        if isDue { self.wantPolicy(instance) }
        if self.schedule.phase(of: instance).isWaiting {
            self.openWindow(of: instance)
            let known = isDue ? nil : self.policyReason(instance)
            var plan = self.plan(instance, self.demand(of: instance))
            if case .issue(let exemption, let isPush) = plan {
                self.issue(instance, exemption, isPush: isPush, isOnce: isOnce)
                plan = self.plan(instance, self.demand(of: instance))
            }
            guard case .wait(let until, let reason) = plan else {
                preconditionFailure("an instance reloads twice at one instant")
            }
            self.schedule[active: instance].wait(until: until, reason)
            self.noteWaitingPolicy(instance, unless: known)
        } else {
            self.schedule.endWaiting(instance)
        }
        self.settle(instance)
        self.schedule.arm(instance)
    }

    /// Why the timeline's own reload has waited so far, as was noted; nil if it does not wait, or if a hold is over. Ends that hold.
    private mutating func policyReason(_ instance: InstanceNumber) -> DecisionReason? {
        let active = self.schedule[active: instance]
        guard active.waiting.contains(.policy) else { return nil }
        if active.heldUntil == .distantPast { return active.reason }
        if active.heldUntil <= self.time { self.schedule[active: instance].heldUntil = .distantPast }
        return self.hold(of: instance)
    }

    /// Notes that the timeline's own reload waits, when it begins to and when the reason becomes another.
    private mutating func noteWaitingPolicy(_ instance: InstanceNumber, unless known: DecisionReason?) {
        guard self.schedule[active: instance].waiting.contains(.policy) else { return }
        let wait = self.wait(of: .policy, instance)
        if wait.reason != known {
            self.noteDecision(instance, .deferred, wait.reason, cause: .policy, until: wait.until)
        }
    }

    /// The timeline's next request is due; where the instance is hidden, or its host is in low power, the reload is held.
    private mutating func wantPolicy(_ instance: InstanceNumber) {
        let due = self.schedule[instance].timelineDue
        self.schedule[instance].timelineDue = .distantFuture
        if self.registry[instance].isHostDriven { return self.predict(ReloadCauses(.policy), instance) }
        self.schedule[active: instance].waiting.insert(ReloadCauses(.policy))
        self.openWindow(of: instance)
        let until = self.policyHeldUntil(instance, due: due)
        if until > self.time { self.schedule[active: instance].heldUntil = until }
    }

    /// Until when the timeline's own reload is held that is due: where the instance is hidden, or its host is in low power.
    ///
    /// - Parameters:
    ///   - due: When it was due.
    ///   - terms: As a question reads them; nil where the budget's window is open.
    func policyHeldUntil(_ instance: InstanceNumber, due: Instant, _ terms: BudgetTerms? = nil) -> Instant {
        let slowedUntil = self.slowedUntil(instance, terms)
        guard self.isThinned(instance) else { return slowedUntil }
        let intervals = Int64(self.catalogue[self.registry[instance].kind].bare.thinning)
        return max(slowedUntil, due + (terms ?? self.terms(of: instance)).interval * intervals)
    }

    /// The waiting causes of an instance. O(1), or O(waiting) if some have a not-before or a sender is paused.
    ///
    /// - Parameter left: A match that is left out, but for its expiration; then O(waiting), too.
    @inline(__always)
    func demand(of instance: InstanceNumber, without left: MatchNumber? = nil) -> Demand {
        let active = self.schedule[active: instance]
        var demand = Demand(
            high: active.high > 0,
            normal: active.normal > 0,
            waiting: active.waiting,
            minExpiry: active.minExpiry
        )
        if demand.waiting.contains(.policy), let hold = self.hold(of: instance) {
            demand.waiting.remove(ReloadCauses(.policy))
            demand.heldUntil = active.heldUntil
            demand.hold = hold
        }
        guard self.schedule[instance].hasScheduled || self.ledger.hasPausedSenders || left != nil else { return demand }
        demand.high = false
        demand.normal = false
        self.reloads.forEach(in: active.pending) { number, match in
            guard number != left else { return }
            let until = self.heldUntil(match)
            if until > self.time {
                demand.heldUntil = min(demand.heldUntil, until)
                demand.isPaused = demand.isPaused || self.ledger.hasPausedSenders
            } else {
                if match.priority == .high { demand.high = true }
                if match.priority == .normal { demand.normal = true }
            }
        }
        return demand
    }

    /// Why a reload of an instance is not charged now, or nil.
    @inline(__always)
    func exemption(of instance: InstanceNumber, waiting: ReloadCauses) -> Exemption? {
        let host = self.registry[instance].host
        if self.registry[host].exemptUntil > self.time {
            if self.registry[host].coldFields.foregroundUntil > self.time { return .appForeground }
            for session in HostSession.allCases
            where self.registry[host].coldFields.sessionsUntil[Int(session.rawValue)] > self.time {
                return session.exemption
            }
        }
        let kind = self.registry[instance].kind
        if self.catalogue[self.catalogue[kind].app].developerMode { return .developerMode }
        if !waiting.isDisjoint(with: .free) { return waiting.exemption }
        guard !waiting.isDisjoint(with: .setup) else { return nil }
        let interval = self.catalogue[kind].bare.minimumInterval
        let before = self.schedule[cold: instance].freeSetupAt
        guard before == .distantPast || before + interval <= self.time else { return nil }
        return waiting.contains(.added) ? .added : .configured
    }

    /// The plan for a demand.
    ///
    /// - Parameter funds: The budget as a question reads it, whose windows need not be open in the tables; nil where they are open.
    func plan(_ instance: InstanceNumber, _ demand: Demand, _ funds: BudgetFunds? = nil) -> Plan {
        guard !demand.isEmpty else { return demand.rest }
        return self.grounds(of: instance, waiting: demand.waiting, funds)
            .plan(demand, spreadHash: self.addressHash(of: instance))
    }

    /// The facts that a decision about an instance follows from, beside its demand.
    @inline(__always)
    private func grounds(
        of instance: InstanceNumber,
        waiting: ReloadCauses,
        _ funds: BudgetFunds?
    ) -> DecisionGrounds {
        let (owner, row) = (self.registry[instance], self.schedule[instance])
        let policy = self.catalogue[owner.kind].bare
        let terms = funds?.terms ?? self.terms(of: instance)
        return DecisionGrounds(
            now: self.time,
            pausedUntil: self.catalogue[owner.kind].pausedUntil,
            held: owner.isHostDriven ? self.heldByToken(instance) : nil,
            exemption: self.exemption(of: instance, waiting: waiting),
            lastReload: row.budget.lastReload,
            exemptEarliest: row.budget.exemptEarliest(now: self.time, policy: policy),
            freeSetupAt: waiting.isDisjoint(with: .setup) ? .distantPast : self.schedule[cold: instance].freeSetupAt,
            minimumInterval: policy.minimumInterval,
            terms: terms,
            budget: funds?.budget ?? self.budget(of: instance),
            rollingEarliest: terms.isRolling ? self.rollingEarliest(of: instance, terms) : nil,
            timelineDue: row.timelineDue,
            isPolicyPaced: row.isPolicyPaced,
            isHostDriven: owner.isHostDriven
        )
    }

    /// Notes a decision about an instance.
    mutating func noteDecision(
        _ instance: InstanceNumber,
        _ outcome: PushOutcome,
        _ reason: DecisionReason,
        cause: ReloadCause = .push,
        push: PushID? = nil,
        exemption: Exemption? = nil,
        until: Instant = .distantFuture
    ) {
        self.schedule[instance].lastDecision = self.ledger.recordDecision(
            Ledger.Decision(
                at: self.time,
                position: self.position,
                push: push ?? PushID(high: 0, low: 0),
                previous: self.schedule[instance].lastDecision,
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
    /// The causes of a setup, which may have a free reload: `added` and `configured`.
    static let setup = ReloadCauses(rawValue: 1 << ReloadCause.added.rawValue | 1 << ReloadCause.configured.rawValue)
    /// The causes that are not lost when a reload fails: the timeline's own, and those of the user or the system. A sender, or an app that
    /// asks, is answered instead.
    static let lasting = ReloadCause.allCases.reduce(into: ReloadCauses(rawValue: 0)) { causes, cause in
        if cause != .push, cause != .appRequest { causes.insert(ReloadCauses(cause)) }
    }

    /// The cause with the lowest raw value; `push` of none.
    var first: ReloadCause { ReloadCause(rawValue: UInt8(self.rawValue.trailingZeroBitCount)) ?? .push }
}
