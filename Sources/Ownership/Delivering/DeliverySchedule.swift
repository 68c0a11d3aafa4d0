import HeapModule
package import WidgetModel

/// The times of tries: the deliveries that wait, that are in work, and that may not be sent any more.
///
/// A value without a clock. A delivery is in exactly one of three states, waiting, in work or gone, and leaves by
/// ``end(_:)`` or by being reported as expired. The first due goes first, the older one of two.
package struct DeliverySchedule: Sendable {
    /// The bounds of a schedule.
    package struct Limits: Hashable, Sendable {
        /// Deliveries in work at once. Default 1,000.
        package var inWorkMax = 1000
        /// Deliveries that are known, in work or waiting. Default 100,000; the log keeps those beyond it.
        package var knownMax = 100_000

        package init() {}
    }

    /// The next step for a delivery.
    package enum Step: Hashable, Sendable {
        /// Try it; it is in work until ``again(_:at:)`` or ``end(_:)``.
        case start(DeliveryNumber)
        /// It was not delivered before its expiration, and is gone.
        case expired(DeliveryNumber)
    }

    private struct Place: Hashable, Comparable, Sendable {
        let at: Instant
        let id: DeliveryNumber

        static func < (left: Place, right: Place) -> Bool {
            left.at == right.at ? left.id < right.id : left.at < right.at
        }
    }

    /// The deliveries for a destination.
    package struct Queue: Hashable, Sendable {
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
        /// Nil if it goes nowhere.
        var destination: Destination?
        /// When it is tried, if it waits.
        var due: Instant?
        /// Whether its destination was to be tried now, or became another one, while it was in work.
        var isOutdated = false
    }

    /// May change: of those that are too many none goes.
    package var limits: Limits
    private var entries: [DeliveryNumber: Entry] = [:]
    /// The waiting deliveries; those that have gone are skipped.
    private var heap = Heap<Place>()
    private var holds: [Destination: Instant] = [:]
    package private(set) var inWork = 0

    package init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Deliveries that wait or are in work.
    package var count: Int { self.entries.count }

    /// Adds a delivery that is to be tried at once.
    ///
    /// - Parameters:
    ///   - destination: Deliveries with one destination are held back together; nil for a delivery that has none.
    ///   - since: The beginning of its wait; by default now.
    /// - Returns: False if the schedule is full.
    package mutating func add(
        _ id: DeliveryNumber,
        to destination: Destination?,
        since: Instant? = nil,
        expiresAt: Instant,
        now: Instant
    ) -> Bool {
        guard self.entries.count < self.limits.knownMax else { return false }
        self.entries[id] = Entry(since: since ?? now, expiresAt: expiresAt, destination: destination)
        self.wait(id, until: now)
        return true
    }

    /// The delivery has this destination from now on. If that is another one it is due now, or outdated if it is in work.
    package mutating func move(_ id: DeliveryNumber, to destination: Destination?, now: Instant) {
        guard let entry = self.entries[id], entry.destination != destination else { return }
        self.entries[id]?.destination = destination
        self.hasten(id, entry, now: now)
    }

    /// A try failed, and the next one is at this instant.
    package mutating func again(_ id: DeliveryNumber, at instant: Instant) {
        guard let entry = self.entries[id], entry.due == nil else { return }
        self.inWork -= 1
        self.wait(id, until: instant)
    }

    /// The delivery is over, for better or worse.
    package mutating func end(_ id: DeliveryNumber) {
        guard let entry = self.entries.removeValue(forKey: id) else { return }
        if entry.due == nil { self.inWork -= 1 }
    }

    /// Nothing is tried at a destination before this instant.
    package mutating func hold(_ destination: Destination, until instant: Instant) {
        self.holds[destination] = max(self.holds[destination] ?? instant, instant)
    }

    /// Ends a destination's hold, and makes its waiting deliveries due; those in work are outdated. It looks at every
    /// delivery.
    package mutating func tryNow(_ destination: Destination, now: Instant) {
        self.holds[destination] = nil
        for (id, entry) in self.entries where entry.destination == destination { self.hasten(id, entry, now: now) }
    }

    private mutating func hasten(_ id: DeliveryNumber, _ entry: Entry, now: Instant) {
        guard let due = entry.due else {
            self.entries[id]?.isOutdated = true
            return
        }
        if due > now { self.wait(id, until: now) }
    }

    /// Whether a delivery in work began before its destination was to be tried at once, or changed: the result of that
    /// try says nothing about the present destination.
    package func isOutdated(_ id: DeliveryNumber) -> Bool { self.entries[id]?.isOutdated ?? false }

    /// Until when nothing is tried at a destination; nil if it is not held back.
    package func heldUntil(_ destination: Destination, now: Instant) -> Instant? {
        self.holds[destination].flatMap { $0 > now ? $0 : nil }
    }

    /// The deliveries for each destination that has any. It looks at every delivery.
    package func queues() -> [Destination: Queue] {
        self.entries.values.reduce(into: [:]) { queues, entry in
            guard let destination = entry.destination else { return }
            var queue = queues[destination] ?? Queue()
            queue.count += 1
            queue.oldest = min(queue.oldest ?? entry.since, entry.since)
            queues[destination] = queue
        }
    }

    /// The steps that are due now. Call it again at ``nextDue``, or when a delivery ends.
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
            } else if let hold = entry.destination.flatMap({ self.holds[$0] }), hold > now {
                self.heap.removeMin()
                self.wait(first.id, until: hold)
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
        self.holds = self.holds.filter { $0.value > now }
        return steps
    }

    /// When there is something to do without anything ending; nil if never.
    package var nextDue: Instant? {
        self.inWork < self.limits.inWorkMax ? self.heap.min?.at : nil
    }

    private mutating func wait(_ id: DeliveryNumber, until instant: Instant) {
        guard let entry = self.entries[id] else { return }
        self.entries[id]?.due = instant
        self.heap.insert(Place(at: min(instant, entry.expiresAt), id: id))
    }
}
