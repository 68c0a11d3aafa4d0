import Histogram
import LoadGenerator
import Testing

/// An interval's latencies as a report keeps them.
@Suite struct LatencyBucketTests {
    @Test(arguments: [UInt64(0), 1, 63, 64, 65, 127, 128, 1000, 1_000_000, 86_400_000_000])
    func `a latency is in a bucket that begins at most 3 percent below its end`(microseconds: UInt64) throws {
        var histogram = LatencyHistogram.empty()
        histogram.record(microseconds)
        let bucket = try #require(LatencyBuckets.of(histogram).first)
        // The histogram itself keeps three digits.
        #expect(Double(bucket.upTo) >= Double(microseconds) * 0.999)
        #expect(Double(bucket.upTo) <= Double(microseconds) * 1.033)
        #expect(bucket.count == 1)
    }

    @Test func `buckets rise, and hold all latencies`() {
        var histogram = LatencyHistogram.empty()
        for microseconds in 0..<UInt64(5000) { histogram.record(microseconds) }
        let buckets = LatencyBuckets.of(histogram)
        #expect(buckets.map(\.upTo) == Set(buckets.map(\.upTo)).sorted())
        #expect(buckets.reduce(0) { $0 + $1.count } == 5000)
        // 64 of one microsecond, and half as many for each doubling up to 5000.
        #expect(buckets.count < 64 + 7 * 32)
    }
}
