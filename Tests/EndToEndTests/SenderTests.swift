import Foundation
import Testing

/// Clients that are not ours push as much as honest back ends do, each over one connection: see `Tests/ForeignClients`.
@Suite struct SenderTests {
    enum Client: String, CaseIterable {
        case aioapns, asyncHTTPClient, curl, go, httpx, node

        /// curl has one for its pushes at once, and one for the others.
        var connections: Int { self == .curl ? 2 : 1 }
    }

    /// The outcome of a client's pushes.
    private struct Outcome: Decodable {
        struct Part: Decodable {
            let sent: Int
            /// How many were not answered 200, by what they were.
            let lost: [String: Int]
        }

        /// Those at once.
        let burst: Part
        /// Those at a steady rate.
        let steady: Part
    }

    /// How long `make senders` wants the steady rate to go on; nil in an ordinary run.
    private static let longSeconds = ProcessInfo.processInfo.environment["SENDER_SECONDS"].flatMap(Int.init)
    private static let seconds = Self.longSeconds ?? 10
    /// Those that take part. async-http-client, whose libraries take minutes to compile, does in `make senders`.
    private static let clients = Client.allCases.filter { $0 != .asyncHTTPClient || Self.longSeconds != nil }
    private static let burst = 5000
    private static let perSecond = 1000
    private static let folder = "\(TestGateway.root)/Tests/ForeignClients"

    @Test func `foreign clients push thousands at once and a thousand a second, and no push is lost`() async throws {
        // Neither a request's time nor the team's share, which goes by the partition's pace, is to depend on how busy the
        // machine is.
        let gateway = try await TestGateway.start(
            extra: """
                timeouts: {request: 1h, writeStall: 1h, keepAlive: 1h, firstRequest: 1h, handshake: 1h}
                fairness: {undecided: 1h, pushMax: 1h}
                """,
            appSettings: "    unknownTokens: accept"
        )
        let programs = try await self.programs(in: gateway.folder)
        let outcomes = try await withThrowingTaskGroup(of: (Client, Outcome).self) { group in
            for client in Self.clients {
                group.addTask { (client, try await self.run(client, programs[client] ?? [], gateway)) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for (client, outcome) in outcomes {
            #expect(outcome.burst.lost == [:], "\(client)")
            #expect(outcome.steady.lost == [:], "\(client)")
            #expect(outcome.burst.sent == Self.burst, "\(client)")
            #expect(outcome.steady.sent > 0, "\(client)")
            print("\(client): \(outcome.burst.sent) at once, \(outcome.steady.sent) in \(Self.seconds) s")
        }
        var connections = 0
        for url in gateway.opsURLs {
            let stats = try await gateway.curl("GET", "\(url)/v1/stats").json
            let listeners = try #require(stats["listeners"] as? [String: [String: Any]])
            let push = try #require(listeners["push"])
            #expect(push["limits"] as? [String: Int] == [:])
            #expect(push["cutOff"] as? [String: [String: String]] == [:])
            #expect(push["endedByFault"] as? Int == 0)
            connections += push["accepted"] as? Int ?? 0
        }
        #expect(connections == Self.clients.reduce(0) { $0 + $1.connections })
        // curl may have had answers that it did not come to write down.
        let sent = outcomes.values.reduce(0) { $0 + $1.burst.sent + $1.steady.sent }
        _ = try await gateway.eventually("\(sent) pushes are applied") {
            let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats").json
            let accepted = (stats["pushes"] as? [String: Any])?["accepted"] as? Int ?? 0
            return accepted >= sent ? accepted : nil
        }
        let log = await gateway.log()
        #expect(!log.contains("exceeded a limit"), "\(log)")
        try FileManager.default.removeItem(atPath: gateway.folder)
    }

    /// The command of each client; those that are compiled are built, which takes no time once they are.
    private func programs(in folder: String) async throws -> [Client: [String]] {
        let go = "\(folder)/go-sender"
        try await Self.build("env", ["--chdir=\(Self.folder)/Go", "go", "build", "-o", go, "."])
        let scratch = "\(TestGateway.root)/.build/async-http-client"
        let package = ["--package-path", "\(Self.folder)/AsyncHTTPClient", "--scratch-path", scratch]
        if Self.clients.contains(.asyncHTTPClient) { try await Self.build("swift", ["build"] + package) }
        return [
            .aioapns: [TestGateway.python, "\(Self.folder)/aioapns_sender.py"],
            .asyncHTTPClient: ["\(scratch)/debug/AsyncHTTPClientSender"],
            .curl: [TestGateway.python, "\(Self.folder)/curl_sender.py"],
            .go: [go],
            .httpx: [TestGateway.python, "\(Self.folder)/httpx_sender.py"],
            .node: ["node", "\(Self.folder)/node_sender.mjs"],
        ]
    }

    private static func build(_ program: String, _ arguments: [String]) async throws {
        let built = try await Command.run(program, arguments)
        try #require(built.status == 0, "\(program): \(built.output)\(built.errors)")
    }

    private func run(_ client: Client, _ command: [String], _ gateway: TestGateway) async throws -> Outcome {
        var options = [
            "--port=\(gateway.pushPort)", "--ca=\(gateway.ca)", "--topic=\(TestGateway.topic)",
            "--token=\(TestGateway.token(1))", "--bearer=\(try await gateway.providerToken())",
            "--burst=\(Self.burst)", "--rate=\(Self.perSecond)", "--seconds=\(Self.seconds)",
        ]
        if client == .aioapns {
            options += ["--key=\(gateway.key)", "--kid=\(TestGateway.kid)", "--team=\(TestGateway.team)"]
        }
        let result = try await Command.run(command[0], Array(command.dropFirst()) + options)
        let line = result.output.split(separator: "\n").last.map { Data($0.utf8) }
        try #require(result.status == 0 && line != nil, "\(client): \(result.output)\(result.errors)")
        return try JSONDecoder().decode(Outcome.self, from: line ?? Data())
    }
}
