package import WidgetModel

/// Two runs beside each other: which of their latencies and rates have changed, and whether by more than chance.
package struct LoadComparison: Sendable {
    /// The verdict of a comparison on a figure.
    package enum Verdict: String, Hashable, Sendable, CaseIterable {
        case better
        case worse
        case noDifferenceShown
        /// The runs hold too little to say.
        case untested
    }

    package enum Unit: String, Hashable, Sendable, CaseIterable {
        case microseconds
        case perSecond
        case share
    }

    package struct Row: Hashable, Sendable {
        package let name: String
        package let before: Double
        package let after: Double
        /// Whether more is worse.
        package let isCost: Bool
        package let unit: Unit
        /// Where the difference lies with ``Bootstrap/confidence``; nil if the runs hold too little to say.
        package let interval: ClosedRange<Double>?

        /// How many times the old value the new one is; nil if there was nothing before, or one is infinite.
        package var ratio: Double? {
            self.before > 0 && self.before.isFinite && self.after.isFinite ? self.after / self.before : nil
        }

        package var difference: Double { Bootstrap.difference(self.before, self.after) }

        /// How much worse it has become, as a share of the earlier value: 0.5 is half as much again. Zero if it is
        /// better.
        package var worsening: Double {
            guard self.before != self.after, self.before.isFinite else { return 0 }
            guard self.before > 0, self.after > 0 else { return self.before == self.after ? 0 : self.isCost ? 1 : 0 }
            let ratio = self.isCost ? self.after / self.before : self.before / self.after
            return max(0, ratio - 1)
        }

        package var verdict: Verdict {
            guard let interval else { return .untested }
            if interval.lowerBound > 0 { return self.isCost ? .worse : .better }
            if interval.upperBound < 0 { return self.isCost ? .better : .worse }
            return .noDifferenceShown
        }
    }

    package let rows: [Row]

    /// - Throws: ``LoadError`` if one is no report of `freshet bench`, or both have nothing in common.
    package init(_ before: JSONValue, _ after: JSONValue) throws(LoadError) {
        let old = try Self.figures(before, "the first file")
        let new = try Self.figures(after, "the second file")
        let intervals = Self.intervals(before, after)
        self.rows = old.compactMap { figure in
            new.first { $0.name == figure.name }.map { other in
                Row(
                    name: figure.name,
                    before: figure.value,
                    after: other.value,
                    isCost: figure.isCost,
                    unit: figure.unit,
                    interval: intervals[figure.name]
                )
            }
        }
        guard !self.rows.isEmpty else { throw LoadError("the two reports have no load with the same name in common") }
    }

    private typealias Figure = (name: String, value: Double, isCost: Bool, unit: Unit)

    private static let answeredName = "answered a second"

    private static func failedName(_ load: String) -> String { "\(load) failed, share" }

    private static func loads(_ report: JSONValue) -> [(name: String, load: JSONValue)] {
        guard case .array(let loads)? = report["loads"] else { return [] }
        return loads.compactMap { load in
            if case .string(let name)? = load["name"] { (name, load) } else { nil }
        }
    }

    private static func figures(_ report: JSONValue, _ what: String) throws(LoadError) -> [Figure] {
        guard report["schema"] == .int(LoadReport.version), case .array? = report["loads"] else {
            throw LoadError("\(what) is no report of freshet bench --json, or one of another version")
        }
        var figures: [Figure] = []
        for (name, load) in self.loads(report) {
            if case .object(let stages)? = load["latencyMicroseconds"] {
                for stage in stages {
                    for percentile in LoadReport.percentiles {
                        guard let value = self.number(stage.value[percentile.name]) else { continue }
                        figures.append(("\(name) \(stage.name) \(percentile.name)", value, true, .microseconds))
                    }
                }
            }
            if let due = self.number(load["due"]), due > 0, let failed = self.number(load["failed"]) {
                figures.append((self.failedName(name), failed / due, true, .share))
            }
        }
        if let rate = self.number(report["answeredPerSecond"]) {
            figures.append((self.answeredName, rate, false, .perSecond))
        }
        if let rate = self.number(report["server"]?["answeredPerCPUSecond"]) {
            figures.append(("answered a CPU-second of the server", rate, false, .perSecond))
        }
        return figures
    }

    /// Confidence intervals by the figures' names, of those that are drawn from intervals.
    private static func intervals(_ before: JSONValue, _ after: JSONValue) -> [String: ClosedRange<Double>] {
        var found: [String: ClosedRange<Double>] = [:]
        // Of a longest latency drawing again says nothing: it never draws a longer one.
        let percentiles = LoadReport.percentiles.filter { $0.value < 100 }
        let others = self.loads(after)
        for (name, load) in self.loads(before) {
            guard let other = others.first(where: { $0.name == name })?.load else { continue }
            for stage in LatencyStage.allCases {
                guard let old = LoadBlocks.latencies(load["latencyMicroseconds"]?[stage.rawValue]),
                    let new = LoadBlocks.latencies(other["latencyMicroseconds"]?[stage.rawValue])
                else { continue }
                let isAccepted = stage == .accepted
                func figures(_ latencies: LoadBlocks.Latencies) -> (blocks: Int, figures: ([Int]) -> [Double]) {
                    (
                        latencies.blocks.count,
                        { picks in
                            latencies.percentiles(percentiles.map(\.value), of: picks)
                                + (isAccepted ? [latencies.unreachedShare(of: picks)] : [])
                        }
                    )
                }
                guard let ranges = Bootstrap.differences(before: figures(old), after: figures(new)) else { continue }
                let names = percentiles.map { "\(name) \(stage.rawValue) \($0.name)" } + [self.failedName(name)]
                let count = min(old.count, new.count)
                for (index, (name, range)) in zip(names, ranges).enumerated() {
                    // Of a percentile that few operations lie beyond, drawing again finds the same few.
                    let beyond = index < percentiles.count ? count * (1 - percentiles[index].value / 100) : count
                    if beyond >= Self.beyondMin { found[name] = range }
                }
            }
        }
        if let old = LoadBlocks.rates(before), let new = LoadBlocks.rates(after) {
            func mean(_ rates: [Double]) -> (blocks: Int, figures: ([Int]) -> [Double]) {
                (rates.count, { picks in [picks.reduce(0) { $0 + rates[$1] } / Double(picks.count)] })
            }
            found[self.answeredName] = Bootstrap.differences(before: mean(old), after: mean(new))?.first
        }
        return found
    }

    /// A figure that a run can have; nil if a file has none there. A stage that so many operations never came to is
    /// infinite.
    static func number(_ value: JSONValue?) -> Double? {
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

    static let figureMax = 1e15
    /// So many operations have to lie beyond a percentile for its interval to be told.
    private static let beyondMin = 5.0

    /// The rows that have become worse by more than a share, and by more than chance as far as the runs can tell.
    package func worse(than share: Double, only name: String? = nil) -> [Row] {
        self.rows.filter { row in
            row.worsening > share && [.worse, .untested].contains(row.verdict)
                && (name.map { row.name.hasSuffix($0) } ?? true)
        }
    }
}
