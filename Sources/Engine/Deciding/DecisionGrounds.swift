import Timelines
import WidgetModel

/// The grounds of a decision about an instance, beside its ``Demand``: values that were read before it.
struct DecisionGrounds {
    let now: Instant
    /// Until when orders pause the kind.
    let pausedUntil: Instant
    /// The reason that keeps a push from the instance's token now, whatever its budget says.
    let held: Plan?
    /// Why a reload is not charged now.
    let exemption: Exemption?
    /// When the instance last reloaded, charged or exempt.
    let lastReload: Instant?
    /// When an exempt reload may run.
    let exemptEarliest: Instant
    /// When an `added` or `configured` reload was last not charged; `.distantPast` if none was.
    let freeSetupAt: Instant
    /// The policy's: how far apart reloads for setting it up are that are not charged.
    let minimumInterval: Interval
    /// The terms under which a reload is charged, and its budget.
    let terms: BudgetTerms
    let budget: ReloadBudget
    /// When the last 24 hours allow another reload, where they are counted.
    let rollingEarliest: Instant?
    /// When the timeline asks for its next; `.distantFuture` if it does not.
    let timelineDue: Instant
    /// Whether that request may not use the burst.
    let isPolicyPaced: Bool
    /// Whether the host runs its timelines by itself.
    let isHostDriven: Bool
}

extension DecisionGrounds {
    /// The plan for a demand: reload now, or wait. O(1).
    ///
    /// An instance reloads at the first instant at which one of its causes may: by an exemption, or by the budget.
    ///
    /// - Parameters:
    ///   - demand: The causes that want the instance to reload; not empty.
    ///   - spreadHash: A stable hash of the instance; asked for only where a budget is used up.
    @inline(__always)
    func plan(_ demand: Demand, spreadHash: @autoclosure () -> UInt64) -> Plan {
        if self.pausedUntil > self.now { return .wait(until: self.pausedUntil, .paused) }
        if let held { return held }
        guard let exemption else {
            let charged = self.chargedPlan(demand, spreadHash())
            guard case .wait(let until, _) = charged, !demand.waiting.isDisjoint(with: .setup) else { return charged }
            return self.freeSetup < until ? .wait(until: self.freeSetup, .minimumInterval) : charged
        }
        let at = max(self.again, self.exemptEarliest)
        if at <= self.now { return .issue(exemption, isPush: false) }
        // The interval of exempt reloads is short, so that waiting for it is better than being charged, except for
        // pushes that would expire.
        let exempt = Plan.wait(until: min(at, demand.heldUntil), .exemptInterval)
        if demand.minExpiry > at { return exempt }
        let charged = self.chargedPlan(demand, spreadHash())
        if case .wait(let until, _) = charged, until >= min(at, demand.minExpiry) { return exempt }
        return charged
    }

    /// When it may reload again: an instance reloads once at an instant, so that its reloads' ids are unique.
    private var again: Instant { self.lastReload.map { $0 + .milliseconds(1) } ?? .distantPast }

    /// When `added` and `configured` are not charged again, if nothing else reloads the instance before.
    private var freeSetup: Instant {
        let apart = self.freeSetupAt == .distantPast ? .distantPast : self.freeSetupAt + self.minimumInterval
        return max(self.again, self.exemptEarliest, apart)
    }

    /// The plan if the reload is charged.
    @inline(__always)
    private func chargedPlan(_ demand: Demand, _ spreadHash: @autoclosure () -> UInt64) -> Plan {
        var at = Instant.distantFuture
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
        at = max(at, self.again, self.rollingEarliest ?? .distantPast)
        guard at <= self.now else {
            return .wait(until: min(at, demand.heldUntil), self.reason(until: at))
        }
        if demand.waiting.isEmpty, !demand.high, let until = self.policyReload(demand, spreadHash()) {
            return .wait(until: min(until, demand.heldUntil), .joinsPolicy)
        }
        return .issue(nil, isPush: isPush)
    }

    @inline(__always)
    private func earliest(
        _ reloadClass: ReloadClass,
        isPush: Bool,
        _ spreadHash: @autoclosure () -> UInt64
    ) -> Instant {
        self.budget.earliest(reloadClass, isPush: isPush, now: self.now, terms: self.terms, spreadHash: spreadHash())
    }

    /// When the policy reload runs that a push of priority 5 had better wait for, or nil.
    @inline(__always)
    private func policyReload(_ demand: Demand, _ spreadHash: @autoclosure () -> UInt64) -> Instant? {
        let soon = self.now + Engine.policyJoin
        // One that is due waits already, or is held. A reload that a host makes by itself does not prove which content it has read, so
        // nothing joins it.
        guard self.timelineDue > self.now, self.timelineDue <= soon, !self.isHostDriven else { return nil }
        let earliest = self.earliest(self.isPolicyPaced ? .paced : .urgent, isPush: false, spreadHash())
        let until = max(self.timelineDue, earliest)
        return until <= soon && demand.minExpiry > until ? until : nil
    }

    /// Why a charged reload waits until then.
    @inline(__always)
    private func reason(until: Instant) -> DecisionReason {
        if until >= self.terms.window.end || until == self.rollingEarliest { return .allowance }
        if let last = self.budget.lastCharge, until <= last + self.terms.minimumInterval {
            return .minimumInterval
        }
        return .pace
    }
}
