import Foundation
import LoadGenerator
import Synchronization
import TLS

/// A gateway that `freshet bench` starts for one run: this program, in a temporary folder.
///
/// The system picks its ports; but for a scenario that restarts it, since it would give them to others meanwhile.
final class BenchGateway: Sendable {
    private static let team = "BENCHTEAM1"
    private static let kid = "BENCHKEY01"
    /// How often other ports are tried where those that were picked are taken.
    private static let attemptsMax = 5
    private let folder: URL
    private let process: Mutex<Process>
    private let ports: (push: Int, host: Int)

    var pid: Int32 { self.process.withLock { $0.processIdentifier } }

    private init(_ folder: URL, _ process: Process, _ ports: (push: Int, host: Int)) {
        self.folder = folder
        self.process = Mutex(process)
        self.ports = ports
    }

    /// Starts it and waits until it is ready.
    ///
    /// - Throws: ``LoadError`` with its output if it does not start.
    static func start(_ scenario: LoadScenario, provider: PlayedProvider?) async throws -> BenchGateway {
        let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        do {
            try Self.makeCertificates(in: folder)
            guard scenario.restartAt != nil else { return try await Self.start(scenario, provider, 0, in: folder) }
            for _ in 1..<Self.attemptsMax {
                if let gateway = try? await Self.start(scenario, provider, Self.lastingPort, in: folder) {
                    return gateway
                }
            }
            return try await Self.start(scenario, provider, Self.lastingPort, in: folder)
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    /// A port below those that the system gives to connections, so that it is still free when the gateway comes back.
    private static var lastingPort: Int {
        let range = try? String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let first = range?.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) } ?? 32_768
        return Int.random(in: max(1025, first / 2)..<max(1026, first - 1))
    }

    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()

    private static func makeCertificates(in folder: URL) throws {
        let certificates = Process()
        certificates.executableURL = Self.program
        certificates.arguments = ["certs", "--out", folder.appending(path: "certs").path]
        certificates.standardOutput = FileHandle.nullDevice
        try certificates.run()
        certificates.waitUntilExit()
        guard certificates.terminationStatus == 0 else { throw LoadError("freshet certs failed in \(folder.path)") }
    }

    /// - Parameter port: For pushes; the next one is for hosts. 0 lets the system pick both.
    private static func start(
        _ scenario: LoadScenario,
        _ provider: PlayedProvider?,
        _ port: Int,
        in folder: URL
    ) async throws -> BenchGateway {
        let text = Self.configuration(scenario, provider, port)
        try Data(text.utf8).write(to: folder.appending(path: "freshet.yaml"))
        let process = try Self.launch(in: folder)
        return BenchGateway(folder, process, try await Self.ports(of: process, in: folder))
    }

    private static func log(_ folder: URL) -> URL { folder.appending(path: "gateway.log") }

    private static func launch(in folder: URL) throws -> Process {
        let log = Self.log(folder)
        try Data().write(to: log)
        let process = Process()
        process.executableURL = Self.program
        process.arguments = ["serve", "--config", folder.appending(path: "freshet.yaml").path]
        process.standardOutput = FileHandle.nullDevice
        // A file: nothing would read a pipe, and a full pipe would hold the gateway up.
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
        return process
    }

    /// Its ports, once it is ready.
    private static func ports(of process: Process, in folder: URL) async throws -> (push: Int, host: Int) {
        while true {
            let hasEnded = !process.isRunning
            let text = (try? String(contentsOf: Self.log(folder), encoding: .utf8)) ?? ""
            if let ports = Self.ports(text) { return ports }
            guard !hasEnded else { throw LoadError("the gateway did not start:\n\(text.suffix(2000))") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Ends it as `systemctl restart` does, and starts it again with the same data and ports.
    ///
    /// - Throws: ``LoadError`` with its output if it does not come back.
    func restart() async throws {
        self.end()
        let process = try Self.launch(in: self.folder)
        // At once, so that it is ended with bench while it starts.
        self.process.withLock { $0 = process }
        _ = try await Self.ports(of: process, in: self.folder)
    }

    private func end() {
        let process = self.process.withLock { $0 }
        process.terminate()
        process.waitUntilExit()
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

    private static func configuration(_ scenario: LoadScenario, _ provider: PlayedProvider?, _ port: Int) -> String {
        let timelines = provider.map { "\n        timelineProvider: {url: \"\($0.url)\"}" } ?? ""
        let connections = scenario.hosts.streams + scenario.connections * 2 + 100
        return """
            dataDirectory: data
            tls: {certificate: certs/server.pem, key: certs/server.key}
            listeners:
              push: {port: \(port)}
              host: {port: \(port == 0 ? 0 : port + 1)}
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
        self.end()
        try? FileManager.default.removeItem(at: self.folder)
    }
}
