import IntentMatching
import Storage
import Timelines
import WidgetModel

extension Engine {
    /// Replaces a host's widgets of its app, or changes nothing.
    mutating func register(_ registration: HostRegistration) -> RecordAnswer.Result {
        let existing = self.registry.findHost(registration.host)
        if let existing, self.isStale(registration, existing) {
            return .staleRevision(current: self.registry[existing].revision)
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
        let delivery = self.registry[host].delivery
        self.update(host, app: app, registration)
        var (counts, touched) = self.replaceInstances(of: host, with: plan)
        counts.removed += dropped
        if delivery == .apns || registration.delivery == .apns {
            self.adoptDelivery(of: host)
        } else if delivery != registration.delivery {
            // Outstanding reloads go elsewhere from now on.
            for instance in self.registry.liveInstances(of: host) { self.settle(instance) }
        }
        for instance in touched { self.decide(instance) }
        return .registered(counts)
    }

    /// Whether a newer registration was applied. A revision that a host counts by itself does not keep its back end
    /// out.
    func isStale(_ registration: HostRegistration, _ host: HostNumber) -> Bool {
        let row = self.registry[host]
        guard row.isRegistered, registration.revision < row.revision else { return false }
        return registration.registrant.isHost || !row.isRegisteredByItself
    }

    /// Takes a host from the tokens that a registration does not name: they are answered as removed, and the waiting pushes and outstanding
    /// reloads of its instances end `removed`. Budgets stay.
    ///
    /// - Returns: How many instances were removed.
    private mutating func dropOtherTokens(of host: HostNumber, than registration: HostRegistration) -> Int {
        let others = self.registry.tokens(of: host).map(\.token).filter {
            $0 != registration.token && $0 != registration.replacedToken
        }
        guard !others.isEmpty else { return 0 }
        for token in others {
            self.registry.unlink(token, from: host)
            self.forget(token, ofApp: self.registry[host].app)
        }
        self.forgetSignals(of: host)
        let live = self.registry.liveInstances(of: host)
        for instance in live { self.removeInstance(instance, .hostRemoved) }
        return live.count
    }

    private mutating func insertHost(_ registration: HostRegistration, app: AppNumber) -> HostNumber {
        let host = self.registry.insertHost(
            Registry.Host(
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

    /// Takes in the registration's facts about the host itself.
    private mutating func update(_ host: HostNumber, app: AppNumber, _ registration: HostRegistration) {
        if !self.registry[host].isRegistered { self.count(host: host, isRegistered: true) }
        self.registry[host].isRegistered = true
        self.registry[host].isRegisteredByItself = registration.registrant.isHost
        self.registry[host].delivery = registration.delivery
        self.registry[host].revision = registration.revision
        self.registry[host].registeredAt = self.time
        self.registry.setContext(of: host, registration.context)
        self.registry[host].leaseEnds = registration.lease.map { self.time + $0 }
        self.schedule.arm(host, at: self.registry[host].leaseEnds)
        self.bind(registration.token, to: host)
        if let replaced = registration.replacedToken, replaced != registration.token {
            self.unbind(replaced, ofApp: app)
        }
    }

    /// Merges the instances of a registration into those of the host, both in the order of ids.
    ///
    /// - Returns: The counts of changes, and the live instances that are to be decided anew.
    private mutating func replaceInstances(
        of host: HostNumber,
        with planned: [PlannedInstance]
    ) -> (RegistrationCounts, [InstanceNumber]) {
        var counts = RegistrationCounts()
        var touched: [InstanceNumber] = []
        var order: [InstanceNumber] = []
        let old = self.registry.instances(of: host)
        var next = 0
        for instance in old { self.schedule.prefetch(instance) }
        self.registry.startIndexChanges(of: old.span)
        defer { self.registry.finishIndexChanges() }
        for plan in planned {
            let id = plan.registration.id
            while next < old.count, self.registry.id(of: old[next]) < id {
                order.append(old[next])
                self.drop(old[next], &counts)
                next += 1
            }
            let instance: InstanceNumber
            if next < old.count, self.registry.id(of: old[next]) == id {
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
        self.registry.link(order, to: host)
        return (counts, touched)
    }

    private mutating func drop(_ instance: InstanceNumber, _ counts: inout RegistrationCounts) {
        guard self.registry[instance].isLive else { return }
        counts.removed += 1
        self.removeInstance(instance, .instanceRemoved)
    }

    private mutating func insertInstance(_ plan: PlannedInstance, host: HostNumber) -> InstanceNumber {
        let registration = plan.registration
        let instance = self.registry.insertInstance(
            registration.id,
            registration.family,
            Registry.Instance(host: host, kind: plan.kind)
        )
        self.schedule.insert(instance)
        self.adoptWindow(of: instance)
        let terms = self.terms(of: instance)
        self.schedule[cold: instance].firstWindow = terms.window.start
        self.schedule[instance].firstLimit = UInt16(clamping: terms.firstWindowLimit(joinedAt: self.time))
        self.show(instance, plan)
        return instance
    }

    /// Gives an instance that is new, or new again, its configuration, and lets it ask for its first timeline.
    private mutating func show(_ instance: InstanceNumber, _ plan: PlannedInstance) {
        let registration = plan.registration
        self.moveBudget(of: instance, to: plan.kind)
        // The row of one that was never shown is live from its start; one that returns was remembered.
        if !self.registry[instance].isLive {
            self.counters.tombstones -= 1
            self.count(instance, -1)
        }
        self.counters.instances += 1
        self.schedule.countLive(plan.kind, 1)
        if registration.pushEnabled { self.counters.pushEnabledInstances += 1 }
        self.registry[instance].isLive = true
        self.registry[instance].isOrphaned = false
        self.registry[instance].pushEnabled = registration.pushEnabled
        self.registry[instance].generation += 1
        self.registry[instance].configuredAt = self.position
        self.registry[instance].isHostDriven = false
        self.schedule[active: instance].waiting = ReloadCauses(.added)
        self.registry.setFamily(of: instance, registration.family)
        self.registry.setConfiguration(of: instance, registration.configuration)
        self.setTags(of: instance, registration.tags)
        self.setCondition(of: instance, registration.when)
        self.setControlToken(of: instance, registration.controlToken)
        self.count(instance, 1)
        self.insertIntoIndex(instance, registration.configuration)
    }

    /// Carries the budget over to another kind's policy.
    private mutating func moveBudget(of instance: InstanceNumber, to kind: KindNumber) {
        guard self.registry[instance].kind != kind else { return }
        self.openHostWindows(of: self.registry[instance].host)
        self.openWindow(of: instance)
        let old = self.terms(of: instance)
        let wasShared = self.catalogue[self.registry[instance].kind].isShared
        self.registry[instance].kind = kind
        self.adoptWindow(of: instance)
        self.carryBudget(of: instance, from: old, wasShared: wasShared)
    }

    func registration(of instance: InstanceNumber) -> InstanceRegistration {
        self.registration(of: instance, self.registry.configuration(of: instance))
    }

    private func registration(of instance: InstanceNumber, _ configuration: Configuration) -> InstanceRegistration {
        let coldFields = self.registry.coldFields(of: instance)
        return InstanceRegistration(
            id: self.registry.id(of: instance),
            kind: self.catalogue[self.registry[instance].kind].name,
            family: self.registry.family(of: instance),
            configuration: configuration,
            pushEnabled: self.registry[instance].pushEnabled,
            tags: coldFields?.tags ?? [],
            when: coldFields?.when,
            controlToken: coldFields?.controlToken
        )
    }

    /// Changes an instance that the host showed before, or lets a removed one return with its budget.
    private mutating func update(
        _ instance: InstanceNumber,
        _ plan: PlannedInstance,
        _ counts: inout RegistrationCounts,
        _ touched: inout [InstanceNumber]
    ) {
        guard self.registry[instance].isLive else {
            counts.added += 1
            touched.append(instance)
            return self.show(instance, plan)
        }
        let new = plan.registration
        let isConfiguredAlike = self.registry.isConfigured(instance, as: new.configuration)
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
        self.count(instance, -1)
        self.registry[instance].pushEnabled = new.pushEnabled
        self.setTags(of: instance, new.tags)
        self.setCondition(of: instance, new.when)
        self.setControlToken(of: instance, new.controlToken)
        if !isConfiguredAlike {
            self.registry.setConfiguration(of: instance, new.configuration)
            self.registry[content: instance].confirmedDigest = nil
            if self.registry[instance].isOrphaned { self.counters.orphanedInstances -= 1 }
            self.registry[instance].isOrphaned = false
            self.registry[instance].generation += 1
            self.registry[instance].configuredAt = self.position
            self.schedule[active: instance].waiting.insert(ReloadCauses(.configured))
        }
        self.count(instance, 1)
        self.insertIntoIndex(instance, new.configuration)
    }

    /// Gives the index an instance with its configuration.
    mutating func insertIntoIndex(_ instance: InstanceNumber, _ configuration: Configuration) {
        let kind = self.catalogue[self.registry[instance].kind]
        self.registry.insertIntoIndex(instance, app: self.catalogue[kind.app].id, kind: kind.name, configuration)
    }

    private mutating func setTags(of instance: InstanceNumber, _ tags: [String]) {
        guard !tags.isEmpty || self.registry.coldFields(of: instance) != nil else { return }
        self.registry[coldFields: instance].tags = tags
    }

    private mutating func setCondition(of instance: InstanceNumber, _ when: MatchPattern?) {
        guard when != nil || self.registry[instance].isConditional else { return }
        self.registry[coldFields: instance].when = when
        self.registry[instance].isConditional = when != nil
    }
}
