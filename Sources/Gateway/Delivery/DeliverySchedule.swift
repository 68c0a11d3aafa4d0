import HeapModule
package import WidgetModel

/// Which deliveries are tried when: what waits, what is in work, and what may not be sent any more.
///
/// A value without a clock. A delivery is in exactly one of three states, waiting, in work or gone, and leaves by
/// ``end(_:)`` or by being reported as expired. What is due first goes first, the older one of two.
package struct DeliverySchedule: Sendable {
    /// The bounds of a schedule.
    package struct Limits: Hashable, Sendable {
        /// Deliveries in work at once. Default 1,000.
        package var inWorkMax = 1000
        /// Deliveries that are known, in work or waiting. Default 100,000; the log keeps those beyond it.
        package var knownMax = 100_000

        package init() {}
    }

    /// What to do with a delivery now.
    package enum Step: Hashable, Sendable {
        /// Try it; it is in work until ``again(_:at:)`` or ``end(_:)``.
        case start(UInt64)
        /// It was not delivered before its expiration, and is gone.
        case expired(UInt64)
    }

    private struct Place: Hashable, Comparable, Sendable {
        let at: Instant
        let id: UInt64

        static func < (left: Place, right: Place) -> Bool {
            left.at == right.at ? left.id < right.id : left.at < right.at
        }
    }

    /// What a lane holds.
    package struct Lane: Hashable, Sendable {
        /// Deliveries that wait or are in work.
        package var count: Int
        /// Since when the oldest of them is wanted; nil if there are none.
        package var oldest: Instant?

        package init(count: Int = 0, oldest: Instant? = nil) {
            self.count = count
            self.oldest = oldest
        }
    }

    private struct Entry: Sendable {
        let since: Instant
        let expiresAt: Instant
        var lane: Int
        /// When it is tried, if it waits.
        var due: Instant?
        /// Whether its lane was to be tried now while it was in work.
        var isOutdated = false
    }

    /// May change: of those that are too many none goes.
    package var limits: Limits
    private var entries: [UInt64: Entry] = [:]
    /// Those that wait; what is not there any more is skipped.
    private var heap = Heap<Place>()
    private var pauses: [Int: Instant] = [:]
    package private(set) var inWork = 0

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Deliveries that wait or are in work.
    package var count: Int { self.entries.count }

    /// Takes a delivery that is to be tried at once.
    ///
    /// - Parameters:
    ///   - lane: Deliveries of one lane are paused together.
    ///   - since: When it came to be wanted; by default now.
    /// - Returns: False if there are as many as may be known.
    package mutating func add(
        _ id: UInt64,
        lane: Int = 0,
        since: Instant? = nil,
        expiresAt: Instant,
        now: Instant
    ) -> Bool {
        guard self.entries.count < self.limits.knownMax else { return false }
        self.entries[id] = Entry(since: since ?? now, expiresAt: expiresAt, lane: lane)
        self.wait(id, until: now)
        return true
    }

    /// The delivery is one of another lane from now on.
    package mutating func move(_ id: UInt64, to lane: Int) { self.entries[id]?.lane = lane }

    /// A try came to nothing, and the next one is at this instant.
    package mutating func again(_ id: UInt64, at instant: Instant) {
        guard let entry = self.entries[id], entry.due == nil else { return }
        self.inWork -= 1
        self.wait(id, until: instant)
    }

    /// The delivery is over, for better or worse.
    package mutating func end(_ id: UInt64) {
        guard let entry = self.entries.removeValue(forKey: id) else { return }
        if entry.due == nil { self.inWork -= 1 }
    }

    /// No delivery of a lane is tried before this instant.
    package mutating func pause(_ lane: Int, until instant: Instant) {
        self.pauses[lane] = max(self.pauses[lane] ?? instant, instant)
    }

    /// Ends the lane's pause, and makes what waits in it due; what is in work is outdated. It looks at every delivery.
    package mutating func tryNow(_ lane: Int, now: Instant) {
        self.pauses[lane] = nil
        for (id, entry) in self.entries where entry.lane == lane {
            guard let due = entry.due else {
                self.entries[id]?.isOutdated = true
                continue
            }
            if due > now { self.wait(id, until: now) }
        }
    }

    /// Whether a delivery that is in work was begun before its lane was to be tried now: what comes of that try says nothing of
    /// what is there now.
    package func isOutdated(_ id: UInt64) -> Bool { self.entries[id]?.isOutdated ?? false }

    /// Until when nothing of a lane is tried; nil if it is not paused.
    package func pausedUntil(_ lane: Int, now: Instant) -> Instant? {
        self.pauses[lane].flatMap { $0 > now ? $0 : nil }
    }

    /// What each lane holds that holds anything. It looks at every delivery.
    package func lanes() -> [Int: Lane] {
        self.entries.values.reduce(into: [:]) { lanes, entry in
            var lane = lanes[entry.lane] ?? Lane()
            lane.count += 1
            lane.oldest = min(lane.oldest ?? entry.since, entry.since)
            lanes[entry.lane] = lane
        }
    }

    /// What is to be done now. Call it again when ``nextDue`` comes, or something ends.
    package mutating func steps(now: Instant) -> [Step] {
        var steps: [Step] = []
        while let first = self.heap.min, first.at <= now {
            guard let entry = self.entries[first.id], let due = entry.due, first.at == min(due, entry.expiresAt) else {
                self.heap.removeMin()
                continue
            }
            if entry.expiresAt <= now {
                self.heap.removeMin()
                self.entries[first.id] = nil
                steps.append(.expired(first.id))
            } else if let pause = self.pauses[entry.lane], pause > now {
                self.heap.removeMin()
                self.wait(first.id, until: pause)
            } else if self.inWork < self.limits.inWorkMax {
                self.heap.removeMin()
                self.entries[first.id]?.due = nil
                self.entries[first.id]?.isOutdated = false
                self.inWork += 1
                steps.append(.start(first.id))
            } else {
                break
            }
        }
        self.pauses = self.pauses.filter { $0.value > now }
        return steps
    }

    /// When there is something to do without anything ending; nil if never.
    package var nextDue: Instant? {
        self.inWork < self.limits.inWorkMax ? self.heap.min?.at : nil
    }

    private mutating func wait(_ id: UInt64, until instant: Instant) {
        guard let entry = self.entries[id] else { return }
        self.entries[id]?.due = instant
        self.heap.insert(Place(at: min(instant, entry.expiresAt), id: id))
    }
}
