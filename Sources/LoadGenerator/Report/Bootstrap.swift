import Scenarios

/// Confidence intervals of differences by drawing again from the measured values, block by block; the same blocks give the same intervals,
/// on every machine.
///
/// Source: Efron, Tibshirani, "An Introduction to the Bootstrap" (1993), the percentile interval, for blocks as in Künsch, "The
/// Jackknife and the Bootstrap for General Stationary Observations" (1989).
enum Bootstrap {
    /// How often is drawn again.
    static let resamples = 1000
    /// The share of intervals that hold the true difference, if blocks are independent.
    static let confidence = 0.95
    /// Fewer blocks give no interval.
    static let blocksMin = 8

    /// The intervals of `after - before`, for each figure; nil if one side has too few blocks.
    ///
    /// - Parameters:
    ///   - before: How many blocks there are, and the figures of those that were drawn.
    ///   - after: The same of the other side, with as many figures.
    static func differences(
        before: (blocks: Int, figures: ([Int]) -> [Double]),
        after: (blocks: Int, figures: ([Int]) -> [Double])
    ) -> [ClosedRange<Double>]? {
        guard before.blocks >= self.blocksMin, after.blocks >= self.blocksMin else { return nil }
        var dice = Dice(seed: 1)
        func draw(_ side: (blocks: Int, figures: ([Int]) -> [Double])) -> [Double] {
            side.figures((0..<side.blocks).map { _ in dice.below(side.blocks) })
        }
        var drawn: [[Double]] = []
        for _ in 0..<self.resamples {
            let (old, new) = (draw(before), draw(after))
            drawn.append(zip(old, new).map(self.difference))
        }
        let outside = Int((Double(self.resamples) * (1 - self.confidence) / 2).rounded(.down))
        return (drawn.first ?? []).indices.map { figure in
            let sorted = drawn.map { $0[figure] }.sorted()
            return sorted[outside]...sorted[sorted.count - 1 - outside]
        }
    }

    /// How much more it is; nothing if both are infinite.
    static func difference(_ before: Double, _ after: Double) -> Double { before == after ? 0 : after - before }
}
