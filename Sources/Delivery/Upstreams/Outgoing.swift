package import HTTPTransport
package import Ownership
import Partitions
package import Settings
import Synchronization
package import WidgetModel

/// The parts of outgoing HTTP: the plans, the client, and the actors that send.
package struct Outgoing: Sendable {
    package let live: LiveDeliveryPlans
    package var plans: DeliveryPlans { self.live.current }
    package let deliverer: ReloadDeliverer
    package let receipts: ReceiptSender
    package let client: HTTPClient
    /// Whether anything goes out at all.
    package let delivers: Bool
    /// From taking its turn to the whole answer.
    let timeout: Shared<Interval>
    /// The counts of pushes that were passed on.
    let relayed = RelayCounters()

    package init(
        plans: LiveDeliveryPlans,
        deliverer: ReloadDeliverer,
        receipts: ReceiptSender,
        client: HTTPClient,
        delivers: Bool = true,
        timeout: Interval
    ) {
        self.delivers = delivers
        self.live = plans
        self.deliverer = deliverer
        self.receipts = receipts
        self.client = client
        self.timeout = Shared(timeout)
    }

    /// A partition is another node's now.
    package func letGo(_ partition: PartitionID) async {
        await self.deliverer.letGo(partition)
        await self.receipts.letGo(partition)
    }

    /// Waiting deliveries go by other plans from now on.
    package func usePlans(changed: Set<Destination>) {
        Task {
            await self.deliverer.usePlans(changed: changed)
            await self.receipts.usePlans()
        }
    }

    /// Tries at once the waiting deliveries of the targets that failed last.
    package func tryFailing() async {
        await self.deliverer.tryFailing()
        await self.receipts.tryFailing()
    }

    /// Keeps to other settings from now on.
    package func applySettings(_ settings: GatewayConfiguration.Deliveries) {
        self.timeout.set(settings.request)
        Task {
            await self.deliverer.applySettings(settings)
            await self.receipts.applySettings(settings)
        }
    }
}

/// The counts of the pushes of other types that were passed on to upstreams.
final class RelayCounters: Sendable {
    /// Pushes that an upstream answered, with any status.
    let answered = Atomic<Int>(0)
    /// Pushes that the gateway answered with 503, because no upstream did.
    let unanswered = Atomic<Int>(0)
}
