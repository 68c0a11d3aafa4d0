/// Requests to timeline providers over a run: all of them, and those that timelines asked for themselves, as they came
/// and as they had come without smoothing. Pushes are not smoothed: they are to be shown at once.
package struct ProviderLoad: Hashable, Sendable {
    /// How long a run may be to be counted by the second; a longer one is counted by the minute.
    private static let secondsMax = 15 * 86_400

    /// How many seconds a bin has.
    package let binSeconds: Int
    /// Whatever they were for.
    package private(set) var requests: [UInt32]
    /// For policy alone.
    package private(set) var smoothed: [UInt32]
    package private(set) var unsmoothed: [UInt32]

    init(seconds: Int) {
        self.binSeconds = seconds <= Self.secondsMax ? 1 : 60
        let bins = seconds / self.binSeconds + 1
        self.requests = Array(repeating: 0, count: bins)
        self.smoothed = Array(repeating: 0, count: bins)
        self.unsmoothed = Array(repeating: 0, count: bins)
    }

    /// Notes a request, in seconds after the start. A request after the end is noted at the end.
    mutating func noteRequest(at second: Int) { self.requests[self.bin(second)] += 1 }

    /// Notes a request that a timeline asked for, by when it came and when it had come without smoothing.
    mutating func noteDueRequest(smoothed: Int, unsmoothed: Int) {
        self.smoothed[self.bin(smoothed)] += 1
        self.unsmoothed[self.bin(unsmoothed)] += 1
    }

    private func bin(_ second: Int) -> Int { Swift.min(second / self.binSeconds, self.requests.count - 1) }

    mutating func add(_ other: ProviderLoad) {
        for index in self.requests.indices {
            self.requests[index] += other.requests[index]
            self.smoothed[index] += other.smoothed[index]
            self.unsmoothed[index] += other.unsmoothed[index]
        }
    }

    package var total: Int { self.requests.reduce(0) { $0 + Int($1) } }

    /// The most requests of one bin, and when it begins, in seconds after the start.
    package static func peak(_ bins: [UInt32], _ binSeconds: Int) -> (count: Int, at: Int) {
        var peak = (count: 0, at: 0)
        for index in bins.indices where Int(bins[index]) > peak.count {
            peak = (Int(bins[index]), index * binSeconds)
        }
        return peak
    }

    /// Sums of so many seconds each, over a span of seconds after the start.
    package static func sums(_ bins: [UInt32], _ binSeconds: Int, every: Int, over span: Range<Int>) -> [Int] {
        stride(from: span.lowerBound, to: span.upperBound, by: every).map { start in
            let first = Swift.max(0, start / binSeconds)
            let last = Swift.min(bins.count, (start + every) / binSeconds)
            return first < last ? bins[first..<last].reduce(0) { $0 + Int($1) } : 0
        }
    }
}
