import Timelines
package import WidgetModel

extension Engine {
    /// When the owner must append a `tick`, if nothing else is appended before; nil if nothing is ever due. Between two
    /// slices of a record it does not know of the timers that are still to fire before that.
    package var nextTimer: Instant? {
        let forgotten = self.registry.nextTokenForgetting(after: self.catalogue.limits.removedTokenRetention)
        guard let due = self.schedule.nextDue else { return forgotten }
        return forgotten.map { min($0, due) } ?? due
    }

    mutating func fireInstance(_ instance: InstanceNumber) {
        if let armed = self.schedule.dueTime(of: instance) {
            // A timer that fired before has armed it again: a lease that ran out makes a tombstone of a widget. If it is still due, it
            // fires now.
            guard armed <= self.time else { return }
            self.schedule.disarm(instance)
        }
        guard self.registry[instance].isLive else { return self.releaseTombstone(instance) }
        if self.schedule[active: instance].outstanding.expires <= self.time { self.expireReloads(of: instance) }
        self.decide(instance)
    }

    mutating func fireHost(_ host: HostNumber) {
        guard self.registry[host].isRegistered, let ends = self.registry[host].leaseEnds, ends <= self.time else {
            return
        }
        self.removeHost(host, .leaseEnded)
    }
}
