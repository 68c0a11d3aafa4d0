import Timelines
package import WidgetModel

extension Engine {
    /// Everything about a widget instance, or nil if no host shows it here.
    ///
    /// - Parameters:
    ///   - decisions: How many of its last decisions to show at most.
    ///   - pending: How many of the causes that wait to show at most.
    package func instance(_ address: InstanceAddress, decisions: Int = 100, pending: Int = .max) -> InstanceView? {
        guard let slot = self.registry.liveInstance(address) else { return nil }
        let row = self.registry[slot]
        let active = self.schedule[active: slot]
        let kind = self.catalogue[row.kind]
        var outstanding: [ReloadEffect] = []
        self.reloads.forEach(in: active.outstanding) { outstanding.append(self.effect(of: $0)) }
        let kept = self.decisions(of: slot, decisions)
        return InstanceView(
            address: address,
            kind: kind.name,
            family: self.registry.family(of: slot),
            configuration: self.registry.configuration(of: slot),
            pushEnabled: row.pushEnabled,
            tags: self.registry[coldFields: slot].tags,
            generation: Int(row.generation),
            isOrphaned: row.isOrphaned,
            isVisible: self.registry[row.host].tellsVisibility
                ? self.schedule[cold: slot].visibleUntil > self.time : nil,
            shownEntry: self.registry[content: slot].shownEntry,
            budget: self.budgetView(of: slot),
            timeline: self.timeline(of: slot),
            pending: self.pending(of: slot, pending),
            pendingCount: active.waiting.list.count + Int(active.pending.count),
            decidesAt: active.decidesAt.ifFinite,
            waitsFor: active.isWaiting ? active.reason : nil,
            behind: active.behind,
            behindSince: self.schedule.behindSince(slot),
            outstanding: outstanding,
            decisions: kept.views,
            earlierDecision: kept.earlier,
            ledger: self.dayLedger(of: slot)
        )
    }

    private func budgetView(of instance: InstanceNumber) -> BudgetView {
        let row = self.registry[instance]
        let funds = self.funds(of: instance)
        let (terms, budget) = (funds.terms, funds.budget)
        func next(_ reloadClass: ReloadClass, isPush: Bool) -> Instant {
            budget.earliest(
                reloadClass,
                isPush: isPush,
                now: self.time,
                terms: terms,
                spreadHash: self.addressHash(of: instance)
            )
        }
        return BudgetView(
            policy: self.catalogue[row.kind].budget.name,
            windowStart: terms.window.start,
            windowEnd: terms.window.end,
            allowance: terms.isUnlimited ? nil : terms.limit,
            pushAllowance: terms.isUnlimited ? nil : terms.pushLimit,
            charged: budget.charged(in: terms.window),
            pushesCharged: budget.pushesCharged(in: terms.window),
            burst: terms.burst,
            interval: terms.interval,
            exemptReloads: Int(self.schedule[cold: instance].exemptReloads),
            observedReloads: Int(self.registry[observed: instance].observedReloads),
            collateralReloads: Int(self.registry[observed: instance].collateralReloads),
            collateralOverReloads: Int(self.registry[observed: instance].collateralOverReloads),
            viewRate: Int(funds.rate.scaled),
            isLearning: self.catalogue[row.kind].bare.isLearning(
                windowFrom: terms.window.start,
                firstRegisteredAt: self.registry[row.host].firstRegisteredAt
            ),
            lastReload: budget.lastReload,
            nextHigh: next(.urgent, isPush: true),
            nextNormal: next(.paced, isPush: true),
            nextPolicy: next(.urgent, isPush: false),
            exemption: self.exemption(of: instance, waiting: self.schedule[active: instance].waiting)
        )
    }

    /// A stable hash of an instance's address, of the bytes in the tables: texts would have to be made for it. O(bytes).
    func addressHash(of instance: InstanceNumber) -> UInt64 {
        let host = self.registry[instance].host
        var hash = StableHash()
        self.registry.withID(of: host) { hash.combine(host: $0, of: self.catalogue[self.registry[host].app].id) }
        self.registry.withID(of: instance) { hash.combine(text: $0) }
        return hash.value
    }

    /// The key of a host by its number.
    @inline(__always)
    func hostKey(of host: HostNumber) -> HostKey {
        HostKey(app: self.catalogue[self.registry[host].app].id, id: self.registry.id(of: host))
    }

    /// The address of an instance by its number.
    @inline(__always)
    func address(of instance: InstanceNumber) -> InstanceAddress {
        InstanceAddress(
            host: self.hostKey(of: self.registry[instance].host),
            instance: self.registry.id(of: instance)
        )
    }

    /// The live instance of a host that the id of a reload is about; nil if it is gone, or the id is of another log or host.
    ///
    /// An engine that was given one host's records only, as `freshet why` has it, numbers instances otherwise: there the
    /// check alone has to tell. O(1), or O(instances of the host) if the number is not right.
    func liveInstance(of reload: ReloadID, on host: HostNumber) -> InstanceNumber? {
        if let instance = self.liveInstance(of: reload), self.registry[instance].host == host { return instance }
        return self.registry.instances(of: host).first { instance in
            self.liveInstance(of: reload.numbered(instance)) != nil
        }
    }

    /// Whether the id of a reload is about the instance of an address.
    package func isAbout(_ reload: ReloadID, _ address: InstanceAddress) -> Bool {
        guard let instance = self.registry.liveInstance(address) else { return false }
        return self.liveInstance(of: reload, on: self.registry[instance].host) == instance
    }

    /// The live instance that the id of a reload is about, by its number; nil if it is gone, or the id is of another log.
    func liveInstance(of reload: ReloadID) -> InstanceNumber? {
        let instance = reload.instance
        guard reload.partition == self.partition, instance.index < self.registry.instanceEnd,
            self.registry[instance].isLive,
            reload == self.reloadID(at: reload.position, of: instance)
        else { return nil }
        return instance
    }

    /// The id of the reload of an instance that was issued at a position.
    @inline(__always)
    func reloadID(at position: LogPosition, of instance: InstanceNumber) -> ReloadID {
        self.reloadID(at: position, of: instance, addressHash: self.addressHash(of: instance))
    }

    /// The same where the hash of the instance's address is at hand.
    @inline(__always)
    func reloadID(at position: LogPosition, of instance: InstanceNumber, addressHash: UInt64) -> ReloadID {
        ReloadID(partition: self.partition, position: position, instance: instance, addressHash: addressHash)
    }

    private func timeline(of instance: InstanceNumber) -> TimelineView? {
        guard let shown = self.registry[content: instance].timeline else { return nil }
        let due = self.schedule[instance].timelineDue
        return TimelineView(
            entries: shown.timeline.entries.count,
            firstDate: shown.timeline.entries.map(\.date).min(),
            lastDate: shown.timeline.end,
            policy: shown.timeline.policy,
            digest: shown.timeline.digest,
            receivedAt: shown.receivedAt,
            nextRequest: due.ifFinite,
            findings: shown.findings
        )
    }

    private func pending(of instance: InstanceNumber, _ limit: Int) -> [PendingView] {
        let active = self.schedule[active: instance]
        var views = active.waiting.list.prefix(limit).map { cause in
            let wait = self.wait(of: cause, instance)
            return PendingView(
                cause: cause,
                push: nil,
                priority: nil,
                since: nil,
                notBefore: nil,
                expiresAt: nil,
                until: wait.until.ifFinite,
                reason: wait.reason
            )
        }
        var slot = active.pending.head
        while !slot.isNone, views.count < limit {
            let match = self.reloads[slot]
            let push = self.ledger[match.push]
            let wait = self.wait(of: match)
            views.append(
                PendingView(
                    cause: .push,
                    push: push.id,
                    priority: match.priority,
                    since: push.acceptedAt,
                    notBefore: push.notBefore == .epoch ? nil : push.notBefore,
                    expiresAt: match.expiresAt,
                    until: wait.until.ifFinite,
                    reason: wait.reason
                )
            )
            slot = match.next
        }
        return views
    }

    private func decisions(of instance: InstanceNumber, _ limit: Int) -> (views: [DecisionView], earlier: UInt64?) {
        var views: [DecisionView] = []
        var number = self.schedule[instance].lastDecision
        while views.count < limit, let entry = self.ledger.decisions[number], entry.instance == instance {
            views.append(entry.view)
            number = entry.previous
        }
        return (views, number == Ledger.noDecision ? nil : number)
    }
}
