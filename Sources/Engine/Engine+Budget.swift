import Timelines
import WidgetModel

/// The budget that an instance's reloads are charged to, and its terms.
struct BudgetFunds {
    let terms: BudgetTerms
    /// The instance's own, or its host's.
    let budget: ReloadBudget
    /// How often the instance is looked at.
    let rate: ViewRate
}

extension Engine {
    /// The terms of an instance's budget now, whose window has been opened.
    @inline(__always)
    func terms(of instance: InstanceNumber) -> BudgetTerms {
        self.terms(of: instance, self.schedule[instance])
    }

    /// The terms of a row's budget now, whose window has been opened.
    ///
    /// A policy that was replaced still opened the window that it was replaced in: until that window ends, each number
    /// is the stricter one of the policies in force in it.
    ///
    /// - Parameter tuned: The present tuned window of its host; nil for the one that is open in the table.
    @inline(__always)
    private func terms(of instance: InstanceNumber, _ row: RestingRow, tuned: BudgetWindow? = nil) -> BudgetTerms {
        let kind = self.registry[instance].kind
        var terms = self.terms(of: kind, self.window(of: instance, row, tuned: tuned), Int(row.allowance))
        if !self.catalogue[kind].replaced.isEmpty {
            terms = self.stricter(terms, instance, row, tuned: tuned, at: self.time)
        }
        if self.catalogue[kind].isShared {
            let measure = self.registry[self.registry[instance].host].coldFields.budgetInterval
            if measure != 0 { terms = terms.measured(in: Interval(milliseconds: Int64(measure))) }
        } else if row.firstLimit < terms.limit,
            terms.window.start == self.schedule[cold: instance].firstWindow
        {
            terms = terms.limited(to: Int(row.firstLimit))
        }
        return row.granted == 0 ? terms : terms.granting(Int(row.granted))
    }

    /// The terms of a kind's policy in a window: for most instances the same numbers, which are made once.
    @inline(__always)
    private func terms(of kind: KindNumber, _ window: BudgetWindow, _ allowance: Int) -> BudgetTerms {
        if self.catalogue[kind].usual.isAlso(for: allowance, in: window) {
            return self.catalogue[kind].usual.moved(to: window)
        }
        if self.catalogue[kind].early.isAlso(for: allowance, in: window) {
            return self.catalogue[kind].early.moved(to: window)
        }
        return BudgetTerms(policy: self.catalogue[kind].bare, window: window, allowance: allowance)
    }

    /// The window of a row's policy around now; its host's tuned windows have been opened.
    @inline(__always)
    private func window(of instance: InstanceNumber, _ row: RestingRow, tuned: BudgetWindow? = nil) -> BudgetWindow {
        let kind = self.registry[instance].kind
        guard self.catalogue[kind].isTuned else {
            return self.catalogue[kind].bare.window(containing: self.time, anchoredAt: Int(row.anchor))
        }
        return tuned ?? self.hostWindow(of: instance)
    }

    /// The tuned window that is open of an instance's host.
    private func hostWindow(of instance: InstanceNumber) -> BudgetWindow {
        self.registry[self.registry[instance].host].windows.window
    }

    private func allowance(
        of instance: InstanceNumber,
        _ rate: ViewRate,
        _ policy: BudgetPolicy,
        _ window: BudgetWindow
    ) -> Int {
        let isLearning = policy.isLearning(
            windowFrom: window.start,
            firstRegisteredAt: self.registry[self.registry[instance].host].firstRegisteredAt
        )
        return policy.allowance(for: rate, in: window.length, isLearning: isLearning)
    }

    /// Opens the instance's windows up to now. To be called before its budget is looked at; when it is called, and how
    /// often, changes nothing else.
    @inline(__always)
    mutating func openWindow(of instance: InstanceNumber) {
        if self.catalogue[self.registry[instance].kind].isTuned {
            self.openHostWindows(of: self.registry[instance].host)
        } else {
            let row = self.schedule[instance]
            if self.isFixedWindowOver(instance, row) { self.schedule[instance] = self.opened(instance).row }
        }
    }

    @inline(__always)
    private func isFixedWindowOver(_ instance: InstanceNumber, _ row: RestingRow) -> Bool {
        row.windowMinute != UInt32(clamping: self.window(of: instance, row).start.milliseconds / 60_000)
    }

    /// An instance's row with its windows open up to now, and its host's tuned window then, if that is its own. The
    /// tables stay as they are.
    ///
    /// O(1) unless windows are over; then O(windows) at most.
    private func opened(_ instance: InstanceNumber) -> (row: RestingRow, tuned: BudgetWindow?) {
        var row = self.schedule[instance]
        let owner = self.registry[instance]
        guard self.catalogue[owner.kind].isTuned else {
            if self.isFixedWindowOver(instance, row) { self.openFixedWindows(of: instance, &row) }
            return (row, nil)
        }
        var windows = self.registry[owner.host].windows
        while windows.end <= self.time {
            let old = windows.window
            windows.openNext()
            self.open(windows.window, after: old, of: instance, &row, tuned: windows.window)
        }
        return (row, windows.window)
    }

    /// The budget that an instance's reloads are charged to, and its terms, with its windows open up to now, whether or
    /// not they are in the tables: for questions, which change nothing.
    func funds(of instance: InstanceNumber) -> BudgetFunds {
        let (row, tuned) = self.opened(instance)
        return BudgetFunds(
            terms: self.terms(of: instance, row, tuned: tuned),
            budget: self.budget(of: instance, row),
            rate: row.rate
        )
    }

    /// Opens a host's tuned windows, one after the other, for all its instances that have such. O(windows * instances),
    /// once a window.
    private mutating func openTunedWindows(of host: HostNumber) {
        var instance = self.registry[host].firstInstance
        while !instance.isNone {
            if self.catalogue[self.registry[instance].kind].isTuned {
                self.schedule[instance] = self.opened(instance).row
            }
            instance = self.registry[instance].nextOfHost
        }
        while self.registry[host].windows.end <= self.time { self.registry[host].windows.openNext() }
    }

    /// Opens a row's windows of a fixed length up to now. Beyond those in which anything can still change, they are
    /// passed over.
    private func openFixedWindows(of instance: InstanceNumber, _ row: inout RestingRow) {
        let last = self.window(of: instance, row)
        let host = self.registry[instance].host
        let opened = Instant(milliseconds: Int64(row.windowMinute) * 60_000)
        var window = BudgetWindow(start: opened, length: last.length)
        while window.start < last.start {
            let arrival = self.budget(of: instance, row).theoreticalArrival ?? .epoch
            let isUnseen = row.views == 0 && row.rate == row.rate.unseen
            let isSettled = arrival <= window.end && (isUnseen || !self.registry[host].tellsVisibility)
            let next = isSettled ? last : window.next
            self.open(next, after: window, of: instance, &row, tuned: nil)
            window = next
        }
        row.windowMinute = UInt32(clamping: last.start.milliseconds / 60_000)
    }

    /// Opens a window of a row: learns from the views in the one before, and fixes the allowance.
    ///
    /// Views that came while a replaced policy still binds are not learned from: that policy's allowance was fixed when its window opened,
    /// and it follows from the rate.
    private func open(
        _ window: BudgetWindow,
        after old: BudgetWindow,
        of instance: InstanceNumber,
        _ row: inout RestingRow,
        tuned: BudgetWindow?
    ) {
        let kind = self.registry[instance].kind
        let isBound = self.catalogue[kind].replaced.contains {
            self.binding($0, instance, tuned: tuned, at: window.start) != nil
        }
        // A host that never tells of views may still have them: no views there does not mean an unseen widget.
        if !isBound, self.registry[self.registry[instance].host].tellsVisibility {
            row.rate.takeViews(row.views, in: self.catalogue[kind].bare.windowLength)
        }
        row.views = 0
        row.granted = 0
        let bare = self.catalogue[kind].bare
        let before = BudgetTerms(policy: bare, window: old, allowance: Int(row.allowance))
        let allowance = self.allowance(of: instance, row.rate, bare, window)
        row.allowance = UInt16(clamping: allowance)
        row.windowMinute = UInt32(clamping: window.start.milliseconds / 60_000)
        // A shared budget knows the pace in which it is measured.
        guard !self.catalogue[kind].isShared else { return }
        let after = BudgetTerms(policy: bare, window: window, allowance: allowance)
        // The stricter terms have the same numbers before and after, as nothing was learned from.
        row.budget.carryOver(
            from: self.stricter(before, instance, row, tuned: tuned, at: window.start),
            to: self.stricter(after, instance, row, tuned: tuned, at: window.start),
            at: window.start
        )
    }

    /// Opens a host's tuned windows up to now, also where the instance that is looked at has others. To be called before
    /// an instance comes to another policy: windows that ended before were not of that one, and carried no pace over.
    mutating func openHostWindows(of host: HostNumber) {
        if self.registry[host].windows.end <= self.time { self.openTunedWindows(of: host) }
    }

    /// Gives an instance the window and allowance of its kind's policy as it is now. The rate of its views stays.
    mutating func adoptWindow(of instance: InstanceNumber) {
        let kind = self.registry[instance].kind
        let host = self.registry[instance].host
        let (budget, policy) = (self.catalogue[kind].budget, self.catalogue[kind].bare)
        let anchor = budget.anchor(of: self.hostKey(of: host))
        self.schedule[instance].anchor = UInt32(clamping: anchor)
        self.openHostWindows(of: host)
        let row = self.schedule[instance]
        let window = self.window(of: instance, row)
        let allowance = self.allowance(of: instance, row.rate, policy, window)
        self.schedule[instance].allowance = UInt16(clamping: allowance)
        self.schedule[instance].windowMinute = UInt32(clamping: window.start.milliseconds / 60_000)
    }

    /// Carries an instance's used reloads over to its new policy. They move to its host's budget if it shares that from
    /// now on, and to its own if it no longer does.
    ///
    /// - Parameters:
    ///   - old: The terms that it had until now.
    ///   - wasShared: Whether they were of its host's budget.
    mutating func carryBudget(of instance: InstanceNumber, from old: BudgetTerms, wasShared: Bool) {
        let host = self.registry[instance].host
        let new = self.terms(of: instance)
        switch (wasShared, self.catalogue[self.registry[instance].kind].isShared) {
        case (true, true):
            // It knows the pace in which it is measured.
            break
        case (false, false):
            self.schedule[instance].budget.carryOver(from: old, to: new, at: self.time)
        case (false, true):
            self.schedule[instance].budget.carryOver(from: old, to: new, at: self.time)
            self.registry[host].coldFields.budget.tighten(to: self.schedule[instance].budget)
            if !new.isUnlimited {
                self.registry[host].coldFields.budgetInterval = UInt32(clamping: new.measure.milliseconds)
            }
        case (true, false):
            var shared = self.registry[host].coldFields.budget
            shared.carryOver(from: old, to: new, at: self.time)
            self.schedule[instance].budget.tighten(to: shared)
        }
    }

    /// The stricter of terms and those of the policies that were replaced in windows that last beyond an instant.
    private func stricter(
        _ present: BudgetTerms,
        _ instance: InstanceNumber,
        _ row: RestingRow,
        tuned: BudgetWindow?,
        at instant: Instant
    ) -> BudgetTerms {
        var terms = present
        for old in self.catalogue[self.registry[instance].kind].replaced.reversed() {
            guard let window = self.binding(old, instance, tuned: tuned, at: instant) else { continue }
            let allowance = self.allowance(of: instance, row.rate, old.budget, window)
            terms = BudgetTerms(policy: old.budget, window: window, allowance: allowance).smaller(with: terms)
        }
        return terms
    }

    /// The window in which a policy was replaced, if it lasts beyond an instant.
    private func binding(
        _ old: Catalogue.Replaced,
        _ instance: InstanceNumber,
        tuned: BudgetWindow?,
        at instant: Instant
    ) -> BudgetWindow? {
        guard old.budget.window != .tuned else {
            let window = tuned ?? self.hostWindow(of: instance)
            return window.start <= old.at && window.contains(instant) ? window : nil
        }
        let anchor = old.budget.anchor(of: self.hostKey(of: self.registry[instance].host))
        let window = old.budget.window(containing: old.at, anchoredAt: anchor)
        return window.contains(instant) ? window : nil
    }

    /// Whether a policy reload of an instance waits until it is seen.
    func isThinned(_ instance: InstanceNumber) -> Bool {
        let owner = self.registry[instance]
        let policy = self.catalogue[owner.kind].bare
        guard policy.thinning > 0, !policy.isUnlimited else { return false }
        return self.registry[owner.host].tellsVisibility && self.schedule[cold: instance].visibleUntil <= self.time
            && self.schedule[instance].rate < .seldom
    }
}

extension Engine {
    /// Until when low power holds a policy reload of an instance: so many intervals of its pace from its last reload on;
    /// `.distantPast` if it does not.
    ///
    /// - Parameter terms: As a question reads them; nil where its window is open.
    func slowedUntil(_ instance: InstanceNumber, _ terms: BudgetTerms? = nil) -> Instant {
        let owner = self.registry[instance]
        guard self.registry[owner.host].isInLowPower else { return .distantPast }
        let policy = self.catalogue[owner.kind].bare
        let factor = policy.lowPower
        guard factor.numerator > factor.denominator, !policy.isUnlimited,
            let last = self.schedule[instance].budget.lastReload
        else {
            return .distantPast
        }
        let interval = Int((terms ?? self.terms(of: instance)).interval.milliseconds)
        return last + Interval(milliseconds: Int64(factor.roundedUp(of: interval)))
    }

    /// The budget that an instance's reloads are charged to: its own, or its host's.
    @inline(__always)
    func budget(of instance: InstanceNumber) -> ReloadBudget {
        self.budget(of: instance, self.schedule[instance])
    }

    @inline(__always)
    private func budget(of instance: InstanceNumber, _ row: RestingRow) -> ReloadBudget {
        let owner = self.registry[instance]
        return self.catalogue[owner.kind].isShared ? self.registry[owner.host].coldFields.budget : row.budget
    }

    /// The first instant at which the strict rule lets a reload be charged: fewer than the limit in 24 hours.
    func rollingEarliest(of instance: InstanceNumber, _ terms: BudgetTerms) -> Instant {
        guard let day = self.schedule.rollingDay(of: instance) else { return self.time }
        return day.earliest(now: self.time, limit: terms.limit)
    }

    /// Charges a reload that conforms.
    @inline(__always)
    mutating func charge(_ instance: InstanceNumber, isPush: Bool, terms: BudgetTerms) {
        if terms.isRolling { self.schedule.chargeRollingDay(of: instance, at: self.time) }
        guard self.catalogue[self.registry[instance].kind].isShared else {
            return self.schedule[instance].budget.charge(at: self.time, isPush: isPush, terms: terms)
        }
        self.registry[self.registry[instance].host].coldFields.budget.charge(
            at: self.time,
            isPush: isPush,
            terms: terms
        )
        self.noteShared(instance, terms)
    }

    /// Counts a reload that happened whether or not it conformed.
    mutating func book(_ instance: InstanceNumber, isPush: Bool) {
        let terms = self.terms(of: instance)
        if terms.isRolling { self.schedule.chargeRollingDay(of: instance, at: self.time) }
        guard self.catalogue[self.registry[instance].kind].isShared else {
            return self.schedule[instance].budget.book(at: self.time, isPush: isPush, terms: terms)
        }
        self.registry[self.registry[instance].host].coldFields.budget.book(at: self.time, isPush: isPush, terms: terms)
        self.noteShared(instance, terms)
    }

    /// Notes the pace by which a shared budget was just charged, and the reload on the instance's own.
    private mutating func noteShared(_ instance: InstanceNumber, _ terms: BudgetTerms) {
        if !terms.isUnlimited {
            self.registry[self.registry[instance].host].coldFields.budgetInterval = UInt32(
                clamping: terms.interval.milliseconds
            )
        }
        self.schedule[instance].budget.noteExempt(at: self.time)
    }

    /// Gives a charge back to its window's count. With a shared budget, the host's other waiting instances are decided
    /// anew.
    mutating func refund(_ instance: InstanceNumber, in window: BudgetWindow, chargedAt instant: Instant, isPush: Bool)
    {
        self.schedule.refundRollingDay(of: instance, chargedAt: instant)
        guard self.catalogue[self.registry[instance].kind].isShared else {
            self.schedule[instance].budget.refund(in: window, isPush: isPush)
            return
        }
        let host = self.registry[instance].host
        guard self.registry[host].coldFields.budget.refund(in: window, isPush: isPush) else { return }
        for sibling in self.registry.instances(of: host) where sibling != instance && self.registry[sibling].isLive {
            self.decideIfWaiting(sibling)
        }
    }
}
