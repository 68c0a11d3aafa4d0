package import HTTPTransport
import Synchronization

/// What goes out by HTTP: where to, by what client, and what brings it there.
package struct Outgoing: Sendable {
    package let live: LiveDeliveryPlans
    package var plans: DeliveryPlans { self.live.current }
    package let deliverer: ReloadDeliverer
    package let client: HTTPClient
    package let settings: GatewayConfiguration.Deliveries
    /// What became of pushes that were passed on.
    let relayed = RelayCounters()

    package init(
        plans: LiveDeliveryPlans,
        deliverer: ReloadDeliverer,
        client: HTTPClient,
        _ settings: GatewayConfiguration.Deliveries
    ) {
        self.live = plans
        self.deliverer = deliverer
        self.client = client
        self.settings = settings
    }
}

/// What became of the pushes of other types that were passed on to upstreams.
final class RelayCounters: Sendable {
    /// Pushes that an upstream answered, whatever it said.
    let answered = Atomic<Int>(0)
    /// Pushes that the gateway answered with 503, because no upstream did.
    let unanswered = Atomic<Int>(0)
}
