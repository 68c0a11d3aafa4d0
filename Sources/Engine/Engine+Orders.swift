import Timelines
import WidgetModel

extension Engine {
    /// Carries out an order of an operator, or of a sender who takes a push back.
    mutating func accept(_ order: OperatorOrder) -> RecordAnswer.Result {
        switch order.action {
        case .pause(let until): self.pause(order.scope, until: until?.milliseconds ?? .max)
        case .resume: self.pause(order.scope, until: .min)
        case .cancel: self.cancel(order.scope)
        case .grant(let count): self.grant(count, order.scope)
        }
    }

    // MARK: Pausing

    private mutating func pause(_ scope: OrderScope, until: Int64) -> RecordAnswer.Result {
        switch scope {
        case .app(let id):
            guard let app = self.apps.find(id) else { return .order(matched: 0) }
            self.apps.apps[Int(app)].pausedUntil = until
            for kind in self.apps.apps[Int(app)].kinds { self.apps.refreshPause(of: kind) }
        case .kind(let id, let name):
            guard let app = self.apps.find(id), let kind = self.apps.find(name, of: app) else {
                return .order(matched: 0)
            }
            self.apps.kinds[Int(kind)].ownPausedUntil = until
            self.apps.refreshPause(of: kind)
        case .sender(let team):
            self.senderPauses[self.teams.intern(team.rawValue), default: .min] = until
            self.senderPauses = self.senderPauses.filter { $0.value > self.now }
        case .host, .instance, .push: return .order(matched: 0)
        }
        let touched = self.instances(in: scope)
        for instance in touched { self.decideIfWaiting(instance) }
        return .order(matched: touched.count)
    }

    /// Until when nothing that a team sends reloads, in milliseconds; `.min` if it is not paused.
    @inline(__always)
    func pausedUntil(team: UInt32) -> Int64 {
        self.senderPauses.isEmpty ? .min : self.senderPauses[team] ?? .min
    }

    /// Until when a waiting push may not reload, in milliseconds: its own wish, or its paused sender's.
    @inline(__always)
    func heldUntil(_ node: PendingCauses.Node) -> Int64 {
        let notBefore = node.isScheduled ? self.ledger[node.push].notBefore.milliseconds : .min
        return self.senderPauses.isEmpty
            ? notBefore : max(notBefore, self.pausedUntil(team: self.ledger[node.push].team))
    }

    // MARK: Cancelling

    private mutating func cancel(_ scope: OrderScope) -> RecordAnswer.Result {
        var cancelled = 0
        for instance in self.instances(in: scope) {
            let before = cancelled
            var slot = self.instances[instance].pending.head
            while slot != PendingCauses.none {
                let node = self.causes[slot]
                if self.isMeant(node, by: scope) {
                    cancelled += 1
                    self.causes.remove(slot, from: &self.instances[instance].pending)
                    self.count(node.priority, -1, instance)
                    let id = self.ledger[node.push].id
                    self.ledger.move(node.push, from: .deferred, to: .cancelled, at: self.time)
                    self.note(instance, .cancelled, .cancelled, push: id)
                }
                slot = node.next
            }
            if case .push = scope {
            } else if case .sender = scope {
            } else {
                self.instances[instance].waiting.remove(ReloadCauses(.appRequest))
            }
            guard cancelled > before else {
                self.decide(instance)
                continue
            }
            if self.instances[instance].pending.count == 0 { self.instances[instance].hasScheduled = false }
            self.instances[instance].hasPendingDigest = false
            self.refreshExpiry(of: instance)
            self.decide(instance)
        }
        return .order(matched: cancelled)
    }

    private func isMeant(_ node: PendingCauses.Node, by scope: OrderScope) -> Bool {
        switch scope {
        case .app, .kind, .host, .instance: true
        case .sender(let team): self.teams.find(team.rawValue) == self.ledger[node.push].team
        case .push(let id, let team, let app):
            self.ledger[node.push].id == id
                && (team == nil || team.flatMap { self.teams.find($0.rawValue) } == self.ledger[node.push].team)
                && (app == nil || app.flatMap { self.apps.find($0) } == self.ledger[node.push].app)
        }
    }

    // MARK: Granting

    private mutating func grant(_ count: Int, _ scope: OrderScope) -> RecordAnswer.Result {
        let touched = self.instances(in: scope)
        for instance in touched {
            self.openWindow(of: instance)
            let granted = Int(self.instances[instance].granted) + count
            self.instances[instance].granted = UInt16(clamping: min(granted, BudgetPolicy.allowanceMax))
            self.decideIfWaiting(instance)
        }
        return .order(matched: touched.count)
    }

    /// The live instances that an order is about, in the order of their numbers. O(instances), but for a host or one
    /// of its instances.
    private func instances(in scope: OrderScope) -> [UInt32] {
        switch scope {
        case .host(let id):
            guard let host = self.hosts.find(id) else { return [] }
            return self.instances(of: host).filter { self.instances[$0].isLive }
        case .instance(let address): return self.liveInstance(address).map { [$0] } ?? []
        case .app(let id):
            guard let app = self.apps.find(id) else { return [] }
            return self.instances.usedSlots().filter { slot in
                self.instances[slot].isLive && self.apps.kinds[Int(self.instances[slot].kind)].app == app
            }
        case .kind(let id, let name):
            guard let app = self.apps.find(id), let kind = self.apps.find(name, of: app) else { return [] }
            return self.instances.usedSlots().filter { self.instances[$0].isLive && self.instances[$0].kind == kind }
        case .sender, .push:
            return self.instances.usedSlots().filter {
                self.instances[$0].isLive && self.instances[$0].pending.count > 0
            }
        }
    }
}
