import APNSWire
import ArgumentParser
import LoadGenerator
import Settings
import Simulation

/// `freshet schema`
struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the JSON Schema of a file format, with which editors complete and check such files.",
        discussion: """
              freshet schema config > freshet.schema.json
              freshet schema bench-report > bench-report.schema.json

            Editors with YAML's language server read a file's first line: # yaml-language-server: \
            $schema=freshet.schema.json
            """
    )

    /// The files that there are schemas of.
    enum File: String, ExpressibleByArgument, CaseIterable {
        /// The gateway's configuration.
        case config
        /// A load for `freshet bench`.
        case bench
        /// The output of `freshet bench --json`.
        case benchReport = "bench-report"
        /// The output of `freshet bench compare --json`.
        case benchComparison = "bench-comparison"
        /// The output of `freshet simulate --json`.
        case simulationReport = "simulation-report"
        /// The output of `freshet what-if --json`.
        case whatIfReport = "what-if-report"
    }

    @Argument(
        help: ArgumentHelp(
            """
            config: the gateway's configuration; bench: a load for freshet bench; bench-report and bench-comparison: its JSON; \
            simulation-report and what-if-report: the JSON of freshet simulate and freshet what-if.
            """
        )
    ) var file: File

    func run() {
        let schema =
            switch self.file {
            case .config: ConfigurationFile.schema
            case .bench: LoadScenario.schema
            case .benchReport: LoadReport.schema
            case .benchComparison: LoadComparison.schema
            case .simulationReport: SimulationReport.schema
            case .whatIfReport: WhatIfReport.schema
            }
        print(String(decoding: schema.jsonText, as: UTF8.self))
    }
}
