import IntentMatching
import Timelines
import WidgetModel

extension Engine {
    /// Removes a host, or one token of it.
    mutating func unregister(_ removal: HostRemoval) -> RecordAnswer.Result {
        guard let host = self.hosts.find(removal.host), self.hosts[host].isRegistered else { return .unknownHost }
        if let token = removal.token {
            guard self.tokens.binding(of: token)?.host == host else { return .unknownHost }
            if let since = removal.notRegisteredSince,
                let known = self.tokens.find(token, from: self.hosts[host].firstToken),
                self.tokens.boundAt(known) > since
            {
                return .unregistered
            }
            self.unbind(token, ofApp: self.hosts[host].app)
            return .unregistered
        }
        if let since = removal.notRegisteredSince, self.hosts[host].registeredAt > since { return .unregistered }
        var tokens: [DeviceToken] = []
        if removal.isErased {
            tokens = self.tokens(of: host).map(\.token)
            tokens += self.instances(of: host).compactMap { self.instances[particulars: $0].controlToken }
        }
        self.removeHost(host)
        self.tokens.erase(tokens)
        for token in tokens { self.output.directory.append(.forgotten(token)) }
        return .unregistered
    }

    /// Removes a host with all its tokens and instances. Budgets are remembered until they no longer hold anything back.
    mutating func removeHost(_ host: HostNumber, _ reason: TokenRemoval = .unregistered) {
        self.hostTimers.cancel(host)
        for token in self.tokens(of: host) { self.forget(token.token, ofApp: self.hosts[host].app, reason) }
        self.tokens.unlinkAll(from: &self.hosts[host].firstToken)
        if self.hosts[host].isRegistered { self.count(host: host, isRegistered: false) }
        self.hosts[host].isRegistered = false
        self.hosts[host].revision = 0
        self.hosts[host].leaseEnds = nil
        self.forgetSignals(of: host)
        for instance in self.instances(of: host) where self.instances[instance].isLive {
            self.removeInstance(instance, .hostRemoved, reason)
        }
        if self.hosts[host].firstInstance.isNone { self.hosts.release(host) }
    }

    /// What a host signalled of itself ends.
    mutating func forgetSignals(of host: HostNumber) {
        self.hosts[host].exemptUntil = .min
        self.hosts[host].foregroundUntil = .min
        self.hosts[host].sessionsUntil = InlineArray(repeating: .min)
        self.hosts[host].isInStandBy = false
        self.hosts[host].isInLowPower = false
    }

    /// Takes an instance away: all that waits or is out for it ends `removed`; its budget stays as a tombstone.
    mutating func removeInstance(
        _ instance: InstanceNumber,
        _ reason: DecisionReason,
        _ tokenReason: TokenRemoval = .unregistered
    ) {
        var slot = self.instances[active: instance].pending.head
        while !slot.isNone {
            let push = self.reloads[slot].push
            self.note(instance, .removed, reason, push: self.ledger[push].id)
            self.ledger.moveOutcome(of: push, from: .deferred, to: .removed, at: self.time)
            slot = self.reloads[slot].next
        }
        self.reloads.release(self.instances[active: instance].pending)
        self.removeReloads(of: instance, reason)
        self.index.remove(instance)
        self.setControlToken(of: instance, nil, tokenReason)
        self.hosts[self.instances[instance].host].liveInstances -= 1
        self.counters.instances -= 1
        self.counters.tombstones += 1
        let app = self.app(of: instance)
        self.usages[app].instances -= 1
        self.usages[app].tombstones += 1
        self.usages[app].textBytes -= self.instances.details.textBytes(of: instance)
        if self.instances[instance].pushEnabled { self.counters.pushEnabledInstances -= 1 }
        if self.instances[instance].isOrphaned { self.counters.orphanedInstances -= 1 }
        self.instances[instance].isLive = false
        self.instances[instance].isOrphaned = false
        self.instances.endActive(instance)
        self.instances[instance].hasScheduled = false
        self.instances[instance].hasPendingDigest = false
        self.instances[instance].timelineDue = .max
        self.instances[instance].visibleUntil = .min
        self.instances.clearDetails(of: instance)
        self.usages[app].textBytes += self.instances.details.textBytes(of: instance)
        self.instanceTimers.arm(instance, at: self.tombstoneEnd(of: instance))
    }

    /// Until when a removed instance's budget must be remembered, so that nobody gains by adding it again: the end of
    /// its window, and until pace and distances no longer hold anything back.
    private mutating func tombstoneEnd(of instance: InstanceNumber) -> Instant {
        let end = self.heldBack(instance)
        return max(self.terms(of: instance).window.end, end)
    }

    /// Until when anything that a removed instance has used holds something back, by the policies that bind now.
    private mutating func heldBack(_ instance: InstanceNumber) -> Instant {
        self.openWindow(of: instance)
        let terms = self.terms(of: instance)
        let row = self.instances[instance]
        let budget = self.budget(of: instance)
        var end = budget.charged(in: terms.window) > 0 ? terms.window.end : .epoch
        if let arrival = budget.theoreticalArrival { end = max(end, arrival) }
        if let last = row.budget.lastReload { end = max(end, last + max(terms.minimumInterval, terms.exemptInterval)) }
        if terms.isRolling, let last = row.budget.lastReload { end = max(end, last + .day + RollingDay.slot) }
        if row.freeSetupAt != .min { end = max(end, Instant(milliseconds: row.freeSetupAt) + terms.minimumInterval) }
        return end
    }

    /// Forgets a removed instance's budget, and its host with the last one.
    mutating func releaseTombstone(_ instance: InstanceNumber) {
        let host = self.instances[instance].host
        let isShared = self.catalogue[self.instances[instance].kind].isShared
        let first = self.hosts[host].firstInstance
        let isLast = first == instance && self.instances[instance].nextOfHost.isNone
        // A shared budget is remembered with the host, which is there as long as any of its instances.
        if !isShared || isLast {
            // Another policy may hold back more since, or others may have used what is shared.
            let end = self.heldBack(instance)
            if end > self.time { return self.instanceTimers.arm(instance, at: end) }
        }
        self.unlinkTombstone(instance, from: host)
        self.usages[self.app(of: instance)].tombstones -= 1
        self.usages[self.app(of: instance)].textBytes -= self.instances.details.textBytes(of: instance)
        self.instances.release(instance)
        self.counters.tombstones -= 1
        if !self.hosts[host].isRegistered, self.hosts[host].firstInstance.isNone {
            self.hosts.release(host)
        }
    }

    /// Takes a removed instance out of the list of its host's.
    private mutating func unlinkTombstone(_ instance: InstanceNumber, from host: HostNumber) {
        let next = self.instances[instance].nextOfHost
        var before = self.hosts[host].firstInstance
        guard before != instance else { return self.hosts[host].firstInstance = next }
        while self.instances[before].nextOfHost != instance { before = self.instances[before].nextOfHost }
        self.instances[before].nextOfHost = next
    }
}

extension Engine {
    /// The push tokens of a host, the oldest first. O(tokens).
    func tokens(of host: HostNumber) -> [TokenTable.BoundToken] {
        self.tokens.tokens(from: self.hosts[host].firstToken)
    }

    /// Lets a token stand for a host, taking it from whatever it stood for.
    mutating func bind(_ token: DeviceToken, to host: HostNumber) {
        if let binding = self.tokens.binding(of: token) {
            if binding == TokenTable.Binding(host: host, instance: .none) {
                return self.renew(token, of: host)
            }
            self.release(token, from: binding)
        }
        let slot = self.tokens.bind(token, to: TokenTable.Binding(host: host, instance: .none))
        let environment = self.environment(of: host)
        self.tokens.append(slot, boundAt: self.time, environment, to: &self.hosts[host].firstToken)
        self.announce(token, host: host, instance: nil)
        let first = self.hosts[host].firstToken
        if self.tokens.count(from: first) > self.catalogue.limits.tokensPerHostMax {
            let oldest = self.tokens.token(first)
            self.tokens.unlink(oldest, from: &self.hosts[host].firstToken)
            self.forget(oldest, ofApp: self.hosts[host].app)
        }
    }

    /// A host says again that a token is its own: of the app's present environment, then.
    private mutating func renew(_ token: DeviceToken, of host: HostNumber) {
        guard let known = self.tokens.find(token, from: self.hosts[host].firstToken) else { return }
        let (old, environment) = (self.tokens.environment(known), self.environment(of: host))
        self.tokens.renew(known, at: self.time, environment)
        guard old != environment else { return }
        self.announce(token, host: host, instance: nil)
    }

    mutating func announce(_ token: DeviceToken, host: HostNumber, instance: InstanceID?) {
        self.output.directory.append(.bound(token, host: self.hostKey(of: host), instance: instance))
    }

    /// Takes a token from a host or a control, without it being removed: it stands for something else now. A host
    /// that loses its last token can never be reached again, and goes.
    private mutating func release(_ token: DeviceToken, from binding: TokenTable.Binding) {
        if !binding.instance.isNone {
            self.instances[particulars: binding.instance].controlToken = nil
            self.instances[binding.instance].isControl = false
            return
        }
        self.tokens.unlink(token, from: &self.hosts[binding.host].firstToken)
        if self.hosts[binding.host].firstToken.isNone { self.removeHost(binding.host) }
    }

    /// Removes a token of an app's host; the host goes with its last one.
    mutating func unbind(_ token: DeviceToken, ofApp app: AppNumber) {
        guard let binding = self.tokens.binding(of: token), self.hosts[binding.host].app == app else { return }
        self.forget(token, ofApp: app)
        self.release(token, from: binding)
    }

    /// From now on the token is answered as removed.
    mutating func forget(_ token: DeviceToken, ofApp app: AppNumber, _ reason: TokenRemoval = .unregistered) {
        self.tokens.remove(token, ofApp: app, reason, at: self.time)
        self.output.directory.append(.removed(token, app: self.catalogue[app].id, reason, at: self.time))
    }

    /// Gives a control its own token, or takes it away.
    mutating func setControlToken(
        of instance: InstanceNumber,
        _ token: DeviceToken?,
        _ reason: TokenRemoval = .unregistered
    ) {
        let old = self.instances.details.particulars(of: instance)?.controlToken
        let host = self.instances[instance].host
        guard old != token || self.isOfOtherEnvironment(controlOf: instance) else { return }
        if let token, token == old {
            self.instances[particulars: instance].controlEnvironment = self.environment(of: host)
            return self.announce(token, host: host, instance: self.instances.id(of: instance))
        }
        if let old { self.forget(old, ofApp: self.hosts[host].app, reason) }
        self.instances[particulars: instance].controlToken = token
        self.instances[instance].isControl = token != nil
        guard let token else { return }
        if let binding = self.tokens.binding(of: token) { self.release(token, from: binding) }
        self.instances[particulars: instance].controlEnvironment = self.environment(of: host)
        self.tokens.bind(token, to: TokenTable.Binding(host: host, instance: instance))
        self.announce(token, host: host, instance: self.instances.id(of: instance))
    }
}
