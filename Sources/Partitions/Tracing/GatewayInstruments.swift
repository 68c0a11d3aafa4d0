import Engine
package import Metrics
import WidgetModel

/// The metrics that the gateway reports of its process alone, through swift-metrics.
///
/// Nothing here counts pushes or reloads: those are read from the state (docs/architecture.md). The instruments here
/// are for operations that happen at most once for many pushes, or send a request to another service.
package struct GatewayInstruments: Sendable {
    /// From handing records over to the log until they are durable, for a submission of any size.
    package let commit: Timer
    /// From sending a request for reloads until its answer, by the way of delivering.
    package let upstream: Timer
    package let webhook: Timer
    /// From asking a timeline provider until its answer.
    package let fetch: Timer
    /// Configurations that were read and are in force, and those that were refused.
    package let configurationsLoaded: Counter
    package let configurationsRefused: Counter

    package init(_ factory: any MetricsFactory) {
        self.commit = Timer(label: "freshet_log_commit", factory: factory)
        let delivery = "freshet_delivery_request"
        self.upstream = Timer(label: delivery, dimensions: [("delivery", "apns")], factory: factory)
        self.webhook = Timer(label: delivery, dimensions: [("delivery", "webhook")], factory: factory)
        self.fetch = Timer(label: "freshet_timeline_provider_request", factory: factory)
        let reloads = "freshet_config_reloads"
        self.configurationsLoaded = Counter(label: reloads, dimensions: [("result", "loaded")], factory: factory)
        self.configurationsRefused = Counter(label: reloads, dimensions: [("result", "refused")], factory: factory)
    }
}
