import Timelines
import WidgetModel

/// Timers that were due before a record, in the order in which they fire.
///
/// All of them are taken out of the calendars before the first one fires, since one that fires may arm others.
struct DueTimers: Sendable {
    /// Timers of instances, or of hosts, by number.
    private struct Run {
        let isOfHosts: Bool
        var numbers: [UInt32]
    }

    private var runs: [Run] = []
    /// Where the next one is.
    private var run = 0
    private var place = 0
    fileprivate(set) var isCollected = false

    var isDone: Bool { self.isCollected && self.run == self.runs.count }

    mutating func append(_ numbers: [UInt32], ofHosts: Bool) {
        guard !numbers.isEmpty else { return }
        if let last = self.runs.last, last.isOfHosts == ofHosts {
            self.runs[self.runs.count - 1].numbers += numbers
        } else {
            self.runs.append(Run(isOfHosts: ofHosts, numbers: numbers))
        }
    }

    /// The next timers, so many at most, all of instances or all of hosts. Precondition: there are some.
    mutating func takeNext(_ count: Int) -> (isOfHosts: Bool, numbers: [UInt32]) {
        let isOfHosts = self.runs[self.run].isOfHosts
        let end = min(self.runs[self.run].numbers.count, self.place + count)
        let numbers = Array(self.runs[self.run].numbers[self.place..<end])
        self.place = end
        if end == self.runs[self.run].numbers.count { (self.run, self.place) = (self.run + 1, 0) }
        return (isOfHosts, numbers)
    }
}

extension Engine {
    /// So many timers are collected for one unit.
    private static let timersPerUnit = 16

    /// Disarms what is due by the log's time, and fires it: in the order of due seconds, of one second first timers of
    /// instances and then those of hosts, so that a lease takes nothing from a widget that is due with it; then of numbers.
    /// A unit is a timer that fires, or a reload that comes of it.
    mutating func advance(_ timers: inout DueTimers, _ units: inout Int) {
        self.collect(&timers, &units)
        while units > 0, timers.isCollected, !timers.isDone {
            let before = self.output.effects.count
            let batch = timers.takeNext(min(units, Self.approachedMatches))
            if batch.isOfHosts {
                for host in batch.numbers { self.fireHost(host) }
            } else {
                self.approach(batch.numbers.span, batch.numbers.indices, ofDigest: false)
                for instance in batch.numbers { self.fireInstance(instance) }
            }
            units -= batch.numbers.count + self.output.effects.count - before
        }
    }

    /// Disarms what is due, second by second.
    mutating func collect(_ timers: inout DueTimers, _ units: inout Int) {
        while units > 0, !timers.isCollected {
            guard let second = self.nextDue, second <= self.time else {
                timers.isCollected = true
                return
            }
            let instances = self.instanceTimers.takeDue(upTo: second)
            let hosts = self.hostTimers.takeDue(upTo: second)
            timers.append(instances, ofHosts: false)
            timers.append(hosts, ofHosts: true)
            units -= 1 + (instances.count + hosts.count) / Self.timersPerUnit
        }
    }
}
