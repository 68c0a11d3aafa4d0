import Timelines
import WidgetModel

/// The timers of the rows of one table: one a row at most.
struct Timers<Tag>: ~Copyable, Sendable {
    private var wheel: TimingWheel

    /// No timers.
    ///
    /// - Parameter start: The present time.
    init(startingAt start: Instant = .epoch) { self.wheel = TimingWheel(startingAt: start) }

    /// How many are armed.
    var count: Int { self.wheel.count }

    /// Bytes of memory held.
    var byteCount: Int { self.wheel.byteCount }

    /// The first due second.
    var nextDue: Instant? { self.wheel.nextDue }

    /// Makes room for the timers of so many rows.
    mutating func makeRoom(for rows: Int) { self.wheel.makeRoom(for: rows) }

    /// Arms a row's timer, or moves it; see ``TimingWheel/arm(_:at:)``.
    @inline(__always)
    mutating func arm(_ number: Number<Tag>, at instant: Instant) { self.wheel.arm(number.raw, at: instant) }

    /// Disarms a row's timer; nothing if it is not armed.
    @inline(__always)
    mutating func disarm(_ number: Number<Tag>) { self.wheel.disarm(number.raw) }

    /// When a row's timer is due; nil if it is not armed.
    @inline(__always)
    func dueTime(of number: Number<Tag>) -> Instant? { self.wheel.dueTime(of: number.raw) }

    /// Fetches the memory that arming a row's timer will need.
    @inline(__always)
    func prefetch(_ number: Number<Tag>) { self.wheel.prefetch(number.raw) }

    /// Disarms the timers that are due by an instant, and gives their rows in the order of due seconds, then of
    /// numbers.
    mutating func takeDue(upTo now: Instant) -> [Number<Tag>] {
        self.wheel.takeDue(upTo: now).map { Number(raw: $0) }
    }
}
