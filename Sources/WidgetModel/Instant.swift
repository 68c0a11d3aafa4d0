/// A point in time: milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// The pure targets never read a clock; an instant always arrives as an argument, in the engine as the log's time. Public, since Swift 6.3
/// does not inline declarations with package access into other targets, and each decision calculates with dates.
@frozen public struct Instant: Hashable, Comparable, Sendable {
    /// Milliseconds since the UNIX epoch. Negative before 1970.
    public let milliseconds: Int64

    /// The start of the UNIX epoch.
    @inlinable
    public static var epoch: Instant { Instant(milliseconds: 0) }
    /// Later than every date of a record; stands for never.
    @inlinable
    public static var distantFuture: Instant { Instant(milliseconds: .max) }
    /// Earlier than every date of a record.
    @inlinable
    public static var distantPast: Instant { Instant(milliseconds: .min) }

    /// The instant so many milliseconds after the epoch.
    @inlinable
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Nil for ``distantFuture``, which stands for never.
    @inlinable
    public var ifFinite: Instant? { self == .distantFuture ? nil : self }

    /// The instant that many whole seconds after the epoch; saturates beyond the representable range.
    @inlinable
    public init(seconds: Int64) {
        self.milliseconds = seconds.multipliedSaturating(by: 1000)
    }

    /// Whole seconds since the epoch, rounded towards the past.
    @inlinable
    public var seconds: Int64 {
        let quotient = self.milliseconds / 1000
        return self.milliseconds % 1000 < 0 ? quotient - 1 : quotient
    }

    /// Whether both are the same millisecond.
    @inlinable
    public static func == (left: Instant, right: Instant) -> Bool { left.milliseconds == right.milliseconds }
    /// Whether the first comes before the second.
    @inlinable
    public static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }

    /// The sum; saturates instead of overflowing, so that `.distantFuture` stays where it is.
    @inlinable
    public static func + (instant: Instant, interval: Interval) -> Instant {
        Instant(milliseconds: instant.milliseconds.addingSaturating(interval.milliseconds))
    }

    /// The difference; saturates instead of overflowing.
    @inlinable
    public static func - (instant: Instant, interval: Interval) -> Instant {
        Instant(milliseconds: instant.milliseconds.subtractingSaturating(interval.milliseconds))
    }

    /// The time from `right` to `left`; saturates instead of overflowing.
    @inlinable
    public static func - (left: Instant, right: Instant) -> Interval {
        Interval(milliseconds: left.milliseconds.subtractingSaturating(right.milliseconds))
    }
}

/// A length of time in milliseconds. Calculations saturate as those of instants do: lengths come from peers, too.
@frozen public struct Interval: Hashable, Comparable, Sendable {
    /// The length in milliseconds; negative if it goes back.
    public let milliseconds: Int64

    /// No time.
    @inlinable
    public static var zero: Interval { Interval(milliseconds: 0) }
    /// 24 hours.
    @inlinable
    public static var day: Interval { Interval(milliseconds: 86_400_000) }

    /// A length of so many milliseconds.
    @inlinable
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    @inlinable
    init(_ count: Int64, of unit: Int64) {
        self.milliseconds = count.multipliedSaturating(by: unit)
    }

    /// So many milliseconds.
    @inlinable
    public static func milliseconds(_ count: Int64) -> Interval { Interval(milliseconds: count) }
    /// So many seconds; saturates.
    @inlinable
    public static func seconds(_ count: Int64) -> Interval { Interval(count, of: 1000) }
    /// So many minutes; saturates.
    @inlinable
    public static func minutes(_ count: Int64) -> Interval { Interval(count, of: 60_000) }
    /// So many hours; saturates.
    @inlinable
    public static func hours(_ count: Int64) -> Interval { Interval(count, of: 3_600_000) }
    /// So many days of 24 hours; saturates.
    @inlinable
    public static func days(_ count: Int64) -> Interval { Interval(count, of: 86_400_000) }

    /// Whether both are equally long.
    @inlinable
    public static func == (left: Interval, right: Interval) -> Bool { left.milliseconds == right.milliseconds }
    /// Whether the first is shorter than the second.
    @inlinable
    public static func < (left: Interval, right: Interval) -> Bool { left.milliseconds < right.milliseconds }
    /// The sum; saturates.
    @inlinable
    public static func + (left: Interval, right: Interval) -> Interval {
        Interval(milliseconds: left.milliseconds.addingSaturating(right.milliseconds))
    }
    /// The difference; saturates.
    @inlinable
    public static func - (left: Interval, right: Interval) -> Interval {
        Interval(milliseconds: left.milliseconds.subtractingSaturating(right.milliseconds))
    }
    /// So many times the length; saturates.
    @inlinable
    public static func * (interval: Interval, factor: Int64) -> Interval {
        Interval(milliseconds: interval.milliseconds.multipliedSaturating(by: factor))
    }
}
