import Timelines
package import WidgetModel

extension Engine {
    /// When the owner must append a `tick`, if nothing else is appended before; nil if nothing is ever due.
    package var nextTimer: Instant? {
        let forgotten = self.tokens.nextForgotten(after: self.limits.removedTokenRetention)
        var next = Instant(milliseconds: self.postponed.due)
        if let due = self.calendar.nextDue { next = min(next, due) }
        if let forgotten { next = min(next, forgotten) }
        return next.milliseconds == .max ? nil : next
    }

    /// Instances and hosts share one calendar: even ids and odd ones.
    static func timer(ofInstance instance: UInt32) -> UInt32 { instance << 1 }
    static func timer(ofHost host: UInt32) -> UInt32 { host << 1 | 1 }

    /// Fires what is due by the log's time, in the order of due seconds and then ids.
    mutating func fireTimers() {
        if !self.senderPauses.isEmpty { self.senderPauses = self.senderPauses.filter { $0.value > self.now } }
        if self.postponed.due <= self.now { self.settleDue() }
        if let due = self.calendar.nextDue, due <= self.time {
            for id in self.calendar.takeDue(upTo: self.time) {
                if id & 1 == 0 { self.fireInstance(id >> 1) } else { self.fireHost(id >> 1) }
            }
        }
        if let due = self.tokens.nextForgotten(after: self.limits.removedTokenRetention), due <= self.time {
            var forgotten: [DeviceToken] = []
            self.tokens.forget(at: self.time, after: self.limits.removedTokenRetention) { forgotten.append($0) }
            for token in forgotten { self.output.directory.append(.forgotten(token)) }
        }
        self.ledger.evict(
            above: self.limits.pushesRetainedMax,
            completedBefore: self.time - self.limits.pushRetention
        )
    }

    private mutating func fireInstance(_ instance: UInt32) {
        let timer = Self.timer(ofInstance: instance)
        if let armed = self.calendar.armed(timer) {
            // Something that fired before has moved it: a lease that ran out makes a tombstone of a widget. What is due all
            // the same is done now, as where postponed matches were written because a sibling's timer fired.
            guard armed <= self.time else { return }
            self.calendar.cancel(timer)
        }
        guard self.instances[instance].isLive else { return self.releaseTombstone(instance) }
        self.settle(instance)
        if self.instances[instance].reloadsExpire <= self.now { self.expireReloads(of: instance) }
        self.decide(instance)
    }

    private mutating func fireHost(_ host: UInt32) {
        guard self.hosts[host].isRegistered, let ends = self.hosts[host].leaseEnds, ends <= self.time else { return }
        self.settle(of: host)
        self.removeHost(host, .leaseEnded)
    }

    /// Arms the instance's timer for the first of its dates.
    mutating func arm(_ instance: UInt32) {
        let at = self.instances[instance].nextDate
        if at == .max {
            self.calendar.cancel(Self.timer(ofInstance: instance))
        } else {
            self.calendar.arm(Self.timer(ofInstance: instance), at: Instant(milliseconds: at))
        }
        self.noteSureWait(instance)
    }
}

extension InstanceTable.Row {
    /// The first of the instance's dates, in milliseconds; `.max` if it has none.
    var nextDate: Int64 {
        min(min(self.decidesAt, self.minExpiry), min(self.timelineDue, self.reloadsExpire))
    }
}
