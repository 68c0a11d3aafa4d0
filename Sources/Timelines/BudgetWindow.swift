package import WidgetModel

/// A stretch of time over which reloads are counted: half-open, in UTC, starting on a whole minute.
package struct BudgetWindow: Hashable, Sendable {
    package let start: Instant
    package let length: Interval

    /// - Parameters:
    ///   - start: On a whole minute.
    ///   - length: More than zero.
    package init(start: Instant, length: Interval) {
        self.start = start
        self.length = length
    }

    /// The first instant that is no longer in the window.
    package var end: Instant { self.start + self.length }

    /// The window that begins where this one ends, as long as this one.
    package var next: BudgetWindow { BudgetWindow(start: self.end, length: self.length) }

    package func contains(_ instant: Instant) -> Bool {
        self.start <= instant && instant < self.end
    }

    /// The window around an instant, in the row of windows that repeats from the anchor on.
    ///
    /// - Parameters:
    ///   - now: Any instant, also before the anchor or the epoch.
    ///   - anchor: Minutes after the epoch at which one of the windows starts; for whole days the minute of the day.
    ///   - length: A whole number of minutes, more than zero.
    package static func containing(
        _ now: Instant,
        anchoredAt anchor: Int,
        length: Interval = .day
    ) -> BudgetWindow {
        precondition(length > .zero, "a window without length")
        let anchor = Int64(anchor) * 60_000
        let distance = now.milliseconds - anchor
        let remainder = distance % length.milliseconds
        // Swift's remainder has the sign of the dividend; before the anchor the window starts further back.
        let since = remainder < 0 ? remainder + length.milliseconds : remainder
        return BudgetWindow(start: Instant(milliseconds: now.milliseconds - since), length: length)
    }

    /// The minute of the period at which a host's windows start: a hash, so that hosts do not all start at midnight.
    ///
    /// - Returns: In `0..<length in minutes`, for whole days the minute of the day.
    package static func anchor(of host: HostKey, length: Interval = .day) -> Int {
        var hash = StableHash()
        // The word keeps the anchor independent of the partition, which is a hash of the same host.
        hash.combine("window")
        hash.combine(host)
        return Int(StableHash.reduce(hash.value, below: UInt64(max(1, length.milliseconds / 60_000))))
    }
}
