import Histogram

/// Latencies in few buckets, each at most 3 % wide: a report keeps them for each interval, so that others can add intervals up.
package enum LatencyBuckets {
    /// Below this each microsecond has a bucket of its own; above it each doubling has half as many.
    private static let exactBelow: UInt64 = 64

    /// The width of the bucket that holds a latency, in microseconds.
    private static func width(_ microseconds: UInt64) -> UInt64 {
        guard microseconds >= self.exactBelow else { return 1 }
        let exponent = UInt64.bitWidth - 1 - microseconds.leadingZeroBitCount
        return 1 << UInt64(exponent - 5)
    }

    /// How many of the latencies are in each bucket that has any, by the largest latency of the bucket, rising.
    package static func of(_ histogram: LatencyHistogram) -> [(upTo: UInt64, count: Int)] {
        var buckets: [(upTo: UInt64, count: Int)] = []
        for recorded in histogram.recordedValues() {
            let upTo = recorded.value | (self.width(recorded.value) - 1)
            if buckets.last?.upTo == upTo {
                buckets[buckets.count - 1].count += Int(recorded.count)
            } else {
                buckets.append((upTo, Int(recorded.count)))
            }
        }
        return buckets
    }

    /// The lower end of the bucket whose largest latency is given.
    static func lowerEnd(upTo microseconds: Double) -> Double {
        let last = UInt64(min(max(0, microseconds), 1e15))
        return Double(last + 1 - min(last + 1, self.width(last)))
    }
}
