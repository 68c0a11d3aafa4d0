package import Telemetry

/// The metrics of swift-metrics, and the counts of traces.
package struct TelemetrySources: Sendable {
    package let metrics: MetricsRegistry
    /// Nil where pushes are not traced.
    package let traces: Traces?

    /// The parts that count spans on their way.
    package struct Traces: Sendable {
        package let tracing: GatewayTracing
        package let sampler: SpanSampler
        package let queue: SpanQueue
        package let exporter: SpanExporter

        package init(tracing: GatewayTracing, sampler: SpanSampler, queue: SpanQueue, exporter: SpanExporter) {
            self.tracing = tracing
            self.sampler = sampler
            self.queue = queue
            self.exporter = exporter
        }
    }

    package init(metrics: MetricsRegistry, traces: Traces? = nil) {
        self.metrics = metrics
        self.traces = traces
    }
}
