import FoundationEssentials
import NIOCore
import Synchronization
package import WidgetModel

/// The clock that stamps log entries: it advances with the monotonic clock and is slewed to wall time.
///
/// A wall clock that is corrected by a little is followed at one part in a hundred, so that log time neither jumps
/// nor stands still. One that steps by more than ``stepMax`` is not followed at all: a person has to say what time
/// it is, and until then ``isStepped`` keeps the gateway from being ready.
package final class LogClock: Sendable {
    /// The largest difference between log time and wall time that is slewed away.
    package static let stepMax: Interval = .minutes(5)

    /// How many milliseconds pass for each that is slewed.
    private static let slewDivisor: Int64 = 100

    private struct State {
        var lastMonotonic: UInt64
        var current: Instant
        /// Elapsed milliseconds that were too few to slew by one; less than ``slewDivisor``, so that a long time without
        /// a difference does not buy a jump later.
        var slewCredit: Int64 = 0
        var isStepped = false
    }

    private let state: Mutex<State>
    private let monotonicNanoseconds: @Sendable () -> UInt64
    private let wall: @Sendable () -> Instant

    /// A clock over the machine's own clocks.
    package convenience init() {
        self.init(
            monotonicNanoseconds: { NIODeadline.now().uptimeNanoseconds },
            wall: { LogClock.wallTime() }
        )
    }

    /// A clock over given sources, which starts at wall time.
    package init(
        monotonicNanoseconds: @escaping @Sendable () -> UInt64,
        wall: @escaping @Sendable () -> Instant
    ) {
        self.monotonicNanoseconds = monotonicNanoseconds
        self.wall = wall
        self.state = Mutex(State(lastMonotonic: monotonicNanoseconds(), current: wall()))
    }

    /// The log's time now. Never less than an earlier answer.
    package func now() -> Instant {
        // Read under the lock: of two threads that read before it, the slower one would find time running backwards.
        self.state.withLock { state in
            let monotonic = max(self.monotonicNanoseconds(), state.lastMonotonic)
            let wall = self.wall()
            let elapsed = Int64((monotonic - state.lastMonotonic) / 1_000_000)
            // The rest below a millisecond stays on the monotonic side, or a clock read often would stand still.
            state.lastMonotonic += UInt64(elapsed) * 1_000_000
            let expected = state.current + .milliseconds(elapsed)
            let difference = wall - expected
            if difference > Self.stepMax || difference < .zero - Self.stepMax {
                state.isStepped = true
                state.current = expected
            } else {
                state.isStepped = false
                let credit = state.slewCredit + elapsed
                let slewMax = credit / Self.slewDivisor
                let slew = max(-slewMax, min(slewMax, difference.milliseconds))
                state.slewCredit = min(credit - abs(slew) * Self.slewDivisor, Self.slewDivisor - 1)
                state.current = max(state.current, expected + .milliseconds(slew))
            }
            return state.current
        }
    }

    /// Whether wall time was more than ``stepMax`` away from log time when ``now()`` was asked last.
    package var isStepped: Bool { self.state.withLock { $0.isStepped } }

    /// The machine's wall time, in UTC.
    package static func wallTime() -> Instant {
        Instant(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }
}
