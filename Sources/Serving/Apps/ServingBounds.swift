package import IntentMatching
import Partitions
package import Settings

/// The bounds of the handlers of requests, beside those of connections.
package struct ServingBounds: Sendable {
    package var intake = PushIntakeLimits()
    package var hosts = HostRouteLimits()
    /// The limits of a pattern of a push, a channel or a question.
    package var patterns = PatternLimits()
    /// The limits of an instance's condition.
    package var conditions = PatternLimits.conditions
    /// The goal by which freshness is judged.
    package var goal = FreshnessGoal()
    /// The most matches that a dry run decides. Default 500.
    package var decidedMax = 500
    /// The most channels of one app. Default 10,000, as at APNs.
    package var channelsMax = 10_000
    /// The most instants that one move of a movable clock stops at. Default 10,000.
    package var clockStopsMax = 10_000
    /// The most widgets of one partition that are looked at to tell why a push waits. Default 256.
    package var waitingLookedMax = 256
    /// Nil if pushes to one token may come as fast as they like.
    package var tokenRates: TokenRates?

    package init() {}

    /// - Parameters:
    ///   - before: The bounds that were in force until now: the rates of tokens go on where theirs are the same.
    ///   - seed: A secret random number.
    init(_ configuration: GatewayConfiguration, before: ServingBounds? = nil, seed: UInt64) {
        self.intake = PushIntakeLimits(configuration)
        self.hosts = HostRouteLimits(configuration.limits)
        self.patterns.costMax = configuration.limits.patternCostMax
        self.conditions.costMax = configuration.limits.conditionCostMax
        self.goal = configuration.freshnessGoal
        self.decidedMax = configuration.dryRun.decidedMax
        self.channelsMax = configuration.limits.channelsPerAppMax
        self.clockStopsMax = configuration.limits.clockStopsMax
        self.waitingLookedMax = configuration.limits.waitingLookedMax
        self.tokenRates = configuration.rateLimits.perToken.map { rate in
            let entries = configuration.rateLimits.tokensMax
            if let known = before?.tokenRates, known.limit == rate.limit, known.entries == entries { return known }
            return TokenRates(limit: rate.limit, entries: entries, seed: seed)
        }
    }
}
