import Histogram
import ReportPages

extension LoadReport {
    /// The report as a page of charts that stands alone.
    package var pageText: String {
        ReportPage(
            kicker: "Freshet load test",
            title: self.scenario.name,
            about: self.scenario.about,
            facts: [
                LoadValue.text(self.scenario.length), "\(ReportText.count(self.tally.due)) operations",
                "\(ReportText.count(self.scenario.hosts.count)) hosts with \(self.scenario.hosts.widgets) widgets",
                "\(self.scenario.connections) connections with \(self.scenario.streams) streams",
                "against \(self.target)", "seed \(self.scenario.seed)",
            ],
            tiles: self.tiles,
            figures: [self.rateFigure, self.curveFigure] + self.overTimeFigures + self.failureFigures,
            tables: [self.latencyTable, self.objectiveTable, self.remarkTable],
            colophon:
                "Made by freshet bench. Latencies count from the instant at which an operation was meant to be sent.",
            json: self.jsonText
        ).text
    }

    private var tiles: [ReportPage.Tile] {
        let accepted = self.tally.latencies(.accepted)
        let missed = self.results.count { !$0.isMet }
        return [
            ReportPage.Tile(
                name: "Answered",
                value: ReportText.count(Int(self.answeredPerSecond)),
                note: "a second; \(ReportText.percent(self.tally.answered, of: self.tally.due)) of what was due"
            ),
            ReportPage.Tile(
                name: "Accepted, median",
                value: Self.latency(accepted.microseconds(atPercentile: 50)),
                note: "p99 \(Self.latency(accepted.microseconds(atPercentile: 99)))"
            ),
            ReportPage.Tile(
                name: "Delivered, median",
                value: Self.latency(self.tally.latencies(.delivered).microseconds(atPercentile: 50)),
                note: "\(ReportText.count(self.tally.reloads)) reloads reached their hosts"
            ),
            ReportPage.Tile(
                name: "Failed",
                value: ReportText.count(self.tally.failed),
                note: ReportText.percent(self.tally.failed, of: self.tally.due) + " of what was due"
            ),
            ReportPage.Tile(
                name: "Generator late",
                value: ReportText.decimal(self.tally.behind * 100) + " %",
                note: "over 1 ms; \(ReportText.decimal(self.generatorShare * 100)) % of a core"
            ),
            ReportPage.Tile(
                name: "Objectives",
                value: self.results.isEmpty ? "none" : missed == 0 ? "met" : "\(missed) missed",
                note: "of \(self.results.count)"
            ),
        ]
    }

    private var intervalSeconds: Double { Double(self.tally.interval) / 1e9 }

    private var intervals: Int {
        self.tally.loads.map { max($0.dueByInterval.count, $0.answeredByInterval.count) }.max() ?? 0
    }

    private func timeScale(_ count: Int) -> ChartScale {
        let length = Double(max(1, count)) * self.intervalSeconds
        let step = [1.0, 2, 5, 10, 30, 60, 300, 600, 1800, 3600, 14_400].first { length / $0 <= 10 } ?? 86_400
        let ticks = stride(from: 0, through: length, by: step).map { ChartTick($0, LoadValue.text(Int64($0 * 1e9))) }
        return ChartScale(lower: 0, upper: length, ticks: ticks)
    }

    private static let colors: [ChartColor] = [.first, .second, .third, .quiet, .alarm]

    private var rateFigure: ReportPage.Figure {
        func points(_ counts: (LoadTally.Counts) -> [Int]) -> [(x: Double, y: Double)] {
            (0..<self.intervals).map { index in
                let sum = self.tally.loads.reduce(0) { sum, load in
                    let column = counts(load)
                    return sum + (index < column.count ? column[index] : 0)
                }
                return (Double(index) * self.intervalSeconds, Double(sum) / self.intervalSeconds)
            }
        }
        let due = points(\.dueByInterval)
        let answered = points(\.answeredByInterval)
        return ReportPage.Figure(
            title: "Operations a second",
            caption: "Those that were due, and those whose answer was 2xx, by the second of the answer.",
            chart: .curves(
                CurveChart(
                    x: self.timeScale(self.intervals),
                    y: .counts(upTo: (due + answered).map(\.y).max() ?? 1),
                    curves: [
                        CurveChart.Curve(
                            key: ChartKey(name: "due", color: .quiet),
                            points: due,
                            isFilled: true,
                            isStepped: true
                        ),
                        CurveChart.Curve(
                            key: ChartKey(name: "answered", color: .first),
                            points: answered,
                            isStepped: true
                        ),
                    ]
                )
            )
        )
    }

    /// Latency by percentile, on a scale that gives each further nine the same room.
    private var curveFigure: ReportPage.Figure {
        let marks: [(percentile: Double, label: String)] = [
            (0, "0"), (50, "50 %"), (90, "90 %"), (99, "99 %"), (99.9, "99.9 %"), (99.99, "99.99 %"),
        ]
        // The numbers of nines at which these percentiles are.
        let places = [0, 0.5556, 1, 2, 3, 4]
        let curves = LatencyStage.allCases.enumerated().compactMap { index, stage -> CurveChart.Curve? in
            let latencies = self.tally.latencies(stage)
            // A curve ends where the operations begin that never came so far.
            let points = (0...80).compactMap { step -> (x: Double, y: Double)? in
                let place = Double(step) / 20
                let value = latencies.microseconds(atPercentile: Self.percentile(at: place)) ?? .infinity
                return value.isFinite ? (place, value / 1000) : nil
            }
            guard !points.isEmpty else { return nil }
            return CurveChart.Curve(key: ChartKey(name: stage.rawValue, color: Self.colors[index]), points: points)
        }
        return ReportPage.Figure(
            title: "Latency by percentile",
            caption: "Milliseconds from the intended send time. Every further nine has the same room.",
            chart: .curves(
                CurveChart(
                    x: ChartScale(
                        lower: 0,
                        upper: 4,
                        ticks: zip(marks, places).map { ChartTick($1, $0.label) }
                    ),
                    y: .counts(upTo: curves.flatMap(\.points).map(\.y).max() ?? 1),
                    curves: curves
                )
            )
        )
    }

    /// The percentile at a number of nines: 0 at 0, 90 at 1, 99 at 2; between them evenly.
    package static func percentile(at place: Double) -> Double {
        let whole = Int(place)
        var rest = 100.0
        for _ in 0..<whole { rest /= 10 }
        return 100 - rest + (place - Double(whole)) * rest * 0.9
    }

    private var overTimeFigures: [ReportPage.Figure] {
        LatencyStage.allCases.compactMap { stage in
            var merged: [Latencies?] = []
            for load in self.tally.loads {
                guard let series = load.stages[stage.index] else { continue }
                for (index, latencies) in series.intervals.enumerated() {
                    if index >= merged.count { merged.append(nil) }
                    guard let latencies else { continue }
                    if merged[index] == nil { merged[index] = Latencies() }
                    merged[index]?.add(latencies)
                }
            }
            guard merged.contains(where: { ($0?.histogram.totalCount ?? 0) > 0 }) else { return nil }
            func points(_ percentile: Double) -> [(x: Double, y: Double)] {
                merged.enumerated().compactMap { index, latencies in
                    let value = latencies?.microseconds(atPercentile: percentile) ?? .infinity
                    return value.isFinite ? ((Double(index) + 0.5) * self.intervalSeconds, value / 1000) : nil
                }
            }
            let worst = points(99)
            return ReportPage.Figure(
                title: "\(stage.rawValue.prefix(1).uppercased())\(stage.rawValue.dropFirst()) over time",
                caption: "Milliseconds, by when the operations were meant to be sent.",
                chart: .curves(
                    CurveChart(
                        x: self.timeScale(merged.count),
                        y: .counts(upTo: worst.map(\.y).max() ?? 1),
                        curves: [
                            CurveChart.Curve(key: ChartKey(name: "p50", color: .first), points: points(50)),
                            CurveChart.Curve(key: ChartKey(name: "p99", color: .alarm), points: worst),
                        ]
                    )
                ),
                isHalf: true
            )
        }
    }

    private var failureFigures: [ReportPage.Figure] {
        let failures = self.failures
        guard !failures.isEmpty else { return [] }
        return [
            ReportPage.Figure(
                title: "What failed",
                caption: "By load, status and reason.",
                chart: .ranks(
                    RankChart(
                        rows: failures.prefix(12).map { failure in
                            RankChart.Row(name: "\(failure.load): \(failure.what)", count: failure.count, color: .alarm)
                        },
                        whole: self.tally.due
                    )
                )
            )
        ]
    }

    private var latencyTable: ReportPage.Table {
        ReportPage.Table(
            title: "Latencies",
            caption: "From the instant at which an operation was meant to be sent, whether or not it was. "
                + "What failed or was never answered counts as later than everything else.",
            header: ["Load", "Stage", "Count"] + Self.percentiles.map(\.name),
            rows: self.rows.map { row in
                [row.load, row.stage.rawValue, ReportText.count(row.latencies.count)]
                    + Self.percentiles.map { Self.latency(row.latencies.microseconds(atPercentile: $0.value)) }
            }
        )
    }

    private var objectiveTable: ReportPage.Table {
        ReportPage.Table(
            title: "Objectives",
            caption: self.results.isEmpty ? "The scenario has none." : "What the scenario demands.",
            header: ["Objective", "Reached", "Met"],
            rows: self.results.map { [$0.objective.text, Self.reached($0), $0.isMet ? "yes" : "no"] }
        )
    }

    private var remarkTable: ReportPage.Table {
        ReportPage.Table(
            title: "How far to believe it",
            caption: "What the generator saw of itself and of the server.",
            header: ["Remark"],
            rows: self.remarks.map { [$0] }
        )
    }
}
