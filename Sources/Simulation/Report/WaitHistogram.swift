/// How long things waited, in seconds, with a precision of 3 percent.
///
/// Below 64 seconds each second has a bucket, above it each doubling has 32.
package struct WaitHistogram: Hashable, Sendable {
    private var buckets: [Int] = []
    package private(set) var count = 0
    private var sum = 0
    package private(set) var max = 0

    package init() {}

    /// Below this each second has a bucket of its own.
    private static let exactBelow = 64

    private static func bucket(_ seconds: Int) -> Int {
        guard seconds >= self.exactBelow else { return seconds }
        let exponent = Int.bitWidth - 1 - seconds.leadingZeroBitCount
        return (exponent - 4) * 32 + (seconds >> (exponent - 5)) - 32
    }

    /// The middle of a bucket's range.
    private static func middle(_ bucket: Int) -> Int {
        guard bucket >= self.exactBelow else { return bucket }
        let shift = bucket / 32 - 1
        return ((bucket % 32 + 32) << shift) + (1 << shift) / 2
    }

    package mutating func noteWait(_ seconds: Int) {
        let seconds = Swift.max(0, seconds)
        let bucket = Self.bucket(seconds)
        if bucket >= self.buckets.count {
            self.buckets.append(contentsOf: repeatElement(0, count: bucket + 1 - self.buckets.count))
        }
        self.buckets[bucket] += 1
        self.count += 1
        self.sum += seconds
        self.max = Swift.max(self.max, seconds)
    }

    package mutating func add(_ other: WaitHistogram) {
        if other.buckets.count > self.buckets.count {
            self.buckets.append(contentsOf: repeatElement(0, count: other.buckets.count - self.buckets.count))
        }
        for index in other.buckets.indices { self.buckets[index] += other.buckets[index] }
        self.count += other.count
        self.sum += other.sum
        self.max = Swift.max(self.max, other.max)
    }

    /// The wait that so many percent did not exceed, nil if nothing waited.
    package func percentile(_ percent: Int) -> Int? {
        guard self.count > 0 else { return nil }
        let rank = Swift.max(1, (self.count * percent + 99) / 100)
        var seen = 0
        for index in self.buckets.indices {
            seen += self.buckets[index]
            if seen >= rank { return Swift.min(Self.middle(index), self.max) }
        }
        return self.max
    }

    /// The mean in seconds, nil if nothing waited.
    package var mean: Int? { self.count == 0 ? nil : self.sum / self.count }

    /// Bounds in seconds at which reports tell ``shares(atMost:)``.
    static let reportedBounds = [
        1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1200, 1800, 2700, 3600, 5400,
        7200, 10_800, 14_400, 21_600, 28_800, 43_200, 64_800, 86_400, 172_800, 345_600,
    ]

    /// Which share waited at most so long, in bounds given in rising order: a curve to draw.
    package func shares(atMost bounds: [Int]) -> [Double] {
        var shares: [Double] = []
        var seen = 0
        var index = 0
        for bound in bounds {
            while index < self.buckets.count, Self.middle(index) <= bound {
                seen += self.buckets[index]
                index += 1
            }
            shares.append(self.count == 0 ? 0 : Double(seen) / Double(self.count))
        }
        return shares
    }
}
