/// The simulation's only luck: a small generator, so that the same seed makes the same run on every machine.
///
/// Everything that needs luck has dice of its own, made from the scenario's seed and a number that names it. So one
/// more host, or another number of partitions, changes nobody else's.
///
/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014).
package struct Dice: Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        self.state = seed
    }

    /// Dice of their own for one of many.
    ///
    /// - Parameters:
    ///   - seed: The run's.
    ///   - role: What they are for.
    ///   - number: Which of those.
    init(seed: UInt64, for role: Role, _ number: Int) {
        self.state = Self.mix(Self.mix(seed &+ role.rawValue &* 0x9E37_79B9_7F4A_7C15) &+ UInt64(number))
    }

    /// What dice are made for.
    enum Role: UInt64 {
        case host = 1
        case sender = 2
        case provider = 3
        case schedule = 4
    }

    package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(self.state)
    }

    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number in `0..<bound`; bound is at least 1.
    package mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: self.next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// A number in a closed range.
    package mutating func among(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + self.below(range.upperBound - range.lowerBound + 1)
    }

    /// A number in `0..<1`.
    mutating func fraction() -> Double {
        Double(self.next() >> 11) * 0x1p-53
    }

    /// True with a probability.
    package mutating func chance(_ probability: Double) -> Bool {
        probability > 0 && self.fraction() < probability
    }

    /// One of several.
    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[self.below(elements.count)]
    }

    /// The distance to the next event of a Poisson process that has one event a unit on average.
    ///
    /// The logarithm is computed here, with additions, multiplications and divisions alone, since the C library's may
    /// differ in its last bit from machine to machine.
    mutating func exponential() -> Double {
        -NaturalLogarithm.of(1 - self.fraction())
    }
}

/// The natural logarithm by exactly rounded operations only: the same bits everywhere.
enum NaturalLogarithm {
    private static let ln2 = 0.693_147_180_559_945_3

    /// - Parameter value: More than zero and finite. Right to some 1e-15.
    static func of(_ value: Double) -> Double {
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
