/// The only luck of a run: a small generator, so that the same seed makes the same run on every machine.
///
/// Everything that needs luck has dice of its own, made from the scenario's seed and a number that names it. So one
/// more host, or another number of partitions, changes no other dice.
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
    ///   - role: A number for their purpose.
    ///   - number: Which of those.
    package init(seed: UInt64, role: UInt64, number: Int) {
        self.state = Self.mix(Self.mix(seed &+ role &* 0x9E37_79B9_7F4A_7C15) &+ UInt64(number))
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
    package mutating func fraction() -> Double {
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
    package mutating func exponential() -> Double {
        -NaturalLogarithm.of(1 - self.fraction())
    }
}
