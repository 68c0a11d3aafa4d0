package import WidgetModel

/// An engine's totals. Counters count from the first record of the log, so a replay gives the same.
///
/// Each member that is a plain number is declared in ``EngineStat/all`` once: its part in a snapshot, its sum over
/// partitions, its name in operators' answers and its metric follow from there.
package struct EngineStats: Hashable, Sendable {
    package var position = LogPosition.start
    package var time = Instant.epoch
    package var hosts = 0
    package var instances = 0
    package var pushEnabledInstances = 0
    /// Instances whose configuration no longer fits their kind's schema.
    package var orphanedInstances = 0
    /// Removed instances with a remembered budget.
    package var tombstones = 0
    package var tokens = 0
    package var removedTokens = 0
    /// Broadcast channels of the apps that have this partition as their home.
    package var channels = 0
    package var pushesAccepted = 0
    package var pushesRepeated = 0
    /// Pushes that were decided for no instance, see ``PushFailure``; of each partition in which they were.
    package var pushesFailed = 0
    package var pushesRetained = 0
    package var pushesIncomplete = 0
    /// Pushes whose repeats are recognised, and the acceptance of the oldest; nil if there is none.
    package var pushesRemembered = 0
    package var rememberedSince: Instant?
    /// Matched instances of all pushes; the total of ``outcomes``.
    package var matched = 0
    package var outcomes = OutcomeCounts()
    package var reloadsIssued = 0
    package var reloadsCharged = 0
    /// Reloads by exemption, in the order of raw values.
    package var reloadsExempt = Array(repeating: 0, count: Exemption.allCases.count)
    /// Reloads by cause, in the order of raw values; a reload with several causes counts for each.
    package var reloadsByCause = Array(repeating: 0, count: ReloadCause.allCases.count)
    package var reloadsOutstanding = 0
    package var reloadsAcknowledged = 0
    package var reloadsRefused = 0
    package var reloadsUnacknowledged = 0
    /// Reloads that hosts did by themselves.
    package var reloadsObserved = 0
    /// From the push that was accepted to the entry that the host said it shows.
    package var freshness = Freshness()
    /// From the reload that was issued to its acknowledgement.
    package var acknowledgement = Freshness()
    /// Reloads that a push for another widget with the same token brought, within the budget and beyond it.
    package var reloadsCollateral = 0
    package var reloadsCollateralOver = 0
    /// Pushes to tokens; each reloads all widgets that share the token.
    package var tokenPushes = 0
    package var timelinesAccepted = 0
    package var timelinesDiscarded = 0
    package var timelineFindings = 0
    package var signals = 0
    /// Hosts that were told that relevance is out of date, and kinds with outdated recommendations.
    package var invalidations = 0
    package var decisions: UInt64 = 0
    /// Decisions that are not kept any more.
    package var decisionsEvicted = 0
    package var timersArmed = 0

    package init() {}
}
