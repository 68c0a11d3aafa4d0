import Foundation
import Settings
import Simulation
import Testing
import Timelines

/// The scenarios of the repository, made small enough for a test.
enum Scenarios {
    static let names = ["departures", "emoji-rangers", "sports-night", "stock-market-week", "weather"]

    /// The repository's folder.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Reads policies as the program does.
    static func policy(_ yaml: String) throws(ScenarioPolicyError) -> BudgetPolicy {
        do throws(SettingsError) {
            return try PolicyFile.parse(section: yaml)
        } catch {
            throw ScenarioPolicyError(error.faults.map { ($0.path, $0.sentence) })
        }
    }

    /// A scenario as it stands in its file.
    static func whole(_ name: String) throws -> Scenario {
        let file = self.root.appending(path: "docs/examples/scenarios/\(name).yaml")
        return try Scenario(
            reading: try String(contentsOf: file, encoding: .utf8),
            file: "\(name).yaml",
            policy: self.policy
        )
    }

    /// A scenario with a twentieth of its hosts, but at least one of each population.
    static func small(_ name: String, days: Int) throws -> Scenario {
        var scenario = try self.whole(name)
        scenario.days = days
        for index in scenario.populations.indices {
            scenario.populations[index].hosts = max(1, scenario.populations[index].hosts / 20)
        }
        return scenario
    }

    /// A run to its end, one partition after the other.
    static func report(_ scenario: Scenario) -> SimulationReport {
        let world = SimulatedWorld(scenario)
        let measured = world.partitions.map { partition in
            var run = PartitionRun(world, partition: partition)
            // In steps of uneven length, which must not matter.
            for step in 1...scenario.days * 5 { run.advance(to: scenario.start + step * 17_280 - 1) }
            run.advance(to: .max)
            return run.measures
        }
        return SimulationReport(scenario, measured)
    }
}
