import ArgumentParser
import Foundation
import Settings
import Simulation
import Synchronization
import WidgetModel

/// `freshet simulate`
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the engine over virtual days, and report reloads, costs and the age of data.",
        discussion: """
            A scenario is a YAML file with kinds of widgets, populations of hosts with their daily rhythms, and \
            senders with their events. docs/simulation.md lists its keys; docs/examples/scenarios has examples. The \
            engine is the gateway's own. The same scenario and seed give the same run, to the bit, on every machine.

              freshet simulate --scenario sports-night.yaml --html report.html
              freshet simulate --scenario weather.yaml --days 2 --seed 7 --json \\
                | jq .staleness

            With --faults it runs a small gateway instead of a scenario, once for each seed. Its network, journal and \
            hosts fail, and it can die at any moment. Each run checks the guarantees (docs/testing.md):

              freshet simulate --faults --seeds 100000
              freshet simulate --faults --seed 4711 --seeds 1

            With --clusters, several machines share one log on brokers.

            Exit codes: 0 done, 1 a guarantee did not hold, 78 the scenario has faults.
            """
    )

    @Option(name: [.customLong("scenario"), .customShort("s")], help: "The scenario, a YAML file.")
    var scenario: String?
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var page: PageOptions
    @Option(help: "A seed in place of the scenario's; with --faults, the first seed.") var seed: UInt64?
    @Option(help: "How many virtual days, in place of the scenario's.") var days: Int?
    @Flag(help: "Make everything around the engine fail, and check the guarantees.") var faults = false
    @Flag(help: "With --faults: several machines that share one log on brokers.") var clusters = false
    @Option(help: "With --faults: how many seeds.") var seeds = 1000
    @Flag(help: "Print only the results that you ask for.") var quiet = false

    func validate() throws {
        if self.faults {
            guard self.scenario == nil, !self.json, self.page.html == nil, self.days == nil else {
                throw ValidationError("with --faults, give no other options than --clusters, --seed and --seeds")
            }
            guard (1...1_000_000_000).contains(self.seeds) else {
                throw ValidationError("--seeds takes 1 to 1000000000")
            }
            return
        }
        guard !self.clusters else { throw ValidationError("--clusters needs --faults") }
        guard self.scenario != nil else { throw ValidationError("give --scenario FILE, or --faults") }
        if let days, !(1...Scenario.daysMax).contains(days) {
            throw ValidationError("--days takes 1 to \(Scenario.daysMax)")
        }
    }

    func run() async throws {
        if self.faults {
            return try await FaultRuns(
                first: self.seed ?? 0,
                count: self.seeds,
                isOfClusters: self.clusters,
                isQuiet: self.quiet
            ).run()
        }
        var scenario = try self.read()
        if let seed { scenario.seed = seed }
        if let days { scenario.days = days }
        let started = ContinuousClock.now
        let report = try await self.simulate(scenario)
        let took = ContinuousClock.now - started
        try self.page.write(report.page)
        if self.json {
            try Output.write(Data(report.jsonText), to: "-")
        } else if !self.quiet {
            print(report.text, terminator: "")
            let seconds = Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18
            // A clock may say that it took no time at all.
            let rate = Int(min(Double(report.instanceDays) / max(seconds, 0.001), 1e15))
            print("  \(report.instanceDays) widget-days in \(String(format: "%.1f", seconds)) s, \(rate) a second")
        }
        for fault in report.faults { Output.standardError("does not add up: \(fault)") }
        if !report.faults.isEmpty { throw ExitCode(1) }
    }

    /// The scenario, or every fault of it on standard error and exit code 78 (EX_CONFIG).
    private func read() throws -> Scenario {
        let file = self.scenario ?? ""
        guard let text = try? String(contentsOf: URL(filePath: file), encoding: .utf8) else {
            Output.standardError("\(file): cannot be read")
            throw ExitCode(78)
        }
        do {
            return try Scenario(reading: text, file: file) { (yaml) throws(ScenarioPolicyError) in
                do throws(SettingsError) {
                    return try PolicyFile.parse(section: yaml)
                } catch {
                    throw ScenarioPolicyError(error.faults.map { ($0.path, $0.sentence) })
                }
            }
        } catch {
            Output.standardError("\(error)")
            throw ExitCode(78)
        }
    }

    /// Runs the partitions side by side.
    private func simulate(_ scenario: Scenario) async throws -> SimulationReport {
        let world = SimulatedWorld(scenario)
        let progress = ProgressBar(total: scenario.days * 24 * scenario.partitions, isQuiet: self.quiet)
        let measured = await withTaskGroup(of: (partition: PartitionID, measures: Measures).self) { group in
            for partition in world.partitions {
                group.addTask {
                    var run = PartitionRun(world, partition: partition)
                    for hour in 1...scenario.days * 24 {
                        run.advance(to: scenario.start + hour * 3600)
                        progress.advance()
                    }
                    return (partition, run.measures)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        progress.finish()
        return SimulationReport(scenario, measured.sorted { $0.partition < $1.partition }.map(\.measures))
    }
}
