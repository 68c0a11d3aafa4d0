package import Engine
package import WidgetModel

/// The gateway's counts up to an instant, and the waiting work then.
package struct GatewayTotals: Sendable {
    package var at: Instant
    package var accepted = 0
    package var rejected = 0
    package var unavailable = 0
    package var rateLimited = 0
    package var backlogFull = 0
    package var matched = 0
    /// Of all pushes; `deferred` and `issued` are the present numbers.
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
