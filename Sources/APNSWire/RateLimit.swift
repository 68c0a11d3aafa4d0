package import WidgetModel

/// A rate: a count per length of time, and a number that may come at once.
///
/// The generic cell rate algorithm (ITU-T I.371) as a value: the whole state of one rate is one number, the theoretical
/// arrival time, when the next one would come at an even pace. The owner of that number calls ``judge(_:at:)`` and
/// stores the result. In any span t at most burst + t / interval are admitted. Pure: time is an argument.
package struct RateLimit: Hashable, Sendable {
    /// A theoretical arrival time in nanoseconds since the epoch. ``idle`` before the first one came.
    package typealias ArrivalTime = Int64

    /// The arrival time of a rate without any arrival, or without one for a long time.
    package static let idle = ArrivalTime.min

    /// Nanoseconds from one to the next at an even pace. At least 1.
    package let interval: Int64
    /// How many nanoseconds ahead of the pace one may come: burst - 1 intervals.
    package let tolerance: Int64

    /// - Parameters:
    ///   - count: The most in `period`, at least 1.
    ///   - period: At least a millisecond, at most a day.
    ///   - burst: The most at once, at least 1. Log time has whole milliseconds, so the number that fits into one of
    ///     them can always come at once.
    package init(count: Int, per period: Interval, burst: Int) {
        precondition(count >= 1 && burst >= 1 && period.milliseconds >= 1 && period <= .days(1))
        let nanoseconds = period.milliseconds * 1_000_000
        // Rounded up: rather a billionth too slow than one too many.
        let interval = (nanoseconds - 1) / Int64(count) + 1
        let (tolerance, overflow) = Int64(burst - 1).multipliedReportingOverflow(by: interval)
        self.init(interval: interval, tolerance: overflow ? Int64.max / 4 : min(tolerance, Int64.max / 4))
    }

    /// - Parameter tolerance: Raised to what a millisecond needs.
    private init(interval: Int64, tolerance: Int64) {
        self.interval = interval
        self.tolerance = max(tolerance, (1_000_000 - 1) / interval * interval)
    }

    /// The part that each of several gateways has of it: 1/n of the pace and of the burst, at least one at once. An arrival time of
    /// another part, or of the whole, goes on to be one of this part.
    package func share(of gateways: Int) -> RateLimit {
        guard gateways > 1 else { return self }
        // The burst's part has n of these intervals, and one of them is the first one's.
        let first = self.interval.multipliedSaturating(by: Int64(gateways - 1))
        return RateLimit(
            interval: self.interval.addingSaturating(first),
            tolerance: self.tolerance.subtractingSaturating(first)
        )
    }

    /// The decision about an arrival.
    package enum Verdict: Hashable, Sendable {
        /// It may come; the arrival time to keep.
        case admitted(ArrivalTime)
        /// Too early by this number of nanoseconds; the arrival time stays.
        case refused(wait: Int64)
    }

    @inlinable
    package func judge(_ arrival: ArrivalTime, at now: Instant) -> Verdict {
        let now = Self.arrivalTime(now)
        let due = max(arrival, now)
        let ahead = due.subtractingSaturating(now)
        if ahead > self.tolerance { return .refused(wait: ahead - self.tolerance) }
        return .admitted(due.addingSaturating(self.interval))
    }

    /// The arrival time if one that was admitted had not come: something else refused it.
    @inlinable
    package func givingBack(_ arrival: ArrivalTime) -> ArrivalTime {
        arrival.subtractingSaturating(self.interval)
    }

    /// An instant in the form of arrival times; those end in the years 1677 and 2262, and instants beyond become the
    /// ends.
    @inlinable
    package static func arrivalTime(_ instant: Instant) -> ArrivalTime {
        instant.milliseconds.multipliedSaturating(by: 1_000_000)
    }

    /// A wait as `retry-after` says it: whole seconds, rounded up, at least 1 (RFC 9110, 10.2.3).
    package static func retryAfterSeconds(_ wait: Int64) -> Int {
        Int(max(1, (wait - 1) / 1_000_000_000 + 1))
    }
}
