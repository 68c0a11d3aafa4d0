import Telemetry

/// Metrics in Prometheus' text format, version 0.0.4.
struct PrometheusText {
    enum Kind: String {
        case counter, gauge, histogram
    }

    private(set) var text = ""
    /// The names that have been written; a name is in a text once.
    private(set) var names: Set<String> = []

    /// One metric without labels.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        self.begin(name, kind, help)
        self.line(name, [], value)
    }

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
        self.add(name, kind, help, Double(value))
    }

    /// One metric with labels; nothing if there are no rows.
    mutating func add(
        _ name: String,
        _ kind: Kind,
        _ help: String,
        _ rows: [(labels: [(String, String)], value: Double)]
    ) {
        guard !rows.isEmpty else { return }
        self.begin(name, kind, help)
        for row in rows { self.line(name, row.labels, row.value) }
    }

    /// A metric with one label.
    mutating func add(_ name: String, _ kind: Kind, _ help: String, by label: String, _ rows: [(String, Int)]) {
        self.add(name, kind, help, rows.map { (labels: [(label, $0.0)], value: Double($0.1)) })
    }

    /// How many were at most as large as each bound, ascending; of all, and their sum.
    struct Histogram {
        var labels: [(String, String)]
        var buckets: [(Double, Int)]
        var count: Int
        var sum: Double
    }

    /// Histograms under one name; nothing if there are none.
    mutating func histograms(_ name: String, _ help: String, _ all: [Histogram]) {
        guard !all.isEmpty else { return }
        self.begin(name, .histogram, help)
        for one in all { self.lines(name, one) }
    }

    /// A metric that was reported through swift-metrics; nothing if its name is in the text already.
    mutating func add(_ family: MetricFamily) {
        guard !self.names.contains(family.name) else { return }
        self.text += "# HELP \(family.name) Reported through swift-metrics since the process started.\n"
        self.text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
        self.names.insert(family.name)
        for series in family.series {
            let labels = series.labels.map { ($0.name, $0.value) }
            guard family.kind == .histogram || family.kind == .summary else {
                self.line(family.name, labels, series.value)
                continue
            }
            let buckets = Array(zip(MetricFamily.bounds, series.buckets))
            self.lines(family.name, Histogram(labels: labels, buckets: buckets, count: series.count, sum: series.sum))
        }
    }

    private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        self.names.insert(name)
        self.text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// A summary is a histogram without buckets.
    private mutating func lines(_ name: String, _ one: Histogram) {
        for (bound, count) in one.buckets {
            self.line("\(name)_bucket", one.labels + [("le", "\(bound)")], Double(count))
        }
        if !one.buckets.isEmpty {
            self.line("\(name)_bucket", one.labels + [("le", "+Inf")], Double(one.count))
        }
        self.line("\(name)_sum", one.labels, one.sum)
        self.line("\(name)_count", one.labels, Double(one.count))
    }

    private mutating func line(_ name: String, _ labels: [(String, String)], _ value: Double) {
        self.text += name
        if !labels.isEmpty {
            self.text += "{" + labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",") + "}"
        }
        let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
        self.text += " \(number)\n"
    }

    private static func escaped(_ value: String) -> String {
        var escaped = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
