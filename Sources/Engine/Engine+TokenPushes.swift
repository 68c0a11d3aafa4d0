import Timelines
import WidgetModel

/// Hosts behind APNs: WidgetKit's push carries no instance, so one push to a host's token reloads all push-enabled
/// widgets of it. A control has a token of its own and is alone with it.
///
/// Source: "Updating widgets with WidgetKit push notifications" and "Updating controls locally and remotely".
extension Engine {
    /// The reason that keeps a push from an instance's token now, whatever its budget says; nil if there is none.
    func heldByToken(_ instance: InstanceNumber) -> Plan? {
        guard self.registry[instance].pushEnabled else { return .wait(until: .distantFuture, .notPushEnabled) }
        guard self.token(of: instance) != nil else { return .wait(until: .distantFuture, .otherEnvironment) }
        let pushedAt = self.registry[self.registry[instance].host].pushedAt
        // One push at an instant, so that the ids of its reloads are unique.
        guard pushedAt == self.time, !self.registry[instance].isControl else { return nil }
        return .wait(until: pushedAt + .milliseconds(1), .minimumInterval)
    }

    /// The live, push-enabled instances that a push to an instance's token reloads beside it, in the order of ids.
    private func siblings(of instance: InstanceNumber) -> [InstanceNumber] {
        guard !self.registry[instance].isControl else { return [] }
        return self.registry.instances(of: self.registry[instance].host).filter { other in
            let row = self.registry[other]
            return other != instance && row.isLive && row.pushEnabled && !row.isControl
        }
    }

    /// Issues one push to an instance's token: a reload of the instance and of every other that shares the token.
    ///
    /// The others never hold it back. Those whose budget allows the reload are charged, for the others it is booked;
    /// everything that waits for any of them is taken along.
    mutating func issueThroughToken(_ trigger: InstanceNumber, _ payment: ReloadPayment, isOnce: Bool) {
        let isControl = self.registry[trigger].isControl
        var rows = [self.open(trigger, payment)]
        let siblings = self.siblings(of: trigger)
        for sibling in siblings {
            self.openWindow(of: sibling)
            if !isOnce, self.schedule[active: sibling].minExpiry <= self.time { self.expirePending(of: sibling) }
            let payment = self.payment(of: sibling, besides: trigger)
            rows.append(self.open(sibling, payment, for: rows[0].push))
        }
        if !isControl { self.registry[self.registry[trigger].host].pushedAt = self.time }
        let expiresAt = rows.map { $0.expiresAt }.max() ?? self.time
        for index in rows.indices {
            rows[index].row.expiresAt = expiresAt
            rows[index].row.sharesToken = !isControl
            self.combine(rows[index], self.addressHash(of: rows[index].instance))
            self.combine(UInt64(rows[index].collateral.map { $0.rawValue + 1 } ?? 0))
            self.reloads.append(rows[index], to: &self.schedule[active: rows[index].instance].outstanding)
            self.registry[observed: rows[index].instance].awaitsReport = self.time
        }
        self.bookCollateral(of: rows)
        self.counters.tokenPushes += 1
        if let push = self.effect(of: rows) { self.output.effects.append(.push(push)) }
        for sibling in siblings { self.decide(sibling, isOnce: isOnce) }
    }

    /// The payment of an instance for another's push to the token that they share.
    private mutating func payment(of instance: InstanceNumber, besides trigger: InstanceNumber) -> ReloadPayment {
        if let exemption = self.exemption(of: instance, waiting: []) { return .exempt(exemption) }
        let kinds = (self.registry[instance].kind, self.registry[trigger].kind)
        if self.catalogue[kinds.0].isShared, self.catalogue[kinds.1].isShared {
            return .collateral(.conforming, isPaid: true)
        }
        if case .issue(nil, let isPush) = self.plan(instance, self.demand(of: instance)) {
            return .charged(isPush: isPush)
        }
        let terms = self.terms(of: instance)
        let conforms =
            self.budget(of: instance).conforms(.urgent, isPush: true, at: self.time, terms: terms)
            && (!terms.isRolling || self.rollingEarliest(of: instance, terms) <= self.time)
        return .collateral(conforms ? .conforming : .over, isPaid: false)
    }

    /// Charges a collateral reload to the budget.
    ///
    /// - Returns: Whether it counts in the window, and against the pushes' share, so that it can be given back.
    mutating func pay(
        _ instance: InstanceNumber,
        _ collateral: Collateral,
        isPaid: Bool,
        _ terms: BudgetTerms
    ) -> (count: Bool, push: Bool) {
        let before = self.budget(of: instance)
        switch collateral {
        case .conforming:
            self.counters.reloadsCollateral += 1
            self.registry[observed: instance].collateralReloads += 1
            if isPaid {
                self.schedule[instance].budget.noteExempt(at: self.time)
            } else {
                self.charge(instance, isPush: true, terms: terms)
            }
        case .over:
            self.counters.reloadsCollateralOver += 1
            self.registry[observed: instance].collateralOverReloads += 1
            self.book(instance, isPush: true)
        }
        let after = self.budget(of: instance)
        let window = terms.window
        return (
            after.charged(in: window) > before.charged(in: window),
            after.pushesCharged(in: window) > before.pushesCharged(in: window)
        )
    }

    /// Puts collateral reloads on the account of the sender whose push brought them.
    private mutating func bookCollateral(of rows: [Reloads.Reload]) {
        guard !rows[0].primary.isNone else { return }
        self.ledger.chargeCollateral(
            of: self.reloads[rows[0].primary].push,
            conforming: rows.count { $0.collateral == .conforming },
            over: rows.count { $0.collateral == .over }
        )
    }

    /// The effect of rows that share a push, the one that made it go out first; nil if the token is gone.
    private func effect(of rows: [Reloads.Reload]) -> TokenPush? {
        let trigger = rows[0].instance
        guard let token = self.token(of: trigger) else { return nil }
        var priority = Priority.low
        for row in rows {
            if row.causes.contains(.appRequest) { priority = .high }
            let other = self.reloads.highestPriority(in: row.pushes) ?? .low
            if other.rawValue > priority.rawValue { priority = other }
        }
        return TokenPush(
            token: token,
            environment: self.environment(of: self.registry[trigger].host),
            isControl: self.registry[trigger].isControl,
            priority: priority,
            members: rows.map { TokenPush.Member(reload: self.effect(of: $0), collateral: $0.collateral) }
        )
    }

    /// The reloads of a host that one push to its token brought, by the position at which it went out: whichever of them an
    /// id names, also if that one's instance is gone. None if the host is no longer reached through a token: each of them is offered to it
    /// by itself.
    func reloadsSharing(_ position: LogPosition, of host: HostNumber) -> [(
        instance: InstanceNumber, reload: ReloadNumber
    )] {
        guard self.registry[host].delivery == .apns else { return [] }
        return self.registry.instances(of: host).compactMap { instance in
            guard let reload = self.findReload(position, of: instance),
                self.reloads[row: reload].sharesToken
            else { return nil }
            return (instance, reload)
        }
    }
}

// MARK: - Pushes for hosts that are reached through a token

extension Engine {
    /// Decides a push for the instances of one host that it matches, all at once: a push to the token for one of them
    /// is for all of them.
    ///
    /// - Parameter matched: Widgets, or one control.
    mutating func decidePush(_ push: IncomingPush, throughToken matched: [InstanceNumber]) {
        for instance in matched { self.openWindow(of: instance) }
        let expired = matched.filter { self.schedule[active: $0].minExpiry <= self.time }
        for instance in expired { self.expirePending(of: instance) }
        self.match(push, throughToken: matched)
        // As for a push to a stream: the expired pushes had a part in when the rest is due.
        for instance in expired { self.decide(instance) }
    }

    private mutating func match(_ push: IncomingPush, throughToken matched: [InstanceNumber]) {
        var waiting: [InstanceNumber] = []
        for instance in matched {
            if let digest = push.digest, self.shows(instance, digest) {
                self.ledger.countMatch(of: push.row, as: .unchanged)
                self.noteDecision(instance, .unchanged, .sameDigest, push: push.id)
            } else {
                waiting.append(instance)
            }
        }
        if push.isOnce, !self.conforms(push, oneOf: waiting) {
            for instance in waiting {
                self.ledger.countMatch(of: push.row, as: .expired)
                self.noteDecision(instance, .expired, .expiration, push: push.id)
            }
            return
        }
        var queued: [InstanceNumber] = []
        for instance in waiting where self.enqueueIfPossible(push, instance) { queued.append(instance) }
        let reloads = queued.map { self.schedule[active: $0].outstanding.last }
        for instance in queued { self.decide(instance, isOnce: push.isOnce) }
        for (instance, before) in zip(queued, reloads) {
            self.noteDeferred(push, instance, unlessAfter: before)
        }
    }

    private mutating func conforms(_ push: IncomingPush, oneOf instances: [InstanceNumber]) -> Bool {
        for instance in instances where self.conforms(push, instance) { return true }
        return false
    }

    /// The widgets among some instances of a host, whose pushes go to one token, and each control by itself.
    func byToken(_ matched: [InstanceNumber]) -> [[InstanceNumber]] {
        let widgets = matched.filter { !self.registry[$0].isControl }
        let controls = matched.filter { self.registry[$0].isControl }
        return (widgets.isEmpty ? [] : [widgets]) + controls.map { [$0] }
    }
}
