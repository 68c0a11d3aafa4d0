import Engine
package import ReportPages
import Timelines
import WidgetModel

/// The result of a scenario's run: its numbers, as JSON, as text and as a page.
package struct SimulationReport: Sendable {
    package let scenario: Scenario
    package let measures: Measures

    /// - Parameters:
    ///   - scenario: The scenario that was run.
    ///   - partitions: The measures of each partition, run to the end; in the partitions' order.
    package init(_ scenario: Scenario, _ partitions: [Measures]) {
        var measures = Measures(scenario)
        for partition in partitions { measures.add(partition) }
        self.scenario = scenario
        self.measures = measures
    }

    /// Names the run's whole history: equal for the same scenario and seed, on every machine.
    package var digest: String {
        var hash = StableHash()
        for word in self.measures.hashes { hash.combine(word) }
        hash.combine(UInt64(self.measures.records))
        hash.combine(UInt64(self.staleness.count))
        hash.combine(UInt64(self.staleness.mean ?? 0))
        let text = String(hash.value, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    /// The report as a page that stands alone.
    package var page: ReportPage { ReportPage(.simulation, title: self.scenario.name, json: self.jsonText) }

    /// Over all populations.
    package var total: PopulationMeasures {
        self.measures.populations.reduce(into: PopulationMeasures()) { $0.add($1) }
    }

    package var staleness: WaitHistogram { self.total.staleness }

    /// Whether any hosts are behind APNs.
    package var hasPhones: Bool { self.scenario.populations.contains { $0.delivery == .apns } }

    package var instanceDays: Int { self.measures.engine.instances * self.scenario.days }

    /// Which share of an hour's instance-time showed old data.
    package func staleShare(hour: Int) -> Double {
        let whole = self.measures.engine.instances * 3600
        return whole == 0 ? 0 : Double(self.measures.staleSeconds[hour]) / Double(whole)
    }

    /// The requests around the moment that smoothing had most to do, in bins of ten seconds or, of long runs, a minute.
    package var peak: (from: Int, every: Int, smoothed: [Int], unsmoothed: [Int]) {
        let load = self.measures.load
        let every = max(10, load.binSeconds)
        let at = ProviderLoad.peak(load.unsmoothed, load.binSeconds).at
        let from = max(0, (at - 300) / every * every)
        let span = from..<from + 90 * every
        return (
            from, every, ProviderLoad.sums(load.smoothed, load.binSeconds, every: every, over: span),
            ProviderLoad.sums(load.unsmoothed, load.binSeconds, every: every, over: span)
        )
    }

    /// The sums that do not add up in a run, by the run's own books: empty unless there is a bug.
    package var faults: [String] {
        let engine = self.measures.engine
        var faults: [String] = []
        func check(_ name: String, _ left: Int, _ right: Int) {
            if left != right { faults.append("\(name): \(left) and \(right)") }
        }
        check("matched and outcomes", engine.matched, engine.outcomes.total)
        check(
            "reloads, and charged, exempt and brought along",
            engine.reloadsIssued,
            engine.reloadsCharged + engine.reloadsExempt.reduce(0, +) + engine.reloadsCollateral
                + engine.reloadsCollateralOver
        )
        check("brought along in budget", engine.reloadsCollateral, self.total.collateral)
        check("brought along beyond it", engine.reloadsCollateralOver, self.total.collateralOver)
        check("reloads and effects", engine.reloadsIssued, self.measures.reloadsByHour.joined().reduce(0, +))
        check(
            "reloads by hour and by local hour",
            self.measures.reloadsByHour.joined().reduce(0, +),
            self.measures.reloadsByLocalHour.joined().reduce(0, +)
        )
        check(
            "reloads, and ended and out",
            engine.reloadsIssued,
            engine.reloadsAcknowledged + engine.reloadsRefused + engine.reloadsUnacknowledged
                + engine.reloadsOutstanding
        )
        check(
            "policy requests before and after smoothing",
            self.measures.load.smoothed.reduce(0) { $0 + Int($1) },
            self.measures.load.unsmoothed.reduce(0) { $0 + Int($1) }
        )
        check(
            "requests, and reloads and those of hosts themselves",
            self.measures.load.total,
            engine.reloadsIssued + self.measures.refreshes + self.measures.ownReloads
        )
        check("instances measured and registered", self.total.instances, engine.instances)
        return faults
    }
}
