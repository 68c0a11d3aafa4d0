import Engine
import ReportPages
import WidgetModel

extension SimulationReport {
    /// The report for a terminal: lines of at most 80 characters, with a line break at the end.
    package var text: String {
        let engine = self.measures.engine
        let total = self.total
        var lines = [
            self.scenario.name,
            "\(ReportText.count(engine.instances)) widgets on \(ReportText.count(engine.hosts)) hosts,"
                + " \(self.scenario.days) days from \(CivilTime(seconds: self.scenario.start).text),"
                + " seed \(self.scenario.seed)",
            "",
        ]
        func row(_ name: String, _ value: String, _ note: String = "") {
            let gap = String(repeating: " ", count: max(1, 22 - name.count))
            let indent = String(repeating: " ", count: max(0, 14 - value.count))
            lines.append("  \(name)\(gap)\(indent)\(value)\(note.isEmpty ? "" : "   \(note)")")
        }
        let perDay = Double(engine.reloadsIssued) / Double(max(1, self.instanceDays))
        row("reloads", ReportText.count(engine.reloadsIssued), "\(ReportText.decimal(perDay)) a widget and day")
        row(
            "charged",
            ReportText.count(engine.reloadsCharged),
            ReportText.percent(engine.reloadsCharged, of: engine.reloadsIssued)
        )
        for cause in ReloadCause.allCases where engine.reloadsByCause[Int(cause.rawValue)] > 0 {
            row("  for \(cause.name)", ReportText.count(engine.reloadsByCause[Int(cause.rawValue)]))
        }
        if self.hasPhones {
            row("brought along", ReportText.count(engine.reloadsCollateral), "by pushes for others, charged")
            row("beyond the budget", ReportText.count(engine.reloadsCollateralOver), "collateral all the same")
        }
        if engine.reloadsObserved > 0 { row("by hosts themselves", ReportText.count(engine.reloadsObserved)) }
        lines.append("")
        row("pushes", ReportText.count(self.measures.pushes), "\(ReportText.count(engine.matched)) matched widgets")
        if self.hasPhones {
            row("  sent on to phones", ReportText.count(self.measures.tokenPushes), "each reloads all widgets there")
        }
        for outcome in PushOutcome.allCases where engine.outcomes[outcome] > 0 {
            let count = engine.outcomes[outcome]
            row("  \(outcome.name)", ReportText.count(count), ReportText.percent(count, of: engine.matched))
        }
        lines.append("")
        row("staleness, p50", ReportText.wait(total.staleness.percentile(50)), "from a change until a widget shows it")
        row("staleness, p95", ReportText.wait(total.staleness.percentile(95)))
        row("never shown", ReportText.count(total.neverShown), "changes that a widget did not show by the end")
        row(
            "stale looks",
            ReportText.percent(total.staleLooks.count, of: total.looks),
            "of \(ReportText.count(total.looks))"
        )
        row(
            "starved",
            ReportText.count(total.starved),
            "widgets, old data for more than \(ReportText.wait(Int(self.scenario.starvedAfter.milliseconds / 1000)))"
        )
        lines.append("")
        let load = self.measures.load
        let unit = load.binSeconds == 1 ? "a second" : "a minute"
        let before = ProviderLoad.peak(load.unsmoothed, load.binSeconds)
        let after = ProviderLoad.peak(load.smoothed, load.binSeconds)
        let peak = ProviderLoad.peak(load.requests, load.binSeconds)
        row("provider requests", ReportText.count(load.total), "at most \(ReportText.count(peak.count)) \(unit)")
        row("for policy, smoothed", ReportText.count(after.count), "\(unit) at most")
        row("and unsmoothed", ReportText.count(before.count), "\(unit) at most")
        let last = BudgetUse.hours - 1
        row(
            "budget used",
            ReportText.decimal(self.measures.budget.mean(hour: last)) + " %",
            "of a window's allowance, mean"
        )
        lines.append("")
        row("digest", self.digest)
        return lines.joined(separator: "\n") + "\n"
    }
}
