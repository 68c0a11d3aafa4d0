/// A point in time: milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// The pure targets never read a clock; an instant always arrives as an argument, in the engine as the log's time.
package struct Instant: Hashable, Comparable, Sendable {
    /// Milliseconds since the UNIX epoch. Negative before 1970.
    package let milliseconds: Int64

    @inlinable
    package static var epoch: Instant { Instant(milliseconds: 0) }
    /// Later than every date of a record; stands for never.
    @inlinable
    package static var distantFuture: Instant { Instant(milliseconds: .max) }
    /// Earlier than every date of a record.
    @inlinable
    package static var distantPast: Instant { Instant(milliseconds: .min) }

    @inlinable
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Nil for ``distantFuture``, which stands for never.
    package var ifFinite: Instant? { self == .distantFuture ? nil : self }

    /// The instant that many whole seconds after the epoch; saturates beyond the representable range.
    package init(seconds: Int64) {
        self.milliseconds = seconds.multipliedSaturating(by: 1000)
    }

    /// Whole seconds since the epoch, rounded towards the past.
    package var seconds: Int64 {
        let quotient = self.milliseconds / 1000
        return self.milliseconds % 1000 < 0 ? quotient - 1 : quotient
    }

    // Rows are compared by these in every decision: written here, so that they are inlined there.
    @inlinable
    package static func == (left: Instant, right: Instant) -> Bool { left.milliseconds == right.milliseconds }
    @inlinable
    package static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }

    /// The sum; saturates instead of overflowing, so that `.distantFuture` stays where it is.
    package static func + (instant: Instant, interval: Interval) -> Instant {
        Instant(milliseconds: instant.milliseconds.addingSaturating(interval.milliseconds))
    }

    /// The difference; saturates instead of overflowing.
    package static func - (instant: Instant, interval: Interval) -> Instant {
        Instant(milliseconds: instant.milliseconds.subtractingSaturating(interval.milliseconds))
    }

    /// The time from `right` to `left`; saturates instead of overflowing.
    package static func - (left: Instant, right: Instant) -> Interval {
        Interval(milliseconds: left.milliseconds.subtractingSaturating(right.milliseconds))
    }
}

/// A length of time in milliseconds. Calculations saturate as those of instants do: lengths come from peers, too.
package struct Interval: Hashable, Comparable, Sendable {
    package let milliseconds: Int64

    package static let zero = Interval(milliseconds: 0)
    package static let day = Interval(milliseconds: 86_400_000)

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    private init(_ count: Int64, of unit: Int64) {
        self.milliseconds = count.multipliedSaturating(by: unit)
    }

    package static func milliseconds(_ count: Int64) -> Interval { Interval(milliseconds: count) }
    package static func seconds(_ count: Int64) -> Interval { Interval(count, of: 1000) }
    package static func minutes(_ count: Int64) -> Interval { Interval(count, of: 60_000) }
    package static func hours(_ count: Int64) -> Interval { Interval(count, of: 3_600_000) }
    package static func days(_ count: Int64) -> Interval { Interval(count, of: 86_400_000) }

    package static func < (left: Interval, right: Interval) -> Bool { left.milliseconds < right.milliseconds }
    package static func + (left: Interval, right: Interval) -> Interval {
        Interval(milliseconds: left.milliseconds.addingSaturating(right.milliseconds))
    }
    package static func - (left: Interval, right: Interval) -> Interval {
        Interval(milliseconds: left.milliseconds.subtractingSaturating(right.milliseconds))
    }
    package static func * (interval: Interval, factor: Int64) -> Interval {
        Interval(milliseconds: interval.milliseconds.multipliedSaturating(by: factor))
    }
}
