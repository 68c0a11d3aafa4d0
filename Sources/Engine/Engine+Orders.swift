import Timelines
import WidgetModel

extension Engine {
    /// Carries out an order of an operator, or of a sender who takes a push back.
    ///
    /// - Returns: Nil if the work is queued, see ``OrderWork``.
    mutating func acceptOrder(_ order: OperatorOrder) -> RecordAnswer.Result? {
        switch order.action {
        case .pause(let until):
            guard self.isConfigured(order.scope) else { break }
            let pause = StandingOrder(scope: order.scope, since: self.time, until: until, source: order.source)
            self.setPause(order.scope, pause)
        case .resume: self.setPause(order.scope, nil)
        case .cancel, .grant, .reload: break
        }
        guard let audience = self.audience(of: order) else { return .order(matched: 0) }
        if order.action == .reload {
            self.work.push(.appReload(self.reloadWork(audience)))
            return nil
        }
        self.work.push(.order(OrderWork(order, audience, instancesBelow: self.registry.instanceEnd)))
        return nil
    }

    /// Which live instances an order is about; nil if there is no such thing, or none that the order could be about.
    private func audience(of order: OperatorOrder) -> OrderWork.Audience? {
        switch order.scope {
        case .app(let id): return self.catalogue.findApp(id).map { .app($0) }
        case .kind(let id, let name):
            return self.catalogue.findApp(id).flatMap { self.catalogue.findKind(name, of: $0) }.map { .kind($0) }
        case .sender: return .waiting
        case .push: return order.action.isPause ? nil : .waiting
        case .host(let id):
            guard !order.action.isPause, let host = self.registry.findHost(id) else { return nil }
            return .these(self.registry.liveInstances(of: host))
        case .instance(let address):
            return order.action.isPause ? nil : self.registry.liveInstance(address).map { .these([$0]) }
        }
    }

    /// Reloads that an operator asks for: decided and charged as the app's own requests are.
    private func reloadWork(_ audience: OrderWork.Audience) -> AppReloadWork {
        var work = AppReloadWork(by: .anOperator(audience))
        if case .these(let instances) = audience {
            work.add(instances)
        } else {
            work.scan = TableScan(below: self.registry.instanceEnd)
        }
        return work
    }

    // MARK: Pausing

    /// Until when a waiting push may not reload: its own wish, or its paused sender's.
    @inline(__always)
    func heldUntil(_ match: Reloads.Match) -> Instant {
        let notBefore = match.isScheduled ? self.ledger[match.push].notBefore : .distantPast
        return self.ledger.hasPausedSenders
            ? max(notBefore, self.ledger.pausedUntil(self.ledger[match.push].team)) : notBefore
    }

    // MARK: Cancelling

    /// Ends those waiting pushes of an instance that an order is about.
    ///
    /// - Returns: How many pushes were cancelled.
    mutating func cancel(_ scope: OrderScope, _ instance: InstanceNumber) -> Int {
        var cancelled = 0
        var slot = self.schedule[active: instance].pending.head
        while !slot.isNone {
            let match = self.reloads[slot]
            if self.isMeant(match, by: scope) {
                cancelled += 1
                self.endPending(slot, of: instance, .cancelled, .cancelled)
            }
            slot = match.next
        }
        switch scope {
        case .push, .sender: break
        case .app, .kind, .host, .instance:
            guard self.schedule[instance].isActive else { break }
            self.schedule[active: instance].waiting.remove(ReloadCauses(.appRequest))
        }
        if cancelled > 0 {
            if self.schedule[active: instance].pending.count == 0 { self.schedule[instance].hasScheduled = false }
            self.schedule[instance].hasPendingDigest = false
            self.refreshExpiry(of: instance)
        }
        self.decide(instance)
        return cancelled
    }

    private func isMeant(_ match: Reloads.Match, by scope: OrderScope) -> Bool {
        switch scope {
        case .app, .kind, .host, .instance: true
        case .sender(let team): self.catalogue.findTeam(team.rawValue) == self.ledger[match.push].team
        case .push(let id, let team, let app):
            self.ledger[match.push].id == id
                && (team == nil
                    || team.flatMap { self.catalogue.findTeam($0.rawValue) } == self.ledger[match.push].team)
                && (app == nil || app.flatMap { self.catalogue.findApp($0) } == self.ledger[match.push].app)
        }
    }

    // MARK: Granting

    /// Grants an instance more charged reloads in its present window.
    mutating func grant(_ count: Int, _ instance: InstanceNumber) {
        self.openWindow(of: instance)
        let granted = Int(self.schedule[instance].granted) + count
        self.schedule[instance].granted = UInt16(clamping: min(granted, BudgetPolicy.allowanceMax))
        self.decideIfWaiting(instance)
    }

    /// Whether an order is about an instance that is found by looking at all of them.
    func isIn(_ audience: OrderWork.Audience, _ instance: InstanceNumber) -> Bool {
        // A number that is free keeps its last row, which is not live.
        guard self.registry[instance].isLive else { return false }
        return switch audience {
        case .app(let app): self.catalogue[self.registry[instance].kind].app == app
        case .kind(let kind): self.registry[instance].kind == kind
        case .waiting: self.schedule[active: instance].pending.count > 0
        case .these: false
        }
    }
}

extension OperatorOrder.Action {
    /// Whether it pauses or resumes the reloads of an app, a kind or a sender.
    fileprivate var isPause: Bool {
        switch self {
        case .pause, .resume: true
        case .cancel, .grant, .reload: false
        }
    }
}
