import Partitions
import Synchronization
import WidgetModel

/// Two clocks that move when they are told to.
final class FakeTime: Sendable {
    private let state: Mutex<(monotonic: UInt64, wall: Instant)>

    init(wall: Instant = Sports.start) {
        self.state = Mutex((monotonic: 1_000_000_000, wall: wall))
    }

    /// Lets time pass on both clocks.
    func pass(_ interval: Interval) { self.pass(microseconds: UInt64(interval.milliseconds) * 1000) }

    /// Lets time pass on both clocks; wall time shows whole milliseconds.
    func pass(microseconds: UInt64) {
        self.state.withLock { state in
            let before = state.monotonic / 1_000_000
            state.monotonic += microseconds * 1000
            state.wall = state.wall + .milliseconds(Int64(state.monotonic / 1_000_000 - before))
        }
    }

    /// Corrects the wall clock.
    func correct(by interval: Interval) { self.state.withLock { $0.wall = $0.wall + interval } }

    var wall: Instant { self.state.withLock { $0.wall } }

    func makeClock() -> LogClock {
        LogClock(
            monotonicNanoseconds: { self.state.withLock { $0.monotonic } },
            wall: { self.state.withLock { $0.wall } }
        )
    }
}
