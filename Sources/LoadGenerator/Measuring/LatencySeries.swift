import Histogram

/// The latencies of one stage of one load: in all, and by when the operations were meant to be sent.
package struct LatencySeries: Sendable {
    package private(set) var total = LatencyHistogram.empty()
    /// By interval; nil where nothing was noted.
    package private(set) var intervals: [LatencyHistogram?] = []
    /// Nanoseconds.
    package let interval: Int64

    package init(interval: Int64) {
        self.interval = interval
    }

    /// - Parameters:
    ///   - latency: Nanoseconds.
    ///   - intended: Nanoseconds after the run's beginning.
    package mutating func note(_ latency: Int64, intended: Int64) {
        self.total.note(latency)
        let index = Int(max(0, intended) / self.interval)
        if index >= self.intervals.count {
            self.intervals.append(contentsOf: repeatElement(nil, count: index + 1 - self.intervals.count))
        }
        if self.intervals[index] == nil { self.intervals[index] = .empty() }
        self.intervals[index]?.note(latency)
    }
}
