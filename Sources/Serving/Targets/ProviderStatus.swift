package import Ownership
package import TimelineProviding
package import WidgetModel

/// How timeline providers do, as operators see it and can have them tried again.
package protocol ProviderStatus: Sendable {
    /// How a kind's provider does; nil if it has none.
    func view(of key: KindKey) async -> ProviderView?
    /// Asks some kinds' providers at once about the reloads that wait after failures.
    ///
    /// - Parameter keys: nil for all those that have failed last.
    func tryNow(_ keys: Set<KindKey>?) async
    /// Waits until every provider has answered all requests that can be sent by now, and shows the entries whose dates have come: for a
    /// clock that stands still meanwhile.
    ///
    /// - Returns: When there is something to ask or to show next, if nothing happens before; nil for never.
    func settle() async -> Instant?
}

/// How a timeline provider does, for operators.
package struct ProviderView: Sendable {
    package let breaker: CircuitBreaker.State
    package let counters: FetchPlanner.Counters
    package let waiting: Int
    package let requestsInFlight: Int
    /// Answers that are no timeline, or over a limit.
    package let timelinesRefused: Int
    package let lastFault: (at: Instant, text: String)?
    package let target: TargetView

    package init(
        breaker: CircuitBreaker.State,
        counters: FetchPlanner.Counters,
        waiting: Int,
        requestsInFlight: Int,
        timelinesRefused: Int,
        lastFault: (at: Instant, text: String)?,
        target: TargetView
    ) {
        self.breaker = breaker
        self.counters = counters
        self.waiting = waiting
        self.requestsInFlight = requestsInFlight
        self.timelinesRefused = timelinesRefused
        self.lastFault = lastFault
        self.target = target
    }
}
