import APNSWire
import Engine
package import WidgetModel

extension SimulationReport {
    /// The version of ``json``'s schema; `docs/simulation.md` describes it.
    static let version: Int64 = 1

    /// The report as JSON text, with a line break at its end.
    package var jsonText: [UInt8] { self.json.jsonText + [0x0A] }

    /// The report as a JSON value.
    package var json: JSONValue {
        .object([
            .member("schema", .int(Self.version)),
            .member("digest", .string(self.digest)),
            .member("scenario", self.scenarioJSON),
            .member("reloads", self.reloadsJSON),
            .member("pushes", self.pushesJSON),
            .member("staleness", self.stalenessJSON(self.total)),
            .member("looks", Self.looksJSON(self.total)),
            .member(
                "starved",
                .object([
                    .member("afterSeconds", .int(self.scenario.starvedAfter.milliseconds / 1000)),
                    .member("instances", .count(self.total.starved)),
                ])
            ),
            .member("budget", self.budgetJSON),
            .member("provider", self.providerJSON),
            .member("populations", .array(self.populationsJSON)),
            .member("hours", .array(self.hoursJSON)),
            .member(
                "localHours",
                .array(
                    self.measures.reloadsByLocalHour.enumerated().map { hour, counts in
                        .object([.member("hour", .count(hour))] + Self.sources(counts))
                    }
                )
            ),
        ])
    }

    private var scenarioJSON: JSONValue {
        .object([
            .member("name", .string(self.scenario.name)),
            .member("about", .string(self.scenario.about)),
            .member("seed", .unsigned(self.scenario.seed)),
            .member("start", .string(CivilTime(seconds: self.scenario.start).text)),
            .member("days", .count(self.scenario.days)),
            .member("partitions", .count(self.scenario.partitions)),
            .member("hosts", .count(self.measures.engine.hosts)),
            .member("instances", .count(self.measures.engine.instances)),
            .member("records", .count(self.measures.records)),
        ])
    }

    private var reloadsJSON: JSONValue {
        let engine = self.measures.engine
        return .object([
            .member("issued", .count(engine.reloadsIssued)),
            .member("charged", .count(engine.reloadsCharged)),
            .member("collateral", .count(engine.reloadsCollateral)),
            .member("collateralOver", .count(engine.reloadsCollateralOver)),
            .member("observed", .count(engine.reloadsObserved)),
            .member("acknowledged", .count(engine.reloadsAcknowledged)),
            .member("refused", .count(engine.reloadsRefused)),
            .member("unacknowledged", .count(engine.reloadsUnacknowledged)),
            .member("outstanding", .count(engine.reloadsOutstanding)),
            .member("offline", .count(self.measures.offline)),
            .member(
                "byCause",
                .object(
                    ReloadCause.allCases.map { cause in
                        .member(cause.name, .count(engine.reloadsByCause[Int(cause.rawValue)]))
                    }
                )
            ),
            .member(
                "exempt",
                .object(
                    Exemption.allCases.map { exemption in
                        .member(exemption.name, .count(engine.reloadsExempt[Int(exemption.rawValue)]))
                    }
                )
            ),
        ])
    }

    private var pushesJSON: JSONValue {
        let engine = self.measures.engine
        return .object([
            .member("sent", .count(self.measures.pushes)),
            .member("toTokens", .count(self.measures.tokenPushes)),
            .member("matched", .count(engine.matched)),
            .member(
                "outcomes",
                .object(
                    PushOutcome.allCases.map { outcome in
                        .member(outcome.name, .count(engine.outcomes[outcome]))
                    }
                )
            ),
        ])
    }

    private func stalenessJSON(_ measures: PopulationMeasures) -> JSONValue {
        .object(
            Self.waits(measures.staleness) + [
                .member("neverShown", .count(measures.neverShown)), .member("shares", .shares(measures.staleness)),
            ]
        )
    }

    private static func looksJSON(_ measures: PopulationMeasures) -> JSONValue {
        .object([
            .member("looks", .count(measures.looks)),
            .member(
                "stale",
                .object(Self.waits(measures.staleLooks) + [.member("shares", .shares(measures.staleLooks))])
            ),
        ])
    }

    /// Of how many, and how long in seconds; null where there was none.
    private static func waits(_ waits: WaitHistogram) -> [JSONValue.Member] {
        [
            .member("count", .count(waits.count)),
            .member("p50", .count(waits.percentile(50))),
            .member("p95", .count(waits.percentile(95))),
            .member("max", .count(waits.count == 0 ? nil : waits.max)),
            .member("mean", .count(waits.mean)),
        ]
    }

    private var budgetJSON: JSONValue {
        let budget = self.measures.budget
        return .object([
            .member("windows", .count(budget.windows)),
            .member(
                "allowance",
                .object([
                    .member("p5", .count(budget.allowances.percentile(5))),
                    .member("p50", .count(budget.allowances.percentile(50))),
                    .member("p95", .count(budget.allowances.percentile(95))),
                ])
            ),
            .member(
                "usedPercentByHour",
                .array(
                    (0..<BudgetUse.hours).map { hour in
                        .object([
                            .member("hour", .count(hour)),
                            .member("p10", .count(budget.percentile(10, hour: hour))),
                            .member("mean", .double(budget.mean(hour: hour))),
                            .member("p90", .count(budget.percentile(90, hour: hour))),
                        ])
                    }
                )
            ),
        ])
    }

    private var providerJSON: JSONValue {
        let load = self.measures.load
        let peak = self.peak
        func side(_ bins: [UInt32], _ around: [Int]) -> JSONValue {
            let most = ProviderLoad.peak(bins, load.binSeconds)
            return .object([
                .member("peak", .count(most.count)),
                .member("peakAt", .count(most.at)),
                .member("around", .array(around.map { .count($0) })),
            ])
        }
        return .object([
            .member("requests", .count(load.total)),
            .member("peakSeconds", .count(load.binSeconds)),
            .member("peak", .count(ProviderLoad.peak(load.requests, load.binSeconds).count)),
            .member("policyRequests", .count(load.smoothed.reduce(0) { $0 + Int($1) })),
            .member("aroundFrom", .count(peak.from)),
            .member("aroundEvery", .count(peak.every)),
            .member("unsmoothed", side(load.unsmoothed, peak.unsmoothed)),
            .member("smoothed", side(load.smoothed, peak.smoothed)),
        ])
    }

    private var populationsJSON: [JSONValue] {
        zip(self.scenario.populations, self.measures.populations).map { population, measures in
            .object([
                .member("name", .string(population.name)),
                .member("rhythm", .string(population.rhythm.rawValue)),
                .member("delivery", .string(population.delivery.rawValue)),
                .member("instances", .count(measures.instances)),
                .member("staleness", self.stalenessJSON(measures)),
                .member("looks", Self.looksJSON(measures)),
                .member("starved", .count(measures.starved)),
                .member("collateral", .count(measures.collateral)),
                .member("collateralOver", .count(measures.collateralOver)),
            ])
        }
    }

    private var hoursJSON: [JSONValue] {
        self.measures.reloadsByHour.enumerated().map { hour, counts in
            .object(
                [.member("hour", .count(hour))] + Self.sources(counts)
                    + [.member("staleShare", .double(self.staleShare(hour: hour)))]
            )
        }
    }

    private static func sources(_ counts: [Int]) -> [JSONValue.Member] {
        ReloadSource.allCases.map { .member($0.name, .count(counts[$0.rawValue])) }
    }
}

extension JSONValue {
    /// Pairs of seconds and the share of waits that were at most so long.
    static func shares(_ waits: WaitHistogram) -> JSONValue {
        let bounds = WaitHistogram.reportedBounds
        return .array(zip(bounds, waits.shares(atMost: bounds)).map { .array([.count($0), .double($1)]) })
    }

    /// Null for nil.
    static func count(_ count: Int?) -> JSONValue { count.map { .int(Int64($0)) } ?? .null }
}

extension JSONValue.Member {
    static func member(_ name: String, _ value: JSONValue) -> JSONValue.Member {
        JSONValue.Member(name: name, value: value)
    }
}
