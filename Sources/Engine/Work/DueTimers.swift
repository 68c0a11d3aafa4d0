import Timelines
import WidgetModel

/// Timers that were due before a record, in the order in which they fire.
///
/// All of them are taken out of the timing wheels before the first one fires, since one that fires may arm others.
struct DueTimers: Sendable {
    /// Timers that fire one after the other, of rows of one table.
    enum Run {
        case instances([InstanceNumber])
        case hosts([HostNumber])

        fileprivate var count: Int {
            switch self {
            case .instances(let numbers): numbers.count
            case .hosts(let numbers): numbers.count
            }
        }

        fileprivate subscript(range: Range<Int>) -> Run {
            switch self {
            case .instances(let numbers): .instances(Array(numbers[range]))
            case .hosts(let numbers): .hosts(Array(numbers[range]))
            }
        }
    }

    private var runs: [Run] = []
    /// Where the next one is.
    private var run = 0
    private var place = 0
    fileprivate(set) var isCollected = false

    var isDone: Bool { self.isCollected && self.run == self.runs.count }

    /// Adds timers that fire after all others.
    mutating func append(_ run: Run) {
        if run.count > 0 { self.runs.append(run) }
    }

    /// The next timers, so many at most, all of instances or all of hosts. Precondition: there are some.
    mutating func takeNext(_ count: Int) -> Run {
        let run = self.runs[self.run]
        let range = self.place..<min(run.count, self.place + count)
        self.place = range.upperBound
        if range.upperBound == run.count { (self.run, self.place) = (self.run + 1, 0) }
        return run[range]
    }
}

extension Engine {
    /// So many timers are collected for one unit.
    private static let timersPerUnit = 16

    /// Disarms the timers that are due by the log's time, and fires them in the order of due seconds. In one second, the timers of
    /// instances fire before those of hosts, so that a lease takes nothing from a widget that is due with it; then they fire in the order
    /// of numbers. A unit is a timer that fires, or a reload that comes of it.
    mutating func advance(_ timers: inout DueTimers, _ units: inout Int) {
        self.collect(&timers, &units)
        while units > 0, timers.isCollected, !timers.isDone {
            let before = self.output.effects.count
            let batch = timers.takeNext(min(units, Self.prefetchedMatches))
            switch batch {
            case .hosts(let hosts):
                for host in hosts { self.fireHost(host) }
            case .instances(let instances):
                self.prefetch(instances.span, instances.indices, ofDigest: false)
                for instance in instances { self.fireInstance(instance) }
            }
            units -= batch.count + self.output.effects.count - before
        }
    }

    /// Disarms the due timers, second by second.
    mutating func collect(_ timers: inout DueTimers, _ units: inout Int) {
        while units > 0, !timers.isCollected {
            guard let second = self.schedule.nextDue, second <= self.time else {
                timers.isCollected = true
                return
            }
            let due = self.schedule.takeDue(upTo: second)
            timers.append(.instances(due.instances))
            timers.append(.hosts(due.hosts))
            units -= 1 + (due.instances.count + due.hosts.count) / Self.timersPerUnit
        }
    }
}
