import APNSWire
import TestSupport
import Testing
import WidgetModel

/// The pace of one rate, at, below and above its edges.
@Suite struct RateLimitTests {
    private static let start = Instant(seconds: 1_793_638_800)

    /// How many of `count` that come at one instant are admitted.
    private static func admitted(_ limit: RateLimit, _ arrival: inout Int64, _ count: Int, at now: Instant) -> Int {
        (0..<count).reduce(0) { admitted, _ in
            guard case .admitted(let next) = limit.judge(arrival, at: now) else { return admitted }
            arrival = next
            return admitted + 1
        }
    }

    @Test func `the burst comes at once and the next one waits for the pace`() {
        let limit = RateLimit(count: 20, per: .minutes(1), burst: 5)
        var arrival = RateLimit.idle
        #expect(Self.admitted(limit, &arrival, 5, at: Self.start) == 5)
        #expect(limit.judge(arrival, at: Self.start) == .refused(wait: 3_000_000_000))
        #expect(limit.judge(arrival, at: Self.start + .milliseconds(2999)) == .refused(wait: 1_000_000))
        #expect(
            limit.judge(arrival, at: Self.start + .milliseconds(3000)) == .admitted(arrival + 3_000_000_000)
        )
    }

    @Test func `a burst of one keeps exactly the interval`() {
        let limit = RateLimit(count: 1, per: .hours(24), burst: 1)
        guard case .admitted(let next) = limit.judge(RateLimit.idle, at: Self.start) else {
            Issue.record("the first one is admitted")
            return
        }
        #expect(limit.judge(next, at: Self.start + .days(1) - .milliseconds(1)) == .refused(wait: 1_000_000))
        #expect(limit.judge(next, at: Self.start + .days(1)) == .admitted(next + 86_400_000_000_000))
    }

    @Test func `after a pause the whole burst is there again, and no more`() {
        let limit = RateLimit(count: 10, per: .seconds(1), burst: 7)
        var arrival = RateLimit.idle
        #expect(Self.admitted(limit, &arrival, 20, at: Self.start) == 7)
        #expect(Self.admitted(limit, &arrival, 20, at: Self.start + .milliseconds(700)) == 7)
        #expect(Self.admitted(limit, &arrival, 20, at: Self.start + .days(30)) == 7)
    }

    @Test func `what a millisecond of log time is good for can come at once`() {
        let limit = RateLimit(count: 5000, per: .seconds(1), burst: 1)
        var arrival = RateLimit.idle
        #expect(Self.admitted(limit, &arrival, 20, at: Self.start) == 5)
        #expect(Self.admitted(limit, &arrival, 20, at: Self.start + .milliseconds(1)) == 5)
        let most = RateLimit(count: 1_000_000, per: .seconds(1), burst: 10_000_000)
        #expect(most.interval == 1000)
        #expect(most.tolerance == 9_999_999_000)
    }

    @Test(arguments: [
        // count a minute, burst, of how many -> at once, then one every so many milliseconds
        (20, 6, 1, 6, 3000), (20, 6, 2, 3, 6000), (20, 6, 3, 2, 9000), (20, 6, 4, 1, 6000), (20, 6, 7, 1, 21_000),
        (1, 1, 3, 1, 180_000),
    ])
    func `each of several has its part of the pace and of the burst`(
        count: Int,
        burst: Int,
        shares: Int,
        atOnce: Int,
        milliseconds: Int64
    ) {
        let limit = RateLimit(count: count, per: .minutes(1), burst: burst).share(of: shares)
        var arrival = RateLimit.idle
        #expect(Self.admitted(limit, &arrival, 20, at: Self.start) == atOnce)
        #expect(Self.admitted(limit, &arrival, 20, at: Self.start + .milliseconds(milliseconds - 1)) == 0)
        #expect(Self.admitted(limit, &arrival, 20, at: Self.start + .milliseconds(milliseconds)) == 1)
    }

    @Test(arguments: [(1, 5), (2, 3), (3, 2), (4, 2), (5, 1), (7, 1)])
    func `what a millisecond is good for can come at once, of a part, too`(shares: Int, atOnce: Int) {
        let limit = RateLimit(count: 5000, per: .seconds(1), burst: 1).share(of: shares)
        var arrival = RateLimit.idle
        #expect(Self.admitted(limit, &arrival, 20, at: Self.start) == atOnce)
    }

    @Test func `what a rate knows stays valid when there are more or fewer`() {
        let limit = RateLimit(count: 20, per: .minutes(1), burst: 4)
        var arrival = RateLimit.idle
        #expect(Self.admitted(limit.share(of: 2), &arrival, 20, at: Self.start) == 2)
        // Alone it has the half that another one had.
        #expect(Self.admitted(limit, &arrival, 20, at: Self.start) == 0)
        #expect(Self.admitted(limit, &arrival, 20, at: Self.start + .seconds(3)) == 1)
        #expect(Self.admitted(limit.share(of: 4), &arrival, 20, at: Self.start + .seconds(14)) == 0)
        #expect(Self.admitted(limit.share(of: 4), &arrival, 20, at: Self.start + .seconds(15)) == 1)
    }

    @Test func `one that is given back had not come`() {
        let limit = RateLimit(count: 1, per: .seconds(10), burst: 2)
        var arrival = RateLimit.idle
        #expect(Self.admitted(limit, &arrival, 2, at: Self.start) == 2)
        arrival = limit.givingBack(arrival)
        #expect(Self.admitted(limit, &arrival, 2, at: Self.start) == 1)
    }

    @Test(arguments: Extremes.integers, Extremes.integers)
    func `any time of the clock and any arrival time are judged`(milliseconds: Int64, arrival: Int64) {
        let now = Instant(milliseconds: milliseconds)
        for (count, period, burst) in [
            (1, Interval.milliseconds(1), 1), (1, .days(1), .max), (.max, .days(1), 1),
            (1_000_000, .seconds(1), 10_000_000),
        ] {
            let limit = RateLimit(count: count, per: period, burst: burst)
            switch limit.judge(arrival, at: now) {
            case .admitted(let next):
                #expect(next >= arrival)
                #expect(limit.givingBack(next) <= next)
            case .refused(let wait):
                #expect(wait > 0 && RateLimit.retryAfterSeconds(wait) >= 1)
            }
        }
    }

    @Test(arguments: [
        (Int64(1), 1), (999_999_999, 1), (1_000_000_000, 1), (1_000_000_001, 2), (60_000_000_000, 60),
    ])
    func `a wait is told in whole seconds, rounded up`(wait: Int64, seconds: Int) {
        #expect(RateLimit.retryAfterSeconds(wait) == seconds)
    }

    @Test(arguments: UInt64(1)...32)
    func `any span holds at most the burst and what its pace gives`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let burst = Int(random.next() % 9) + 1
        let limit = RateLimit(count: Int(random.next() % 50) + 1, per: .seconds(1), burst: burst)
        var arrival = RateLimit.idle
        var now = Self.start
        var admitted: [Instant] = []
        for _ in 0..<400 {
            now = now + .milliseconds(Int64(random.next() % 60))
            switch limit.judge(arrival, at: now) {
            case .admitted(let next):
                arrival = next
                admitted.append(now)
            case .refused(let wait):
                // At the end of the wait it is admitted, a millisecond before it is not.
                let end = now + .milliseconds((wait - 1) / 1_000_000 + 1)
                #expect(limit.judge(arrival, at: end) != .refused(wait: 0), "seed \(seed)")
                if case .refused = limit.judge(arrival, at: end) { Issue.record("seed \(seed): waits in vain") }
                if case .admitted = limit.judge(arrival, at: end - .milliseconds(1)) {
                    Issue.record("seed \(seed): waits too long")
                }
            }
        }
        for first in admitted.indices {
            for last in first..<admitted.count {
                let span = (admitted[last] - admitted[first]).milliseconds * 1_000_000
                #expect(Int64(last - first + 1) <= Int64(burst) + span / limit.interval, "seed \(seed)")
            }
        }
    }
}
