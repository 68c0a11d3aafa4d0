import Timelines
package import WidgetModel

extension Engine {
    /// When the owner must append a `tick`, if nothing else is appended before; nil if nothing is ever due. Between two
    /// slices of a record it does not know of the timers that are still to fire before that.
    package var nextTimer: Instant? {
        let forgotten = self.tokens.nextForgotten(after: self.limits.removedTokenRetention)
        guard let due = self.nextDue else { return forgotten }
        return forgotten.map { min($0, due) } ?? due
    }

    /// The first due second of any timer.
    var nextDue: Instant? {
        guard let host = self.hostTimers.nextDue else { return self.instanceTimers.nextDue }
        return self.instanceTimers.nextDue.map { min($0, host) } ?? host
    }

    /// A timer that is due, by whose it is.
    enum DueTimer: Hashable, Sendable {
        case instance(UInt32)
        case host(UInt32)

        fileprivate var instance: UInt32? {
            if case .instance(let instance) = self { instance } else { nil }
        }
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

    /// Fires timers that were due. A unit is a timer.
    mutating func fire(_ timers: inout DueTimers, _ units: inout Int) {
        while units > 0, !timers.isDone {
            let batch = timers.takeNext(min(units, Self.approachedMatches))
            let instances = batch.compactMap(\.instance)
            self.approach(instances.span, instances.indices, ofDigest: false)
            for timer in batch {
                switch timer {
                case .instance(let instance): self.fireInstance(instance)
                case .host(let host): self.fireHost(host)
                }
            }
            units -= batch.count
        }
    }

    private mutating func fireInstance(_ instance: UInt32) {
        if let armed = self.instanceTimers.armed(instance) {
            // Something that fired before has armed it again: a lease that ran out makes a tombstone of a widget. What is due
            // all the same is done now.
            guard armed <= self.time else { return }
            self.instanceTimers.cancel(instance)
        }
        guard self.instances[instance].isLive else { return self.releaseTombstone(instance) }
        if self.instances[instance].reloadsExpire <= self.now { self.expireReloads(of: instance) }
        self.decide(instance)
    }

    private mutating func fireHost(_ host: UInt32) {
        guard self.hosts[host].isRegistered, let ends = self.hosts[host].leaseEnds, ends <= self.time else { return }
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
    }
}

/// Timers that were due before a record, in the order in which they fire.
struct DueTimers: Sendable {
    private let timers: [Engine.DueTimer]
    private var next = 0

    init(_ timers: [Engine.DueTimer]) { self.timers = timers }

    var isDone: Bool { self.next == self.timers.count }

    /// The next timers, so many at most.
    mutating func takeNext(_ count: Int) -> ArraySlice<Engine.DueTimer> {
        let first = self.next
        self.next = min(self.timers.count, first + count)
        return self.timers[first..<self.next]
    }
}

extension InstanceTable.Row {
    /// The first of the instance's dates, in milliseconds; `.max` if it has none.
    var nextDate: Int64 {
        min(min(self.decidesAt, self.minExpiry), min(self.timelineDue, self.reloadsExpire))
    }
}
