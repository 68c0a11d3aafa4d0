package import Ownership
import Partitions
package import Settings
package import TLS
import WidgetModel

/// Where reloads go by HTTP at present: read again while the gateway runs.
package final class LiveDeliveryPlans: Sendable {
    private let plans: Shared<DeliveryPlans>

    package init(_ plans: DeliveryPlans) {
        self.plans = Shared(plans)
    }

    package var current: DeliveryPlans { self.plans.value }

    /// Reads the destinations and files that a configuration names. The connections and provider tokens of unchanged
    /// ones are kept.
    ///
    /// - Returns: The destinations that are another place now, or are shown other credentials.
    /// - Throws: ``TLSError`` that names the file; the plans before stay.
    @discardableResult
    package func replace(_ configuration: GatewayConfiguration) throws(TLSError) -> Set<Destination> {
        let before = self.plans.value
        let plans = try DeliveryPlans(configuration, before: before)
        self.plans.set(plans)
        return plans.destinations(differentFrom: before)
    }
}

extension GatewayConfiguration {
    /// The files of keys, certificates and secrets that deliveries need.
    package var deliveryFiles: [String] {
        self.apps.flatMap { app in
            [
                app.upstream?.key, app.upstream?.certificate, app.upstream?.certificateKey, app.upstream?.authorities,
                app.webhook?.secretFile, app.webhook?.authorities, app.receipts?.secretFile, app.receipts?.authorities,
            ].compactMap { $0 }
        }
    }
}
