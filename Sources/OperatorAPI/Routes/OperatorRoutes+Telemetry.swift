import Partitions
import Telemetry

extension OperatorRoutes {
    /// The last to be added, since names that the gateway has used are its own.
    func addTelemetry(_ text: inout PrometheusText) {
        guard let telemetry = self.settings.telemetry else { return }
        if let traces = telemetry.traces {
            let (queue, exporter, limits) = (traces.queue.counters, traces.exporter.counters, traces.tracing.counters)
            text.add(
                "freshet_trace_spans_total",
                .counter,
                "Spans that have ended, by result.",
                by: "result",
                [("exported", exporter.exported), ("failed", exporter.failed), ("dropped", queue.dropped)]
            )
            text.add("freshet_trace_spans_waiting", .gauge, "Spans that wait to be exported.", traces.queue.count)
            text.add(
                "freshet_trace_limits_total",
                .counter,
                "Requests without a trace, and pushes and reloads whose traces are not kept, by limit.",
                by: "limit",
                [
                    ("traces", traces.sampler.limited), ("pushes", limits.pushesForgotten),
                    ("reloadsPerPush", limits.reloadsBeyond), ("reloads", limits.reloadsForgotten),
                ]
            )
        }
        text.add(
            "freshet_library_series_refused_total",
            .counter,
            "Series from swift-metrics that are not kept.",
            telemetry.metrics.refused
        )
        for family in telemetry.metrics.families { text.add(family) }
    }
}
