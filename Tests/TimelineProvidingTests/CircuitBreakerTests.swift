import Testing
import TimelineProviding
import WidgetModel

@Suite struct CircuitBreakerTests {
    private static let start = Fixtures.start

    private static func breaker(_ failures: Int = 3) -> CircuitBreaker {
        let backoff = Backoff(first: .seconds(5), max: .minutes(5))
        return CircuitBreaker(failuresMax: failures, backoff: backoff, hash: 7)
    }

    @Test func `one failure less than the limit leaves it closed, a success begins anew`() {
        var breaker = Self.breaker()
        for _ in 0..<2 { breaker.failed(1, at: Self.start) }
        #expect(breaker.state == .closed(failures: 2))
        #expect(breaker.permission(at: Self.start) == .granted)
        breaker.succeeded(1)
        for _ in 0..<2 { breaker.failed(1, at: Self.start) }
        #expect(breaker.permission(at: Self.start) == .granted)
        breaker.failed(1, at: Self.start)
        guard case .refused(let until?) = breaker.permission(at: Self.start) else {
            Issue.record("expected it open, found \(breaker.state)")
            return
        }
        #expect(until >= Self.start + .milliseconds(2500) && until <= Self.start + .seconds(5))
        #expect(breaker.opened == 1)
    }

    @Test func `a trial that fails opens it for twice as long, up to the end; one that succeeds closes it`() {
        var breaker = Self.breaker(1)
        var now = Self.start
        for times in 1...10 {
            breaker.failed(times, at: now)
            guard case .open(let until, let opened) = breaker.state else {
                Issue.record("expected it open, found \(breaker.state)")
                return
            }
            let whole = min(Interval.seconds(5).milliseconds << Int64(times - 1), 300_000)
            #expect(opened == times)
            #expect((until - now).milliseconds >= whole / 2 && (until - now).milliseconds <= whole)
            #expect(breaker.permission(at: until - .milliseconds(1)) == .refused(until: until))
            #expect(breaker.permission(at: until) == .trial)
            breaker.sent(times + 1)
            #expect(breaker.permission(at: until) == .refused(until: nil))
            now = until
        }
        breaker.succeeded(11)
        #expect(breaker.state == .closed(failures: 0))
        #expect(breaker.permission(at: now) == .granted)
    }

    @Test func `what was on its way when it opened changes nothing`() {
        var breaker = Self.breaker(1)
        breaker.failed(1, at: Self.start)
        let state = breaker.state
        breaker.succeeded(1)
        breaker.failed(1, at: Self.start + .seconds(1))
        #expect(breaker.state == state)
        #expect(breaker.opened == 1)
    }

    @Test func `while one is on trial, the answers to others change nothing`() {
        var breaker = Self.breaker(1)
        breaker.failed(1, at: Self.start)
        breaker.release()
        breaker.sent(3)
        breaker.failed(2, at: Self.start)
        breaker.succeeded(2)
        breaker.withdrawn(2)
        #expect(breaker.state == .halfOpen(trial: 3, times: 1))
        breaker.withdrawn(3)
        #expect(breaker.permission(at: Self.start) == .trial)
        breaker.sent(4)
        breaker.succeeded(4)
        #expect(breaker.state == .closed(failures: 0))
    }

    @Test func `held by the service, it lets nothing through, and the later hold counts`() {
        var breaker = Self.breaker()
        breaker.hold(until: Self.start + .seconds(20))
        breaker.hold(until: Self.start + .seconds(10))
        #expect(breaker.permission(at: Self.start + .seconds(15)) == .refused(until: Self.start + .seconds(20)))
        #expect(breaker.permission(at: Self.start + .seconds(20)) == .granted)
    }

    @Test func `released, it lets one request through at once, which decides`() {
        var breaker = Self.breaker(1)
        breaker.release()
        #expect(breaker.permission(at: Self.start) == .granted)
        breaker.hold(until: Self.start + .hours(1))
        breaker.failed(1, at: Self.start)
        breaker.release()
        #expect(breaker.permission(at: Self.start) == .trial)
        breaker.sent(2)
        breaker.release()
        #expect(breaker.permission(at: Self.start) == .refused(until: nil))
        breaker.failed(2, at: Self.start)
        guard case .open(let until, let times) = breaker.state else {
            Issue.record("expected it open, found \(breaker.state)")
            return
        }
        #expect(times == 2 && until > Self.start)
    }
}
