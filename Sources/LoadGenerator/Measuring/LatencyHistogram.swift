package import Histogram

/// Latencies in microseconds, three significant digits, from 1 us to hours: an HdrHistogram that grows as it needs.
package typealias LatencyHistogram = Histogram<UInt32>

extension LatencyHistogram {
    /// An empty one.
    package static func empty() -> LatencyHistogram { LatencyHistogram(numberOfSignificantValueDigits: .three) }

    /// Notes a span of nanoseconds; one below zero counts as none.
    mutating func noteLatency(_ nanoseconds: Int64) {
        self.record(UInt64(Swift.max(0, nanoseconds) / 1000))
    }
}
