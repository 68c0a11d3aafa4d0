/// The wait before a failed action is tried again: longer each time, and different for each.
///
/// The wait after failure `n` (from 1) lies between half and all of `first * 2^(n-1)`, at most `max`. The jitter is a
/// hash of the seed and the number of the failure, so that a hundred thousand that failed together return spread, and
/// so that the same failure always waits equally long.
package struct Backoff: Hashable, Sendable {
    /// The wait after the first failure, before jitter; at least 1 ms.
    package let first: Interval
    /// The longest wait, before jitter; at least `first`.
    package let max: Interval

    package init(first: Interval, max: Interval) {
        self.first = Swift.max(.milliseconds(1), first)
        self.max = Swift.max(self.first, max)
    }

    /// The wait after a number of failures in a row.
    ///
    /// - Parameters:
    ///   - failures: At least 1.
    ///   - seed: The seed of the waiting action.
    package func wait(after failures: Int, seed: UInt64) -> Interval {
        let (first, max) = (self.first.milliseconds, self.max.milliseconds)
        let doublings = Int64(Swift.min(Swift.max(0, failures - 1), 62))
        let whole = first > max >> doublings ? max : first << doublings
        let half = whole / 2
        let luck = StableHash.mix(seed ^ UInt64(failures))
        return .milliseconds(half + Int64(StableHash.reduce(luck, below: UInt64(whole - half) + 1)))
    }
}
