import Timelines
package import WidgetModel

extension Engine {
    /// When the owner must append a `tick`, if nothing else is appended before; nil if nothing is ever due. Between two
    /// slices of a record it does not know of the timers that are still to fire before that.
    package var nextTimer: Instant? {
        let forgotten = self.tokens.nextForgotten(after: self.catalogue.limits.removedTokenRetention)
        guard let due = self.nextDue else { return forgotten }
        return forgotten.map { min($0, due) } ?? due
    }

    /// The first due second of any timer.
    var nextDue: Instant? {
        guard let host = self.hostTimers.nextDue else { return self.instanceTimers.nextDue }
        return self.instanceTimers.nextDue.map { min($0, host) } ?? host
    }

    mutating func fireInstance(_ instance: InstanceNumber) {
        if let armed = self.instanceTimers.armed(instance) {
            // Something that fired before has armed it again: a lease that ran out makes a tombstone of a widget. What is due
            // all the same is done now.
            guard armed <= self.time else { return }
            self.instanceTimers.cancel(instance)
        }
        guard self.instances[instance].isLive else { return self.releaseTombstone(instance) }
        if self.instances[active: instance].outstanding.expires <= self.now { self.expireReloads(of: instance) }
        self.decide(instance)
    }

    mutating func fireHost(_ host: HostNumber) {
        guard self.hosts[host].isRegistered, let ends = self.hosts[host].leaseEnds, ends <= self.time else { return }
        self.removeHost(host, .leaseEnded)
    }

    /// Arms the instance's timer for the first of its dates.
    mutating func arm(_ instance: InstanceNumber) {
        let at = self.instances.nextDate(of: instance)
        if at == .max {
            self.instanceTimers.cancel(instance)
        } else {
            self.instanceTimers.arm(instance, at: Instant(milliseconds: at))
        }
    }
}

extension InstanceTable {
    /// The first of an instance's dates, in milliseconds; `.max` if it has none.
    func nextDate(of slot: InstanceNumber) -> Int64 {
        let active = self[active: slot]
        return min(min(active.decidesAt, active.minExpiry), min(self[slot].timelineDue, active.outstanding.expires))
    }
}
