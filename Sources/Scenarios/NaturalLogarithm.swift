/// The natural logarithm by exactly rounded operations only: the same bits everywhere.
package enum NaturalLogarithm {
    private static let ln2 = 0.693_147_180_559_945_3

    /// - Parameter value: More than zero and finite. Right to some 1e-15.
    package static func of(_ value: Double) -> Double {
        // value = significand * 2^exponent with the significand near 1, where the series is short.
        var significand = value.significand
        var exponent = Double(value.exponent)
        if significand > 1.414_213_562_373_095 {
            significand /= 2
            exponent += 1
        }
        let ratio = (significand - 1) / (significand + 1)
        let square = ratio * ratio
        var sum = 0.0
        var divisor = 23.0
        while divisor > 0 {
            sum = sum * square + 1 / divisor
            divisor -= 2
        }
        return 2 * ratio * sum + exponent * self.ln2
    }
}
