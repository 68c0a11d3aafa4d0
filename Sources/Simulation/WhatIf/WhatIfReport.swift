import Engine
package import ReportPages
import Timelines
package import WidgetModel

/// The effect that another policy would have had: `freshet what-if`.
package struct WhatIfReport: Sendable {
    package let rewrite: PolicyRewrite
    package let since: Instant
    package let until: Instant
    package let partitions: Int
    package let starvedAfter: Interval
    package let actual: WhatIfMeasures
    package let other: WhatIfMeasures
    package let answersKept: Int
    package let answersEstimated: Int

    /// - Parameter runs: One result for each partition; at least one.
    package init(_ rewrite: PolicyRewrite, since: Instant, starvedAfter: Interval, _ runs: [TwinRun.Result]) {
        self.rewrite = rewrite
        self.since = since
        self.starvedAfter = starvedAfter
        self.until = runs.map(\.until).max() ?? since
        self.partitions = runs.count
        var actual = WhatIfMeasures(since: since, starvedAfter: starvedAfter)
        var other = actual
        for run in runs {
            actual.add(run.actual)
            other.add(run.other)
        }
        self.actual = actual
        self.other = other
        self.answersKept = runs.reduce(0) { $0 + $1.answersKept }
        self.answersEstimated = runs.reduce(0) { $0 + $1.answersEstimated }
    }

    /// The report as a page that stands alone.
    package var page: ReportPage {
        ReportPage(.whatIf, title: "What if: \(self.rewrite.policy.name)", json: self.jsonText)
    }

    /// A number as it was and as it would have been.
    struct Row {
        let name: String
        let actual: Int
        let other: Int
        /// Whether it is a length of time in seconds, which may be missing.
        var isWait = false
        var hasActual = true
        var hasOther = true

        var texts: [String] {
            func text(_ number: Int, _ has: Bool) -> String {
                self.isWait ? ReportText.wait(has ? number : nil) : ReportText.count(number)
            }
            let change = self.other - self.actual
            let sign = change > 0 ? "+" : change < 0 ? "-" : ""
            let size =
                self.isWait
                ? ReportText.wait(self.hasActual && self.hasOther ? abs(change) : nil) : ReportText.count(abs(change))
            return [self.name, text(self.actual, self.hasActual), text(self.other, self.hasOther), sign + size]
        }
    }

    static func rows(_ actual: WhatIfMeasures.Reloads, _ other: WhatIfMeasures.Reloads) -> [Row] {
        func wait(_ name: String, _ percent: Int) -> Row {
            let (before, after) = (actual.staleness.percentile(percent), other.staleness.percentile(percent))
            return Row(
                name: name,
                actual: before ?? 0,
                other: after ?? 0,
                isWait: true,
                hasActual: before != nil,
                hasOther: after != nil
            )
        }
        return [
            Row(name: "reloads", actual: actual.issued, other: other.issued),
            Row(name: "charged", actual: actual.charged, other: other.charged),
            Row(name: "not charged", actual: actual.exempt, other: other.exempt),
            Row(name: "collateral", actual: actual.collateral, other: other.collateral),
            Row(name: "collateral beyond the budget", actual: actual.collateralOver, other: other.collateralOver),
            Row(name: "pushes served", actual: actual.pushesServed, other: other.pushesServed),
            wait("staleness, median", 50), wait("staleness, p95", 95),
        ]
    }

    /// The totals.
    var rows: [Row] {
        Self.rows(self.actual.all, self.other.all) + [
            Row(name: "starved widgets", actual: self.actual.starvedCount, other: self.other.starvedCount)
        ]
            + PushOutcome.allCases.map { outcome in
                Row(
                    name: "pushes \(outcome.name)",
                    actual: self.actual.outcomes[outcome],
                    other: self.other.outcomes[outcome]
                )
            }
    }

    /// By kind: those that either run has.
    var kinds: [(name: WhatIfMeasures.KindName, actual: WhatIfMeasures.Reloads, other: WhatIfMeasures.Reloads)] {
        let (actual, other) = (self.actual.kinds, self.other.kinds)
        let names = Set(actual.map(\.name) + other.map(\.name)).sorted()
        return names.map { name in
            (
                name, actual.first { $0.name == name }?.reloads ?? WhatIfMeasures.Reloads(),
                other.first { $0.name == name }?.reloads ?? WhatIfMeasures.Reloads()
            )
        }
    }

    /// By sender: those that either run has.
    var senders: [(team: String, actual: SenderView?, other: SenderView?)] {
        let teams = Set((self.actual.senders + self.other.senders).map(\.team.rawValue)).sorted()
        return teams.map { team in
            (
                team, self.actual.senders.first { $0.team.rawValue == team },
                self.other.senders.first { $0.team.rawValue == team }
            )
        }
    }

    static func time(_ instant: Instant) -> String { RFC3339.text(of: instant) ?? "\(instant.milliseconds)" }

    var estimateSentence: String {
        let all = self.answersKept + self.answersEstimated
        return "\(ReportText.count(self.answersEstimated)) of \(ReportText.count(all)) answers of hosts are estimated "
            + "from the nearest earlier one (\(ReportText.percent(self.answersEstimated, of: all)))"
    }
}
