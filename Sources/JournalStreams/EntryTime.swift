package import WidgetModel

/// The time of entries, from the clocks of those who wrote them and of the brokers that stored them: every reader comes to the
/// same.
///
/// Neither is trusted alone. A broker's clock that is ahead is held back by the writer's, and one that is behind never takes
/// time back. Where the two are too far apart, time stands still, and it is counted.
package struct EntryTime: Hashable, Sendable {
    /// How far a broker's stamp may be ahead of the writer's clock; more is taken for that.
    package static let leadMax = Interval.seconds(2)
    /// How far the two may be apart.
    package static let disagreementMax = Interval.minutes(5)

    /// The time of the entry that came last.
    package private(set) var last: Instant
    /// How many entries had two clocks that were too far apart.
    package private(set) var disagreements = 0

    package init(after last: Instant = Instant(milliseconds: .min)) { self.last = last }

    /// The time of the next entry.
    ///
    /// - Parameters:
    ///   - stamp: The broker's.
    ///   - writtenAt: The writer's.
    package mutating func next(stamp: Instant, writtenAt: Instant) -> Instant {
        let apart = stamp - writtenAt
        guard apart <= Self.disagreementMax, apart >= .zero - Self.disagreementMax else {
            self.disagreements += 1
            // The first entry has none before it.
            if self.last == Instant(milliseconds: .min) { self.last = min(stamp, writtenAt) }
            return self.last
        }
        self.last = max(self.last, min(stamp, writtenAt + Self.leadMax))
        return self.last
    }
}
