import APNSWire
import Engine
import ReportPages
import WidgetModel

extension SimulationReport {
    /// The report as a page of charts that stands alone.
    package var pageText: String {
        let engine = self.measures.engine
        return ReportPage(
            kicker: "Freshet simulation",
            title: self.scenario.name,
            about: self.scenario.about,
            facts: [
                "\(ReportText.count(engine.instances)) widgets on \(ReportText.count(engine.hosts)) hosts",
                "\(self.scenario.days) days from \(Self.day(self.scenario.start))",
                "\(ReportText.count(self.measures.pushes)) pushes",
                "seed \(self.scenario.seed)",
            ],
            tiles: self.tiles,
            figures: [
                self.reloadFigure, self.staleFigure, self.loadFigure, self.ageFigure, self.budgetFigure,
                self.outcomeFigure, self.causeFigure, self.dayFigure,
            ],
            tables: [self.populationTable],
            colophon: "Made by freshet simulate. The same scenario and seed give the same run, digest \(self.digest).",
            json: self.jsonText
        ).text
    }

    private var tiles: [ReportPage.Tile] {
        let engine = self.measures.engine
        let total = self.total
        let load = self.measures.load
        let before = ProviderLoad.peak(load.unsmoothed, load.binSeconds).count
        let unit = load.binSeconds == 1 ? "second" : "minute"
        let after = ProviderLoad.peak(load.smoothed, load.binSeconds).count
        let perDay = Double(engine.reloadsIssued) / Double(max(1, self.instanceDays))
        var tiles = [
            ReportPage.Tile(
                name: "Reloads",
                value: ReportText.decimal(perDay),
                note: "a widget and day, \(ReportText.percent(engine.reloadsCharged, of: engine.reloadsIssued)) charged"
            ),
            ReportPage.Tile(
                name: "Staleness, median",
                value: ReportText.wait(total.staleness.percentile(50)),
                note: "from a change until it is shown"
            ),
            ReportPage.Tile(
                name: "Staleness, p95",
                value: ReportText.wait(total.staleness.percentile(95)),
                note: "\(ReportText.count(total.neverShown)) changes never shown"
            ),
            ReportPage.Tile(
                name: "Stale looks",
                value: ReportText.percent(total.staleLooks.count, of: total.looks),
                note: "of \(ReportText.count(total.looks)) looks saw old data"
            ),
            ReportPage.Tile(
                name: "Starved",
                value: ReportText.count(total.starved),
                note: "widgets, old data for over "
                    + ReportText.wait(Int(self.scenario.starvedAfter.milliseconds / 1000))
            ),
            ReportPage.Tile(
                name: "Peak of timelines",
                value: ReportText.count(after),
                note: "requests a \(unit) for policy; \(ReportText.count(before)) unsmoothed"
            ),
        ]
        if self.hasPhones {
            let brought = engine.reloadsCollateral + engine.reloadsCollateralOver
            tiles.append(
                ReportPage.Tile(
                    name: "Brought along",
                    value: ReportText.percent(brought, of: engine.reloadsIssued),
                    note: "of reloads, by pushes for other widgets of the phone;"
                        + " \(ReportText.count(engine.reloadsCollateralOver)) beyond the budget"
                )
            )
        }
        return tiles
    }

    private var populationTable: ReportPage.Table {
        let phones = self.hasPhones ? ["Brought along", "Beyond the budget"] : []
        return ReportPage.Table(
            title: "Who waits how long",
            caption:
                "Staleness is counted for each widget and each change of its data. A look is one widget seen once.",
            header: ["Population", "Widgets", "Median", "p95", "Never shown", "Looks", "Stale looks", "Starved"]
                + phones,
            rows: zip(self.scenario.populations, self.measures.populations).map { population, measures in
                let row = [
                    population.name, ReportText.count(measures.instances),
                    ReportText.wait(measures.staleness.percentile(50)),
                    ReportText.wait(measures.staleness.percentile(95)), ReportText.count(measures.neverShown),
                    ReportText.count(measures.looks), ReportText.percent(measures.staleLooks.count, of: measures.looks),
                    ReportText.count(measures.starved),
                ]
                let brought = [measures.collateral, measures.collateralOver].map { ReportText.count($0) }
                return row + brought.prefix(phones.count)
            }
        )
    }

    /// `2026-09-13`.
    static func day(_ second: Int) -> String { String(CivilTime(seconds: second).text.prefix(10)) }

    /// `Sun 13, 14:00`, in UTC.
    func hourName(_ hour: Int) -> String {
        let second = self.scenario.start + hour * 3600
        let time = CivilTime(seconds: second)
        let clock = time.secondOfDay / 60
        return "\(self.dayName(second)), \(clock / 600)\(clock / 60 % 10):\(clock % 60 / 10)\(clock % 10)"
    }

    /// `Sun 13`.
    func dayName(_ second: Int) -> String {
        let names = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        return "\(names[CivilTime.weekday(ofDay: second / 86_400)]) \(CivilTime(seconds: second).day)"
    }
}
