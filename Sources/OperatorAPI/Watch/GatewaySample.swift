package import Engine
package import WidgetModel

/// The counts between two totals, and the waiting work at the end.
package struct GatewaySample: Hashable, Sendable {
    /// The end.
    package private(set) var at: Instant
    package private(set) var accepted: Int
    package private(set) var rejected: Int
    package private(set) var unavailable: Int
    package private(set) var rateLimited: Int
    package private(set) var backlogFull: Int
    package private(set) var matched: Int
    /// How many more ended in each final outcome; of `deferred` and `issued` how many there are at the end.
    package private(set) var outcomes: OutcomeCounts
    package private(set) var reloadsIssued: Int
    package private(set) var policyReloads: Int
    /// From accepted push to shown entry, of those that were shown meanwhile.
    package private(set) var freshness: Freshness
    package private(set) var inFlight: Int
    package private(set) var lag: Int
    package private(set) var reloadsNotShown: Int

    package init(from earlier: GatewayTotals, to later: GatewayTotals) {
        self.at = later.at
        self.accepted = later.accepted - earlier.accepted
        self.rejected = later.rejected - earlier.rejected
        self.unavailable = later.unavailable - earlier.unavailable
        self.rateLimited = later.rateLimited - earlier.rateLimited
        self.backlogFull = later.backlogFull - earlier.backlogFull
        self.matched = later.matched - earlier.matched
        var outcomes = later.outcomes
        for outcome in PushOutcome.allCases where outcome.isFinal { outcomes[outcome] -= earlier.outcomes[outcome] }
        self.outcomes = outcomes
        self.reloadsIssued = later.reloadsIssued - earlier.reloadsIssued
        self.policyReloads = later.policyReloads - earlier.policyReloads
        self.freshness = later.freshness.since(earlier.freshness)
        self.inFlight = later.inFlight
        self.lag = later.lag
        self.reloadsNotShown = later.reloadsNotShown - earlier.reloadsNotShown
    }
}

extension GatewaySample {
    /// The version of archived bytes.
    private static let version: UInt8 = 1
    /// So much that no sum of them comes near the end of its type.
    private static let countRange: ClosedRange<Int64> = -(1 << 40)...(1 << 40)

    /// This sample and a later one as one: the sums of their counts, and the waiting work at the end.
    package func merged(with later: GatewaySample) -> GatewaySample {
        var sum = later
        for part in Self.counts { sum[keyPath: part] += self[keyPath: part] }
        for outcome in PushOutcome.allCases where outcome.isFinal { sum.outcomes[outcome] += self.outcomes[outcome] }
        sum.freshness += self.freshness
        return sum
    }

    /// The counts that are added up over time.
    private static var counts: [WritableKeyPath<GatewaySample, Int>] {
        [
            \.accepted, \.rejected, \.unavailable, \.rateLimited, \.backlogFull, \.matched, \.reloadsIssued,
            \.policyReloads,
            \.reloadsNotShown,
        ]
    }

    /// As it is archived; why pushes failed is left out.
    package var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 64)
        writer.write(byte: Self.version)
        writer.write(self.at)
        for part in Self.counts + [\.inFlight, \.lag] { writer.write(signed: Int64(self[keyPath: part])) }
        writer.write(each: PushOutcome.allCases) { $0.write(signed: Int64(self.outcomes[$1])) }
        self.freshness.encode(into: &writer)
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        guard try reader.readByte() == Self.version else { throw .invalid(offset: 0) }
        let totals = GatewayTotals(at: try reader.readInstant())
        self.init(from: totals, to: totals)
        for part in Self.counts + [\.inFlight, \.lag] {
            self[keyPath: part] = Int(try reader.readSigned(in: Self.countRange))
        }
        let outcomes = try reader.readEach { (reader) throws(ByteError) in
            Int(try reader.readSigned(in: Self.countRange))
        }
        guard outcomes.count == PushOutcome.allCases.count else { throw .invalid(offset: reader.offset) }
        for (outcome, count) in zip(PushOutcome.allCases, outcomes) { self.outcomes[outcome] = count }
        self.freshness = try Freshness(from: &reader)
    }
}
