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
                    .member("instances", .of(self.total.starved)),
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
                        .object([.member("hour", .of(hour))] + Self.sources(counts))
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
            .member("days", .of(self.scenario.days)),
            .member("partitions", .of(self.scenario.partitions)),
            .member("hosts", .of(self.measures.engine.hosts)),
            .member("instances", .of(self.measures.engine.instances)),
            .member("records", .of(self.measures.records)),
        ])
    }

    private var reloadsJSON: JSONValue {
        let engine = self.measures.engine
        return .object([
            .member("issued", .of(engine.reloadsIssued)),
            .member("charged", .of(engine.reloadsCharged)),
            .member("collateral", .of(engine.reloadsCollateral)),
            .member("collateralOver", .of(engine.reloadsCollateralOver)),
            .member("observed", .of(engine.reloadsObserved)),
            .member("acknowledged", .of(engine.reloadsAcknowledged)),
            .member("refused", .of(engine.reloadsRefused)),
            .member("unacknowledged", .of(engine.reloadsUnacknowledged)),
            .member("outstanding", .of(engine.reloadsOutstanding)),
            .member("offline", .of(self.measures.offline)),
            .member(
                "byCause",
                .object(
                    ReloadCause.allCases.map { cause in
                        .member(cause.name, .of(engine.reloadsByCause[Int(cause.rawValue)]))
                    }
                )
            ),
            .member(
                "exempt",
                .object(
                    Exemption.allCases.map { exemption in
                        .member(exemption.name, .of(engine.reloadsExempt[Int(exemption.rawValue)]))
                    }
                )
            ),
        ])
    }

    private var pushesJSON: JSONValue {
        let engine = self.measures.engine
        return .object([
            .member("sent", .of(self.measures.pushes)),
            .member("toTokens", .of(self.measures.tokenPushes)),
            .member("matched", .of(engine.matched)),
            .member(
                "outcomes",
                .object(
                    PushOutcome.allCases.map { outcome in
                        .member(outcome.name, .of(engine.outcomes[outcome]))
                    }
                )
            ),
        ])
    }

    private func stalenessJSON(_ measures: PopulationMeasures) -> JSONValue {
        .object(
            Self.waits(measures.staleness) + [
                .member("neverShown", .of(measures.neverShown)), .member("shares", .shares(measures.staleness)),
            ]
        )
    }

    private static func looksJSON(_ measures: PopulationMeasures) -> JSONValue {
        .object([
            .member("looks", .of(measures.looks)),
            .member(
                "stale",
                .object(Self.waits(measures.staleLooks) + [.member("shares", .shares(measures.staleLooks))])
            ),
        ])
    }

    /// Of how many, and how long in seconds; null where there was none.
    private static func waits(_ waits: WaitHistogram) -> [JSONValue.Member] {
        [
            .member("count", .of(waits.count)),
            .member("p50", .of(waits.percentile(50))),
            .member("p95", .of(waits.percentile(95))),
            .member("max", .of(waits.count == 0 ? nil : waits.max)),
            .member("mean", .of(waits.mean)),
        ]
    }

    private var budgetJSON: JSONValue {
        let budget = self.measures.budget
        return .object([
            .member("windows", .of(budget.windows)),
            .member(
                "allowance",
                .object([
                    .member("p5", .of(budget.allowances.percentile(5))),
                    .member("p50", .of(budget.allowances.percentile(50))),
                    .member("p95", .of(budget.allowances.percentile(95))),
                ])
            ),
            .member(
                "usedPercentByHour",
                .array(
                    (0..<BudgetUse.hours).map { hour in
                        .object([
                            .member("hour", .of(hour)),
                            .member("p10", .of(budget.percentile(10, hour: hour))),
                            .member("mean", .double(budget.mean(hour: hour))),
                            .member("p90", .of(budget.percentile(90, hour: hour))),
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
                .member("peak", .of(most.count)),
                .member("peakAt", .of(most.at)),
                .member("around", .array(around.map { .of($0) })),
            ])
        }
        return .object([
            .member("requests", .of(load.total)),
            .member("peakSeconds", .of(load.binSeconds)),
            .member("peak", .of(ProviderLoad.peak(load.requests, load.binSeconds).count)),
            .member("policyRequests", .of(load.smoothed.reduce(0) { $0 + Int($1) })),
            .member("aroundFrom", .of(peak.from)),
            .member("aroundEvery", .of(peak.every)),
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
                .member("instances", .of(measures.instances)),
                .member("staleness", self.stalenessJSON(measures)),
                .member("looks", Self.looksJSON(measures)),
                .member("starved", .of(measures.starved)),
                .member("collateral", .of(measures.collateral)),
                .member("collateralOver", .of(measures.collateralOver)),
            ])
        }
    }

    private var hoursJSON: [JSONValue] {
        self.measures.reloadsByHour.enumerated().map { hour, counts in
            .object(
                [.member("hour", .of(hour))] + Self.sources(counts)
                    + [.member("staleShare", .double(self.staleShare(hour: hour)))]
            )
        }
    }

    private static func sources(_ counts: [Int]) -> [JSONValue.Member] {
        ReloadSource.allCases.map { .member($0.name, .of(counts[$0.rawValue])) }
    }
}

extension JSONValue {
    static func of(_ count: Int) -> JSONValue { .int(Int64(count)) }

    /// Pairs of seconds and the share of waits that were at most so long.
    static func shares(_ waits: WaitHistogram) -> JSONValue {
        let bounds = WaitHistogram.reportedBounds
        return .array(zip(bounds, waits.shares(atMost: bounds)).map { .array([.of($0), .double($1)]) })
    }

    /// Null for nil.
    static func of(_ count: Int?) -> JSONValue { count.map { .int(Int64($0)) } ?? .null }
}

extension JSONValue.Member {
    static func member(_ name: String, _ value: JSONValue) -> JSONValue.Member {
        JSONValue.Member(name: name, value: value)
    }
}
