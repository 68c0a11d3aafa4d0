#if JetStream
import BrokerSupport
import Foundation
import Journaling
import Logging
import Partitions
import Settings
import Testing
import WidgetModel

@testable import FreshetCLI

/// The alerts about brokers, streams, clocks and standbys, each fired by what it is about.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .timeLimit(.minutes(60)))
struct ClusterAlertTests {
    private static func start(
        _ brokers: Brokers,
        in folder: String? = nil,
        partitions: Int,
        replicas: Int
    ) async throws -> TestGateway {
        let own = "node: {name: gateway-a, address: \"gateway-a:443\"}"
        let journal = try JetStreamGatewayTests.journal(brokers, replicas: replicas, more: own)
        return try await TestGateway.start(in: folder, partitions: partitions, extra: journal)
    }

    private static func brokers(_ gateway: TestGateway) async throws -> [String: Any]? {
        try await gateway.curl("GET", "\(gateway.opsURL)/v1/cluster").json["brokers"] as? [String: Any]
    }

    @Test func `a broker that is away, and one that could lose pushes, fire alerts`() async throws {
        let brokers = try Brokers(3)
        let gateway = try await Self.start(brokers, partitions: 1, replicas: 3)
        let alerts = ["FreshetStreamsLagging", "FreshetBrokerUnsafe"]
        let prometheus = try await Prometheus.start(watching: gateway)
        _ = try await gateway.eventually("the brokers are looked at") { try await Self.brokers(gateway) }
        #expect(try await prometheus.firingIfHeld().isDisjoint(with: alerts))

        brokers.kill(2)
        try await prometheus.waitUntilFiring(["FreshetStreamsLagging"])
        try brokers.start(2, sync: "sync_interval: 2m")
        try await prometheus.waitUntilFiring(["FreshetBrokerUnsafe"])
        brokers.kill(2)
        try brokers.start(2, sync: "sync_interval: always")
        try await prometheus.wait("the brokers are well") { $0.isDisjoint(with: alerts) }
        await gateway.stop()
    }

    @Test func `streams whose only broker is away fire an alert`() async throws {
        let brokers = try Brokers(3)
        // One copy of each stream, on one of the brokers; the others remain a majority, and tell of it.
        let gateway = try await Self.start(brokers, partitions: 2, replicas: 1)
        let prometheus = try await Prometheus.start(watching: gateway)
        let leader = try await gateway.eventually("the brokers are looked at") {
            let streams = try await Self.brokers(gateway)?["streams"] as? [[String: Any]]
            return streams?.first?["leader"] as? String
        }
        #expect(try await !prometheus.firingIfHeld().contains("FreshetStreamsLeaderless"))
        let number = try #require(Int(leader.dropFirst()))
        brokers.kill(number)
        try await prometheus.waitUntilFiring(["FreshetStreamsLeaderless"])
        try brokers.start(number)
        try await prometheus.wait("there is a leader") { !$0.contains("FreshetStreamsLeaderless") }
        await gateway.stop()
    }

    @Test func `messages that the brokers had stored, and that are gone, fire an alert`() async throws {
        let brokers = try Brokers()
        let gateway = try await Self.start(brokers, partitions: 1, replicas: 1)
        let bearer = try await gateway.providerToken()
        try await Drilling.register(gateway, 1, bearer: bearer)
        let prometheus = try await Prometheus.start(watching: gateway)
        #expect(try await !prometheus.firingIfHeld().contains("FreshetMessagesLost"))
        let (disk, copy) = ("\(brokers.folder)/store-0", "\(brokers.folder)/copy")
        brokers.kill(0)
        try FileManager.default.copyItem(atPath: disk, toPath: copy)
        try brokers.start(0)
        _ = try await gateway.eventually("a push is accepted that the copy does not have") {
            try await gateway.push(to: 1, bearer: bearer).status == 200 ? true : nil
        }
        func restore() throws {
            brokers.kill(0)
            try FileManager.default.removeItem(atPath: disk)
            try FileManager.default.copyItem(atPath: copy, toPath: disk)
            try brokers.start(0)
        }
        try restore()
        try await prometheus.waitUntilFiring(["FreshetMessagesLost"]) {
            _ = try await gateway.push(to: 1, bearer: bearer)
        }
        // It has decided entries that are gone, and may have stored outputs of them.
        await gateway.crash()
        try restore()
        let next = try await Self.start(brokers, in: gateway.folder, partitions: 1, replicas: 1)
        try await Drilling.register(next, 2, bearer: bearer)
        #expect(try await next.push(to: 2, bearer: bearer).status == 200)
        await next.stop()
    }

    @Test func `a gateway whose clock is wrong from its start stops its partition's time, and fires an alert`()
        async throws
    {
        let brokers = try Brokers()
        let folder = try TestGateway.makeFolder()
        let clock = try await WrongClock(in: folder)
        // More than what is allowed, and less than the hour for which a sender's token counts.
        try clock.setWrong(by: 10 * 60)
        let gateway = try await TestGateway.start(
            in: folder,
            extra: try JetStreamGatewayTests.journal(brokers),
            environment: clock.environment
        )
        let prometheus = try await Prometheus.start(watching: gateway)
        let bearer = try await gateway.providerToken()
        try await Drilling.register(gateway, 1, bearer: bearer)
        try await prometheus.waitUntilFiring(["FreshetClocksDisagree"]) {
            try await Drilling.push(gateway, to: 1, bearer: bearer)
        }
        #expect(gateway.logged.contains { $0.contains("more than 5 minutes apart") })
        await gateway.stop()
    }

    @Test func `a standby that comes to another state than the log's outputs ends, and fires an alert`() async throws {
        let pair = try await ClusterGatewayTests.pair()
        try await ClusterGatewayTests.awaitStandbys(pair)
        let prometheus = try await Prometheus.start(watching: pair.second)
        #expect(try await !prometheus.firingIfHeld().contains("FreshetStandbyDisagrees"))
        let cluster = try await pair.first.curl("GET", "\(pair.first.opsURL)/v1/cluster").json
        let owned = (cluster["partitions"] as? [[String: Any]] ?? []).filter { $0["owner"] as? String == "gateway-a" }
        let journal = try Self.openJournal(pair)
        // No machine of a test decides a log in two ways: so the log gets an output that its owner did not come to.
        for number in owned.compactMap({ $0["partition"] as? Int }) {
            let partition = PartitionID(UInt16(number))
            let newest = try await withCheckedThrowingContinuation { read in
                journal.readNewestOutput(partition) { read.resume(with: $0) }
            }
            guard let newest else { continue }
            let other = OutputRecord(
                through: newest.record.through,
                engineVersion: newest.record.engineVersion,
                runningHash: ~newest.record.runningHash,
                effects: []
            )
            _ = try await withCheckedThrowingContinuation { committed in
                journal.commitOutput(partition, expected: newest.position, other) { committed.resume(with: $0) }
            }
        }
        try await prometheus.waitUntilFiring(["FreshetStandbyDisagrees"])
        #expect(pair.second.logged.contains { $0.contains("gave another state than its output record has") })
        journal.close()
        await pair.second.stop()
        await pair.first.stop()
    }

    @Test func `a partition whose owner cannot write snapshots is a trouble at every gateway`() async throws {
        let brokers = try Brokers()
        let extra = { try JetStreamGatewayTests.journal(brokers, node: $0) + "\nsnapshots: {interval: 1s}" }
        let first = try await TestGateway.start(extra: try extra("gateway-a"))
        let folder = try TestGateway.makeFolder(beside: first.folder)
        let second = try await TestGateway.start(in: folder, extra: try extra("gateway-b"))
        let moved = try await first.runVerb(["cluster", "move", "0", "--to", "gateway-a", "--yes"])
        try #require(moved.status == 0, "\(moved.errors)")
        // From here on no gateway reads a snapshot.
        _ = try await second.eventually("it stands by") { try await Self.lag(of: second) == 0 ? true : nil }
        // Words of NATS's own protocol.
        let words =
            "CONNECT {\"user\":\"app\",\"pass\":\"a\",\"verbose\":false}\\r\\n"
            + "PUB $JS.API.STREAM.DELETE.freshet-test-snap 0\\r\\n\\r\\nPING\\r\\n"
        let answer = "while read -r line <&3; do [[ $line == PONG* ]] && exit 0; done; exit 1"
        let port = try #require(brokers.servers.first?.split(separator: ":").last)
        let told = try await Command.run(
            "bash",
            ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(port); printf '\(words)' >&3; \(answer)"]
        )
        try #require(told.status == 0, "\(told)")
        let bearer = try await first.providerToken()
        try await Drilling.register(first, 1, bearer: bearer)
        for gateway in [first, second] {
            _ = try await gateway.eventually("it says so") { () async throws -> Bool? in
                let status = try await gateway.runVerb(["cluster", "status"])
                return status.status == 1 && status.output.contains("Partition 0 has had no snapshot for") ? true : nil
            }
        }
        // Their last snapshots would wait for the stream.
        await second.crash()
        await first.crash()
    }

    /// An owner commits nothing for pushes that match nothing. With its next output, its standby has all of them to apply, and is behind
    /// for as long as it takes to search for their matches.
    @Test func `a standby that is behind its owner fires an alert`() async throws {
        let brokers = try Brokers()
        func start(_ name: String, in folder: String? = nil) async throws -> TestGateway {
            let journal = try JetStreamGatewayTests.journal(brokers, node: name)
            return try await TestGateway.start(
                in: folder,
                extra: "\(journal)\nfairness: {undecided: 1h, pushMax: 1h}"
            )
        }
        let owner = try await start("gateway-a")
        let standby = try await start("gateway-b", in: TestGateway.makeFolder(beside: owner.folder))
        let moved = try await owner.runVerb(["cluster", "move", "0", "--to", "gateway-a", "--yes"])
        try #require(moved.status == 0, "\(moved.errors)")
        let bearer = try await owner.providerToken()
        for number in 1...4 { try await Self.registerLongNames(owner, number, bearer: bearer) }
        _ = try await standby.eventually("it stands by") { try await Self.lag(of: standby) == 0 ? true : nil }
        let prometheus = try await Prometheus.start(watching: standby)
        #expect(try await !prometheus.firingIfHeld().contains("FreshetStandbyLags"))

        // Names nearly match: each comparison takes long.
        let wildcards = (0..<5).map { #"{"wildcard":"*\#(String(repeating: "a", count: 240 - $0))b*"}"# }
        let match = #"{"kind":"scores","match":{"team":[\#(wildcards.joined(separator: ","))]}}"#
        let options = [
            "--silent", "--http2", "--cacert", owner.ca, "--header", "authorization: bearer \(bearer)", "--data",
            #"{"aps":{"content-changed":true},"freshet":\#(match)}"#,
        ]
        let place = "\(owner.pushURL)/v1/apps/\(TestGateway.app)/pushes"
        var (number, pushes) = (10, 600)
        try await prometheus.waitUntilFiring(["FreshetStandbyLags"]) {
            guard try await Self.lag(of: standby) == 0 else { return }
            // One after the other, so that each is an entry of its own.
            let pushed = try await Command.run("curl", options + Array(repeating: place, count: pushes))
            #expect(pushed.status == 0 && !pushed.output.contains("reason"), "\(pushed)")
            try await Drilling.register(owner, number, bearer: bearer)
            _ = try await owner.eventually("all are decided") {
                try await owner.outstanding(number, bearer: bearer).first
            }
            // A standby may catch up before it is looked at: then there are more pushes.
            (number, pushes) = (number + 1, pushes * 2)
        }
        try await prometheus.wait("it has caught up") { !$0.contains("FreshetStandbyLags") }
        await standby.stop()
        await owner.stop()
    }

    /// Registers a host of many widgets that show teams with long names, which take a while to compare with a wildcard.
    private static func registerLongNames(_ gateway: TestGateway, _ number: Int, bearer: String) async throws {
        let name = String(repeating: "a", count: 250)
        let instances = (0..<250).map {
            #"{"id":"\#($0)","kind":"scores","family":"systemSmall","configuration":{"team":"\#(name)\#(number)-\#($0)"}}"#
        }
        let answer = try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(number))/widgets",
            bearer: bearer,
            body:
                #"{"app":"\#(TestGateway.app)","host":"host-\#(number)","instances":[\#(instances.joined(separator: ","))]}"#
        )
        try #require(answer.status == 200, "\(answer.body)")
    }

    /// How many entries a gateway, which follows the only partition, has not applied; nil if it does not follow it.
    private static func lag(of gateway: TestGateway) async throws -> Int? {
        let metrics = try await gateway.curl("GET", "\(gateway.opsURL)/metrics").body
        return metrics.firstMatch(of: /\nfreshet_partition_standby_lag_entries{partition="0"} ([0-9]+)/)
            .flatMap { Int($0.output.1) }
    }

    /// The gateways' log, as a third program that writes to it.
    private static func openJournal(_ pair: ClusterGatewayTests.Pair) throws -> any Journal {
        let folder = try TestGateway.makeFolder(beside: pair.first.folder)
        let extra = try JetStreamGatewayTests.journal(pair.brokers, more: "node: {name: other, address: \"other:443\"}")
        let file = "\(folder)/freshet.yaml"
        try TestGateway.configuration(ClusterGatewayTests.partitions, extra, "")
            .write(toFile: file, atomically: true, encoding: .utf8)
        let configuration = try ConfigurationFile.read(path: file, environment: [:], options: []).configuration
        let logger = Logger(label: "other") { _ in SwiftLogNoOpLogHandler() }
        return try ChosenJournal(configuration, LogClock(), logger).journal
    }
}
#endif
