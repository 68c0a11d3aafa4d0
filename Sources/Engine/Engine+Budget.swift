import Timelines
import WidgetModel

extension Engine {
    /// The terms of an instance's budget now, whose window has been opened.
    ///
    /// A policy that was replaced still opened the window that it was replaced in: until that window ends, each number
    /// is the stricter one of the policies in force in it.
    @inline(__always)
    func terms(of instance: UInt32) -> BudgetTerms {
        let kind = Int(self.instances[instance].kind)
        var terms = self.terms(of: kind, self.window(of: instance), Int(self.instances[instance].allowance))
        if !self.apps.kinds[kind].replaced.isEmpty { terms = self.stricter(terms, instance, at: self.time) }
        if self.apps.kinds[kind].isShared {
            let measure = self.hosts[self.instances[instance].host].budgetInterval
            if measure != 0 { terms = terms.measured(in: Interval(milliseconds: Int64(measure))) }
        } else if terms.window.start.milliseconds == self.instances[instance].firstWindow {
            terms = terms.limited(to: min(terms.limit, Int(self.instances[instance].firstLimit)))
        }
        let granted = Int(self.instances[instance].granted)
        return granted == 0 ? terms : terms.granting(granted)
    }

    /// What a kind's policy means in a window: for most instances the same numbers, which are made once.
    @inline(__always)
    private func terms(of kind: Int, _ window: BudgetWindow, _ allowance: Int) -> BudgetTerms {
        if self.apps.kinds[kind].usual.isAlso(for: allowance, in: window) {
            return self.apps.kinds[kind].usual.moved(to: window)
        }
        if self.apps.kinds[kind].early.isAlso(for: allowance, in: window) {
            return self.apps.kinds[kind].early.moved(to: window)
        }
        return BudgetTerms(policy: self.apps.kinds[kind].bare, window: window, allowance: allowance)
    }

    /// The window of an instance's policy around now; its host's tuned windows have been opened.
    @inline(__always)
    private func window(of instance: UInt32) -> BudgetWindow {
        let kind = Int(self.instances[instance].kind)
        guard self.apps.kinds[kind].isTuned else {
            let anchor = Int(self.instances[instance].anchor)
            return self.apps.kinds[kind].bare.window(containing: self.time, anchoredAt: anchor)
        }
        return self.hosts[self.instances[instance].host].windows.window
    }

    private func allowance(
        of instance: UInt32,
        _ policy: BudgetPolicy,
        _ window: BudgetWindow
    ) -> Int {
        let row = self.instances[instance]
        let isLearning = policy.isLearning(
            windowFrom: window.start,
            firstRegisteredAt: self.hosts[row.host].firstRegisteredAt
        )
        return policy.allowance(for: row.rate, in: window.length, isLearning: isLearning)
    }

    /// Opens the instance's windows up to now. To be called before its budget is looked at; when it is called, and how
    /// often, changes nothing else.
    @inline(__always)
    mutating func openWindow(of instance: UInt32) {
        if self.apps.kinds[Int(self.instances[instance].kind)].isTuned {
            let host = self.instances[instance].host
            if self.hosts[host].windows.endMilliseconds <= self.now { self.openTunedWindows(of: host) }
        } else {
            let window = self.window(of: instance)
            let minute = UInt32(clamping: window.start.milliseconds / 60_000)
            if minute != self.instances[instance].windowMinute { self.openFixedWindows(of: instance, window) }
        }
    }

    /// Opens a host's tuned windows, one after the other, for all its instances that have such. O(windows * instances),
    /// once a window.
    private mutating func openTunedWindows(of host: UInt32) {
        while self.hosts[host].windows.endMilliseconds <= self.now {
            let old = self.hosts[host].windows.window
            self.hosts[host].windows.openNext()
            let new = self.hosts[host].windows.window
            var instance = self.hosts[host].firstInstance
            while instance != InstanceTable.none {
                if self.apps.kinds[Int(self.instances[instance].kind)].isTuned { self.open(new, after: old, instance) }
                instance = self.instances[instance].nextOfHost
            }
        }
    }

    /// Opens an instance's windows of a fixed length up to this one. Beyond those in which anything can still change,
    /// they are passed over.
    private mutating func openFixedWindows(of instance: UInt32, _ last: BudgetWindow) {
        let opened = Instant(milliseconds: Int64(self.instances[instance].windowMinute) * 60_000)
        var window = BudgetWindow(start: opened, length: last.length)
        while window.start < last.start {
            let arrival = self.budget(of: instance).theoreticalArrival ?? .epoch
            let row = self.instances[instance]
            let isUnseen = row.views == 0 && row.rate == row.rate.unseen
            let isSettled = arrival <= window.end && (isUnseen || !self.hosts[row.host].tellsVisibility)
            let next = isSettled ? last : window.next
            self.open(next, after: window, instance)
            window = next
        }
        self.instances[instance].windowMinute = UInt32(clamping: last.start.milliseconds / 60_000)
    }

    /// Opens a window of an instance: takes in what was seen in the one before, and fixes the allowance.
    ///
    /// What was seen while a replaced policy still binds is not learned from: that policy's allowance was fixed when its
    /// window opened, and it follows from the rate.
    private mutating func open(_ window: BudgetWindow, after old: BudgetWindow, _ instance: UInt32) {
        let kind = Int(self.instances[instance].kind)
        let isBound = self.apps.kinds[kind].replaced.contains {
            self.binding($0, instance, at: window.start) != nil
        }
        // A host that never tells what is seen is not one where nothing is.
        if !isBound, self.hosts[self.instances[instance].host].tellsVisibility {
            let day = self.apps.kinds[kind].bare.windowLength
            self.instances[instance].rate.take(views: self.instances[instance].views, in: day)
        }
        self.instances[instance].views = 0
        self.instances[instance].granted = 0
        let bare = self.apps.kinds[kind].bare
        let before = BudgetTerms(policy: bare, window: old, allowance: Int(self.instances[instance].allowance))
        let allowance = self.allowance(of: instance, bare, window)
        self.instances[instance].allowance = UInt16(clamping: allowance)
        self.instances[instance].windowMinute = UInt32(clamping: window.start.milliseconds / 60_000)
        // A shared budget knows the pace in which it is measured.
        guard !self.apps.kinds[kind].isShared else { return }
        let after = BudgetTerms(policy: bare, window: window, allowance: allowance)
        // What binds has the same numbers before and after, as nothing was learned from.
        self.instances[instance].budget.carryOver(
            from: self.stricter(before, instance, at: window.start),
            to: self.stricter(after, instance, at: window.start),
            at: window.start
        )
    }

    /// Opens a host's tuned windows up to now, also where the instance that is looked at has others. To be called before
    /// an instance comes to another policy: windows that ended before were not of that one, and carried no pace over.
    mutating func openHostWindows(of host: UInt32) {
        if self.hosts[host].windows.endMilliseconds <= self.now { self.openTunedWindows(of: host) }
    }

    /// Gives an instance the window and allowance of its kind's policy as it is now, keeping what is known of its views.
    mutating func adoptWindow(of instance: UInt32) {
        let kind = Int(self.instances[instance].kind)
        let host = self.instances[instance].host
        let (budget, policy) = (self.apps.kinds[kind].budget, self.apps.kinds[kind].bare)
        let anchor = budget.anchor(of: self.hostKey(of: host))
        self.instances[instance].anchor = UInt32(clamping: anchor)
        self.openHostWindows(of: host)
        let window = self.window(of: instance)
        let allowance = self.allowance(of: instance, policy, window)
        self.instances[instance].allowance = UInt16(clamping: allowance)
        self.instances[instance].windowMinute = UInt32(clamping: window.start.milliseconds / 60_000)
    }

    /// Carries what an instance has used over to the policy that it has come to: in its own budget or in its host's, in
    /// which it comes to share or which it shares no longer.
    ///
    /// - Parameters:
    ///   - old: The terms that it had until now.
    ///   - wasShared: Whether they were of its host's budget.
    mutating func carryBudget(of instance: UInt32, from old: BudgetTerms, wasShared: Bool) {
        let host = self.instances[instance].host
        let new = self.terms(of: instance)
        switch (wasShared, self.apps.kinds[Int(self.instances[instance].kind)].isShared) {
        case (true, true):
            // It knows the pace in which it is measured.
            break
        case (false, false):
            self.instances[instance].budget.carryOver(from: old, to: new, at: self.time)
        case (false, true):
            self.instances[instance].budget.carryOver(from: old, to: new, at: self.time)
            self.hosts[host].budget.tighten(to: self.instances[instance].budget)
            if !new.isUnlimited { self.hosts[host].budgetInterval = UInt32(clamping: new.measure.milliseconds) }
        case (true, false):
            var shared = self.hosts[host].budget
            shared.carryOver(from: old, to: new, at: self.time)
            self.instances[instance].budget.tighten(to: shared)
        }
    }

    /// The stricter of terms and those of the policies that were replaced in windows that last beyond an instant.
    private func stricter(_ present: BudgetTerms, _ instance: UInt32, at instant: Instant) -> BudgetTerms {
        var terms = present
        for old in self.apps.kinds[Int(self.instances[instance].kind)].replaced.reversed() {
            guard let window = self.binding(old, instance, at: instant) else { continue }
            let allowance = self.allowance(of: instance, old.budget, window)
            terms = BudgetTerms(policy: old.budget, window: window, allowance: allowance).smaller(with: terms)
        }
        return terms
    }

    /// The window in which a policy was replaced, if it lasts beyond an instant.
    private func binding(_ old: AppTable.Replaced, _ instance: UInt32, at instant: Instant) -> BudgetWindow? {
        let host = self.instances[instance].host
        guard old.budget.window != .tuned else {
            let window = self.hosts[host].windows.window
            return window.start <= old.at && window.contains(instant) ? window : nil
        }
        let window = old.budget.window(containing: old.at, anchoredAt: old.budget.anchor(of: self.hostKey(of: host)))
        return window.contains(instant) ? window : nil
    }

    /// Whether a policy reload of an instance waits until it is seen.
    func isThinned(_ instance: UInt32) -> Bool {
        let row = self.instances[instance]
        let kind = self.apps.kinds[Int(row.kind)]
        guard kind.bare.thinning > 0, !kind.bare.isUnlimited else { return false }
        return self.hosts[row.host].tellsVisibility && row.visibleUntil <= self.now && row.rate < .seldom
    }
}

extension Engine {
    /// What an instance's reloads are charged to: its own budget, or its host's.
    @inline(__always)
    func budget(of instance: UInt32) -> ReloadBudget {
        guard self.apps.kinds[Int(self.instances[instance].kind)].isShared else {
            return self.instances[instance].budget
        }
        return self.hosts[self.instances[instance].host].budget
    }

    /// The first instant at which the strict rule lets a reload be charged: fewer than the limit in 24 hours.
    func rollingEarliest(of instance: UInt32, _ terms: BudgetTerms) -> Instant {
        guard let day = self.instances.rollingDay(of: instance) else { return self.time }
        return day.earliest(now: self.time, limit: terms.limit)
    }

    /// Charges a reload that conforms.
    @inline(__always)
    mutating func charge(_ instance: UInt32, isPush: Bool, terms: BudgetTerms) {
        if terms.isRolling { self.instances.chargeRollingDay(of: instance, at: self.time) }
        guard self.apps.kinds[Int(self.instances[instance].kind)].isShared else {
            return self.instances[instance].budget.charge(at: self.time, isPush: isPush, terms: terms)
        }
        self.hosts[self.instances[instance].host].budget.charge(at: self.time, isPush: isPush, terms: terms)
        self.noteShared(instance, terms)
    }

    /// Counts a reload that happened whether or not it conformed.
    mutating func book(_ instance: UInt32, isPush: Bool) {
        let terms = self.terms(of: instance)
        if terms.isRolling { self.instances.chargeRollingDay(of: instance, at: self.time) }
        guard self.apps.kinds[Int(self.instances[instance].kind)].isShared else {
            return self.instances[instance].budget.book(at: self.time, isPush: isPush, terms: terms)
        }
        self.hosts[self.instances[instance].host].budget.book(at: self.time, isPush: isPush, terms: terms)
        self.noteShared(instance, terms)
    }

    /// Notes the pace by which a shared budget was just charged, and the reload on the instance's own.
    private mutating func noteShared(_ instance: UInt32, _ terms: BudgetTerms) {
        if !terms.isUnlimited {
            self.hosts[self.instances[instance].host].budgetInterval = UInt32(clamping: terms.interval.milliseconds)
        }
        self.instances[instance].budget.noteExempt(at: self.time)
    }

    /// Gives a charge back to its window's count; what waits for a shared one is decided anew.
    mutating func refund(_ instance: UInt32, in window: BudgetWindow, chargedAt instant: Instant, isPush: Bool) {
        self.instances.refundRollingDay(of: instance, chargedAt: instant)
        guard self.apps.kinds[Int(self.instances[instance].kind)].isShared else {
            self.instances[instance].budget.refund(in: window, isPush: isPush)
            return
        }
        let host = self.instances[instance].host
        guard self.hosts[host].budget.refund(in: window, isPush: isPush) else { return }
        for sibling in self.instances(of: host) where sibling != instance && self.instances[sibling].isLive {
            self.decideIfWaiting(sibling)
        }
    }
}
