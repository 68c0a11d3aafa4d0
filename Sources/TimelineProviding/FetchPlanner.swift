package import Engine
import HeapModule
package import WidgetModel

/// When which timelines are asked for: the queue, the caps and the retries of one kind's timeline provider, as a value.
///
/// The caller calls ``next(at:)`` until it gives nothing, sends each batch, and tells its result; at ``wakesAt(_:)``
/// there may be more. A reload is in here from ``add(_:)`` until it was answered, is over or was refused. Everything is
/// a function of the calls: no clock, no dice.
package struct FetchPlanner: Sendable {
    /// One request that may go.
    package struct Batch: Hashable, Sendable {
        package let number: Int
        /// At least one, at most ``FetchLimits/batchMax``.
        package let items: [FetchItem]
    }

    /// The counts so far.
    package struct Counters: Hashable, Sendable {
        package var requests = 0
        /// Requests that failed as a whole.
        package var failedRequests = 0
        /// Reloads that were answered, and attempts that have to be repeated.
        package var answered = 0
        package var retries = 0
        /// Reloads whose time was over before they were answered.
        package var expired = 0
        /// Reloads that found no room; they are looked for again.
        package var overflowed = 0
        /// Reloads whose provider said 202 and did not call back in time.
        package var neverCalled = 0

        package init() {}
    }

    private struct Waiting: Comparable, Sendable {
        let item: FetchItem
        let ticket: UInt64

        static func < (left: Waiting, right: Waiting) -> Bool {
            left.item.isBefore(right.item) || !right.item.isBefore(left.item) && left.ticket < right.ticket
        }

        static func == (left: Waiting, right: Waiting) -> Bool { left.ticket == right.ticket }
    }

    private struct Delayed: Comparable, Sendable {
        let item: FetchItem
        let ticket: UInt64
        let until: Instant
        let awaitsCall: Bool

        static func < (left: Delayed, right: Delayed) -> Bool {
            (left.until, left.ticket) < (right.until, right.ticket)
        }

        static func == (left: Delayed, right: Delayed) -> Bool { left.ticket == right.ticket }
    }

    private struct Known: Sendable {
        /// The only entry of the queues that counts.
        var ticket: UInt64
        var failures = 0
    }

    package let limits: FetchLimits
    package private(set) var breaker: CircuitBreaker
    package private(set) var counters = Counters()
    /// Never iterated.
    private var known: [ReloadID: Known] = [:]
    private var inFlight: [Int: [FetchItem]] = [:]
    private var waiting = Heap<Waiting>()
    private var delayed = Heap<Delayed>()
    private var tickets: UInt64 = 0
    /// When the rate would be even again, in microseconds: the theoretical arrival time of the generic cell rate
    /// algorithm (ITU-T I.371).
    private var arrival = Int64.min

    /// - Parameter name: Of app and kind, which gives its breaker times of its own.
    package init(limits: FetchLimits, name: String) {
        self.limits = limits
        self.breaker = CircuitBreaker(
            failuresMax: limits.failuresMax,
            backoff: limits.breaker,
            hash: StableHash.of(name)
        )
    }

    /// Reloads that are in here, whatever they wait for.
    package var count: Int { self.known.count }
    /// Whether a reload is in here.
    package func knows(_ reload: ReloadID) -> Bool { self.known[reload] != nil }
    /// When the reload that has been in here longest was issued; nil if there is none. It looks at all of them.
    package var oldest: Instant? {
        let queued =
            self.waiting.unordered.map { ($0.item, $0.ticket) } + self.delayed.unordered.map { ($0.item, $0.ticket) }
        let items =
            queued.filter { self.known[$0.0.reload]?.ticket == $0.1 }.map(\.0)
            + self.inFlight.values.joined().filter { self.known[$0.reload] != nil }
        return items.map(\.issuedAt).min()
    }
    package var requestsInFlight: Int { self.inFlight.count }

    /// Takes a reload in, unless it is in already.
    package mutating func add(_ item: FetchItem) {
        if self.known[item.reload] == nil { self.enqueue(item, failures: 0) }
    }

    /// Counts reloads for which there is no room.
    mutating func noteOverflow(_ count: Int) { self.counters.overflowed += count }

    // MARK: Sending

    /// The next request that may go now, nil if none may.
    package mutating func next(at now: Instant) -> Batch? {
        self.release(at: now)
        guard self.inFlight.count < self.limits.inFlightMax, self.rateWait(at: now) == nil else { return nil }
        let permission = self.breaker.permission(at: now)
        if case .refused = permission { return nil }
        var items: [FetchItem] = []
        // On trial, a provider gets no more than it can lose.
        let countMax = permission == .trial ? 1 : self.limits.batchMax
        while items.count < countMax, let waiting = self.waiting.popMin() {
            let id = waiting.item.reload
            guard self.known[id]?.ticket == waiting.ticket else { continue }
            guard waiting.item.expiresAt > now else {
                self.counters.expired += 1
                self.known[id] = nil
                continue
            }
            items.append(waiting.item)
        }
        guard !items.isEmpty else { return nil }
        self.chargeRate(at: now)
        self.counters.requests += 1
        self.breaker.sent(self.counters.requests)
        self.inFlight[self.counters.requests] = items
        return Batch(number: self.counters.requests, items: items)
    }

    /// Whether a request of ``next(at:)`` may still go: another one may have failed since.
    package func mayGo(_ batch: Int, at now: Instant) -> Bool {
        switch (self.breaker.permission(at: now), self.breaker.state) {
        case (.granted, _): true
        case (.refused(until: nil), .halfOpen(let trial, _)): batch == trial
        default: false
        }
    }

    /// When there may be something to send although nothing happens until then; nil if only an event can change that.
    package mutating func wakesAt(_ now: Instant) -> Instant? {
        self.release(at: now)
        let delayed = self.delayed.min?.until
        guard self.waiting.count > 0, self.inFlight.count < self.limits.inFlightMax else { return delayed }
        var ready = self.rateWait(at: now) ?? now
        switch self.breaker.permission(at: now) {
        case .granted, .trial: break
        case .refused(until: nil): return delayed
        case .refused(let until?): ready = max(ready, until)
        }
        return delayed.map { min($0, ready) } ?? ready
    }

    /// Reloads that wait after failures are asked about as soon as their turn comes, and the breaker no longer holds
    /// them. Timelines that a provider has promised to call back with are still waited for.
    package mutating func tryNow() {
        self.breaker.release()
        let delayed = self.delayed.unordered.sorted()
        self.delayed = Heap(delayed.filter(\.awaitsCall))
        for each in delayed where !each.awaitsCall {
            guard let known = self.known[each.item.reload], known.ticket == each.ticket else { continue }
            self.enqueue(each.item, failures: known.failures)
        }
    }

    // MARK: Answers

    /// The request was answered well, and says so of these reloads; the others of the batch are tried again.
    ///
    /// - Parameters:
    ///   - answered: Reloads whose timeline has come, or which are not to be asked about again.
    ///   - called: Reloads for which the provider will call back.
    package mutating func succeeded(
        _ batch: Int,
        answered: Set<ReloadID>,
        called: Set<ReloadID> = [],
        at now: Instant
    ) {
        guard let items = self.inFlight.removeValue(forKey: batch) else { return }
        self.breaker.succeeded(batch)
        for item in items where self.known[item.reload] != nil {
            if answered.contains(item.reload) {
                self.counters.answered += 1
                self.known[item.reload] = nil
            } else if called.contains(item.reload) {
                self.delay(item, until: now + self.limits.callbackMax, awaitsCall: true)
            } else {
                self.retry(item, at: now)
            }
        }
    }

    /// The request failed: everything of it is tried again.
    ///
    /// - Parameter retryAfter: When the provider said to come back.
    package mutating func failed(_ batch: Int, retryAfter: Interval? = nil, at now: Instant) {
        guard let items = self.inFlight.removeValue(forKey: batch) else { return }
        self.counters.failedRequests += 1
        self.breaker.failed(batch, at: now)
        if let retryAfter { self.breaker.hold(until: now + min(retryAfter, self.limits.retryAfterMax)) }
        for item in items where self.known[item.reload] != nil { self.retry(item, at: now) }
    }

    /// The request was not sent after all.
    ///
    /// - Parameter left: Reloads that may still be out; they are tried again.
    package mutating func withdrawn(_ batch: Int, left: Set<ReloadID> = [], at now: Instant) {
        guard let items = self.inFlight.removeValue(forKey: batch) else { return }
        self.breaker.withdrawn(batch)
        for item in items where self.known[item.reload] != nil {
            if left.contains(item.reload) { self.retry(item, at: now) } else { self.known[item.reload] = nil }
        }
    }

    /// A timeline has come for a reload by another way than as the answer to a request; false if the planner does not
    /// wait for it.
    package mutating func calledBack(_ reload: ReloadID) -> Bool {
        guard self.known.removeValue(forKey: reload) != nil else { return false }
        self.counters.answered += 1
        return true
    }

    // MARK: Parts

    private mutating func enqueue(_ item: FetchItem, failures: Int) {
        self.tickets += 1
        self.known[item.reload] = Known(ticket: self.tickets, failures: failures)
        self.waiting.insert(Waiting(item: item, ticket: self.tickets))
    }

    private mutating func retry(_ item: FetchItem, at now: Instant) {
        self.counters.retries += 1
        let failures = (self.known[item.reload]?.failures ?? 0) + 1
        self.known[item.reload]?.failures = failures
        self.delay(
            item,
            until: now + self.limits.retry.wait(after: failures, seed: item.hash),
            awaitsCall: false
        )
    }

    private mutating func delay(_ item: FetchItem, until: Instant, awaitsCall: Bool) {
        self.tickets += 1
        self.known[item.reload]?.ticket = self.tickets
        self.delayed.insert(Delayed(item: item, ticket: self.tickets, until: until, awaitsCall: awaitsCall))
    }

    /// Lets those into the queue whose wait is over.
    private mutating func release(at now: Instant) {
        while let first = self.delayed.min, first.until <= now {
            self.delayed.removeMin()
            guard let known = self.known[first.item.reload], known.ticket == first.ticket else { continue }
            guard first.item.expiresAt > now else {
                self.counters.expired += 1
                self.known[first.item.reload] = nil
                continue
            }
            if first.awaitsCall { self.counters.neverCalled += 1 }
            self.enqueue(first.item, failures: known.failures)
        }
    }

    // MARK: Rate

    /// Microseconds between two requests at an even pace.
    private var spacing: Int64 { self.limits.ratePeriod.milliseconds * 1000 / Int64(max(1, self.limits.rateCount)) }

    /// When the rate lets the next request go; nil if that is now.
    private func rateWait(at now: Instant) -> Instant? {
        guard self.arrival != .min else { return nil }
        let ahead = self.spacing.multipliedSaturating(by: Int64(self.limits.rateBurst - 1))
        let ready = self.arrival.subtractingSaturating(ahead)
        guard ready > now.milliseconds.multipliedSaturating(by: 1000) else { return nil }
        return Instant(milliseconds: ready.addingSaturating(999) / 1000)
    }

    private mutating func chargeRate(at now: Instant) {
        self.arrival = max(self.arrival, now.milliseconds.multipliedSaturating(by: 1000)).addingSaturating(self.spacing)
    }
}
