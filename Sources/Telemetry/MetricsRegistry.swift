package import CoreMetrics
import Synchronization

/// The metrics that libraries and the gateway itself report through swift-metrics, kept for the next scrape.
///
/// Names and labels are changed to those that Prometheus allows: counters end with `_total`, timers with `_seconds`. A name has one
/// kind, the first that is asked for; a second kind, and series beyond the limit, are counted and go nowhere. Series that are
/// destroyed stay: a counter that vanished could not be told from one that was reset.
package final class MetricsRegistry: MetricsFactory {
    private struct Key: Hashable {
        let name: String
        let labels: [MetricFamily.Label]
    }

    private struct State {
        var kinds: [String: MetricFamily.Kind] = [:]
        var handlers: [Key: MetricHandler] = [:]
        var refused = 0
    }

    /// The most series that are kept.
    package let seriesMax: Int
    private let state = Mutex(State())
    /// The handler of series that are not kept.
    private let nowhere = MetricHandler(labels: [], hasBuckets: false)

    package init(seriesMax: Int = 1000) {
        self.seriesMax = seriesMax
    }

    /// How many series were asked for and are not kept.
    package var refused: Int { self.state.withLock { $0.refused } }

    /// Everything, by name and labels.
    package var families: [MetricFamily] {
        let (kinds, handlers) = self.state.withLock { ($0.kinds, $0.handlers) }
        var families: [String: MetricFamily] = [:]
        for (key, handler) in handlers {
            guard let kind = kinds[key.name] else { continue }
            families[key.name, default: MetricFamily(name: key.name, kind: kind, series: [])].series.append(
                handler.series
            )
        }
        return families.values.sorted { $0.name < $1.name }.map { family in
            var family = family
            family.series.sort { left, right in
                left.labels.lexicographicallyPrecedes(right.labels) { ($0.name, $0.value) < ($1.name, $1.value) }
            }
            return family
        }
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        self.handler(label, dimensions, .counter, suffix: "_total")
    }

    package func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        self.handler(label, dimensions, .counter, suffix: "_total")
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        self.handler(label, dimensions, .gauge)
    }

    /// One that does not aggregate is a gauge; nothing is known of the unit of one that does, so it has no buckets.
    package func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        self.handler(label, dimensions, aggregate ? .summary : .gauge)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        self.handler(label, dimensions, .histogram, suffix: "_seconds")
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    private func handler(
        _ label: String,
        _ dimensions: [(String, String)],
        _ kind: MetricFamily.Kind,
        suffix: String = ""
    ) -> MetricHandler {
        let name = Self.name(label, suffix: suffix)
        var labels: [MetricFamily.Label] = []
        for (dimension, value) in dimensions {
            let dimension = Self.labelName(dimension)
            guard !labels.contains(where: { $0.name == dimension }) else { continue }
            labels.append(MetricFamily.Label(name: dimension, value: value))
        }
        labels.sort { $0.name < $1.name }
        let key = Key(name: name, labels: labels)
        return self.state.withLock { state in
            guard state.kinds[name, default: kind] == kind else {
                state.refused += 1
                return self.nowhere
            }
            if let handler = state.handlers[key] { return handler }
            guard state.handlers.count < self.seriesMax else {
                state.refused += 1
                return self.nowhere
            }
            let handler = MetricHandler(labels: labels, hasBuckets: kind == .histogram)
            state.kinds[name] = kind
            state.handlers[key] = handler
            return handler
        }
    }

    private static func name(_ label: String, suffix: String) -> String {
        let name = Self.allowed(label, colons: true)
        return name.hasSuffix(suffix) ? name : name + suffix
    }

    /// `le` and `quantile` are Prometheus' own, and so are names that begin with two underscores.
    private static func labelName(_ name: String) -> String {
        let name = Self.allowed(name, colons: false)
        return name == "le" || name == "quantile" || name.hasPrefix("__") ? "label_\(name)" : name
    }

    private static func allowed(_ text: String, colons: Bool) -> String {
        var allowed = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_": allowed.unicodeScalars.append(scalar)
            case "0"..."9":
                if allowed.isEmpty { allowed = "_" }
                allowed.unicodeScalars.append(scalar)
            case ":" where colons: allowed.unicodeScalars.append(scalar)
            default: allowed += "_"
            }
        }
        return allowed.isEmpty ? "_" : allowed
    }
}
