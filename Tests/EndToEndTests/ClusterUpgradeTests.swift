#if JetStream
import BrokerSupport
import Foundation
import Synchronization
import Testing

/// Partitions of a cluster go from one version of Freshet to another and back. The older one is the program, as processes; the other
/// one is in this process, see ``OtherRulesGateway``.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .timeLimit(.minutes(60)))
struct ClusterUpgradeTests {
    private static let partitions = 4
    private static let hosts = 1...8

    private final class Count: Sendable {
        let value = Atomic(0)
    }

    private struct Pair {
        let brokers: Brokers
        var older: TestGateway
        let newer: OtherRulesGateway
        let bearer: String
    }

    private static func startOlder(_ brokers: Brokers, in folder: String? = nil) async throws -> TestGateway {
        try await TestGateway.start(
            in: folder,
            partitions: Self.partitions,
            extra: try JetStreamGatewayTests.journal(brokers, node: "gateway-a")
        )
    }

    private static func pair() async throws -> Pair {
        let brokers = try Brokers()
        let older = try await Self.startOlder(brokers)
        let bearer = try await older.providerToken()
        for number in Self.hosts { _ = try await older.register(number, teams: ["seahawks"], bearer: bearer) }
        let folder = try TestGateway.makeFolder(beside: older.folder)
        let newer = try await OtherRulesGateway(
            in: folder,
            partitions: Self.partitions,
            extra: try JetStreamGatewayTests.journal(brokers, node: "gateway-b")
        )
        return Pair(brokers: brokers, older: older, newer: newer, bearer: bearer)
    }

    private static func end(_ pair: Pair) async throws {
        try await pair.newer.drain()
        await pair.older.stop()
        try FileManager.default.removeItem(atPath: pair.newer.folder)
    }

    /// The rules and the owner of each partition that has one, as a gateway tells it.
    private static func seen(at url: String, _ pair: Pair) async throws -> [Int: (rules: Int, owner: String?)] {
        let json = try await pair.older.curl("GET", "\(url)/v1/cluster").json
        let partitions = json["partitions"] as? [[String: Any]] ?? []
        var seen: [Int: (rules: Int, owner: String?)] = [:]
        for partition in partitions {
            let isRunning = partition["state"] as? String == "running"
            seen[partition["partition"] as? Int ?? -1] = (
                partition["rules"] as? Int ?? 0, isRunning ? partition["owner"] as? String : nil
            )
        }
        return seen
    }

    private static func awaitAll(rules: Int, at owner: String, _ pair: Pair, seenBy url: String) async throws {
        _ = try await pair.older.eventually("all have rules \(rules), at \(owner)") {
            let seen = try await Self.seen(at: url, pair)
            let isThere = seen.values.allSatisfy { $0.rules == rules && $0.owner == owner }
            return seen.count == Self.partitions && isThere ? true : nil
        }
    }

    /// Pushes to every host over and over while something is done.
    ///
    /// - Returns: How many were accepted: all.
    private static func pushing(to url: String, _ pair: Pair, while body: () async throws -> Void) async throws -> Int {
        let accepted = Count()
        let pushAll: @Sendable () async throws -> Void = {
            for number in Self.hosts {
                let headers = ["apns-priority: 10"]
                let answer = try await pair.older.push(to: number, at: url, headers: headers, bearer: pair.bearer)
                #expect(answer.status == 200, "\(answer.body)")
                if answer.status == 200 { accepted.value.add(1, ordering: .relaxed) }
            }
        }
        try await TestGateway.keepUp(pushAll, during: body)
        return accepted.value.load(ordering: .relaxed)
    }

    private static func checkBooks(at url: String, accepted: Int, _ pair: Pair) async throws {
        try await pair.older.checkBooks(accepted: accepted, matched: 2 * accepted, at: url)
    }

    @Test func `when operators order it, all partitions pass to another version and back, and pushes are accepted`()
        async throws
    {
        var pair = try await Self.pair()
        let before = try await Self.seen(at: pair.newer.opsURL, pair)
        #expect(before.values.allSatisfy { $0.rules == 1 && $0.owner == "gateway-a" })
        let planned = try await pair.older.runVerb(["cluster", "upgrade-rules", "--dry-run"])
        #expect(planned.status == 0, "\(planned.errors)")
        for words in ["partition 3: rules 1 (Freshet 0.2.0), at gateway-a", "Nodes with rules 2", "4 of 4 partitions"] {
            #expect(planned.output.contains(words), "\(planned.output)")
        }
        let missing = try await pair.older.runVerb(["cluster", "upgrade-rules", "--to", "3", "--yes"])
        #expect(missing.status == 1 && missing.errors.contains("No node that is there has rules 3"))
        #expect(try await Self.seen(at: pair.newer.opsURL, pair).values.allSatisfy { $0.rules == 1 })

        var accepted = try await Self.pushing(to: pair.older.pushURL, pair) {
            let done = try await pair.older.runVerb(["cluster", "upgrade-rules", "--yes", "--json"])
            #expect(done.status == 0, "\(done.errors)")
            let answer = try JSONSerialization.jsonObject(with: Data(done.output.utf8)) as? [String: Any]
            #expect(answer?["rules"] as? Int == 2 && (answer?["left"] as? [Int])?.isEmpty == true, "\(done.output)")
        }
        try await Self.awaitAll(rules: 2, at: "gateway-b", pair, seenBy: pair.newer.opsURL)
        try await Self.checkBooks(at: pair.newer.opsURL, accepted: accepted, pair)
        let again = try await pair.older.runVerb(["cluster", "upgrade-rules", "--to", "2", "--dry-run"])
        #expect(again.output.contains("All 4 partitions have these rules."), "\(again.output)\(again.errors)")
        // The older one has nothing, may end, and comes back with nothing.
        #expect(await pair.older.drain() == 0)
        let folder = pair.older.folder
        pair.older = try await Self.startOlder(pair.brokers, in: folder)
        try await Self.awaitAll(rules: 2, at: "gateway-b", pair, seenBy: pair.older.opsURL)

        // The version before again.
        accepted += try await Self.pushing(to: pair.newer.pushURL, pair) {
            let back = try await pair.older.runVerb(["cluster", "upgrade-rules", "--to", "1", "--yes"])
            #expect(back.status == 0, "\(back.errors)")
        }
        try await Self.awaitAll(rules: 1, at: "gateway-a", pair, seenBy: pair.older.opsURL)
        try await Self.checkBooks(at: pair.older.opsURL, accepted: accepted, pair)
        try await Self.end(pair)
    }

    @Test func `after a kill -9 in the middle what has passed goes on, and the rest once the version before is back`()
        async throws
    {
        var pair = try await Self.pair()
        let ordered = try await pair.older.runVerb(["cluster", "upgrade-rules", "--yes", "--no-wait"])
        #expect(ordered.status == 0, "\(ordered.errors)")
        _ = try await pair.older.eventually("one has passed") {
            try await Self.seen(at: pair.newer.opsURL, pair).values.contains { $0.rules == 2 } ? true : nil
        }
        await pair.older.crash()
        _ = try await pair.older.eventually("what has passed is decided by the other version, and nothing else") {
            let seen = try await Self.seen(at: pair.newer.opsURL, pair)
            return seen.values.allSatisfy { $0.owner == ($0.rules == 2 ? "gateway-b" : nil) } ? true : nil
        }
        // For all partitions, at any node.
        let answer = try await pair.older.curl(
            "POST",
            "\(pair.newer.pushURL)/v1/apps/\(TestGateway.app)/pushes",
            bearer: pair.bearer,
            headers: ["apns-push-type: widgets", "apns-priority: 10"],
            body: #"{"aps":{"content-changed":true},"freshet":{"kind":"scores"}}"#
        )
        #expect(answer.status == 200, "\(answer.body)")
        let id = try #require(answer.headers["apns-id"])
        let folder = pair.older.folder
        pair.older = try await Self.startOlder(pair.brokers, in: folder)
        try await Self.awaitAll(rules: 2, at: "gateway-b", pair, seenBy: pair.newer.opsURL)
        let push = try await pair.older.eventually("the push is decided everywhere") {
            let push = try await pair.older.curl("GET", "\(pair.newer.opsURL)/v1/pushes/\(id)")
            return push.json["matched"] as? Int == Self.hosts.count ? push : nil
        }
        #expect(push.status == 200)
        try await Self.end(pair)
    }

    @Test func `partitions whose rules no gateway has are without an owner, and fire an alert`() async throws {
        let pair = try await Self.pair()
        let prometheus = try await Prometheus.start(watching: pair.older)
        let ordered = try await pair.older.runVerb(["cluster", "upgrade-rules", "--yes"])
        #expect(ordered.status == 0, "\(ordered.errors)")
        #expect(try await !prometheus.firingIfHeld().contains("FreshetPartitionUnowned"))
        try await pair.newer.drain()
        try await prometheus.waitUntilFiring(["FreshetPartitionUnowned"])
        _ = try await pair.older.eventually("it says which rules are missing") {
            let status = try await pair.older.runVerb(["cluster", "status"])
            return status.status == 1 && status.output.contains("wait for a node with rules 2") ? true : nil
        }
        await pair.older.stop()
        try FileManager.default.removeItem(atPath: pair.newer.folder)
    }

    @Test func `the last node of the version before that gets SIGTERM passes what it has`() async throws {
        let pair = try await Self.pair()
        let ordered = try await pair.older.runVerb(["cluster", "upgrade-rules", "--yes", "--no-wait"])
        #expect(ordered.status == 0, "\(ordered.errors)")
        #expect(await pair.older.drain() == 0)
        try await Self.awaitAll(rules: 2, at: "gateway-b", pair, seenBy: pair.newer.opsURL)
        try await Self.end(pair)
    }
}
#endif
