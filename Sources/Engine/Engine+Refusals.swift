import IntentMatching
import Timelines
import WidgetModel

/// Whether a registration can be taken, before anything of it is.
extension Engine {
    /// The refusal of a registration at this moment; nil if it would be accepted.
    package func refusal(of registration: HostRegistration) -> RecordAnswer.Result? {
        let existing = self.registry.findHost(registration.host)
        if let existing, self.isStale(registration, existing) {
            return .staleRevision(current: self.registry[existing].revision)
        }
        do throws(RegistrationError) {
            _ = try self.check(registration, existing: existing)
            return nil
        } catch {
            return .refused(error)
        }
    }

    /// An instance of a registration with its kind's number.
    struct PlannedInstance {
        let registration: InstanceRegistration
        let kind: KindNumber
    }

    /// Checks all conditions of a registration before anything changes. Gives its instances in the order of their ids.
    func check(
        _ registration: HostRegistration,
        existing: HostNumber?
    ) throws(RegistrationError) -> (AppNumber, [PlannedInstance]) {
        guard let app = self.catalogue.findApp(registration.app) else { throw .unknownApp(registration.app) }
        if registration.instances.count > self.catalogue.limits.instancesPerHostMax {
            throw .tooManyInstances(max: self.catalogue.limits.instancesPerHostMax)
        }
        let tokens = [registration.token] + registration.instances.compactMap(\.controlToken)
        for token in tokens {
            if let binding = self.registry.binding(of: token), self.registry[binding.host].app != app {
                throw .tokenOfAnotherApp
            }
        }
        try self.checkHolder(registration, existing)
        var taken: Set<DeviceToken> = []
        for instance in registration.instances {
            guard let token = instance.controlToken else { continue }
            guard token != registration.token, taken.insert(token).inserted else { throw .duplicateToken(instance.id) }
        }
        var planned: [PlannedInstance] = []
        planned.reserveCapacity(registration.instances.count)
        for instance in registration.instances {
            guard let kind = self.catalogue.findKind(instance.kind, of: app) else { throw .unknownKind(instance.kind) }
            guard self.catalogue[kind].schema.accepts(instance.configuration) else {
                throw .configuration(instance.id)
            }
            if instance.tags.count > self.catalogue.limits.tagsMax {
                throw .tooManyTags(instance.id, max: self.catalogue.limits.tagsMax)
            }
            planned.append(PlannedInstance(registration: instance, kind: kind))
        }
        planned.sort { $0.registration.id < $1.registration.id }
        for index in planned.indices.dropFirst()
        where planned[index - 1].registration.id == planned[index].registration.id {
            throw .duplicateInstance(planned[index].registration.id)
        }
        if let existing { try self.checkTombstones(of: existing, planned) }
        return (app, planned)
    }

    /// Refuses a registration that would leave the host with more tombstones than it may have: each instance that is not named becomes one.
    ///
    /// After a removal, or under a smaller limit, a host may have more of them already. Then it may still name those that it has: a
    /// registration that neither adds an instance nor leaves more tombstones than there were needs none. Nor is one refused
    /// where no tombstone ends, since there would be nothing to wait for: only a smaller limit makes that possible.
    private func checkTombstones(
        of host: HostNumber,
        _ planned: [PlannedInstance]
    ) throws(RegistrationError) {
        let max = self.catalogue.limits.tombstonesPerHostMax
        let instances = self.registry.instances(of: host)
        guard instances.count > max else { return }
        let ids = Set(planned.map(\.registration.id))
        let others = instances.filter { !ids.contains(self.registry.id(of: $0)) }
        let tombstones = instances.count { !self.registry[$0].isLive }
        let isAdding = instances.count - others.count < planned.count
        guard others.count > max, isAdding || others.count > tombstones else { return }
        let ends = others.compactMap { self.registry[$0].isLive ? nil : self.schedule.dueTime(of: $0) }
        guard let first = ends.min() else { return }
        throw .tooManyTombstones(max: max, until: first)
    }

    /// A host speaks for itself only; its back end may give and take.
    private func checkHolder(
        _ registration: HostRegistration,
        _ existing: HostNumber?
    ) throws(RegistrationError) {
        func isBound(_ token: DeviceToken) -> Bool { self.registry.binding(of: token)?.host == existing }
        if let replaced = registration.replacedToken, let binding = self.registry.binding(of: replaced),
            binding.host != existing || !binding.instance.isNone
        {
            throw .replacedTokenOfOther
        }
        for instance in registration.instances {
            guard let token = instance.controlToken, let binding = self.registry.binding(of: token) else { continue }
            let isTakenOver = !registration.registrant.isHost || binding.host == existing
            guard isTakenOver, !binding.instance.isNone else { throw .controlTokenOfOther(instance.id) }
        }
        if registration.registrant == .host, let existing, self.registry[existing].isRegistered,
            !isBound(registration.token) || (registration.replacedToken.map(isBound) ?? false)
        {
            throw .hostOfOtherTokens
        }
    }
}
