import Timelines
import WidgetModel

/// What a decision about an instance follows from, beside what wants it to reload: values that were read before it.
struct DecisionGrounds {
    let now: Instant
    /// Until when orders pause the kind, in milliseconds.
    let pausedUntil: Int64
    /// What keeps a push from going to the instance's token now, whatever its budget says.
    let held: Plan?
    /// Why a reload is not charged now.
    let exemption: Exemption?
    /// When the instance last reloaded, charged or exempt.
    let lastReload: Instant?
    /// When an exempt reload may run.
    let exemptEarliest: Instant
    /// When an `added` or `configured` reload was last not charged, in milliseconds; `.min` if none was.
    let freeSetupAt: Int64
    /// The policy's: how far apart reloads for setting it up are that are not charged.
    let minimumInterval: Interval
    /// What a reload is charged to, and under which terms.
    let terms: BudgetTerms
    let budget: ReloadBudget
    /// When the last 24 hours allow another reload, in milliseconds, where they are counted.
    let rollingEarliest: Int64?
    /// When the timeline asks for its next, in milliseconds; `.max` if it does not.
    let timelineDue: Int64
    /// Whether that request may not use the burst.
    let isPolicyPaced: Bool
    /// Whether the host runs its timelines by itself.
    let isHostDriven: Bool
}

extension DecisionGrounds {
    /// What is to be done about a demand. O(1).
    ///
    /// An instance reloads at the first instant at which one of its causes may: by an exemption, or by the budget.
    ///
    /// - Parameters:
    ///   - demand: What wants the instance to reload; not empty.
    ///   - spreadHash: A stable hash of the instance; asked for only where a budget is used up.
    @inline(__always)
    func plan(_ demand: Demand, spreadHash: @autoclosure () -> UInt64) -> Plan {
        if self.pausedUntil > self.now.milliseconds { return .wait(until: self.pausedUntil, .paused) }
        if let held { return held }
        guard let exemption else {
            let charged = self.chargedPlan(demand, spreadHash())
            guard case .wait(let until, _) = charged, !demand.waiting.isDisjoint(with: .setup) else { return charged }
            return self.freeSetup < until ? .wait(until: self.freeSetup, .minimumInterval) : charged
        }
        let at = max(self.again, self.exemptEarliest.milliseconds)
        if at <= self.now.milliseconds { return .issue(exemption, isPush: false) }
        // The interval of exempt reloads is short, so that waiting for it is better than being charged, but for
        // what would expire.
        let exempt = Plan.wait(until: min(at, demand.heldUntil), .exemptInterval)
        if demand.minExpiry > at { return exempt }
        let charged = self.chargedPlan(demand, spreadHash())
        if case .wait(let until, _) = charged, until >= min(at, demand.minExpiry) { return exempt }
        return charged
    }

    /// When it may reload again, in milliseconds: an instance reloads once at an instant, so that its reloads' ids are unique.
    private var again: Int64 { self.lastReload.map { $0.milliseconds + 1 } ?? .min }

    /// When `added` and `configured` are not charged again, in milliseconds, if nothing else reloads the instance before.
    private var freeSetup: Int64 {
        let apart = self.freeSetupAt == .min ? .min : self.freeSetupAt + self.minimumInterval.milliseconds
        return max(self.again, self.exemptEarliest.milliseconds, apart)
    }

    /// What is to be done if the reload is charged.
    @inline(__always)
    private func chargedPlan(_ demand: Demand, _ spreadHash: @autoclosure () -> UInt64) -> Plan {
        var at = Int64.max
        var isPush = false
        if !demand.waiting.isEmpty {
            let isPaced = self.isPolicyPaced && demand.waiting == ReloadCauses(.policy)
            at = self.earliest(isPaced ? .paced : .urgent, isPush: false, spreadHash())
        }
        if demand.high {
            let high = self.earliest(.urgent, isPush: true, spreadHash())
            if high < at { (at, isPush) = (high, true) }
        }
        if demand.normal, !demand.high {
            let normal = self.earliest(.paced, isPush: true, spreadHash())
            if normal < at { (at, isPush) = (normal, true) }
        }
        at = max(at, self.again, self.rollingEarliest ?? .min)
        guard at <= self.now.milliseconds else {
            return .wait(until: min(at, demand.heldUntil), self.reason(until: at))
        }
        if demand.waiting.isEmpty, !demand.high, let until = self.policyReload(demand, spreadHash()) {
            return .wait(until: min(until, demand.heldUntil), .joinsPolicy)
        }
        return .issue(nil, isPush: isPush)
    }

    @inline(__always)
    private func earliest(_ reloadClass: ReloadClass, isPush: Bool, _ spreadHash: @autoclosure () -> UInt64) -> Int64 {
        self.budget.earliest(reloadClass, isPush: isPush, now: self.now, terms: self.terms, spreadHash: spreadHash())?
            .milliseconds ?? .max
    }

    /// When the policy reload runs that a push of priority 5 had better wait for, or nil.
    @inline(__always)
    private func policyReload(_ demand: Demand, _ spreadHash: @autoclosure () -> UInt64) -> Int64? {
        let soon = self.now.milliseconds + Engine.policyJoin.milliseconds
        // What a host does by itself proves nothing of what it has read, so nothing joins it.
        guard self.timelineDue <= soon, !self.isHostDriven else { return nil }
        let earliest = self.earliest(self.isPolicyPaced ? .paced : .urgent, isPush: false, spreadHash())
        let until = max(self.timelineDue, earliest)
        return until <= soon && demand.minExpiry > until ? until : nil
    }

    /// Why a charged reload waits until then.
    @inline(__always)
    private func reason(until: Int64) -> DecisionReason {
        if until >= self.terms.window.end.milliseconds || until == self.rollingEarliest { return .allowance }
        if let last = self.budget.lastCharge, until <= (last + self.terms.minimumInterval).milliseconds {
            return .minimumInterval
        }
        return .pace
    }
}
