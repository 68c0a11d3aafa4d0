/// Waits that double, with a jitter that is a pure function of who waits and for the how-manieth time.
///
/// The wait before attempt `n` (from 1) lies between half and all of `first * 2^(n-1)`, at most `max`. Who comes back at
/// the same time with another seed waits for another time, and a replay waits for the same.
package struct Backoff: Hashable, Sendable {
    /// In any unit, above 0.
    package let first: Int64
    package let max: Int64

    package init(first: Int64, max: Int64) {
        self.first = Swift.max(1, first)
        self.max = Swift.max(self.first, max)
    }

    package func delay(attempt: Int, seed: UInt64) -> Int64 {
        let doublings = Swift.min(Swift.max(0, attempt - 1), 62)
        let whole = self.first > self.max >> Int64(doublings) ? self.max : self.first << Int64(doublings)
        let half = whole / 2
        return half + Int64(Self.mix(seed &+ UInt64(attempt)) % UInt64(whole - half + 1))
    }

    /// The finaliser of SplitMix64: every bit of the input moves every bit of the output.
    private static func mix(_ value: UInt64) -> UInt64 {
        var bits = value &+ 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
