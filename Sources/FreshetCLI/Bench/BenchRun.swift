import ArgumentParser
import Foundation
import LoadGenerator
import Scenarios
import TLS
import UnixSignals

/// `freshet bench SCENARIO`
struct BenchRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run one scenario.",
        discussion: """
              freshet bench run docs/examples/bench/steady.yaml
            """
    )

    @Argument(help: "The scenario, a YAML file; with --quick, its name.") var scenario: String?
    @OptionGroup var quickOptions: QuickOptions
    @OptionGroup var target: BenchTargetOptions
    @Flag(help: "Print JSON.") var json = false
    @OptionGroup var page: PageOptions
    @Option(help: ArgumentHelp("Write an HdrHistogram log.", valueName: "file")) var hlog: String?
    @Option(help: "A seed in place of the scenario's.") var seed: UInt64?
    @Option(help: "Multiply the hosts and the operations a second by this, 0.001 to 1000.") var scale = 1.0
    @Option(help: "Multiply the scenario's length by this, 0.001 to 1000.") var stretch = 1.0
    @Option(name: .customLong("without"), help: "Leave out the load of this name; may be given several times.")
    var without: [String] = []
    @Flag(help: "Register no hosts: an earlier run registered them.") var noSetup = false
    @Flag(help: "Print only the results that you ask for.") var quiet = false

    func validate() throws {
        for (name, value) in [("--scale", self.scale), ("--stretch", self.stretch)] {
            guard (0.001...1000).contains(value) else { throw ValidationError("\(name) takes 0.001 to 1000") }
            guard value == 1 || !self.quickOptions.quick else {
                throw ValidationError("\(name) is for scenario files; use --widgets, --rate and --seconds with --quick")
            }
        }
        if let scenario, self.quickOptions.quick, scenario != "list" { _ = try self.quickOptions.yaml(scenario) }
        guard self.scenario != nil || self.quickOptions.quick else {
            throw ValidationError("give a scenario file, or --quick NAME; --quick alone lists the names")
        }
    }

    func run() async throws {
        guard let name = self.scenario, !self.quickOptions.quick || name != "list" else {
            return print(self.quickOptions.list)
        }
        if self.quickOptions.isPrinted { return print(try self.quickOptions.yaml(name), terminator: "") }
        let scenario = try self.read(name)
        let report = try await self.measure(scenario)
        try self.page.write(report.page)
        if let hlog {
            let names = scenario.loads.map(\.name)
            let text = HistogramLog.text(report.tally, names: names, began: report.outcome.began)
            try Output.write(Data(text.utf8), to: hlog)
        }
        if self.json {
            try Output.write(Data(report.jsonText), to: "-")
        } else if !self.quiet {
            print(report.text, terminator: "")
        }
        if !report.isMet { throw ExitCode(1) }
    }

    /// The scenario, or every fault of it on standard error and exit code 78 (EX_CONFIG).
    private func read(_ file: String) throws -> LoadScenario {
        let text =
            self.quickOptions.quick
            ? try self.quickOptions.yaml(file) : try? String(contentsOf: URL(filePath: file), encoding: .utf8)
        guard let text else {
            Output.standardError("\(file): cannot be read")
            throw ExitCode(78)
        }
        let folder = URL(filePath: file).deletingLastPathComponent()
        var scenario: LoadScenario
        do {
            scenario = try LoadScenario(reading: text, file: file) { name in
                try? String(contentsOf: URL(filePath: name, relativeTo: folder), encoding: .utf8)
            }
        } catch {
            Output.standardError("\(error)")
            throw ExitCode(78)
        }
        for name in self.without {
            guard scenario.loads.contains(where: { $0.name == name }) else {
                throw ValidationError(
                    "--without \(name): there is no such load; the loads are \(scenario.loads.map(\.name).joined(separator: ", "))"
                )
            }
        }
        scenario.drop(loads: self.without)
        if let seed { scenario.seed = seed }
        guard scenario.restartAt == nil || self.target.pushPort == nil else {
            throw ValidationError("the scenario restarts the gateway, so bench must start it: leave out --push-port")
        }
        return scenario.scaled(by: self.scale).stretched(by: self.stretch)
    }

    private func measure(_ scenario: LoadScenario) async throws -> LoadReport {
        do {
            guard self.target.pushPort == nil else {
                return try await self.measure(scenario, at: try self.target.target(), gateway: nil, nil)
            }
            return try await self.measureOwnGateway(scenario)
        } catch let error as LoadError {
            Output.standardError("\(error)")
            throw ExitCode(1)
        }
    }

    /// Starts a gateway, and the provider of its timelines if the scenario has one, and ends both whatever happens.
    private func measureOwnGateway(_ scenario: LoadScenario) async throws -> LoadReport {
        var provider: PlayedProvider?
        if let played = scenario.provider { provider = try await PlayedProvider.start(played) }
        var gateway: BenchGateway?
        let result: Result<LoadReport, any Error>
        do {
            let started = try await BenchGateway.start(scenario, provider: provider)
            gateway = started
            // A signal that ends bench ends its gateway, too, and leaves no folder of it.
            let interruption = Task {
                for await signal in await UnixSignalsSequence(trapping: .sigint, .sigterm) {
                    started.stop()
                    Foundation.exit(signal == .sigint ? 130 : 143)
                }
            }
            defer { interruption.cancel() }
            result = .success(try await self.measure(scenario, at: try started.target(), gateway: started, provider))
        } catch {
            result = .failure(error)
        }
        gateway?.stop()
        await provider?.stop()
        return try result.get()
    }

    private func measure(
        _ scenario: LoadScenario,
        at target: LoadTarget,
        gateway: BenchGateway?,
        _ provider: PlayedProvider?
    ) async throws -> LoadReport {
        let line = ProgressLine(isQuiet: self.quiet)
        if !self.noSetup, target.hostPort != nil {
            let count = scenario.hosts.count
            try await SceneSetup(scenario, target: target).perform { line.show("registering hosts: \($0) of \(count)") }
        }
        // A process that ends during the run takes its figures along.
        let watched = self.target.serverPID ?? (scenario.restartAt == nil ? gateway?.pid : nil)
        let before = watched.flatMap { ProcessFigures.of($0) }
        let run = LoadRun(
            scenario,
            target: target,
            run: UInt64.random(in: 1 ... .max),
            firstRevision: Int(Self.milliseconds)
        )
        let restart = PlannedRestart(scenario.restartAt, of: gateway)
        let outcome = try await run.perform(
            clock: { Self.milliseconds },
            processTime: { ProcessFigures.ownCPU() },
            onBegin: {
                provider?.begin()
                restart.begin()
            },
            onProgress: { line.show(Self.text($0)) }
        )
        line.finish()
        try await restart.finish()
        let after = watched.flatMap { ProcessFigures.of($0) }
        var server: LoadReport.Server?
        if let before, let after {
            server = LoadReport.Server(cpu: after.cpu - before.cpu, resident: after.resident)
        }
        return LoadReport(scenario, outcome, server: server, target: "\(target.serverName):\(target.pushPort)")
    }

    /// UNIX milliseconds now.
    private static var milliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    private static func text(_ progress: LoadProgress) -> String {
        let seconds = progress.elapsed / 1_000_000_000
        var text =
            "\(seconds) of \(progress.length / 1_000_000_000) s: \(progress.sent) sent, \(progress.answered) answered"
        if progress.failed > 0 { text += ", \(progress.failed) failed" }
        text += ", \(progress.waiting) without an answer yet"
        if progress.reloads > 0 { text += ", \(progress.reloads) reloads, \(progress.acknowledged) acknowledged" }
        return text
    }
}
