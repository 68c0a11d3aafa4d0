package import WidgetModel

/// Two runs beside each other: what of their latencies and rates has changed.
package struct LoadComparison: Sendable {
    package struct Row: Hashable, Sendable {
        package let name: String
        package let before: Double
        package let after: Double
        /// Whether more is worse.
        package let isCost: Bool
        /// Microseconds, or plain numbers.
        package let isLatency: Bool

        /// How many times the old value the new one is; nil if there was nothing before, or one is infinite.
        package var ratio: Double? {
            self.before > 0 && self.before.isFinite && self.after.isFinite ? self.after / self.before : nil
        }

        /// How much worse it has become, as a share of what it was: 0.5 is half as much again. Zero for what is better.
        package var worsening: Double {
            guard self.before != self.after, self.before.isFinite else { return 0 }
            guard self.before > 0, self.after > 0 else { return self.before == self.after ? 0 : self.isCost ? 1 : 0 }
            let ratio = self.isCost ? self.after / self.before : self.before / self.after
            return max(0, ratio - 1)
        }
    }

    package let rows: [Row]

    /// - Throws: ``LoadError`` if one is no report of `freshet bench`, or both have nothing in common.
    package init(_ before: JSONValue, _ after: JSONValue) throws(LoadError) {
        let old = try Self.figures(before, "the first file")
        let new = try Self.figures(after, "the second file")
        self.rows = old.compactMap { figure in
            new.first { $0.name == figure.name }.map { other in
                Row(
                    name: figure.name,
                    before: figure.value,
                    after: other.value,
                    isCost: figure.isCost,
                    isLatency: figure.isLatency
                )
            }
        }
        guard !self.rows.isEmpty else { throw LoadError("the two reports have no load with the same name in common") }
    }

    private typealias Figure = (name: String, value: Double, isCost: Bool, isLatency: Bool)

    private static func figures(_ report: JSONValue, _ what: String) throws(LoadError) -> [Figure] {
        guard report["schema"] == .int(LoadReport.schema), case .array(let loads)? = report["loads"] else {
            throw LoadError("\(what) is no report of freshet bench --json, or one of another version")
        }
        var figures: [Figure] = []
        for load in loads {
            guard case .string(let name)? = load["name"] else { continue }
            if case .object(let stages)? = load["latencyMicroseconds"] {
                for stage in stages {
                    for percentile in LoadReport.percentiles {
                        guard let value = self.number(stage.value[percentile.name]) else { continue }
                        figures.append(("\(name) \(stage.name) \(percentile.name)", value, true, true))
                    }
                }
            }
            if let due = self.number(load["due"]), due > 0, let failed = self.number(load["failed"]) {
                figures.append(("\(name) failed, share", failed / due, true, false))
            }
        }
        if let rate = self.number(report["answeredPerSecond"]) {
            figures.append(("answered a second", rate, false, false))
        }
        if let rate = self.number(report["server"]?["answeredPerCPUSecond"]) {
            figures.append(("answered a CPU-second of the server", rate, false, false))
        }
        return figures
    }

    /// A figure that a run can have; what a file says need not be one. What so many operations never came to is infinite.
    private static func number(_ value: JSONValue?) -> Double? {
        let number: Double
        switch value {
        case .int(let value): number = Double(value)
        case .unsigned(let value): number = Double(value)
        case .double(let value): number = value
        case .string("never"): return .infinity
        default: return nil
        }
        return (0...Self.figureMax).contains(number) ? number : nil
    }

    private static let figureMax = 1e15

    /// The rows that have become worse by more than a share.
    package func worse(than share: Double, only name: String? = nil) -> [Row] {
        self.rows.filter { row in row.worsening > share && (name.map { row.name.hasSuffix($0) } ?? true) }
    }

    /// A table for a terminal.
    package var text: String {
        let cells = self.rows.map { row in
            [
                row.name, self.value(row.before, row), self.value(row.after, row),
                row.ratio.map { "\(Self.hundredths($0)) x" } ?? "–",
            ]
        }
        return LoadReport.table([["", "before", "after", "ratio"]] + cells).joined(separator: "\n") + "\n"
    }

    private func value(_ value: Double, _ row: Row) -> String {
        row.isLatency ? LoadReport.latency(value) : Self.hundredths(value)
    }

    private static func hundredths(_ value: Double) -> String {
        let hundredths = Int((min(value, Self.figureMax) * 100).rounded())
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest / 10)\(rest % 10)"
    }
}
