package import WidgetModel

/// How old news was when users saw it: counts of lengths of time, from the push that was accepted to the entry that was
/// shown.
///
/// Lengths are counted in milliseconds, in buckets that are a sixteenth of their value wide (log-linear, as in
/// HdrHistogram), so that a quantile is at most 6.25 % too large, and never too small. Histograms of partitions add up.
package struct Freshness: Hashable, Sendable {
    private static let subBucketBits = 4

    /// By bucket, as far as there is anything.
    private var counts: [Int] = []
    package private(set) var count = 0

    package init() {}

    /// Counts a length of time; one below zero counts as zero.
    package mutating func record(_ interval: Interval) {
        let bucket = Self.bucket(of: UInt64(max(0, interval.milliseconds)))
        while self.counts.count <= bucket { self.counts.append(0) }
        self.counts[bucket] += 1
        self.count += 1
    }

    /// The length that `percent` of a hundred do not exceed; nil if nothing was counted. O(buckets), at most some 700.
    ///
    /// - Parameter percent: 1 to 100.
    package func quantile(_ percent: Int) -> Interval? {
        guard self.count > 0 else { return nil }
        var wanted = max(1, (self.count * percent + 99) / 100)
        for (bucket, count) in self.counts.enumerated() {
            wanted -= count
            if wanted <= 0 { return .milliseconds(Int64(clamping: Self.upperBound(of: bucket))) }
        }
        return nil
    }

    package static func += (left: inout Freshness, right: Freshness) {
        while left.counts.count < right.counts.count { left.counts.append(0) }
        for (bucket, count) in right.counts.enumerated() { left.counts[bucket] += count }
        left.count += right.count
    }

    /// How many were at most this long: those in buckets that are so as a whole. O(buckets).
    package func count(upTo interval: Interval) -> Int {
        let limit = UInt64(max(0, interval.milliseconds))
        return self.counts.enumerated().reduce(0) { sum, bucket in
            Self.upperBound(of: bucket.offset) <= limit ? sum + bucket.element : sum
        }
    }

    /// The sum of all lengths, each taken for the greatest in its bucket: at most 6.25 % too large. O(buckets).
    package var sum: Interval {
        .milliseconds(
            self.counts.enumerated().reduce(0) { sum, bucket in
                guard bucket.element > 0 else { return sum }
                let bound = Int64(clamping: Self.upperBound(of: bucket.offset))
                return sum.addingSaturating(bound.multipliedSaturating(by: Int64(bucket.element)))
            }
        )
    }

    /// The counts since an earlier state of the same histogram. O(buckets).
    package func since(_ earlier: Freshness) -> Freshness {
        var counted = self
        for (bucket, count) in earlier.counts.enumerated() { counted.counts[bucket] -= count }
        counted.count -= earlier.count
        return counted
    }

    package func encode(into writer: inout ByteWriter) {
        writer.write(each: self.counts) { $0.write(count: $1) }
    }

    package init(from reader: inout ByteReader) throws(ByteError) {
        let start = reader.offset
        self.counts = try reader.readEach { (reader) throws(ByteError) in
            let start = reader.offset
            let count = try reader.readVarint()
            // So much that no count of counts comes near the end of its type.
            guard count <= 1 << 40 else { throw .invalid(offset: start) }
            return Int(count)
        }
        guard self.counts.count <= Self.bucket(of: UInt64(Int64.max)) + 1 else { throw .invalid(offset: start) }
        self.count = self.counts.reduce(0, +)
    }

    private static func bucket(of value: UInt64) -> Int {
        let exponent = max(0, (UInt64.bitWidth - 1 - value.leadingZeroBitCount) - Self.subBucketBits)
        return exponent << Self.subBucketBits + Int(value >> UInt64(exponent))
    }

    /// The greatest value in a bucket.
    private static func upperBound(of bucket: Int) -> UInt64 {
        let width = 1 << Self.subBucketBits
        guard bucket >= 2 * width else { return UInt64(bucket) }
        let exponent = bucket / width - 1
        let lower = UInt64(bucket - exponent * width) << UInt64(exponent)
        return lower + (1 << UInt64(exponent)) - 1
    }
}
