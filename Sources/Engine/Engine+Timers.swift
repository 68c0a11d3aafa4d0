import Timelines
package import WidgetModel

extension Engine {
    /// When the owner must append a `tick`, if nothing else is appended before; nil if nothing is ever due.
    package var nextTimer: Instant? {
        let forgotten = self.tokens.nextForgotten(after: self.limits.removedTokenRetention)
        var next = Instant(milliseconds: self.postponed.due)
        if let due = self.nextDue { next = min(next, due) }
        if let forgotten { next = min(next, forgotten) }
        return next.milliseconds == .max ? nil : next
    }

    /// The first due second of any timer.
    private var nextDue: Instant? {
        guard let host = self.hostTimers.nextDue else { return self.instanceTimers.nextDue }
        return self.instanceTimers.nextDue.map { min($0, host) } ?? host
    }

    /// A timer that is due, by whose it is.
    enum DueTimer: Hashable {
        case instance(UInt32)
        case host(UInt32)
    }

    /// Disarms what is due by the log's time: in the order of due seconds, of one second first those of instances and then
    /// those of hosts, so that a lease takes nothing from a widget that is due with it; then of numbers.
    mutating func takeDue() -> [DueTimer] {
        var due: [DueTimer] = []
        while let second = self.nextDue, second <= self.time {
            // Those of instances all at once up to the next one of a host.
            let last = min(self.time, self.hostTimers.nextDue ?? .distantFuture)
            due += self.instanceTimers.takeDue(upTo: last).map { .instance($0) }
            due += self.hostTimers.takeDue(upTo: last).map { .host($0) }
        }
        return due
    }

    /// Fires what is due by the log's time.
    mutating func fireTimers() {
        if !self.senderPauses.isEmpty { self.senderPauses = self.senderPauses.filter { $0.value > self.now } }
        if self.postponed.due <= self.now { self.settleDue() }
        for timer in self.takeDue() {
            switch timer {
            case .instance(let instance): self.fireInstance(instance)
            case .host(let host): self.fireHost(host)
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
        if let armed = self.instanceTimers.armed(instance) {
            // Something that fired before has moved it: a lease that ran out makes a tombstone of a widget. What is due all
            // the same is done now, as where postponed matches were written because a sibling's timer fired.
            guard armed <= self.time else { return }
            self.instanceTimers.cancel(instance)
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
            self.instanceTimers.cancel(instance)
        } else {
            self.instanceTimers.arm(instance, at: Instant(milliseconds: at))
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
