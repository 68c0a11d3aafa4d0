import Partitions
import TestSupport
import Testing
import WidgetModel

@Suite struct LogClockTests {
    private let time = FakeTime()

    /// How far the clock goes while one second passes.
    private func second(_ clock: LogClock) -> Interval {
        let before = clock.now()
        self.time.pass(.seconds(1))
        return clock.now() - before
    }

    @Test func `without a difference log time is wall time`() {
        let clock = self.time.makeClock()
        #expect(clock.now() == Sports.start)
        self.time.pass(.hours(30))
        #expect(clock.now() == Sports.start + .hours(30))
    }

    @Test(arguments: [(10, 1010), (-10, 990)] as [(Int64, Int64)])
    func `a small correction is followed at one part in a hundred`(seconds: Int64, milliseconds: Int64) {
        let clock = self.time.makeClock()
        self.time.correct(by: .seconds(seconds))
        #expect(self.second(clock) == .milliseconds(milliseconds))
    }

    @Test func `a correction is over once it is made up for`() {
        let clock = self.time.makeClock()
        self.time.correct(by: .seconds(10))
        self.time.pass(.seconds(1001))
        #expect(clock.now() == self.time.wall)
        #expect(self.second(clock) == .seconds(1))
    }

    @Test(arguments: [1000, 100, 17] as [UInt64])
    func `a clock that is read often is slewed all the same`(microseconds: UInt64) {
        let clock = self.time.makeClock()
        self.time.correct(by: .seconds(10))
        let before = clock.now()
        for _ in 0..<(17_000_000 / microseconds) {
            self.time.pass(microseconds: microseconds)
            _ = clock.now()
        }
        #expect(clock.now() - before == .milliseconds(17_170))
    }

    @Test func `long agreement does not buy a jump`() {
        let clock = self.time.makeClock()
        for _ in 0..<100 {
            self.time.pass(.hours(1))
            _ = clock.now()
        }
        self.time.correct(by: .minutes(4))
        #expect(self.second(clock) == .milliseconds(1010))
    }

    @Test(arguments: [1, -1] as [Int64])
    func `a step of more than 5 minutes is not followed`(direction: Int64) {
        let clock = self.time.makeClock()
        self.time.correct(by: .milliseconds(direction * 300_001))
        #expect(self.second(clock) == .seconds(1))
        #expect(clock.isStepped)
        self.time.correct(by: .milliseconds(-direction * 300_001))
        #expect(self.second(clock) == .seconds(1))
        #expect(!clock.isStepped)
    }

    @Test(arguments: [1, -1] as [Int64])
    func `a step of 5 minutes is slewed`(direction: Int64) {
        let clock = self.time.makeClock()
        self.time.correct(by: .milliseconds(direction * 300_000))
        #expect(self.second(clock) == .milliseconds(1000 + direction * 10))
        #expect(!clock.isStepped)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `log time never goes back`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let clock = self.time.makeClock()
        var last = clock.now()
        for step in 0..<2000 {
            if random.chance(1, in: 4) {
                self.time.correct(by: .milliseconds(Int64(random.next() % 800_000) - 400_000))
            }
            self.time.pass(microseconds: random.next() % 3_000_000)
            let now = clock.now()
            if now < last { Issue.record("went back at step \(step) of seed \(seed)") }
            last = now
        }
    }
}
