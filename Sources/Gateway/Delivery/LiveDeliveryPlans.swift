package import TLS
import WidgetModel

/// Where reloads go by HTTP at present: read again while the gateway runs.
package final class LiveDeliveryPlans: Sendable {
    private let plans: Shared<DeliveryPlans>

    package init(_ plans: DeliveryPlans) {
        self.plans = Shared(plans)
    }

    package var current: DeliveryPlans { self.plans.value }

    /// Reads what a configuration names; connections and provider tokens of what has not changed are kept.
    ///
    /// - Throws: ``TLSError`` that names the file; the plans before stay.
    package func replace(_ configuration: GatewayConfiguration) throws(TLSError) {
        self.plans.set(try DeliveryPlans(configuration, before: self.plans.value))
    }
}

extension GatewayConfiguration {
    /// The files of keys, certificates and secrets that deliveries need.
    var deliveryFiles: [String] {
        self.apps.flatMap { app in
            [
                app.upstream?.key, app.upstream?.certificate, app.upstream?.certificateKey, app.upstream?.authorities,
                app.webhook?.secretFile, app.webhook?.authorities,
            ].compactMap { $0 }
        }
    }
}
