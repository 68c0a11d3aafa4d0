import IntentMatching
import Storage
import Timelines
import WidgetModel

extension Engine {
    /// The violated invariants: empty unless there is a bug. O(state).
    ///
    /// The most important one is conservation: for every push, matched = deferred + issued + final outcomes. The
    /// deferred ones are exactly those that wait for an instance, and the issued ones exactly those that a reload
    /// serves. Between two slices of a record all invariants are true as well, except that its push is open and timers
    /// that have yet to fire are not armed.
    package func checkInvariants() -> [String] {
        var faults: [String] = []
        let slots = self.ledger.pushes.rows.usedNumbers()
        var held = Held(rows: (slots.last?.index ?? 0) + 1, apps: self.catalogue.apps.count)
        for host in self.registry.usedHosts() { self.check(host: host, &held, &faults) }
        for push in slots { self.check(push: push, held, &faults) }
        if held.matches != self.reloads.matchCount {
            faults.append("\(self.reloads.matchCount) matches, \(held.matches) of them in lists")
        }
        if held.reloads != self.reloads.count {
            faults.append("\(self.reloads.count) reloads, \(held.reloads) of them in lists")
        }
        if held.instances != self.registry.instanceCount {
            faults.append("\(self.registry.instanceCount) instances, \(held.instances) of them in lists")
        }
        if held.tokens != self.registry.boundTokenCount {
            faults.append("\(self.registry.boundTokenCount) tokens bound, \(held.tokens) of them at hosts")
        }
        for (app, count) in held.pushEnabled.enumerated() {
            let indexed = self.registry.pushEnabledCount(app: self.catalogue.apps[app].id)
            if indexed != count { faults.append("app \(app): \(count) push-enabled instances, \(indexed) indexed") }
        }
        faults += self.catalogue.checkInvariants()
        faults += self.ledger.checkInvariants(isRecordDone: self.isRecordDone)
        faults += self.channels.checkInvariants()
        faults += self.registry.checkInvariants()
        faults += self.checkBehind()
        return faults + self.checkCounts()
    }

    private func checkCounts() -> [String] {
        let counted = self.counted()
        let usages = self.countedUsages()
        let apps = self.catalogue.apps.indices.compactMap { app -> String? in
            let (running, real) = (self.registry[usage: AppNumber(app)], usages[AppNumber(app)])
            return running == real ? nil : "app \(app): has \(real), but \(running) is counted"
        }
        let members: [(String, KeyPath<EngineStats, Int>)] = [
            ("hosts", \.hosts), ("instances", \.instances), ("tombstones", \.tombstones),
            ("push-enabled instances", \.pushEnabledInstances), ("orphaned instances", \.orphanedInstances),
        ]
        return apps
            + members.compactMap { name, member in
                let (running, real) = (self.counters[keyPath: member], counted[keyPath: member])
                return running == real ? nil : "\(real) \(name), but \(running) counted"
            }
    }

    /// The counts from the walk over hosts and instances.
    private struct Held {
        var deferred: [UInt32]
        var issued: [UInt32]
        var matches = 0
        var reloads = 0
        var instances = 0
        var tokens = 0
        /// By app.
        var pushEnabled: [Int]

        init(rows: Int, apps: Int) {
            self.pushEnabled = Array(repeating: 0, count: apps)
            self.deferred = Array(repeating: 0, count: rows)
            self.issued = Array(repeating: 0, count: rows)
        }
    }

    private func check(host: HostNumber, _ held: inout Held, _ faults: inout [String]) {
        let row = self.registry[host]
        let id = self.hostKey(of: host)
        let instances = self.registry.instances(of: host)
        let ids = instances.map { self.registry.id(of: $0) }
        if zip(ids, ids.dropFirst()).contains(where: { $0 >= $1 }) {
            faults.append("\(id): instances out of order")
        }
        let live = instances.count { self.registry[$0].isLive }
        if live != Int(row.liveInstances) {
            faults.append("\(id): \(live) live instances, not \(row.liveInstances)")
        }
        let tokens = self.registry.tokens(of: host)
        if !row.isRegistered, live > 0 || !tokens.isEmpty { faults.append("\(id): removed, but not empty") }
        if !row.isRegistered, instances.isEmpty { faults.append("\(id): nothing remembered, but not forgotten") }
        for token in tokens where self.registry.binding(of: token.token)?.host != host {
            faults.append("\(id): \(token.token) stands for something else")
        }
        held.tokens += tokens.count
        for instance in instances {
            if self.registry[instance].host != host { faults.append("\(id): holds another host's instance") }
            self.check(instance: instance, &held, &faults)
        }
    }

    private func check(instance: InstanceNumber, _ held: inout Held, _ faults: inout [String]) {
        let row = self.registry[instance]
        let active = self.schedule[active: instance]
        let name = self.address(of: instance).description
        held.instances += 1
        if row.isLive, row.pushEnabled { held.pushEnabled[self.catalogue[row.kind].app.index] += 1 }
        let host = row.isLive && row.pushEnabled ? row.host : nil
        if self.registry.indexedHost(of: instance) != host {
            faults.append("\(name): indexed as another host's")
        }
        if self.registry[coldFields: instance].controlToken != nil { held.tokens += 1 }
        var (count, high, normal) = (UInt32(0), UInt32(0), UInt32(0))
        var (minExpiry, slot) = (Instant.distantFuture, active.pending.head)
        var previous = MatchNumber.none
        while !slot.isNone {
            let match = self.reloads[slot]
            if match.previous != previous { faults.append("\(name): pending list is broken") }
            held.deferred[match.push.index] += 1
            if match.instance != instance { faults.append("\(name): a push waits for another instance") }
            count += 1
            if match.priority == .high { high += 1 }
            if match.priority == .normal { normal += 1 }
            minExpiry = min(minExpiry, match.expiresAt)
            if match.isScheduled, !self.schedule[instance].hasScheduled {
                faults.append("\(name): has a scheduled push unawares")
            }
            (previous, slot) = (slot, match.next)
        }
        held.matches += Int(count)
        if active.pending.tail != previous || active.pending.count != count || active.high != high
            || active.normal != normal
        {
            faults.append("\(name): pending counts are wrong")
        }
        if active.minExpiry != minExpiry {
            faults.append("\(name): earliest expiry is \(minExpiry), not \(active.minExpiry)")
        }
        if self.schedule[instance].isActive, active.isBlank { faults.append("\(name): at rest, with an active row") }
        if !row.isLive, count > 0 || !active.waiting.isEmpty || !active.outstanding.isEmpty {
            faults.append("\(name): removed, but something waits")
        }
        if row.isLive, row.isHostDriven != (self.registry[row.host].delivery == .apns) {
            faults.append("\(name): its timelines have another driver than its delivery says")
        }
        let waits = !active.waiting.isSubset(of: ReloadCauses(.appRequest)) || active.heldUntil != .distantPast
        if row.isHostDriven, waits {
            faults.append("\(name): waits, although its host drives its timelines")
        }
        self.check(reloadsOf: instance, name, &held, &faults)
        self.check(budgetOf: instance, name, &faults)
        self.check(timerOf: instance, name, &faults)
    }

    private func check(reloadsOf instance: InstanceNumber, _ name: String, _ held: inout Held, _ faults: inout [String])
    {
        let list = self.schedule[active: instance].outstanding
        faults += self.reloads.checkInvariants(of: list, instance).map { "\(name): \($0)" }
        self.reloads.forEach(in: list) { reload in
            held.reloads += 1
            self.reloads.forEach(in: reload.pushes) {
                held.issued[$1.push.index] += 1
                held.matches += 1
            }
        }
    }

    private func check(budgetOf instance: InstanceNumber, _ name: String, _ faults: inout [String]) {
        let funds = self.funds(of: instance)
        let (terms, budget) = (funds.terms, funds.budget)
        // A policy that became stricter in the window keeps the earlier charges.
        let isSettled = self.catalogue[self.registry[instance].kind].replaced.isEmpty
        let limit = max(terms.allowance, terms.limit, self.grantedLimit(besides: instance))
        if isSettled, !terms.isUnlimited, budget.charged(in: terms.window) > limit {
            faults.append("\(name): \(budget.charged(in: terms.window)) charged of \(limit)")
        }
    }

    /// The most that others may charge to the budget that an instance shares: a grant is each instance's own. Zero if it
    /// shares none.
    private func grantedLimit(besides instance: InstanceNumber) -> Int {
        let owner = self.registry[instance]
        guard self.catalogue[owner.kind].isShared else { return 0 }
        return self.registry.instances(of: owner.host).filter { self.catalogue[self.registry[$0].kind].isShared }
            .map { self.funds(of: $0).terms.limit }.max() ?? 0
    }

    private func check(timerOf instance: InstanceNumber, _ name: String, _ faults: inout [String]) {
        guard self.registry[instance].isLive, self.isRecordDone else { return }
        let at = self.schedule.nextDate(of: instance)
        let armed = self.schedule.dueTime(of: instance)
        if (at == .distantFuture) != (armed == nil) {
            faults.append("\(name): due \(at), armed \(String(describing: armed))")
        }
        // A date after the latest possible time is armed for that time.
        let due = min(at, Self.latest + .seconds(1))
        if let armed, armed < due || armed - due >= .seconds(1) {
            faults.append("\(name): due \(at), armed for \(armed)")
        }
    }

    private func check(push: PushNumber, _ held: Held, _ faults: inout [String]) {
        let row = self.ledger[push]
        let (deferred, issued) = (row.counts[0], row.counts[1])
        if deferred != held.deferred[push.index] || issued != held.issued[push.index] {
            faults.append(
                "push \(row.id): \(deferred) deferred, \(held.deferred[push.index]) wait;"
                    + " \(issued) issued, \(held.issued[push.index]) served"
            )
        }
        var (waiting, previous, slot) = (UInt32(0), MatchNumber.none, self.reloads.firstWaiting(of: push))
        while !slot.isNone, waiting <= deferred {
            let match = self.reloads[slot]
            if match.push != push || match.previousOfPush != previous || match.instance.isNone {
                faults.append("push \(row.id): the list of waiting instances is broken")
            }
            (waiting, previous, slot) = (waiting + 1, slot, match.nextOfPush)
        }
        if waiting != deferred { faults.append("push \(row.id): \(deferred) deferred, \(waiting) of them listed") }
    }
}
