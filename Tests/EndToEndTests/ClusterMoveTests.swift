#if JetStream
import BrokerSupport
import Foundation
import Testing

/// A gateway moves from its data directory to brokers and back, with what people know of it.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .timeLimit(.minutes(60)))
struct ClusterMoveTests {
    private static let partitions = 2

    private static func start(_ folder: String? = nil, _ journal: String = "", data: String = "data") async throws
        -> TestGateway
    {
        let folder = try folder ?? TestGateway.makeFolder()
        return try await TestGateway.start(
            in: folder,
            partitions: Self.partitions,
            extra: journal,
            options: ["--set", "dataDirectory=\(folder)/\(data)"]
        )
    }

    private static func push(_ gateway: TestGateway, _ host: Int, _ bearer: String) async throws -> String {
        let id = UUID().uuidString.lowercased()
        let headers = ["apns-priority: 10", "apns-id: \(id)"]
        let answer = try await gateway.push(to: host, headers: headers, bearer: bearer)
        #expect(answer.status == 200, "\(answer.body)")
        return id
    }

    /// The place at which an app's event stream is now, and whether it had to say `gap`.
    private static func cursor(_ gateway: TestGateway, _ bearer: String, after last: String? = nil) async throws -> (
        String, hasGap: Bool
    ) {
        let stream = try Command(
            "curl",
            [
                "--silent", "--no-buffer", "--http2", "--cacert", gateway.ca, "--header",
                "authorization: bearer \(bearer)",
            ] + (last.map { ["--header", "last-event-id: \($0)"] } ?? [])
                + ["\(gateway.hostURL)/v1/apps/\(TestGateway.app)/events"]
        )
        let cursor = try await gateway.eventually("the stream has begun") {
            stream.written.split(separator: "\n").last { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
        }
        stream.terminate()
        let text = await stream.wait().output
        return (cursor, text.contains("event: gap"))
    }

    /// Acknowledges what a host is told of, until a push that it alone is told of is over.
    private static func acknowledge(_ host: Int, _ push: String, _ gateway: TestGateway, _ bearer: String) async throws
    {
        _ = try await gateway.eventually("push \(push) is over") { () async throws -> Bool? in
            try await gateway.acknowledge(try await gateway.outstanding(host, bearer: bearer), bearer: bearer)
            let told = try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes/\(push)").json
            return (told["outcomes"] as? [String: Int])?["reloaded"] == 2 ? true : nil
        }
    }

    private static func awaitDecision(of push: String, _ gateway: TestGateway) async throws {
        _ = try await gateway.eventually("push \(push) is decided") {
            let told = try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes/\(push)").json
            return (told["appliedBy"] as? Int ?? 0) > 0 ? true : nil
        }
    }

    private static func outstanding(_ gateway: TestGateway, _ bearer: String) async throws -> [[String]] {
        var all: [[String]] = []
        for host in 1...3 { all.append(try await gateway.outstanding(host, bearer: bearer).sorted()) }
        return all
    }

    private static func charged(_ gateway: TestGateway) async throws -> Int {
        let stats = try await gateway.curl("GET", "\(gateway.opsURL)/v1/stats")
        return try #require((stats.json["reloads"] as? [String: Any])?["charged"] as? Int)
    }

    @Test func `what is outstanding stays so, at the brokers and back; and what cannot be moved says why`() async throws
    {
        let brokers = try Brokers()
        let journal = try JetStreamGatewayTests.journal(brokers)
        let first = try await Self.start()
        let folder = first.folder
        let configuration = "\(folder)/brokers.yaml"
        try TestGateway.configuration(Self.partitions, journal, "")
            .replacing("dataDirectory: data\n", with: "dataDirectory: beside\n")
            .write(toFile: configuration, atomically: true, encoding: .utf8)
        func run(_ verb: String, _ data: String, _ options: [String] = []) async throws -> Command.Result {
            let words = ["cluster", verb, "\(folder)/\(data)", "--config", configuration] + options
            return try await Command.run(TestGateway.program, words)
        }
        func expectRefusal(_ verb: String, _ data: String, _ options: [String] = [], _ words: String) async throws {
            let result = try await run(verb, data, options)
            #expect(result.status == 1 && result.errors.contains(words), "\(result.errors)")
        }

        let bearer = try await first.providerToken()
        for host in 1...3 { _ = try await first.register(host, teams: ["seahawks"], bearer: bearer) }
        let known = try await Self.push(first, 1, bearer)
        let waiting = try await Self.push(first, 2, bearer)
        try await Self.acknowledge(1, known, first, bearer)
        try await Self.awaitDecision(of: waiting, first)
        let (cursor, _) = try await Self.cursor(first, bearer)
        let before = (try await Self.outstanding(first, bearer), try await Self.charged(first))
        #expect(!before.0[1].isEmpty)
        try await expectRefusal("adopt", "data", [], "is in use by process \(first.pid)")
        await first.crash()
        try await expectRefusal("adopt", "data", [], "run freshet settle for its data directory first")
        let settled = try await Command.run(TestGateway.program, ["settle", "--data", "\(folder)/data"])
        #expect(settled.status == 0, "\(settled.errors)")

        try await expectRefusal("adopt", "data", ["--set", "partitions=3"], "set partitions to 2")
        try await expectRefusal(
            "adopt",
            "data",
            ["--set", "dataDirectory=\(folder)/data"],
            "set dataDirectory to a new directory"
        )
        try await expectRefusal("leave", "alone", [], "there is no log of cluster test")
        let dry = try await run("adopt", "data", ["--dry-run", "--json"])
        let parts = try JSONSerialization.jsonObject(with: Data(dry.output.utf8)) as? [String: Any]
        #expect((parts?["partitions"] as? [Any])?.count == Self.partitions, "\(dry.output) \(dry.errors)")
        let adopted = try await run("adopt", "data")
        #expect(adopted.status == 0 && adopted.output.contains("start the gateway"), "\(adopted.errors)")
        try await expectRefusal("adopt", "data", ["--set", "dataDirectory=\(folder)/more"], "already")

        let second = try await Self.start(folder, journal, data: "beside")
        #expect(try await Self.outstanding(second, bearer) == before.0)
        #expect(try await Self.charged(second) == before.1)
        #expect(try await second.settled(known).json["matched"] as? Int == 2)
        #expect(try await !Self.cursor(second, bearer, after: cursor).hasGap)
        try await second.acknowledge(try await second.outstanding(2, bearer: bearer), bearer: bearer)
        let later = try await Self.push(second, 1, bearer)
        try await Self.awaitDecision(of: later, second)
        let after = (try await Self.outstanding(second, bearer), try await Self.charged(second))
        try await expectRefusal("leave", "alone", [], "stop all gateways")
        #expect(await second.drain() == 0)

        let left = try await run("leave", "alone")
        #expect(left.status == 0, "\(left.errors)")
        try await expectRefusal("leave", "alone", [], "exists and is not empty")
        let verified = try await Command.run(TestGateway.program, ["log", "verify", "--data", "\(folder)/alone"])
        #expect(verified.status == 0, "\(verified.output) \(verified.errors)")
        let third = try await Self.start(folder, data: "alone")
        #expect(try await Self.outstanding(third, bearer) == after.0)
        #expect(try await Self.charged(third) == after.1)
        #expect(try await third.curl("GET", "\(third.opsURL)/v1/pushes/\(later)").status == 200)
        await third.stop()
    }
}
#endif
