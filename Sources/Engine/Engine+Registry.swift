import IntentMatching
import Storage
import Timelines
import WidgetModel

extension Engine {
    /// Replaces what a host shows of its app, or changes nothing.
    mutating func register(_ registration: HostRegistration) -> RecordAnswer.Result {
        let existing = self.hosts.find(registration.host)
        if let existing, self.isStale(registration, existing) {
            return .staleRevision(current: self.hosts[existing].revision)
        }
        let plan: [PlannedInstance]
        let app: AppNumber
        do throws(RegistrationError) {
            (app, plan) = try self.check(registration, existing: existing)
        } catch {
            return .refused(error)
        }
        let host = existing ?? self.insertHost(registration, app: app)
        let dropped = registration.registrant.takesOver ? self.dropOtherTokens(of: host, than: registration) : 0
        let wasHostDriven = self.hosts[host].delivery == .apns
        self.update(host, app: app, registration)
        var (counts, touched) = self.replaceInstances(of: host, with: plan)
        counts.removed += dropped
        if wasHostDriven || registration.delivery == .apns { self.adoptDelivery(of: host) }
        for instance in touched { self.decide(instance) }
        return .registered(counts)
    }

    /// Whether a newer registration was applied. What a host counts by itself does not keep its back end out.
    func isStale(_ registration: HostRegistration, _ host: HostNumber) -> Bool {
        let row = self.hosts[host]
        guard row.isRegistered, registration.revision < row.revision else { return false }
        return registration.registrant.isHost || !row.isRegisteredByItself
    }

    /// Takes a host from the tokens that a registration does not name: they are answered as removed, and what waits or is
    /// out for its instances ends `removed`. Budgets stay.
    ///
    /// - Returns: How many instances were removed.
    private mutating func dropOtherTokens(of host: HostNumber, than registration: HostRegistration) -> Int {
        let others = self.tokens(of: host).map(\.token).filter {
            $0 != registration.token && $0 != registration.replacedToken
        }
        guard !others.isEmpty else { return 0 }
        for token in others {
            self.tokens.unlink(token, from: &self.hosts[host].firstToken)
            self.forget(token, ofApp: self.hosts[host].app)
        }
        self.forgetSignals(of: host)
        let live = self.instances(of: host).filter { self.instances[$0].isLive }
        for instance in live { self.removeInstance(instance, .hostRemoved) }
        return live.count
    }

    private mutating func insertHost(_ registration: HostRegistration, app: AppNumber) -> HostNumber {
        let host = self.hosts.insert(
            HostTable.Row(
                app: app,
                windows: TunedWindows(host: registration.host, at: self.time),
                delivery: registration.delivery,
                registeredAt: self.time,
                firstRegisteredAt: self.time
            ),
            named: registration.host,
            saying: registration.context
        )
        self.count(host: host, isRegistered: true)
        return host
    }

    /// Takes in what the registration says of the host itself.
    private mutating func update(_ host: HostNumber, app: AppNumber, _ registration: HostRegistration) {
        if !self.hosts[host].isRegistered { self.count(host: host, isRegistered: true) }
        self.hosts[host].isRegistered = true
        self.hosts[host].isRegisteredByItself = registration.registrant.isHost
        self.hosts[host].delivery = registration.delivery
        self.hosts[host].revision = registration.revision
        self.hosts[host].registeredAt = self.time
        self.hosts.setContext(of: host, registration.context)
        self.hosts[host].leaseEnds = registration.lease.map { self.time + $0 }
        if let ends = self.hosts[host].leaseEnds {
            self.hostTimers.arm(host, at: ends)
        } else {
            self.hostTimers.cancel(host)
        }
        self.bind(registration.token, to: host)
        if let replaced = registration.replacedToken, replaced != registration.token {
            self.unbind(replaced, ofApp: app)
        }
    }

    /// Merges the instances of a registration into those of the host, both in the order of ids.
    ///
    /// - Returns: What changed, and the live instances that are to be decided anew.
    private mutating func replaceInstances(
        of host: HostNumber,
        with planned: [PlannedInstance]
    ) -> (RegistrationCounts, [InstanceNumber]) {
        var counts = RegistrationCounts()
        var touched: [InstanceNumber] = []
        var order: [InstanceNumber] = []
        let old = self.instances(of: host)
        var next = 0
        self.index.prefetch(old.span)
        self.index.startChanges()
        defer { self.index.finishChanges() }
        for plan in planned {
            let id = plan.registration.id
            while next < old.count, self.instances.id(of: old[next]) < id {
                order.append(old[next])
                self.drop(old[next], &counts)
                next += 1
            }
            let instance: InstanceNumber
            if next < old.count, self.instances.id(of: old[next]) == id {
                instance = old[next]
                next += 1
                self.update(instance, plan, &counts, &touched)
            } else {
                instance = self.insertInstance(plan, host: host)
                counts.added += 1
                touched.append(instance)
            }
            order.append(instance)
        }
        for instance in old[next...] {
            order.append(instance)
            self.drop(instance, &counts)
        }
        self.link(order, to: host)
        return (counts, touched)
    }

    /// The instances of a host in the order of ids, removed ones included.
    func instances(of host: HostNumber) -> [InstanceNumber] {
        var found: [InstanceNumber] = []
        var instance = self.hosts[host].firstInstance
        while !instance.isNone {
            found.append(instance)
            instance = self.instances[instance].nextOfHost
        }
        return found
    }

    /// Threads a host's instances in this order.
    mutating func link(_ order: [InstanceNumber], to host: HostNumber) {
        self.hosts[host].firstInstance = order.first ?? .none
        var live: UInt32 = 0
        for (index, instance) in order.enumerated() {
            self.instances[instance].nextOfHost = index + 1 < order.count ? order[index + 1] : .none
            if self.instances[instance].isLive { live += 1 }
        }
        self.hosts[host].liveInstances = live
    }

    private mutating func drop(_ instance: InstanceNumber, _ counts: inout RegistrationCounts) {
        guard self.instances[instance].isLive else { return }
        counts.removed += 1
        self.removeInstance(instance, .instanceRemoved)
    }

    private mutating func insertInstance(_ plan: PlannedInstance, host: HostNumber) -> InstanceNumber {
        let registration = plan.registration
        let instance = self.instances.insert(
            InstanceTable.Row(host: host, kind: plan.kind, anchor: 0),
            InstanceDetails.Row(id: registration.id, family: registration.family)
        )
        self.usages[self.hosts[host].app].textBytes += self.instances.details.textBytes(of: instance)
        self.adoptWindow(of: instance)
        let terms = self.terms(of: instance)
        self.instances[instance].firstWindow = terms.window.start.milliseconds
        self.instances[instance].firstLimit = UInt16(clamping: terms.firstWindowLimit(joinedAt: self.time))
        self.show(instance, plan)
        return instance
    }

    /// Gives an instance that is new, or new again, its configuration, and lets it ask for its first timeline.
    private mutating func show(_ instance: InstanceNumber, _ plan: PlannedInstance) {
        let registration = plan.registration
        self.moveBudget(of: instance, to: plan.kind)
        // The row of one that was never shown is live from its start; one that returns was remembered.
        let app = self.app(of: instance)
        if !self.instances[instance].isLive {
            self.counters.tombstones -= 1
            self.usages[app].tombstones -= 1
        }
        self.counters.instances += 1
        self.usages[app].instances += 1
        self.usages[app].textBytes -= self.instances.details.textBytes(of: instance)
        if registration.pushEnabled { self.counters.pushEnabledInstances += 1 }
        self.instances[instance].isLive = true
        self.instances[instance].isOrphaned = false
        self.instances[instance].pushEnabled = registration.pushEnabled
        self.instances[instance].generation += 1
        self.instances[instance].configuredAt = self.position
        self.instances[instance].isHostDriven = false
        self.instances[active: instance].waiting = ReloadCauses(.added)
        self.instances.setFamily(of: instance, registration.family)
        self.instances.setConfiguration(of: instance, registration.configuration)
        self.setTags(of: instance, registration.tags)
        self.setCondition(of: instance, registration.when)
        self.setControlToken(of: instance, registration.controlToken)
        self.usages[app].textBytes += self.instances.details.textBytes(of: instance)
        self.insertIntoIndex(instance, registration.configuration)
    }

    /// Carries the budget over to another kind's policy.
    private mutating func moveBudget(of instance: InstanceNumber, to kind: KindNumber) {
        guard self.instances[instance].kind != kind else { return }
        self.openHostWindows(of: self.instances[instance].host)
        self.openWindow(of: instance)
        let old = self.terms(of: instance)
        let wasShared = self.catalogue[self.instances[instance].kind].isShared
        self.instances[instance].kind = kind
        self.adoptWindow(of: instance)
        self.carryBudget(of: instance, from: old, wasShared: wasShared)
    }

    func registration(of instance: InstanceNumber) -> InstanceRegistration {
        self.registration(of: instance, self.instances.configuration(of: instance))
    }

    private func registration(of instance: InstanceNumber, _ configuration: Configuration) -> InstanceRegistration {
        let particulars = self.instances.details.particulars(of: instance)
        return InstanceRegistration(
            id: self.instances.id(of: instance),
            kind: self.catalogue[self.instances[instance].kind].name,
            family: self.instances.family(of: instance),
            configuration: configuration,
            pushEnabled: self.instances[instance].pushEnabled,
            tags: particulars?.tags ?? [],
            when: particulars?.when,
            controlToken: particulars?.controlToken
        )
    }

    /// Changes an instance that the host showed before, or lets a removed one return with its budget.
    private mutating func update(
        _ instance: InstanceNumber,
        _ plan: PlannedInstance,
        _ counts: inout RegistrationCounts,
        _ touched: inout [InstanceNumber]
    ) {
        guard self.instances[instance].isLive else {
            counts.added += 1
            touched.append(instance)
            return self.show(instance, plan)
        }
        let new = plan.registration
        let isConfiguredAlike = self.instances.isConfigured(instance, as: new.configuration)
        let configuration = isConfiguredAlike ? new.configuration : .empty
        let old = self.registration(of: instance, configuration)
        if self.isOfOtherEnvironment(controlOf: instance) { self.setControlToken(of: instance, new.controlToken) }
        if isConfiguredAlike, old == new {
            counts.unchanged += 1
            return
        }
        counts.changed += 1
        touched.append(instance)
        if old.kind != new.kind || old.family != new.family {
            self.removeInstance(instance, .instanceRemoved)
            return self.show(instance, plan)
        }
        if old.pushEnabled != new.pushEnabled { self.counters.pushEnabledInstances += new.pushEnabled ? 1 : -1 }
        let textBytes = self.instances.details.textBytes(of: instance)
        self.instances[instance].pushEnabled = new.pushEnabled
        self.setTags(of: instance, new.tags)
        self.setCondition(of: instance, new.when)
        self.setControlToken(of: instance, new.controlToken)
        if !isConfiguredAlike {
            self.instances.setConfiguration(of: instance)
            self.instances[content: instance].confirmedDigest = nil
            if self.instances[instance].isOrphaned { self.counters.orphanedInstances -= 1 }
            self.instances[instance].isOrphaned = false
            self.instances[instance].generation += 1
            self.instances[instance].configuredAt = self.position
            self.instances[active: instance].waiting.insert(ReloadCauses(.configured))
        }
        self.usages[self.app(of: instance)].textBytes += self.instances.details.textBytes(of: instance) - textBytes
        self.insertIntoIndex(instance, new.configuration)
    }

    /// Gives the index an instance with its configuration.
    mutating func insertIntoIndex(_ instance: InstanceNumber, _ configuration: Configuration) {
        let row = self.instances[instance]
        let kind = self.catalogue[row.kind]
        let particulars = self.instances.details.particulars(of: instance)
        self.index.insert(
            instance,
            app: self.catalogue[kind.app].id,
            kind: kind.name,
            family: self.instances.family(of: instance),
            host: row.host,
            tags: particulars?.tags ?? [],
            configuration: configuration,
            when: particulars?.when,
            pushEnabled: row.pushEnabled
        )
    }

    private mutating func setTags(of instance: InstanceNumber, _ tags: [String]) {
        guard !tags.isEmpty || self.instances.details.particulars(of: instance) != nil else { return }
        self.instances[particulars: instance].tags = tags
    }

    private mutating func setCondition(of instance: InstanceNumber, _ when: MatchPattern?) {
        guard when != nil || self.instances[instance].isConditional else { return }
        self.instances[particulars: instance].when = when
        self.instances[instance].isConditional = when != nil
    }
}
