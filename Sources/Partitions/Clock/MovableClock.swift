import NIOCore
import Synchronization
package import WidgetModel

/// The machine's clocks plus the time that they were moved on by: for trying out a gateway's day without waiting a day.
///
/// It runs as the machine's clocks do and is only ever moved forward, both of its sources together, so that the log's
/// clock over it never takes that for a clock that was corrected.
package final class MovableClock: Sendable {
    /// The furthest that one move may go.
    package static let moveMax = Interval.days(366)
    /// How far it can be moved in all: to 2100-01-01T00:00:00Z, some years before timing wheels end (2106) and
    /// nanoseconds since 1970 leave 64 bits (2262).
    package static let end = Instant(seconds: 4_102_444_800)

    private let aheadMilliseconds = Atomic<Int64>(0)
    private let monotonicNanoseconds: @Sendable () -> UInt64
    private let wall: @Sendable () -> Instant

    /// - Parameters:
    ///   - monotonicNanoseconds: Runs evenly.
    ///   - wall: The time as long as the clock was not moved.
    package init(
        monotonicNanoseconds: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanoseconds },
        wall: @escaping @Sendable () -> Instant = { LogClock.wallTime() }
    ) {
        self.monotonicNanoseconds = monotonicNanoseconds
        self.wall = wall
    }

    /// How far it is ahead of the machine's clock.
    package var ahead: Interval { .milliseconds(self.aheadMilliseconds.load(ordering: .relaxed)) }

    /// Moves it on. Nothing happens for an interval that is not above zero.
    package func move(by interval: Interval) {
        guard interval > .zero else { return }
        self.aheadMilliseconds.wrappingAdd(interval.milliseconds, ordering: .relaxed)
    }

    /// The log's clock over it.
    package func makeLogClock() -> LogClock {
        LogClock(
            monotonicNanoseconds: {
                self.monotonicNanoseconds() &+ UInt64(clamping: self.ahead.milliseconds) &* 1_000_000
            },
            wall: { self.wall() + self.ahead }
        )
    }
}
