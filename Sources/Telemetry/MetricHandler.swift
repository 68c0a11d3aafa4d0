import CoreMetrics
import Synchronization

/// One series of a ``MetricsRegistry``: whatever swift-metrics calls it, it adds up numbers.
final class MetricHandler: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    private let state: Mutex<MetricFamily.Series>
    private let hasBuckets: Bool

    init(labels: [MetricFamily.Label], hasBuckets: Bool) {
        var series = MetricFamily.Series(labels: labels)
        if hasBuckets { series.buckets = Array(repeating: 0, count: MetricFamily.bounds.count) }
        self.state = Mutex(series)
        self.hasBuckets = hasBuckets
    }

    var series: MetricFamily.Series { self.state.withLock { $0 } }

    func increment(by amount: Int64) { self.increment(by: Double(amount)) }
    func increment(by amount: Double) { self.state.withLock { $0.value += amount } }
    func decrement(by amount: Double) { self.state.withLock { $0.value -= amount } }
    func reset() { self.state.withLock { $0.value = 0 } }
    func set(_ value: Int64) { self.set(Double(value)) }
    func set(_ value: Double) { self.state.withLock { $0.value = value } }
    func record(_ value: Int64) { self.record(Double(value)) }

    func record(_ value: Double) {
        self.state.withLock { series in
            series.value = value
            series.count += 1
            series.sum += value
            guard self.hasBuckets else { return }
            for (index, bound) in MetricFamily.bounds.enumerated() where value <= bound { series.buckets[index] += 1 }
        }
    }

    func recordNanoseconds(_ duration: Int64) { self.record(Double(duration) / 1_000_000_000) }
}
