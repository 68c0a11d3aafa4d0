import Timelines
import WidgetModel

/// Reloads that a host does by itself: booked on the budget, but neither decisions nor outcomes.
///
/// Where hosts are reached through a push token, the phone runs the timelines, and the gateway issues only the reloads
/// that pushes and the app ask for. All other reloads are observed: when the host reports them or, where it does not
/// report, at the date at which it is assumed to do them.
extension Engine {
    /// How long the report of a reload that is booked already may take.
    static let reportMax = Interval.hours(1)

    /// The host said that an instance has reloaded. Two reports within the interval of exempt reloads are one reload, and
    /// the first report after a reload that was booked without one is about that.
    mutating func observe(_ instance: InstanceNumber) {
        self.openWindow(of: instance)
        let bookedAt = self.registry[observed: instance].awaitsReport
        self.registry[observed: instance].awaitsReport = .distantPast
        if bookedAt != .distantPast, bookedAt + Self.reportMax >= self.time {
            return self.schedule[instance].budget.noteExempt(at: self.time)
        }
        let policy = self.catalogue[self.registry[instance].kind].bare
        let earliest = self.schedule[instance].budget.exemptEarliest(now: self.time, policy: policy)
        guard earliest <= self.time else { return }
        self.bookObserved(instance, [])
        self.forgetContent(of: instance)
        self.decideIfWaiting(instance)
    }

    /// A host that drives its timelines reloads an instance by itself for a cause; whether it reports that is not known.
    mutating func predict(_ causes: ReloadCauses, _ instance: InstanceNumber) {
        self.openWindow(of: instance)
        self.bookObserved(instance, causes)
        self.registry[observed: instance].awaitsReport = self.time
        self.forgetContent(of: instance)
    }

    private mutating func bookObserved(_ instance: InstanceNumber, _ causes: ReloadCauses) {
        self.counters.reloadsObserved += 1
        self.registry[observed: instance].observedReloads += 1
        let exemption = self.exemption(of: instance, waiting: causes)
        guard exemption != nil || self.registry[self.registry[instance].host].isInStandBy else {
            return self.book(instance, isPush: false)
        }
        self.schedule[instance].budget.noteExempt(at: self.time)
        if exemption == .added || exemption == .configured { self.schedule[cold: instance].freeSetupAt = self.time }
    }

    /// Notes that no sender knows the content that the instance shows now.
    private mutating func forgetContent(of instance: InstanceNumber) {
        self.registry[content: instance].confirmedDigest = nil
        self.registry.setConfirmedBy(of: instance, self.position)
    }

    /// Lets a host's instances be driven as its delivery says. A host that drives itself takes over its waiting causes,
    /// except for those of pushes and the app, which go on waiting.
    mutating func adoptDelivery(of host: HostNumber) {
        let isHostDriven = self.registry[host].delivery == .apns
        let live = self.registry.liveInstances(of: host)
        // All of them first: a push for one that waits would take along those that the others wait for.
        for instance in live {
            self.registry[instance].isHostDriven = isHostDriven
            guard isHostDriven else { continue }
            let last = self.schedule[active: instance].outstanding.last
            // A push that the same entry issued, by the delivery before, counts as the one push of an instant.
            if !last.isNone, self.reloads[row: last].position == self.position {
                self.registry[host].pushedAt = self.time
            }
            self.schedule[active: instance].heldUntil = .distantPast
            let own = self.schedule[active: instance].waiting.subtracting(ReloadCauses(.appRequest))
            self.schedule[active: instance].waiting.subtract(own)
            if !own.isEmpty { self.predict(own, instance) }
        }
        for instance in live { self.decide(instance) }
    }
}
