import Engine
import ReportPages
import Timelines
import WidgetModel

extension WhatIfReport {
    private static let actualKey = ChartKey(name: "as it was", color: .quiet)
    private static let otherKey = ChartKey(name: "as it would have been", color: .first)

    /// The report as a page of charts that stands alone.
    package var pageText: String {
        ReportPage(
            kicker: "Freshet simulation",
            title: "What if: \(self.rewrite.policy.name)",
            about: "The log of a gateway run again under another budget policy, beside how it was. "
                + "\(self.estimateSentence).",
            facts: [
                "\(Self.time(self.since)) to \(Self.time(self.until))",
                self.rewrite.kind.map { "kind \($0.rawValue)" } ?? "every kind",
                self.rewrite.app.map { "app \($0.rawValue)" } ?? "every app",
            ],
            tiles: self.tiles,
            figures: [
                self.hourFigure, self.stalenessFigure, self.outcomeFigure(isActual: true),
                self.outcomeFigure(isActual: false),
            ],
            tables: [self.totalTable] + self.kinds.map { Self.table(of: $0) } + self.senders.map { Self.table(of: $0) },
            colophon: "Made by freshet what-if.",
            json: self.jsonText
        ).text
    }

    private var tiles: [ReportPage.Tile] {
        self.rows.filter { Self.tiled.contains($0.name) }.map { row in
            let texts = row.texts
            return ReportPage.Tile(name: row.name, value: texts[2], note: "was \(texts[1]), change \(texts[3])")
        }
    }

    private static let tiled: Set<String> = [
        "reloads", "charged", "pushes served", "staleness, median", "staleness, p95", "starved widgets",
    ]

    private var hourFigure: ReportPage.Figure {
        let hours = max(1, self.actual.hours.count, self.other.hours.count)
        func points(_ counts: [Int]) -> [(x: Double, y: Double)] {
            (0..<hours).map { (Double($0) + 0.5, Double($0 < counts.count ? counts[$0] : 0)) }
        }
        let largest = max(self.actual.hours.max() ?? 0, self.other.hours.max() ?? 0, 1)
        let ticks = stride(from: 0, through: hours, by: max(1, hours / 8)).map { ChartTick(Double($0), "\($0) h") }
        return ReportPage.Figure(
            title: "Reloads by the hour",
            caption: "From the beginning on.",
            chart: .curves(
                CurveChart(
                    x: ChartScale(lower: 0, upper: Double(hours), ticks: ticks),
                    y: .counts(upTo: Double(largest)),
                    curves: [
                        CurveChart.Curve(key: Self.actualKey, points: points(self.actual.hours), isFilled: true),
                        CurveChart.Curve(key: Self.otherKey, points: points(self.other.hours)),
                    ]
                )
            )
        )
    }

    private var stalenessFigure: ReportPage.Figure {
        let bounds = [0, 10, 30, 60, 120, 300, 600, 900, 1800, 2700, 3600, 7200, 14_400, 28_800, 57_600, 86_400]
        func points(_ waits: WaitHistogram) -> [(x: Double, y: Double)] {
            waits.shares(atMost: bounds).enumerated().map { (Double($0.offset), $0.element * 100) }
        }
        let ticks = bounds.enumerated().map { ChartTick(Double($0.offset), ReportText.wait($0.element)) }
        return ReportPage.Figure(
            title: "Staleness",
            caption: "The share of reloads for pushes that went out so soon after the first push that they serve.",
            chart: .curves(
                CurveChart(
                    x: ChartScale(lower: 0, upper: Double(bounds.count - 1), ticks: ticks),
                    y: .percents(),
                    curves: [
                        CurveChart.Curve(key: Self.actualKey, points: points(self.actual.all.staleness)),
                        CurveChart.Curve(key: Self.otherKey, points: points(self.other.all.staleness)),
                    ]
                )
            )
        )
    }

    private func outcomeFigure(isActual: Bool) -> ReportPage.Figure {
        let measures = isActual ? self.actual : self.other
        let key = isActual ? Self.actualKey : Self.otherKey
        let rows = PushOutcome.allCases.map { outcome in
            RankChart.Row(name: outcome.name, count: measures.outcomes[outcome], color: key.color)
        }
        return ReportPage.Figure(
            title: "Pushes \(key.name)",
            caption: "What became of them, for each widget that they matched.",
            chart: .ranks(RankChart(rows: rows, whole: rows.reduce(0) { $0 + $1.count })),
            isHalf: true
        )
    }

    private static let header = ["", "As it was", "As it would have been", "Change"]

    private var totalTable: ReportPage.Table {
        ReportPage.Table(
            title: "All kinds",
            caption: "A widget is starved if a push found it waiting for longer than "
                + ReportText.wait(Int(self.starvedAfter.milliseconds / 1000)) + ".",
            header: Self.header,
            rows: self.rows.map(\.texts)
        )
    }

    private static func table(
        of kind: (name: WhatIfMeasures.KindName, actual: WhatIfMeasures.Reloads, other: WhatIfMeasures.Reloads)
    ) -> ReportPage.Table {
        ReportPage.Table(
            title: kind.name.kind.rawValue,
            caption: "A kind of \(kind.name.app.rawValue).",
            header: Self.header,
            rows: Self.rows(kind.actual, kind.other).map(\.texts)
        )
    }

    private static func table(
        of sender: (team: String, actual: SenderView?, other: SenderView?)
    ) -> ReportPage.Table {
        ReportPage.Table(
            title: "Sender \(sender.team)",
            caption: "What its pushes cost and brought.",
            header: Self.header,
            rows: Self.rows(sender.actual, sender.other).map(\.texts)
        )
    }
}
