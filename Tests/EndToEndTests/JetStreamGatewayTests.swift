#if JetStream
import BrokerSupport
import Foundation
import HTTPTransport
import NIOCore
import NIOPosix
import TLS
import Testing

/// A gateway whose log is on NATS JetStream, and the death of the gateway or the broker.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .timeLimit(.minutes(60)))
struct JetStreamGatewayTests {
    /// The lines of a configuration.
    static func journal(
        _ brokers: Brokers,
        replicas: Int = 1,
        patience: String = "5m",
        more: String = ""
    ) throws -> String {
        let files = try brokers.passwordFiles()
        return """
            journal:
              jetstream:
                servers: ["\(brokers.servers.joined(separator: #"", ""#))"]
                cluster: test
                replicas: \(replicas)
                maxStreamBytes: 256MiB
                patience: \(patience)
                credentials: {user: \(Brokers.user.name), file: \(files.user)}
                systemCredentials: {user: \(Brokers.systemUser.name), file: \(files.systemUser)}
                \(more)
            """
    }

    /// The same for one of several gateways, so patient with the others that no busy machine uses it up.
    static func journal(_ brokers: Brokers, node: String, replicas: Int = 1) throws -> String {
        let node = "node: {name: \(node), address: \"\(node):443\"}\n    questionPatience: 5m"
        return try Self.journal(brokers, replicas: replicas, more: node)
    }

    private static func push(_ gateway: TestGateway, _ id: String, _ bearer: String) async throws -> TestGateway.Answer
    {
        try await gateway.push(to: 1, headers: ["apns-priority: 10", "apns-id: \(id)"], bearer: bearer)
    }

    private static func id() -> String { UUID().uuidString.lowercased() }

    /// Acknowledges until nothing of a host is outstanding.
    private static func acknowledgeAll(_ gateway: TestGateway, _ bearer: String) async throws {
        _ = try await gateway.eventually("every reload is acknowledged") {
            let reloads = try await gateway.outstanding(1, bearer: bearer)
            if reloads.isEmpty { return true }
            try await gateway.acknowledge(reloads, bearer: bearer)
            return nil
        }
    }

    private static func stats(_ gateway: TestGateway, _ part: String) async throws -> [String: Any] {
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        return try #require(stats.json[part] as? [String: Any], "\(stats.body)")
    }

    @Test func `a push comes to its reload, and outlives a kill -9 and the loss of the data directory`() async throws {
        let brokers = try Brokers()
        let folder = try TestGateway.makeFolder()
        let first = try await TestGateway.start(in: folder, partitions: 2, extra: try Self.journal(brokers))
        let bearer = try await first.providerToken()
        _ = try await first.register(1, teams: ["seahawks"], bearer: bearer)
        try await Self.acknowledgeAll(first, bearer)
        let id = Self.id()
        #expect(try await Self.push(first, id, bearer).status == 200)
        let reload = try await first.eventually("a reload is out") {
            try await first.outstanding(1, bearer: bearer).first
        }
        let storage = try await Self.stats(first, "storage")
        #expect(storage["level"] as? String == "ample")
        await first.crash()

        let second = try await TestGateway.start(in: folder, partitions: 2, extra: try Self.journal(brokers))
        #expect(try await second.outstanding(1, bearer: bearer).contains(reload))
        try await Self.acknowledgeAll(second, bearer)
        let settled = try await second.settled(id)
        #expect(settled.json["matched"] as? Int == 2)
        // The same again is known, and charged once.
        #expect(try await Self.push(second, id, bearer).status == 200)
        _ = try await second.eventually("the repeat is found out") {
            try await Self.stats(second, "pushes")["repeated"] as? Int == 1 ? true : nil
        }
        let charged = try #require(try await Self.stats(second, "reloads")["charged"] as? Int)
        #expect(await second.drain() == 0)

        // The files beside the log can be made again from it.
        try FileManager.default.removeItem(atPath: "\(folder)/data")
        let third = try await TestGateway.start(in: folder, partitions: 2, extra: try Self.journal(brokers))
        #expect(try await third.settled(id).json["matched"] as? Int == 2)
        #expect(try await Self.stats(third, "reloads")["charged"] as? Int == charged)
        #expect(try await third.outstanding(1, bearer: bearer) == [])
        let why = try await third.runVerb(["why", "\(TestGateway.app)/host-1:scores-0"])
        #expect(why.status == 0 && why.output.contains(id), "\(why.errors)")
        await third.stop()
    }

    @Test func `verbs that read a data directory say where the log is`() async throws {
        let brokers = try Brokers()
        let gateway = try await TestGateway.start(extra: try Self.journal(brokers))
        let data = "\(gateway.folder)/data"
        let verbs = [
            ["log", "stats", "--data", data], ["log", "export", "--data", data], ["log", "verify", "--data", data],
            ["why", "\(TestGateway.app)/host-1:scores-0", "--data", data],
            ["backup", "--data", data, "--to", "\(gateway.folder)/copy"],
            ["what-if", "--data", data, "--policy", "\(TestGateway.root)/deploy/policies/trmnl.yaml"],
        ]
        for verb in verbs {
            let result = try await Command.run(TestGateway.program, verb)
            #expect(result.status == 1, "\(verb)")
            let said = result.output + result.errors
            #expect(
                said.contains("has no log: the log is on NATS JetStream, cluster test; ask its gateway"),
                "\(said)"
            )
        }
        let configuration = ["--config", "\(gateway.folder)/freshet.yaml"]
        let doctor = try await Command.run(TestGateway.program, ["doctor"] + configuration)
        #expect(doctor.output.contains("journal.jetstream: the brokers answer"), "\(doctor.output)")
        // The directory belongs to the one log, and to one process.
        let other = try await Command.run(
            TestGateway.program,
            ["serve", "--set", "listeners.ops.port=0"] + configuration
        )
        #expect(other.status == 1 && other.errors.contains("is in use by process \(gateway.pid)"), "\(other.errors)")
        brokers.kill(0)
        let away = try await Command.run(TestGateway.program, ["doctor"] + configuration)
        #expect(away.status == 78 && away.output.contains("no broker answers"), "\(away.output)")
        try brokers.start(0)
        #expect(await gateway.drain() == 0)
        let sqlite = try await Command.run(
            TestGateway.program,
            ["serve", "--config", try Self.withoutJournal(gateway.folder)]
        )
        #expect(
            sqlite.status == 1 && sqlite.errors.contains("belongs to a log on NATS"),
            "\(sqlite.errors)"
        )
        await gateway.stop()
    }

    /// A configuration like a gateway's, with the log in the data directory.
    private static func withoutJournal(_ folder: String) throws -> String {
        let text = try String(contentsOfFile: "\(folder)/freshet.yaml", encoding: .utf8)
        let end = try #require(text.range(of: "journal:\n"))
        let path = "\(folder)/sqlite.yaml"
        try text[..<end.lowerBound].write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func `a broker that would lose what was accepted keeps a gateway from starting`() async throws {
        let brokers = try Brokers(sync: "")
        let folder = try TestGateway.makeFolder()
        let fault = await #expect(throws: TestGateway.Failure.self) {
            try await TestGateway.start(in: folder, extra: try Self.journal(brokers))
        }
        #expect(fault?.description.contains("set `sync_interval: always` in its `jetstream` block") == true)
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `a second gateway with the name of the first is refused, and says what to change`() async throws {
        let brokers = try Brokers()
        let extra = try Self.journal(brokers)
        let first = try await TestGateway.start(extra: extra)
        let other = try TestGateway.makeFolder(beside: first.folder)
        let fault = await #expect(throws: TestGateway.Failure.self) {
            try await TestGateway.start(in: other, extra: extra)
        }
        #expect(fault?.description.contains("give each node a name of its own in journal.jetstream.node.name") == true)
        #expect(try await first.curl("GET", "\(first.opsURL)/readyz").status == 200)
        await first.stop()
        try FileManager.default.removeItem(atPath: other)
    }

    @Test func `a broker that comes back finds nothing lost, and senders are told to wait meanwhile`() async throws {
        let brokers = try Brokers()
        let gateway = try await TestGateway.start(extra: try Self.journal(brokers, patience: "1s"))
        let bearer = try await gateway.providerToken()
        _ = try await gateway.register(1, teams: ["seahawks"], bearer: bearer)
        let sender = try await Sender(gateway, bearer)
        var accepted = try await sender.send(200).accepted
        #expect(accepted.count == 200)

        // Some are under way when it dies; for as long as it is away none is accepted, and none is refused for good.
        async let meanwhile = sender.send(400)
        brokers.kill(0)
        var refused = try await meanwhile
        accepted += refused.accepted
        let away = try await sender.send(50)
        #expect(away.accepted.isEmpty)
        let readiness = try await gateway.curl("GET", "\(gateway.opsURL)/readyz")
        #expect(readiness.status == 503 && readiness.body.contains("the log cannot be written: partition"))
        refused.unavailable += away.unavailable
        try brokers.start(0)
        _ = try await gateway.eventually("pushes are taken again") {
            let one = try await sender.send(1)
            accepted += one.accepted
            refused.unavailable += one.unavailable
            return one.accepted.isEmpty ? nil : true
        }
        // Senders repeat what they have no answer to, by the same id.
        var left = refused.unavailable
        while !left.isEmpty {
            let again = try await sender.send(left)
            accepted += again.accepted
            left = again.unavailable
        }
        try await gateway.checkBooks(accepted: accepted.count, matched: 2 * accepted.count)
        for id in accepted.shuffled().prefix(50) {
            #expect(try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes/\(id)").status == 200)
        }
        // Each partition that could not be written is tried now and then.
        _ = try await gateway.eventually("it is ready") {
            try await gateway.curl("GET", "\(gateway.opsURL)/readyz").status == 200 ? true : nil
        }
        await sender.close()
        await gateway.stop()
    }
}

/// Sends device pushes over one HTTP/2 connection, many at once.
private struct Sender {
    struct Result {
        var accepted: [String] = []
        /// Answered 503, with when to try again.
        var unavailable: [String] = []
    }

    private let connection: HTTP2ClientConnection
    private let bearer: String

    init(_ gateway: TestGateway, _ bearer: String) async throws {
        self.bearer = bearer
        let tls = try TLSContext.client(TLSClientConfiguration(trust: .roots(.file(gateway.ca)), alpn: ["h2"]))
        var configuration = HTTP2ClientConfiguration()
        configuration.handshakeTimeout = .hours(1)
        configuration.pingTimeout = .hours(1)
        self.connection = try await HTTP2ClientConnection.connect(
            host: "localhost",
            port: gateway.pushPort,
            tls: tls,
            on: MultiThreadedEventLoopGroup.singleton,
            configuration: configuration
        )
    }

    func close() async { await self.connection.close() }

    func send(_ count: Int) async throws -> Result {
        try await self.send((0..<count).map { _ in UUID().uuidString.lowercased() })
    }

    func send(_ ids: [String]) async throws -> Result {
        try await withThrowingTaskGroup(of: (String, HTTPClientResponse).self) { group in
            for id in ids { group.addTask { (id, try await self.send(id)) } }
            var result = Result()
            for try await (id, answer) in group {
                switch answer.status {
                case 200: result.accepted.append(id)
                case 503:
                    #expect(answer.headers["retry-after"] != nil)
                    result.unavailable.append(id)
                default: Issue.record("\(answer.status) \(answer.text)")
                }
            }
            return result
        }
    }

    private func send(_ id: String) async throws -> HTTPClientResponse {
        try await self.connection.send(
            HTTPClientRequest(
                method: "POST",
                path: "/3/device/\(TestGateway.token(1))",
                headers: [
                    "authorization": "bearer \(self.bearer)", "apns-topic": TestGateway.topic,
                    "apns-push-type": "widgets", "apns-priority": "10", "apns-id": id,
                ],
                body: Array(#"{"aps":{"content-changed":true}}"#.utf8),
                timeout: .hours(1)
            )
        )
    }
}
#endif
