/// When the instances of a kind share their configurations, see ``InstanceClasses``.
package enum Interning: Hashable, Sendable {
    case never
    case always
    /// With at least this number of instances and less than an eighth as many distinct configurations; no longer with
    /// more than a quarter as many.
    case observed(atLeast: Int)
}

/// Estimates how many distinct configurations a kind's instances have, a few rows at a time.
///
/// Of all configurations those are counted whose hash ends in some zero bits, more of them as more are found: so a few
/// hundred hashes stand for any number of rows.
///
/// Source: Gibbons, "Distinct Sampling for Highly-Accurate Answers to Distinct Values Queries" (2001).
struct ConfigurationSurvey: Sendable {
    private static let samplesMax = 512

    /// Rows that were looked at.
    private(set) var rows = 0
    /// How many bits of a hash must be zero.
    private var level = 0
    private var samples: Set<UInt64> = []

    /// How many distinct configurations there may be among the rows so far.
    var distinct: Int { self.samples.count << self.level }

    mutating func add(_ hash: UInt64) {
        self.rows += 1
        guard hash & (1 << UInt64(self.level) &- 1) == 0 else { return }
        self.samples.insert(hash)
        while self.samples.count > Self.samplesMax {
            self.level += 1
            let mask: UInt64 = 1 << UInt64(self.level) - 1
            self.samples = self.samples.filter { $0 & mask == 0 }
        }
    }
}
