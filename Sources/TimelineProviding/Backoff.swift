package import WidgetModel

/// How long to wait before something that failed is tried again: longer each time, and for each instance its own time.
///
/// The jitter is a hash of the instance and of the attempt, so that a hundred thousand that failed together come back
/// spread, and so that the same failure always waits equally long.
package struct Backoff: Hashable, Sendable {
    /// The wait after the first failure, before jitter.
    package let base: Interval
    /// The longest wait, before jitter.
    package let max: Interval

    package init(base: Interval, max: Interval) {
        self.base = base
        self.max = max
    }

    /// The wait after so many failures: `base` doubled for each beyond the first, at most `max`, times 0.5 to 1.
    ///
    /// - Parameters:
    ///   - failures: At least 1.
    ///   - hash: Of what is tried again.
    package func wait(after failures: Int, hash: UInt64) -> Interval {
        var whole = self.base
        for _ in 1..<Swift.max(2, Swift.min(failures, 64)) where failures > 1 && whole < self.max {
            whole = .milliseconds(Swift.min(whole.milliseconds * 2, self.max.milliseconds))
        }
        whole = Swift.min(whole, self.max)
        let half = whole.milliseconds / 2
        let luck = StableHash.mix(hash ^ UInt64(failures))
        return .milliseconds(half + Int64(StableHash.reduce(luck, below: UInt64(whole.milliseconds - half) + 1)))
    }
}
