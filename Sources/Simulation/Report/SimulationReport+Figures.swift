import Engine
import ReportPages
import Scenarios
import WidgetModel

extension SimulationReport {
    /// In the order of ``ReloadSource``; what only phones have is left out where there are none.
    private var sourceKeys: [ChartKey] {
        [
            ChartKey(name: "for pushes", color: .first), ChartKey(name: "by the timeline’s policy", color: .second),
            ChartKey(name: "charged otherwise", color: .third), ChartKey(name: "not charged", color: .quiet),
        ] + (self.hasPhones ? [ChartKey(name: "brought along by a push for another", color: .alarm)] : [])
    }

    /// Marks at the midnights of the run, or at every week of a long one.
    private var dayTicks: [ChartTick] {
        let every = self.scenario.days <= 21 ? 24 : 168
        let first = (86_400 - self.scenario.start % 86_400) % 86_400 / 3600
        return stride(from: first, to: self.scenario.days * 24, by: every).map { hour in
            ChartTick(Double(hour), self.dayName(self.scenario.start + hour * 3600))
        }
    }

    var reloadFigure: ReportPage.Figure {
        ReportPage.Figure(
            title: "Reloads over the run",
            caption: "Every reload that the engine issued, by the hour (UTC).",
            chart: .columns(
                ColumnChart(
                    keys: self.sourceKeys,
                    columns: self.measures.reloadsByHour.map { Array($0.prefix(self.sourceKeys.count)) },
                    groupings: [1, 2, 3, 6, 12, 24, 168],
                    ticks: self.dayTicks,
                    name: { first, count in count == 1 ? self.hourName(first) : "\(self.hourName(first)), \(count) h" }
                )
            )
        )
    }

    var staleFigure: ReportPage.Figure {
        let hours = self.measures.staleSeconds.count
        let shares = (0..<hours).map { self.staleShare(hour: $0) * 100 }
        return ReportPage.Figure(
            title: "Widgets that show old data",
            caption:
                "The share of all widgets whose data has changed since they were last reloaded, by the hour (UTC).",
            chart: .curves(
                CurveChart(
                    x: ChartScale(lower: 0, upper: Double(hours), ticks: self.dayTicks),
                    y: .percents(upTo: shares.max() ?? 0),
                    curves: [
                        CurveChart.Curve(
                            key: ChartKey(name: "stale", color: .alarm),
                            points: shares.enumerated().map { (Double($0.offset) + 0.5, $0.element) },
                            isFilled: true
                        )
                    ]
                )
            )
        )
    }

    var loadFigure: ReportPage.Figure {
        let peak = self.peak
        let count = peak.smoothed.count
        let largest = max(peak.smoothed.max() ?? 0, peak.unsmoothed.max() ?? 0, 1)
        let unit = peak.every == 60 ? "minute" : "\(peak.every) seconds"
        func points(_ counts: [Int]) -> [(x: Double, y: Double)] {
            counts.enumerated().map { (Double($0.offset * peak.every), Double($0.element)) }
        }
        let length = count * peak.every
        let ticks = stride(from: 300, to: length, by: length > 3600 ? 1200 : 120).map { second in
            let at = second - 300
            return ChartTick(Double(second), at == 0 ? self.clock(peak.from + second) : "+\(at / 60) min")
        }
        return ReportPage.Figure(
            title: "When timelines end together",
            caption: "Requests to the timeline provider for policy, every \(unit), on"
                + " \(self.dayName(self.scenario.start + peak.from)) (UTC): at the timelines’ dates, and as the engine spreads them.",
            chart: .curves(
                CurveChart(
                    x: ChartScale(lower: 0, upper: Double(length), ticks: ticks),
                    y: .counts(upTo: Double(largest)),
                    curves: [
                        CurveChart.Curve(
                            key: ChartKey(name: "without smoothing", color: .quiet),
                            points: points(peak.unsmoothed),
                            isFilled: true,
                            isStepped: true
                        ),
                        CurveChart.Curve(
                            key: ChartKey(name: "as it was", color: .first),
                            points: points(peak.smoothed),
                            isFilled: true,
                            isStepped: true
                        ),
                    ]
                )
            )
        )
    }

    /// `09:30`, in UTC.
    private func clock(_ elapsed: Int) -> String {
        let minute = CivilTime(seconds: self.scenario.start + elapsed).secondOfDay / 60
        return "\(minute / 600)\(minute / 60 % 10):\(minute % 60 / 10)\(minute % 10)"
    }

    /// Seconds at which the curves of waits are drawn.
    private static let waitBounds = [
        1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 420, 600, 900, 1200, 1800, 2700, 3600, 5400,
        7200, 10_800, 14_400, 21_600, 28_800, 43_200, 64_800, 86_400, 172_800, 345_600,
    ]

    var ageFigure: ReportPage.Figure {
        let total = self.total
        func place(_ seconds: Int) -> Double { NaturalLogarithm.of(Double(max(1, seconds))) }
        func points(_ waits: WaitHistogram) -> [(x: Double, y: Double)] {
            zip(Self.waitBounds, waits.shares(atMost: Self.waitBounds)).map { (place($0), $1 * 100) }
        }
        var notes: [(x: Double, y: Double, text: String)] = []
        for percent in [50, 95] {
            guard let wait = total.staleness.percentile(percent) else { continue }
            notes.append((place(wait), Double(percent), "\(percent) % within \(ReportText.wait(wait))"))
        }
        let ticks = [
            (1, "1 s"), (10, "10 s"), (60, "1 min"), (300, "5 min"), (1800, "30 min"), (7200, "2 h"), (28_800, "8 h"),
            (86_400, "1 d"), (345_600, "4 d"),
        ].map { ChartTick(place($0.0), $0.1) }
        return ReportPage.Figure(
            title: "How soon a change is shown",
            caption:
                "The share of changes that a widget showed within a time; and of looks at old data, how old it was.",
            chart: .curves(
                CurveChart(
                    x: ChartScale(lower: 0, upper: place(345_600), ticks: ticks),
                    y: .percents(),
                    curves: [
                        CurveChart.Curve(
                            key: ChartKey(name: "changes, until shown", color: .first),
                            points: points(total.staleness)
                        ),
                        CurveChart.Curve(
                            key: ChartKey(name: "looks at old data, its age", color: .alarm),
                            points: points(total.staleLooks)
                        ),
                    ],
                    notes: notes
                )
            ),
            isHalf: true
        )
    }

    var budgetFigure: ReportPage.Figure {
        let budget = self.measures.budget
        let ends = (0..<BudgetUse.hours).map { hour in
            (
                x: Double(hour + 1), low: Double(budget.percentile(10, hour: hour)),
                high: Double(budget.percentile(90, hour: hour))
            )
        }
        let means = (0..<BudgetUse.hours).map { (x: Double($0 + 1), y: budget.mean(hour: $0)) }
        let ticks = stride(from: 0, through: 24, by: 4).map { ChartTick(Double($0), "\($0) h") }
        let allowance = budget.allowances.percentile(50).map { "; the median allowance is \($0) reloads" } ?? ""
        return ReportPage.Figure(
            title: "Budget used over a window",
            caption:
                "Mean and the middle 80 % of \(ReportText.count(budget.windows)) windows that were followed\(allowance).",
            chart: .curves(
                CurveChart(
                    x: ChartScale(lower: 0, upper: 25, ticks: ticks),
                    y: .percents(),
                    curves: [
                        CurveChart.Curve(key: ChartKey(name: "used", color: .first), points: [(0, 0)] + means)
                    ],
                    band: [(0, 0, 0)] + ends
                )
            ),
            isHalf: true
        )
    }

    var outcomeFigure: ReportPage.Figure {
        let outcomes = self.measures.engine.outcomes
        let colors: [PushOutcome: ChartColor] = [
            .reloaded: .first, .exempt: .first, .coalesced: .first, .unchanged: .second, .superseded: .second,
            .expired: .alarm, .failed: .alarm,
        ]
        let rows = PushOutcome.allCases.filter { outcomes[$0] > 0 }.map { outcome in
            RankChart.Row(name: outcome.name, count: outcomes[outcome], color: colors[outcome] ?? .quiet)
        }
        return ReportPage.Figure(
            title: "What became of pushes",
            caption: "\(ReportText.count(self.measures.pushes)) pushes matched widgets"
                + " \(ReportText.count(outcomes.total)) times; each ended in one of these.",
            chart: .ranks(RankChart(rows: rows, whole: outcomes.total)),
            isHalf: true
        )
    }

    var causeFigure: ReportPage.Figure {
        let engine = self.measures.engine
        let rows = ReloadCause.allCases.filter { engine.reloadsByCause[Int($0.rawValue)] > 0 }.map { cause in
            RankChart.Row(
                name: cause.name,
                count: engine.reloadsByCause[Int(cause.rawValue)],
                color: cause == .push ? .first : cause == .policy ? .second : .quiet
            )
        }
        return ReportPage.Figure(
            title: "Why widgets reloaded",
            caption: "Of \(ReportText.count(engine.reloadsIssued)) reloads; one with several causes counts for each.",
            chart: .ranks(RankChart(rows: rows, whole: engine.reloadsIssued)),
            isHalf: true
        )
    }

    var dayFigure: ReportPage.Figure {
        ReportPage.Figure(
            title: "Reloads over the user’s day",
            caption: "All days on top of each other, by the hour on the hosts’ own clocks.",
            chart: .columns(
                ColumnChart(
                    keys: self.sourceKeys,
                    columns: self.measures.reloadsByLocalHour.map { Array($0.prefix(self.sourceKeys.count)) },
                    groupings: [1],
                    ticks: stride(from: 0, to: 24, by: 3).map { ChartTick(Double($0) + 0.5, "\($0)") },
                    name: { first, _ in "\(first):00 to \(first + 1):00" }
                )
            )
        )
    }
}
