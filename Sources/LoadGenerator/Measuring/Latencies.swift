import Histogram

/// The latencies of operations, with those that never came so far.
///
/// An operation that failed, or was not answered in time, has taken longer than every other. Without it a server would look
/// the faster the less it answers.
package struct Latencies: Sendable {
    /// Of the operations that came so far.
    package private(set) var histogram: LatencyHistogram
    /// Operations that never came so far.
    package private(set) var unreached = 0

    /// - Parameter histogram: The latencies of operations that all came so far; none by default.
    package init(_ histogram: LatencyHistogram = .empty()) {
        self.histogram = histogram
    }

    /// All operations, those that never came so far included.
    package var count: Int { Int(self.histogram.totalCount) + self.unreached }

    /// - Parameter nanoseconds: The latency; one below zero counts as none.
    mutating func noteLatency(_ nanoseconds: Int64) { self.histogram.noteLatency(nanoseconds) }

    mutating func noteUnreached() { self.unreached += 1 }

    mutating func add(_ other: Latencies) {
        self.histogram.add(other.histogram)
        self.unreached += other.unreached
    }

    /// The microseconds that so many percent of the operations did not exceed: infinite where fewer came so far at all, nil
    /// if there was no operation.
    ///
    /// - Parameter percentile: 0 to 100; 100 is the longest.
    package func microseconds(atPercentile percentile: Double) -> Double? {
        guard self.count > 0 else { return nil }
        guard self.unreached > 0 else { return Double(self.histogram.valueAtPercentile(percentile)) }
        let reached = Double(self.histogram.totalCount)
        let rank = max(1, (percentile / 100 * Double(self.count)).rounded(.up))
        guard rank <= reached else { return .infinity }
        // The middle of the rank's own share, so that rounding leads to no other rank.
        return Double(self.histogram.valueAtPercentile((rank - 0.5) / reached * 100))
    }
}
