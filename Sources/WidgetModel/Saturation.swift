/// Arithmetic that ends at the largest or smallest number there is, where another would stop the process: for numbers that a
/// peer, a file or a clock chooses.
extension FixedWidthInteger {
    /// The sum, or the end of the range that it lies beyond.
    @inlinable
    public func addingSaturating(_ other: Self) -> Self {
        let (sum, overflow) = self.addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the end of the range that it lies beyond.
    @inlinable
    public func subtractingSaturating(_ other: Self) -> Self {
        let (difference, overflow) = self.subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// The product, or the end of the range that it lies beyond.
    @inlinable
    public func multipliedSaturating(by other: Self) -> Self {
        let (product, overflow) = self.multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }
}
