/// The latencies of one stage of one load: in all, and by when the operations were meant to be sent.
package struct LatencySeries: Sendable {
    package private(set) var total = Latencies()
    /// By interval; nil where nothing was noted.
    package private(set) var intervals: [Latencies?] = []
    /// Nanoseconds.
    package let interval: Int64

    package init(interval: Int64) {
        self.interval = interval
    }

    /// An operation has come so far.
    ///
    /// - Parameters:
    ///   - latency: Nanoseconds.
    ///   - intended: Nanoseconds after the run's beginning.
    package mutating func noteLatency(_ latency: Int64, intended: Int64) {
        self.total.noteLatency(latency)
        self.change(intended) { $0.noteLatency(latency) }
    }

    /// An operation never came so far.
    package mutating func noteUnreached(intended: Int64) {
        self.total.noteUnreached()
        self.change(intended) { $0.noteUnreached() }
    }

    private mutating func change(_ intended: Int64, _ change: (inout Latencies) -> Void) {
        let index = min(LoadTally.intervalsMax - 1, Int(max(0, intended) / self.interval))
        if index >= self.intervals.count {
            self.intervals.append(contentsOf: repeatElement(nil, count: index + 1 - self.intervals.count))
        }
        var latencies = self.intervals[index].take() ?? Latencies()
        change(&latencies)
        self.intervals[index] = latencies
    }
}
