import IntentMatching
import Timelines
import WidgetModel

extension Engine {
    /// Removes a host, or one token of it.
    ///
    /// - Returns: Nil if its tokens are still to be erased.
    mutating func unregister(_ removal: HostRemoval) -> RecordAnswer.Result? {
        if let token = removal.token, removal.purpose == .erasure { return self.erase([token]) }
        guard let host = self.registry.findHost(removal.host), self.registry[host].isRegistered else {
            return .unknownHost
        }
        if let token = removal.token {
            guard self.registry.binding(of: token)?.host == host else { return .unknownHost }
            if let since = removal.notRegisteredSince,
                let boundAt = self.registry.boundAt(token, of: host), boundAt > since
            {
                return .unregistered
            }
            self.unbind(token, ofApp: self.registry[host].app, removal.purpose == .move ? .moving : .unregistered)
            return .unregistered
        }
        if let since = removal.notRegisteredSince, self.registry[host].registeredAt > since { return .unregistered }
        guard removal.purpose == .erasure else {
            self.removeHost(host)
            return .unregistered
        }
        let tokens = self.tokens(of: host)
        self.removeHost(host)
        return self.erase(tokens)
    }

    /// Forgets those of these tokens that are remembered as removed.
    ///
    /// - Returns: Nil: their removals are still to be taken out of the list of all.
    private mutating func erase(_ tokens: [DeviceToken]) -> RecordAnswer.Result? {
        let removed = tokens.filter { self.registry.removal(of: $0) != nil }
        for token in removed { self.output.directory.append(.forgotten(token)) }
        self.work.push(.erasure(self.registry.erase(removed)))
        return nil
    }

    /// Removes a host with all its tokens and instances. Budgets are remembered until they no longer hold anything back.
    mutating func removeHost(_ host: HostNumber, _ reason: TokenRemoval = .unregistered) {
        self.schedule.arm(host, at: nil)
        for token in self.registry.tokens(of: host) { self.forget(token.token, ofApp: self.registry[host].app, reason) }
        self.registry.unlinkTokens(of: host)
        if self.registry[host].isRegistered { self.count(host: host, isRegistered: false) }
        self.registry[host].isRegistered = false
        self.registry[host].revision = 0
        self.registry[host].leaseEnds = nil
        self.forgetSignals(of: host)
        for instance in self.registry.instances(of: host) where self.registry[instance].isLive {
            self.removeInstance(instance, .hostRemoved, reason)
        }
        if self.registry[host].firstInstance.isNone { self.registry.releaseHost(host) }
    }

    /// Ends the states that a host signalled of itself.
    mutating func forgetSignals(of host: HostNumber) {
        self.registry[host].exemptUntil = .distantPast
        self.registry[host].coldFields.foregroundUntil = .distantPast
        self.registry[host].coldFields.sessionsUntil = InlineArray(repeating: .distantPast)
        self.registry[host].isInStandBy = false
        self.registry[host].isInLowPower = false
    }

    /// Takes an instance away: all that waits or is outstanding for it ends `removed`; its budget stays as a tombstone.
    mutating func removeInstance(
        _ instance: InstanceNumber,
        _ reason: DecisionReason,
        _ tokenReason: TokenRemoval = .unregistered
    ) {
        var slot = self.schedule[active: instance].pending.head
        while !slot.isNone {
            let push = self.reloads[slot].push
            self.noteDecision(instance, .removed, reason, push: self.ledger[push].id)
            self.ledger.moveOutcome(of: push, from: .deferred, to: .removed, at: self.time)
            slot = self.reloads[slot].next
        }
        self.reloads.release(self.schedule[active: instance].pending)
        self.removeReloads(of: instance, reason)
        self.registry.removeFromIndex(instance)
        self.setControlToken(of: instance, nil, tokenReason)
        self.registry[self.registry[instance].host].liveInstances -= 1
        self.counters.instances -= 1
        self.counters.tombstones += 1
        self.count(instance, -1)
        if self.registry[instance].pushEnabled { self.counters.pushEnabledInstances -= 1 }
        if self.registry[instance].isOrphaned { self.counters.orphanedInstances -= 1 }
        self.registry[instance].isLive = false
        self.registry[instance].isOrphaned = false
        self.schedule.remove(instance, of: self.registry[instance].kind, at: self.time)
        self.schedule.countLive(self.registry[instance].kind, -1)
        self.registry.clearDetails(of: instance)
        self.count(instance, 1)
        self.schedule.arm(instance, at: self.tombstoneEnd(of: instance))
    }

    /// Until when a removed instance's budget must be remembered, so that adding the instance again gains no reloads:
    /// until its window ends, and until pace and distances no longer hold anything back.
    private mutating func tombstoneEnd(of instance: InstanceNumber) -> Instant {
        let end = self.heldBack(instance)
        return max(self.terms(of: instance).window.end, end)
    }

    /// Until when anything that a removed instance has used holds something back, by the policies that bind now.
    private mutating func heldBack(_ instance: InstanceNumber) -> Instant {
        self.openWindow(of: instance)
        let terms = self.terms(of: instance)
        let (own, budget) = (self.schedule[instance].budget, self.budget(of: instance))
        let freeSetupAt = self.schedule[cold: instance].freeSetupAt
        var end = budget.charged(in: terms.window) > 0 ? terms.window.end : .epoch
        if let arrival = budget.theoreticalArrival { end = max(end, arrival) }
        if let last = own.lastReload { end = max(end, last + max(terms.minimumInterval, terms.exemptInterval)) }
        if terms.isRolling, let last = own.lastReload { end = max(end, last + .day + RollingDay.slot) }
        if freeSetupAt != .distantPast { end = max(end, freeSetupAt + terms.minimumInterval) }
        return end
    }

    /// Forgets a removed instance's budget, and its host with the last one.
    mutating func releaseTombstone(_ instance: InstanceNumber) {
        let host = self.registry[instance].host
        let isShared = self.catalogue[self.registry[instance].kind].isShared
        let first = self.registry[host].firstInstance
        let isLast = first == instance && self.registry[instance].nextOfHost.isNone
        // A shared budget is remembered with the host, which is there as long as any of its instances.
        if !isShared || isLast {
            // Another policy may hold back more since, or other instances may have used the shared budget.
            let end = self.heldBack(instance)
            if end > self.time { return self.schedule.arm(instance, at: end) }
        }
        self.registry.unlink(instance)
        self.count(instance, -1)
        self.schedule.release(instance)
        self.registry.releaseInstance(instance)
        self.counters.tombstones -= 1
        if !self.registry[host].isRegistered, self.registry[host].firstInstance.isNone {
            self.registry.releaseHost(host)
        }
    }
}

extension Engine {
    /// Lets a token stand for a host, taking it from whatever it stood for.
    mutating func bind(_ token: DeviceToken, to host: HostNumber) {
        if let binding = self.registry.binding(of: token) {
            if binding == Registry.TokenBinding(host: host, instance: .none) {
                return self.renew(token, of: host)
            }
            self.release(token, from: binding)
        }
        self.registry.append(token, to: host, at: self.time, self.environment(of: host))
        self.announce(token, host: host, instance: nil)
        if self.registry.tokenCount(of: host) > self.catalogue.limits.tokensPerHostMax {
            let oldest = self.registry.oldestToken(of: host)
            self.registry.unlink(oldest, from: host)
            self.forget(oldest, ofApp: self.registry[host].app)
        }
    }

    /// A host says again that a token is its own: of the app's present environment, then.
    private mutating func renew(_ token: DeviceToken, of host: HostNumber) {
        guard self.registry.renew(token, of: host, at: self.time, self.environment(of: host)) else { return }
        self.announce(token, host: host, instance: nil)
    }

    mutating func announce(_ token: DeviceToken, host: HostNumber, instance: InstanceID?) {
        self.output.directory.append(.bound(token, host: self.hostKey(of: host), instance: instance))
    }

    /// Takes a token from a host or a control, without it being removed: it stands for something else now. A host
    /// that loses its last token can never be reached again, and goes.
    private mutating func release(_ token: DeviceToken, from binding: Registry.TokenBinding) {
        if !binding.instance.isNone {
            self.registry[coldFields: binding.instance].controlToken = nil
            self.registry[binding.instance].isControl = false
            return
        }
        self.registry.unlink(token, from: binding.host)
        if self.registry[binding.host].firstToken.isNone { self.removeHost(binding.host) }
    }

    /// Removes a token of an app's host; the host goes with its last one.
    mutating func unbind(_ token: DeviceToken, ofApp app: AppNumber, _ reason: TokenRemoval = .unregistered) {
        guard let binding = self.registry.binding(of: token), self.registry[binding.host].app == app else { return }
        self.forget(token, ofApp: app, reason)
        self.release(token, from: binding)
    }

    /// From now on the token is answered as removed, or as one that moves.
    mutating func forget(_ token: DeviceToken, ofApp app: AppNumber, _ reason: TokenRemoval = .unregistered) {
        self.registry.markRemoved(token, ofApp: app, reason, at: self.time)
        self.output.directory.append(.removed(token, app: self.catalogue[app].id, reason, at: self.time))
    }

    /// Gives a control its own token, or takes it away.
    mutating func setControlToken(
        of instance: InstanceNumber,
        _ token: DeviceToken?,
        _ reason: TokenRemoval = .unregistered
    ) {
        let old = self.registry.coldFields(of: instance)?.controlToken
        let host = self.registry[instance].host
        guard old != token || self.isOfOtherEnvironment(controlOf: instance) else { return }
        if let token, token == old {
            self.registry[coldFields: instance].controlEnvironment = self.environment(of: host)
            return self.announce(token, host: host, instance: self.registry.id(of: instance))
        }
        if let old { self.forget(old, ofApp: self.registry[host].app, reason) }
        self.registry[coldFields: instance].controlToken = token
        self.registry[instance].isControl = token != nil
        guard let token else { return }
        if let binding = self.registry.binding(of: token) { self.release(token, from: binding) }
        self.registry[coldFields: instance].controlEnvironment = self.environment(of: host)
        self.registry.bind(token, toControl: instance)
        self.announce(token, host: host, instance: self.registry.id(of: instance))
    }
}
