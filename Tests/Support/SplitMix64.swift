/// A small, seedable generator: the same seed gives the same test on every machine.
///
/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (OOPSLA 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        self.state = seed
    }

    package mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to less than `bound`, which is at least 1.
    package mutating func below(_ bound: Int) -> Int { Int(self.next() % UInt64(bound)) }

    /// True `numerator` times in `denominator`.
    package mutating func chance(_ numerator: UInt64, in denominator: UInt64) -> Bool {
        self.next() % denominator < numerator
    }
}
