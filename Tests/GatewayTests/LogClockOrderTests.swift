import Partitions
import Synchronization
import Testing
import WidgetModel

@Suite struct LogClockOrderTests {
    @Test func `a monotonic source that goes back does not move log time`() {
        let readings = Mutex<[UInt64]>([5_000_000_000, 9_000_000_000, 8_999_000_000, 9_001_000_000])
        let start = Instant(seconds: 1_795_262_400)
        let clock = LogClock(
            monotonicNanoseconds: { readings.withLock { $0.removeFirst() } },
            wall: { start + .seconds(4) }
        )
        let first = clock.now()
        #expect(clock.now() == first)
        #expect(clock.now() - first <= .milliseconds(2))
        #expect(!clock.isStepped)
    }
}
