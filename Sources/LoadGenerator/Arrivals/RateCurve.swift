/// A rate that stays, or that changes evenly from one value to another, over a length of time.
///
/// All kinds of arrivals are a process of one event a unit whose time is stretched by this curve: the event that the process
/// has at `u` happens when the curve has brought `u` operations. So a ramp is exact for uniform and for random arrivals.
package struct RateCurve: Hashable, Sendable {
    /// Operations a second at the beginning, more than zero unless it rises.
    package let from: Double
    /// Operations a second at the end.
    package let to: Double
    /// Nanoseconds.
    package let length: Int64

    package init(from: Double, to: Double, length: Int64) {
        self.from = from
        self.to = to
        self.length = length
    }

    private var seconds: Double { Double(self.length) / 1e9 }

    /// How many operations it brings in all.
    package var total: Double { (self.from + self.to) / 2 * self.seconds }

    /// When it has brought so many operations, in nanoseconds; nil if it does not bring so many.
    ///
    /// With a rate `a` that becomes `b` after `T`, they are `a t + (b - a) t² / 2T`. This is the root that has no
    /// difference of nearly equal numbers in it.
    package func time(of amount: Double) -> Int64? {
        guard amount < self.total else { return nil }
        if self.from == self.to { return Int64((amount / self.from * 1e9).rounded()) }
        let slope = (self.to - self.from) / self.seconds
        let root = max(0, self.from * self.from + 2 * slope * amount).squareRoot()
        let divisor = self.from + root
        guard divisor > 0 else { return 0 }
        return min(self.length - 1, Int64((2 * amount / divisor * 1e9).rounded()))
    }
}
