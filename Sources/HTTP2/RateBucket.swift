/// A token bucket with whole seconds: so many at once, so many more with every second.
package struct RateBucket: Sendable {
    private let burst: Int
    private let perSecond: Int
    private var tokens: Int
    private var refilledAt: UInt32 = 0

    package init(burst: Int, perSecond: Int) {
        self.burst = burst
        self.perSecond = perSecond
        self.tokens = burst
    }

    /// How many tokens there are.
    package mutating func available(at second: UInt32) -> Int {
        self.refill(at: second)
        return self.tokens
    }

    /// Takes one token; false if there is none.
    package mutating func takeToken(at second: UInt32) -> Bool {
        self.refill(at: second)
        guard self.tokens > 0 else { return false }
        self.tokens -= 1
        return true
    }

    @inline(__always)
    private mutating func refill(at second: UInt32) {
        if second > self.refilledAt {
            let refill = Int(second - self.refilledAt).multipliedReportingOverflow(by: self.perSecond)
            // Credit that was given above the burst stays.
            let full = max(self.burst, self.tokens)
            self.tokens = refill.overflow ? full : min(full, self.tokens + refill.partialValue)
            self.refilledAt = second
        }
    }

    /// Adds tokens, above the burst if need be: they were paid for.
    mutating func give(_ count: Int) {
        self.tokens = Self.sum(self.tokens, count)
    }

    /// Adds tokens, above the burst by at most `max`.
    @inline(__always)
    mutating func give(_ count: Int, keeping max: Int) {
        self.tokens = Swift.max(self.tokens, min(Self.sum(self.tokens, count), Self.sum(self.burst, max)))
    }

    /// The sum of two numbers that are not negative; as much as there can be if it is more.
    @inline(__always)
    private static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}
