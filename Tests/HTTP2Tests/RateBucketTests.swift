@testable import HTTP2
import Testing

@Suite struct RateBucketTests {
    @Test(arguments: [1, Int.max / 2, .max - 1, .max])
    func `credit ends at the largest number there is`(burst: Int) {
        var bucket = RateBucket(burst: burst, perSecond: .max)
        bucket.give(.max)
        let given = bucket.available(at: 0)
        #expect(given == .max)
        var kept = RateBucket(burst: burst, perSecond: .max)
        kept.give(.max, keeping: .max)
        let available = kept.available(at: .max)
        #expect(available == .max)
    }

    @Test func `credit above the burst is kept as far as asked`() {
        var bucket = RateBucket(burst: 10, perSecond: 1)
        bucket.give(100, keeping: 5)
        let kept = bucket.available(at: 1)
        bucket.give(1)
        let given = bucket.available(at: 2)
        #expect([kept, given] == [15, 16])
    }
}
