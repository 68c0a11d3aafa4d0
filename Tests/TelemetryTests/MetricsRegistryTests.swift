import CoreMetrics
import Telemetry
import Testing

@Suite struct `What is reported through swift-metrics` {
    private func label(_ name: String, _ value: String) -> MetricFamily.Label {
        MetricFamily.Label(name: name, value: value)
    }

    @Test func `is kept under names that Prometheus allows`() {
        let registry = MetricsRegistry()
        Counter(label: "http.client-requests", dimensions: [("http.status", "200")], factory: registry).increment(by: 3)
        Counter(label: "freshet_reloads_total", factory: registry).increment()
        Gauge(label: "2nd", dimensions: [("le", "1"), ("__x", "2")], factory: registry).record(7)
        #expect(registry.families.map(\.name) == ["_2nd", "freshet_reloads_total", "http_client_requests_total"])
        #expect(registry.families.map(\.kind) == [.gauge, .counter, .counter])
        #expect(registry.families.flatMap { $0.series.map(\.value) } == [7, 1, 3])
        #expect(
            registry.families.flatMap { $0.series.flatMap(\.labels) }
                == [self.label("label___x", "2"), self.label("label_le", "1"), self.label("http_status", "200")]
        )
    }

    @Test func `adds up durations in seconds, by how long they were`() throws {
        let registry = MetricsRegistry()
        let timer = Timer(label: "commit", factory: registry)
        timer.recordMilliseconds(1)
        timer.recordMilliseconds(20)
        timer.recordSeconds(60)
        let family = try #require(registry.families.first)
        #expect(family.name == "commit_seconds")
        #expect(family.kind == .histogram)
        #expect(family.series.map(\.count) == [3])
        #expect(family.series.map(\.sum) == [60.021])
        #expect(family.series.map(\.buckets) == [[0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2]])
    }

    @Test func `is one series for everybody who names it alike`() {
        let registry = MetricsRegistry()
        Counter(label: "a", dimensions: [("x", "1"), ("y", "2")], factory: registry).increment()
        Counter(label: "a", dimensions: [("y", "2"), ("x", "1")], factory: registry).increment()
        Recorder(label: "sizes", factory: registry).record(5)
        Meter(label: "level", factory: registry).increment(by: 2)
        #expect(registry.families.flatMap { $0.series.map(\.value) } == [2, 2, 5])
        #expect(registry.families.map(\.kind) == [.counter, .gauge, .summary])
    }

    @Test func `of a second kind or beyond the limit goes nowhere and is counted`() {
        let registry = MetricsRegistry(seriesMax: 2)
        Counter(label: "a_total", factory: registry).increment()
        Gauge(label: "a_total", factory: registry).record(9)
        #expect(registry.refused == 1)
        Counter(label: "b", factory: registry).increment()
        Counter(label: "c", factory: registry).increment()
        #expect(registry.refused == 2)
        Counter(label: "b", factory: registry).increment()
        #expect(registry.families.flatMap { $0.series.map(\.value) } == [1, 2])
    }
}
