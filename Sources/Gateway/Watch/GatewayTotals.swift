package import Engine
package import WidgetModel

/// What the gateway has counted up to an instant, and what waits then.
package struct GatewayTotals: Sendable {
    package var at: Instant
    package var accepted = 0
    package var rejected = 0
    package var unavailable = 0
    package var rateLimited = 0
    package var backlogFull = 0
    package var matched = 0
    /// Of all pushes; `deferred` and `issued` are what is so now.
    package var outcomes = OutcomeCounts()
    package var reloadsIssued = 0
    package var policyReloads = 0
    package var freshness = Freshness()
    /// Requests that wait for the log or for the partitions now.
    package var inFlight = 0
    /// Entries that are logged and not applied now, over all partitions.
    package var lag = 0
    /// Reloads that the live feed left out.
    package var reloadsNotShown = 0

    package init(at: Instant) {
        self.at = at
    }
}

/// What happened between two totals, and what waits at the end.
package struct GatewaySample: Hashable, Sendable {
    /// The end.
    package let at: Instant
    package let accepted: Int
    package let rejected: Int
    package let unavailable: Int
    package let rateLimited: Int
    package let backlogFull: Int
    package let matched: Int
    /// How many more ended in each final outcome; of `deferred` and `issued` how many there are at the end.
    package let outcomes: OutcomeCounts
    package let reloadsIssued: Int
    package let policyReloads: Int
    /// From accepted push to shown entry, of those that were shown meanwhile.
    package let freshness: Freshness
    package let inFlight: Int
    package let lag: Int
    package let reloadsNotShown: Int

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
