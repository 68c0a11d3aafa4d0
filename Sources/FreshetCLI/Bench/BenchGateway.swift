import Foundation
import LoadGenerator
import TLS

/// A gateway that `freshet bench` starts for one run: this program, in a temporary folder, on ports that the system picks.
final class BenchGateway: Sendable {
    private static let team = "BENCHTEAM1"
    private static let kid = "BENCHKEY01"
    private let folder: URL
    private let process: Process
    private let ports: (push: Int, host: Int)

    var pid: Int32 { self.process.processIdentifier }

    private init(_ folder: URL, _ process: Process, _ ports: (push: Int, host: Int)) {
        self.folder = folder
        self.process = process
        self.ports = ports
    }

    /// Starts it and waits until it is ready.
    ///
    /// - Throws: ``LoadError`` with what it said if it does not start.
    static func start(_ scenario: LoadScenario, provider: PlayedProvider?) async throws -> BenchGateway {
        let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        do {
            return try await Self.start(Self.configuration(scenario, provider), in: folder)
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    private static func start(_ text: String, in folder: URL) async throws -> BenchGateway {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let certificates = Process()
        certificates.executableURL = program
        certificates.arguments = ["certs", "--out", folder.appending(path: "certs").path]
        certificates.standardOutput = FileHandle.nullDevice
        try certificates.run()
        certificates.waitUntilExit()
        guard certificates.terminationStatus == 0 else { throw LoadError("freshet certs failed in \(folder.path)") }
        let configuration = folder.appending(path: "freshet.yaml")
        try Data(text.utf8).write(to: configuration)
        let log = folder.appending(path: "gateway.log")
        try Data().write(to: log)
        let process = Process()
        process.executableURL = program
        process.arguments = ["serve", "--config", configuration.path]
        process.standardOutput = FileHandle.nullDevice
        // A file, since nobody reads a pipe, and a full one would hold it up.
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
        while true {
            let hasEnded = !process.isRunning
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            if let ports = Self.ports(text) { return BenchGateway(folder, process, ports) }
            guard !hasEnded else { throw LoadError("the gateway did not start:\n\(text.suffix(2000))") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The ports in the line of its log that says it is ready.
    private static func ports(_ log: String) -> (push: Int, host: Int)? {
        for line in log.split(separator: "\n") where line.contains("\"ready\"") && line.hasSuffix("}") {
            guard let entry = try? JSONDecoder().decode(ReadyLine.self, from: Data(line.utf8)),
                let push = Int(entry.push), let host = Int(entry.host)
            else { continue }
            return (push, host)
        }
        return nil
    }

    private struct ReadyLine: Decodable {
        let push: String
        let host: String
    }

    private static func configuration(_ scenario: LoadScenario, _ provider: PlayedProvider?) -> String {
        let timelines = provider.map { "\n        timelineProvider: {url: \"\($0.url)\"}" } ?? ""
        let connections = scenario.hosts.streams + scenario.connections * 2 + 100
        return """
            dataDirectory: data
            tls: {certificate: certs/server.pem, key: certs/server.key}
            listeners:
              push: {port: 0}
              host: {port: 0}
              ops: {port: 0}
            limits: {maxConnections: \(max(10_000, connections)), maxConnectionsPerAddress: \(max(1000, connections))}
            fairness: {undecided: 1h, pushMax: 1h}
            teams:
              - id: \(self.team)
                keys: [{id: \(self.kid), file: certs/provider-key.public.pem}]
            apps:
              - bundleID: \(scenario.app)
                team: \(self.team)
                budget: \(scenario.budget)
                kinds:
                  - kind: \(scenario.kind)
                    parameters: [{name: \(scenario.parameter), type: string, required: true}]\(timelines)

            """
    }

    /// Where it is, with a provider token of its team.
    func target() throws -> LoadTarget {
        var signer = Token.Signer()
        signer.key = self.folder.appending(path: "certs/provider-key.p8").path
        signer.kid = Self.kid
        signer.team = Self.team
        let roots = self.folder.appending(path: "certs/ca.pem").path
        return LoadTarget(
            address: "127.0.0.1",
            pushPort: self.ports.push,
            hostPort: self.ports.host,
            serverName: "localhost",
            tls: try TLSContext.client(TLSClientConfiguration(trust: .roots(.file(roots)), alpn: ["h2"])),
            token: try ProviderTokenMint.mint(signer)
        )
    }

    /// Ends it and removes its folder.
    func stop() {
        self.process.terminate()
        self.process.waitUntilExit()
        try? FileManager.default.removeItem(at: self.folder)
    }
}
