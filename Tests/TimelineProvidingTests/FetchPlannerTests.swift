import Engine
import Testing
import TimelineProviding
import WidgetModel

@Suite struct FetchPlannerTests {
    private static let start = Fixtures.start

    private static func planner(
        inFlight: Int = 4,
        batch: Int = 10,
        rate: Int = 1000,
        burst: Int = 1000,
        failures: Int = 5
    ) -> FetchPlanner {
        var limits = FetchLimits()
        limits.inFlightMax = inFlight
        limits.batchMax = batch
        limits.rateCount = rate
        limits.rateBurst = burst
        limits.failuresMax = failures
        return FetchPlanner(limits: limits, name: "com.example.scores/scores")
    }

    private static func hosts(_ batch: FetchPlanner.Batch?) -> [String] {
        batch?.items.map(\.address.host.id.rawValue) ?? []
    }

    @Test func `who is seen comes first, then who has little time, then by priority, age and id, and content last`() {
        var planner = Self.planner()
        let items = [
            Fixtures.item(1), Fixtures.item(9, issued: .seconds(-5)), Fixtures.item(2, priority: .high),
            Fixtures.item(3, expires: .hours(1)), Fixtures.item(4, visible: true), Fixtures.item(0),
            Fixtures.item(5, visible: true, expires: .hours(2)),
            Fixtures.item(6, expires: .minutes(1), forContent: true), Fixtures.item(7, visible: true, forContent: true),
        ]
        for item in items { planner.add(item) }
        let order = ["host-5", "host-4", "host-3", "host-2", "host-9", "host-0", "host-1", "host-7", "host-6"]
        #expect(Self.hosts(planner.next(at: Self.start)) == order)

        // Whatever the order in which they came.
        var reversed = Self.planner()
        for item in items.reversed() { reversed.add(item) }
        #expect(Self.hosts(reversed.next(at: Self.start)) == order)
    }

    @Test func `a request has as many instances as it may, and so many requests are on their way at most`() {
        var planner = Self.planner(inFlight: 2, batch: 3)
        for number in 0..<8 { planner.add(Fixtures.item(number)) }
        let first = planner.next(at: Self.start)
        #expect(first?.items.count == 3)
        #expect(planner.next(at: Self.start)?.items.count == 3)
        #expect(planner.next(at: Self.start) == nil)
        #expect(planner.wakesAt(Self.start) == nil)
        planner.succeeded(first?.number ?? 0, answered: Set(first?.items.map(\.reload) ?? []), at: Self.start)
        #expect(planner.wakesAt(Self.start) == Self.start)
        #expect(planner.next(at: Self.start)?.items.count == 2)
        #expect(planner.counters.requests == 3 && planner.counters.answered == 3)
    }

    @Test func `the oldest is the one that was issued first, whatever it waits for`() {
        var planner = Self.planner(batch: 1)
        #expect(planner.oldest == nil)
        planner.add(Fixtures.item(1, issued: .seconds(-5)))
        planner.add(Fixtures.item(2, issued: .seconds(-3)))
        planner.add(Fixtures.item(3, issued: .seconds(-1)))
        #expect(planner.oldest == Self.start - .seconds(5))
        let (first, second) = (planner.next(at: Self.start), planner.next(at: Self.start))
        #expect(planner.oldest == Self.start - .seconds(5))
        planner.succeeded(first?.number ?? 0, answered: Set(first?.items.map(\.reload) ?? []), at: Self.start)
        #expect(planner.oldest == Self.start - .seconds(3))
        planner.failed(second?.number ?? 0, at: Self.start)
        #expect(planner.oldest == Self.start - .seconds(3))
        for item in second?.items ?? [] { _ = planner.calledBack(item.reload) }
        #expect(planner.oldest == Self.start - .seconds(1))
    }

    @Test func `tried now, what has failed is asked about at once, what was promised is waited for`() {
        var planner = Self.planner(batch: 1, failures: 1)
        for number in 1...3 { planner.add(Fixtures.item(number)) }
        let called = planner.next(at: Self.start)
        let failing = planner.next(at: Self.start)
        let promised = Set(called?.items.map(\.reload) ?? [])
        planner.succeeded(called?.number ?? 0, answered: [], called: promised, at: Self.start)
        planner.failed(failing?.number ?? 0, retryAfter: .minutes(5), at: Self.start)
        #expect(planner.next(at: Self.start) == nil)
        planner.tryNow()
        // One on trial; the others follow when it is answered well.
        let trial = planner.next(at: Self.start)
        #expect(trial?.items.count == 1 && planner.next(at: Self.start) == nil)
        planner.succeeded(trial?.number ?? 0, answered: Set(trial?.items.map(\.reload) ?? []), at: Self.start)
        #expect(planner.next(at: Self.start)?.items.count == 1)
        #expect(planner.next(at: Self.start) == nil)
        #expect(planner.count == 2)
    }

    @Test func `a reload is asked for once, however often it is added`() {
        var planner = Self.planner()
        for _ in 0..<3 { planner.add(Fixtures.item(1)) }
        let batch = planner.next(at: Self.start)
        planner.add(Fixtures.item(1))
        #expect(Self.hosts(batch) == ["host-1"])
        #expect(planner.next(at: Self.start) == nil)
        #expect(planner.count == 1)
    }

    @Test func `a request that is not sent leaves nothing, except what is not known to be over`() {
        var planner = Self.planner()
        for number in 0..<3 { planner.add(Fixtures.item(number)) }
        let batch = planner.next(at: Self.start)
        planner.withdrawn(batch?.number ?? 0, left: [Fixtures.reload(1), Fixtures.reload(9)], at: Self.start)
        #expect(planner.count == 1 && planner.requestsInFlight == 0)
        #expect(planner.next(at: Self.start) == nil)
        #expect(Self.hosts(planner.next(at: Self.start + .seconds(1))) == ["host-1"])
    }

    @Test func `requests keep the rate, but for a burst`() {
        var planner = Self.planner(inFlight: 1000, batch: 1, rate: 10, burst: 3)
        for number in 0..<50 { planner.add(Fixtures.item(number)) }
        var sent: [Interval] = []
        var now = Self.start
        while sent.count < 20 {
            if planner.next(at: now) != nil {
                sent.append(now - Self.start)
            } else {
                guard let wakes = planner.wakesAt(now), wakes > now else { break }
                now = wakes
            }
        }
        #expect(sent.map(\.milliseconds) == [0, 0, 0] + (1...17).map { Int64($0 * 100) })
    }

    @Test func `a failed request is tried again, later each time, and each instance at its own time`() {
        var planner = Self.planner(failures: 1000)
        for number in 0..<10 { planner.add(Fixtures.item(number)) }
        var now = Self.start
        for failure in 1...12 {
            var batch: Set<String> = []
            var firstAt: Instant?
            // They come back over half of the wait, not together.
            while batch.count < 10, let wakes = planner.wakesAt(now) {
                now = max(now, wakes)
                firstAt = firstAt ?? now
                while let next = planner.next(at: now) {
                    batch.formUnion(Self.hosts(next))
                    planner.failed(next.number, at: now)
                    if failure == 1 { break }
                }
            }
            #expect(batch.count == 10, "failure \(failure)")
        }
        #expect(planner.counters.retries >= 120)
        #expect(planner.count == 10)
    }

    @Test func `what was not answered of a batch is tried again, what was is done`() {
        var planner = Self.planner()
        for number in 0..<3 { planner.add(Fixtures.item(number)) }
        let batch = planner.next(at: Self.start)
        planner.succeeded(batch?.number ?? 0, answered: [Fixtures.reload(1)], at: Self.start)
        #expect(planner.count == 2)
        let later = Self.start + .seconds(1)
        #expect(Set(Self.hosts(planner.next(at: later))) == ["host-0", "host-2"])
    }

    @Test func `a reload whose time is over is not asked for any more`() {
        var planner = Self.planner()
        planner.add(Fixtures.item(1, expires: .seconds(1)))
        planner.add(Fixtures.item(2, expires: .seconds(2)))
        #expect(Self.hosts(planner.next(at: Self.start + .seconds(1))) == ["host-2"])
        #expect(planner.counters.expired == 1)
        #expect(planner.count == 1)
    }

    @Test func `a provider that will call back gets its time, and is asked again after that`() {
        var planner = Self.planner()
        for number in 0..<2 { planner.add(Fixtures.item(number)) }
        let batch = planner.next(at: Self.start)
        let both = Set(batch?.items.map(\.reload) ?? [])
        planner.succeeded(batch?.number ?? 0, answered: [], called: both, at: Self.start)
        #expect(planner.calledBack(Fixtures.reload(0)) == true)
        #expect(planner.calledBack(Fixtures.reload(0)) == false)
        let deadline = Self.start + .seconds(60)
        #expect(planner.wakesAt(Self.start) == deadline)
        #expect(planner.next(at: deadline - .milliseconds(1)) == nil)
        #expect(Self.hosts(planner.next(at: deadline)) == ["host-1"])
        #expect(planner.counters.neverCalled == 1 && planner.counters.answered == 1)
    }

    @Test func `after failures in a row nothing goes for a while, then one instance on trial`() throws {
        var planner = Self.planner(inFlight: 3, batch: 2, failures: 3)
        for number in 0..<20 { planner.add(Fixtures.item(number)) }
        let batches = [planner.next(at: Self.start), planner.next(at: Self.start), planner.next(at: Self.start)]
        for batch in batches { planner.failed(try #require(batch).number, at: Self.start) }
        guard case .open(let until, 1) = planner.breaker.state else {
            Issue.record("expected it open, found \(planner.breaker.state)")
            return
        }
        #expect(planner.next(at: until - .milliseconds(1)) == nil)
        let next = planner.next(at: until)
        let trial = try #require(next)
        #expect(trial.items.count == 1)
        #expect(planner.next(at: until) == nil)
        planner.succeeded(trial.number, answered: Set(trial.items.map(\.reload)), at: until)
        #expect(planner.breaker.state == .closed(failures: 0))
        #expect(planner.next(at: until)?.items.count == 2)
    }

    @Test func `what was permitted before the breaker opened may go no more, and ends no trial`() throws {
        var planner = Self.planner(inFlight: 4, batch: 1, failures: 1)
        for number in 0..<4 { planner.add(Fixtures.item(number)) }
        let (first, second) = (planner.next(at: Self.start), planner.next(at: Self.start))
        #expect(planner.mayGo(second?.number ?? 0, at: Self.start))
        planner.failed(first?.number ?? 0, at: Self.start)
        let later = Self.start + .seconds(5)
        #expect(!planner.mayGo(second?.number ?? 0, at: Self.start) && !planner.mayGo(second?.number ?? 0, at: later))
        let trial = planner.next(at: later)
        #expect(planner.mayGo(trial?.number ?? 0, at: later) && !planner.mayGo(second?.number ?? 0, at: later))
        planner.withdrawn(second?.number ?? 0, at: later)
        #expect(planner.next(at: later) == nil)
        planner.withdrawn(trial?.number ?? 0, at: later)
        #expect(planner.next(at: later)?.items.count == 1)
    }

    @Test func `a provider that says when to come back is believed, for ten minutes at most`() {
        for (asked, waited) in [(Interval.seconds(30), Interval.seconds(30)), (.hours(2), .minutes(10))] {
            var planner = Self.planner()
            planner.add(Fixtures.item(1))
            planner.add(Fixtures.item(2, issued: .seconds(1)))
            let batch = planner.next(at: Self.start)
            planner.failed(batch?.number ?? 0, retryAfter: asked, at: Self.start)
            let until = Self.start + waited
            #expect(planner.next(at: until - .milliseconds(1)) == nil)
            #expect(planner.wakesAt(until - .milliseconds(1)) == until)
            #expect(planner.next(at: until)?.items.count == 2)
        }
    }

    @Test func `an answer to what was not asked changes nothing`() {
        var planner = Self.planner()
        planner.add(Fixtures.item(1))
        planner.succeeded(7, answered: [Fixtures.reload(1)], at: Self.start)
        planner.failed(8, at: Self.start)
        #expect(planner.count == 1 && planner.counters.answered == 0 && planner.counters.failedRequests == 0)
    }
}
