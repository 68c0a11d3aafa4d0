package import Logging
package import Partitions

/// The telemetry of outgoing HTTP: the log, traces, and how long answers took.
package struct DeliveryTelemetry: Sendable {
    package let logger: Logger
    /// Nil where pushes are not traced.
    package let tracing: GatewayTracing?
    /// Nil where nothing is timed.
    package let instruments: GatewayInstruments?

    package init(logger: Logger, tracing: GatewayTracing? = nil, instruments: GatewayInstruments? = nil) {
        self.logger = logger
        self.tracing = tracing
        self.instruments = instruments
    }
}
