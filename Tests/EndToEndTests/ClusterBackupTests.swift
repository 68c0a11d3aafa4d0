#if JetStream
import BrokerSupport
import Foundation
import Testing

/// A backup of the log that gateways share, which is made while they go on.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .timeLimit(.minutes(60)))
struct ClusterBackupTests {
    private static let hosts = 1...8

    private static func run(_ words: [String]) async throws -> Command.Result {
        try await Command.run(TestGateway.program, words)
    }

    private static func push(_ gateway: TestGateway, to host: Int, _ bearer: String) async throws -> String {
        let id = UUID().uuidString.lowercased()
        let answer = try await gateway.push(
            to: host,
            headers: ["apns-priority: 10", "apns-id: \(id)"],
            bearer: bearer
        )
        #expect(answer.status == 200, "\(answer.body)")
        return id
    }

    /// A push to all that show scores.
    private static func pushToAll(_ gateway: TestGateway, _ bearer: String) async throws -> String {
        let id = UUID().uuidString.lowercased()
        let answer = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes",
            bearer: bearer,
            headers: ["apns-push-type: widgets", "apns-priority: 10", "apns-id: \(id)"],
            body: #"{"aps":{"content-changed":true},"freshet":{"kind":"scores"}}"#
        )
        #expect(answer.status == 200, "\(answer.body)")
        return id
    }

    /// What is outstanding at each host.
    private static func outstanding(_ gateway: TestGateway, _ bearer: String) async throws -> [Set<String>] {
        var all: [Set<String>] = []
        for host in Self.hosts { all.append(Set(try await gateway.outstanding(host, bearer: bearer))) }
        return all
    }

    /// How many instances a push matched, and what came of them, once all partitions have decided it.
    private static func outcome(of push: String, at gateway: TestGateway, appliedBy partitions: Int) async throws -> (
        matched: Int?, reloaded: Int?
    ) {
        let told = try await gateway.eventually("push \(push) is decided") {
            let told = try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes/\(push)").json
            return (told["appliedBy"] as? Int ?? 0) >= partitions ? told : nil
        }
        return (told["matched"] as? Int, (told["outcomes"] as? [String: Int])?["reloaded"])
    }

    private static func acknowledge(_ host: Int, _ push: String, _ gateway: TestGateway, _ bearer: String) async throws
    {
        _ = try await gateway.eventually("push \(push) is over") { () async throws -> Bool? in
            try await gateway.acknowledge(try await gateway.outstanding(host, bearer: bearer), bearer: bearer)
            return try await Self.outcome(of: push, at: gateway, appliedBy: 1).reloaded == 2 ? true : nil
        }
    }

    private static func configuration(_ gateway: TestGateway, _ name: String, _ cluster: String) throws -> String {
        let path = "\(gateway.folder)/\(name).yaml"
        try String(contentsOfFile: "\(gateway.folder)/freshet.yaml", encoding: .utf8)
            .replacing("cluster: test\n", with: "cluster: \(cluster)\n")
            .replacing("dataDirectory: data\n", with: "dataDirectory: \(name)\n")
            .write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test func `a backup of a running cluster has what was answered before, and a gateway alone goes on from it`()
        async throws
    {
        let pair = try await ClusterGatewayTests.pair()
        let (first, bearer, folder) = (pair.first, pair.bearer, pair.first.folder)
        let known = try await Self.push(first, to: 1, bearer)
        try await Self.acknowledge(1, known, first, bearer)
        let decided = try await Self.push(first, to: 2, bearer)
        _ = try await Self.outcome(of: decided, at: first, appliedBy: 1)
        let before = try await Self.outstanding(first, bearer)
        #expect(!before[1].isEmpty)

        let (copies, copy) = ("\(folder)/copies", "\(folder)/copy")
        let old = "20260101T030000Z"
        try FileManager.default.createDirectory(atPath: "\(copies)/\(old)", withIntermediateDirectories: true)
        let backup = ["backup", "--config", "\(folder)/freshet.yaml", "--to"]
        let last = Last()
        try await TestGateway.keepUp({
            _ = try await Self.push(pair.second, to: .random(in: Self.hosts), bearer)
            _ = try await Self.pushToAll(pair.second, bearer)
        }) {
            await last.set(try await Self.push(first, to: 3, bearer), try await Self.pushToAll(first, bearer))
            let made = try await Self.run(backup + [copies, "--keep", "1", "--json"])
            let told = try JSONSerialization.jsonObject(with: Data(made.output.utf8)) as? [String: Any]
            #expect(made.status == 0 && told?["removed"] as? [String] == [old], "\(made)")
            let path = try #require(told?["directory"] as? String)
            let verified = try await Self.run(["log", "verify", "--data", path])
            #expect(verified.status == 0, "\(verified)")
            let restored = try await Self.run(["restore", "--from", path, "--data", copy])
            #expect(restored.status == 0, "\(restored)")
            let again = try await Self.run(backup + [path])
            #expect(again.status == 1 && again.errors.contains("exists and is not empty"), "\(again)")
        }
        _ = try await first.eventually("the gateway tells of it") {
            let stats = try await first.curl("GET", "\(first.opsURL)/v1/stats").json
            return (stats["storage"] as? [String: Any])?["lastBackup"] as? String
        }

        let alone = try await TestGateway.start(
            in: TestGateway.makeFolder(beside: folder),
            partitions: ClusterGatewayTests.partitions,
            options: ["--set", "dataDirectory=\(copy)"]
        )
        for (here, there) in zip(try await Self.outstanding(alone, bearer), before) {
            #expect(there.isSubset(of: here))
        }
        #expect(try await Self.outcome(of: known, at: alone, appliedBy: 1) == (2, 2))
        #expect(try await Self.outcome(of: await last.push, at: alone, appliedBy: 1).matched == 2)
        let toAll = try await Self.outcome(
            of: await last.toAll,
            at: alone,
            appliedBy: ClusterGatewayTests.partitions
        )
        #expect(toAll.matched == Self.hosts.count)
        #expect(await alone.drain() == 0)
        let verified = try await Self.run(["log", "verify", "--data", copy])
        #expect(verified.status == 0, "\(verified)")

        // It has ended in order, so that nothing is left to be decided before it goes to brokers.
        let other = ["--config", try Self.configuration(first, "other", "other"), "--dry-run"]
        let adopted = try await Self.run(["cluster", "adopt", copy] + other)
        #expect(adopted.status == 0, "\(adopted)")
        try await Self.expectRefusals(pair, backup, copy)
        await first.stop()
        await pair.second.stop()
        await alone.stop()
    }

    /// The pushes that were answered last before the backup began.
    private actor Last {
        private(set) var push = ""
        private(set) var toAll = ""

        func set(_ push: String, _ toAll: String) { (self.push, self.toAll) = (push, toAll) }
    }

    private static func expectRefusals(_ pair: ClusterGatewayTests.Pair, _ backup: [String], _ copy: String)
        async throws
    {
        let target = "\(pair.first.folder)/more"
        let both = try await Self.run(backup + [target, "--data", copy])
        #expect(both.status == 64 && both.errors.contains("give --data or --config, not both"), "\(both)")
        let unknown = try Self.configuration(pair.first, "nope", "nope")
        let none = try await Self.run(["backup", "--config", unknown, "--to", target])
        #expect(none.status == 1 && none.errors.contains("there is no log of cluster nope"), "\(none)")
        pair.brokers.kill(0)
        let away = try await Self.run(backup + [target])
        #expect(away.status == 1 && away.errors.contains("no broker answers"), "\(away)")
        try pair.brokers.start(0)
        for path in [target, "\(target).partial"] { #expect(!FileManager.default.fileExists(atPath: path)) }
    }
}
#endif
