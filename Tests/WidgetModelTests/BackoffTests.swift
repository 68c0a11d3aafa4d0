import Testing
import WidgetModel

@Suite struct BackoffTests {
    @Test(arguments: [(1000, 60_000), (1000, 300_000), (1, 1), (7, 100)] as [(Int64, Int64)])
    func `a wait doubles between half and all, up to its maximum`(first: Int64, max: Int64) {
        let backoff = Backoff(first: .milliseconds(first), max: .milliseconds(max))
        for failures in 1...40 {
            let whole = min(max, first << Int64(min(failures - 1, 20)))
            for seed in 0..<200 as Range<UInt64> {
                let wait = backoff.wait(after: failures, seed: seed).milliseconds
                #expect((whole / 2...whole).contains(wait), "failure \(failures), seed \(seed)")
                #expect(wait == backoff.wait(after: failures, seed: seed).milliseconds)
            }
        }
    }

    @Test func `who failed together comes back spread`() {
        let backoff = Backoff(first: .seconds(1), max: .minutes(5))
        for failures in 1...20 {
            let waits = (0..<200).map { backoff.wait(after: failures, seed: StableHash.of("\($0)")).milliseconds }
            #expect(Set(waits).count > 100, "failure \(failures)")
        }
    }

    @Test func `no wait is below a millisecond or above what an interval holds`() {
        let shortest = Backoff(first: .milliseconds(0), max: .milliseconds(-5))
        #expect(shortest == Backoff(first: .milliseconds(1), max: .milliseconds(1)))
        let longest = Backoff(first: .milliseconds(.max), max: .milliseconds(.max))
        #expect(longest.wait(after: 63, seed: 1).milliseconds >= .max / 2)
        #expect(longest.wait(after: .max, seed: 1).milliseconds >= .max / 2)
    }
}
