import Histogram
package import ReportPages

/// The result of a run: the counts, the latencies, and whether its objectives are met.
package struct LoadReport: Sendable {
    /// An objective, with the figure that the run has reached.
    package struct Result: Sendable {
        package let objective: Objective
        /// Microseconds, infinite where so many operations never came so far; or a share. Nil if there was nothing to measure.
        package let value: Double?

        package var isMet: Bool { self.value.map { self.objective.isMet(by: $0) } ?? false }
    }

    /// The server's own part, where its process is known.
    package struct Server: Hashable, Sendable {
        /// CPU nanoseconds during the run, all threads.
        package var cpu: Int64
        /// Bytes in memory at the run's end.
        package var resident: Int64

        package init(cpu: Int64, resident: Int64) {
            self.cpu = cpu
            self.resident = resident
        }
    }

    package let scenario: LoadScenario
    package let outcome: LoadOutcome
    package let server: Server?
    /// Where the load went, for people.
    package let target: String
    package let results: [Result]

    package init(_ scenario: LoadScenario, _ outcome: LoadOutcome, server: Server?, target: String) {
        self.scenario = scenario
        self.outcome = outcome
        self.server = server
        self.target = target
        self.results = scenario.objectives.map { objective in
            Result(objective: objective, value: Self.value(of: objective, scenario, outcome.tally))
        }
    }

    private static func value(of objective: Objective, _ scenario: LoadScenario, _ tally: LoadTally) -> Double? {
        switch objective.figure {
        case .latency(let name, let stage, let percentile):
            let load = name.flatMap { name in scenario.loads.firstIndex { $0.name == name } }
            return tally.latencies(stage, load: load).microseconds(atPercentile: percentile)
        case .errors: return tally.due == 0 ? nil : Double(tally.failed) / Double(tally.due)
        case .behind: return tally.behind
        case .answered: return tally.due == 0 ? nil : Double(tally.answered) / Double(tally.due)
        }
    }

    /// The report as a page that stands alone.
    package var page: ReportPage { ReportPage(.bench, title: self.scenario.name, json: self.jsonText) }

    package var tally: LoadTally { self.outcome.tally }

    /// Whether every objective is met, and the run came to its end.
    package var isMet: Bool { self.outcome.failure == nil && self.results.allSatisfy(\.isMet) }

    /// The share of a core that the generator used.
    package var generatorShare: Double {
        self.outcome.elapsed == 0 ? 0 : Double(self.outcome.cpu) / Double(self.outcome.elapsed)
    }

    /// Whether the generator itself may have caused the measured values: more than one operation in a hundred went out
    /// a millisecond late although there was room for it.
    package var isGeneratorTheBottleneck: Bool { self.tally.behind > 0.01 }

    /// Whether some load was driven by answers and not by time.
    package var isClosedLoop: Bool { self.scenario.loads.contains { $0.process == nil } }

    /// Answered operations for each CPU-second of the generator, and of the server.
    package var answeredPerGeneratorSecond: Double? { self.rate(self.outcome.cpu) }
    package var answeredPerServerSecond: Double? { self.server.flatMap { self.rate($0.cpu) } }

    private func rate(_ cpu: Int64) -> Double? { cpu > 0 ? Double(self.tally.answered) * 1e9 / Double(cpu) : nil }

    /// Operations answered a second, over the time in which they were sent.
    package var answeredPerSecond: Double {
        Double(self.tally.answered) * 1e9 / Double(max(1, min(self.scenario.length, self.outcome.elapsed)))
    }

    static let percentiles: [(name: String, value: Double)] = [
        ("p50", 50), ("p90", 90), ("p99", 99), ("p99.9", 99.9), ("max", 100),
    ]

    /// Each load's stages that have been reached, by load and stage.
    var rows: [(load: String, stage: LatencyStage, latencies: Latencies)] {
        zip(self.scenario.loads, self.tally.loads).flatMap { load, counts in
            LatencyStage.allCases.compactMap { stage in
                counts.stages[stage.index].map { (load.name, stage, $0.total) }
            }
        }
    }
}
