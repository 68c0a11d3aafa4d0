#if JetStream
import BrokerSupport
import Foundation
import FreshetClient
import Testing

/// Two gateways that share a log: they share its partitions, and what one has the other takes over.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .timeLimit(.minutes(60)))
struct ClusterGatewayTests {
    static let partitions = 8
    private static let hosts = 1...8

    /// Two gateways, each with partitions of its own, and hosts of both.
    struct Pair {
        let brokers: Brokers
        let first: TestGateway
        let second: TestGateway
        let bearer: String
        /// The pushes that were accepted.
        var accepted: [String] = []

        var gateways: [TestGateway] { [self.first, self.second] }
    }

    static func start(
        _ name: String,
        _ brokers: Brokers,
        in folder: String? = nil,
        more: String = ""
    ) async throws -> TestGateway {
        try await TestGateway.start(
            in: folder,
            partitions: Self.partitions,
            extra: try JetStreamGatewayTests.journal(brokers, node: name) + more
        )
    }

    static func pair() async throws -> Pair {
        let brokers = try Brokers()
        let first = try await Self.start("gateway-a", brokers)
        let bearer = try await first.providerToken()
        for number in Self.hosts { _ = try await first.register(number, teams: ["seahawks"], bearer: bearer) }
        let folder = try TestGateway.makeFolder(beside: first.folder)
        let second = try await Self.start("gateway-b", brokers, in: folder)
        let pair = Pair(brokers: brokers, first: first, second: second, bearer: bearer)
        try await Self.awaitSharing(pair)
        return pair
    }

    /// The partitions that a gateway has.
    private static func owned(_ gateway: TestGateway) async throws -> Set<Substring> {
        let metrics = try await gateway.curl("GET", "\(gateway.opsURL)/metrics").body
        return Set(
            metrics.split(separator: "\n").filter { $0.hasPrefix("freshet_partition_failed{") && $0.hasSuffix(" 0") }
        )
    }

    private static func awaitSharing(_ pair: Pair) async throws {
        _ = try await pair.first.eventually("both have partitions, each another's") {
            let (first, second) = (try await Self.owned(pair.first), try await Self.owned(pair.second))
            let isShared = !first.isEmpty && !second.isEmpty && first.isDisjoint(with: second)
            return isShared && first.count + second.count == Self.partitions ? true : nil
        }
    }

    /// Waits until each partition of both is followed by the other one, which is where its owner is.
    static func awaitStandbys(_ pair: Pair) async throws {
        _ = try await pair.first.eventually("each follows the other") { () async throws -> Bool? in
            for gateway in pair.gateways {
                let json = try await gateway.curl("GET", "\(gateway.opsURL)/v1/cluster").json
                let partitions = json["partitions"] as? [[String: Any]] ?? []
                let areFollowed = partitions.allSatisfy { seen in
                    let (owner, standby) = (seen["owner"] as? String, seen["standby"] as? String)
                    return standby != nil && standby != owner && seen["standbyLag"] as? Int == 0
                }
                guard partitions.count == Self.partitions, areFollowed else { return nil }
            }
            return true
        }
    }

    /// How many partitions a gateway has gone on with from a standby, and how many snapshots it has read.
    private static func goneOn(_ gateway: TestGateway) -> (standbys: Int, snapshots: Int) {
        (
            gateway.logged.count { $0.contains("goes on from its standby") },
            gateway.logged.count { $0.contains("read a snapshot") }
        )
    }

    /// Waits until a gateway has all partitions, where the other one had so many of them: it has gone on with those from standbys.
    private static func awaitTakeover(
        _ gateway: TestGateway,
        of had: Int,
        since before: (standbys: Int, snapshots: Int)
    ) async throws {
        try await Self.awaitAll(gateway)
        let now = Self.goneOn(gateway)
        #expect(now.standbys - before.standbys == had && now.snapshots == before.snapshots)
    }

    private static func awaitAll(_ gateway: TestGateway) async throws {
        _ = try await gateway.eventually("one has all") {
            try await Self.owned(gateway).count == Self.partitions ? true : nil
        }
    }

    private static func push(_ gateway: TestGateway, _ number: Int, _ id: String, _ bearer: String) async throws
        -> TestGateway.Answer
    {
        try await gateway.push(to: number, headers: ["apns-priority: 10", "apns-id: \(id)"], bearer: bearer)
    }

    /// Pushes to every host, at whichever of the gateways has it.
    private static func pushToAll(_ pair: inout Pair, at gateways: [TestGateway]) async throws {
        for number in Self.hosts {
            let id = UUID().uuidString.lowercased()
            let bearer = pair.bearer
            _ = try await gateways[0].eventually("host \(number) is somewhere") {
                for gateway in gateways {
                    let answer = try await Self.push(gateway, number, id, bearer)
                    if answer.status == 200 { return true }
                    #expect(answer.status == 503 && answer.headers["retry-after"] != nil, "\(answer.body)")
                }
                return nil
            }
            pair.accepted.append(id)
        }
    }

    /// All that was accepted is decided once, and known where all partitions are.
    private static func checkBooks(_ gateway: TestGateway, _ pair: Pair) async throws {
        try await gateway.checkBooks(accepted: pair.accepted.count, matched: 2 * pair.accepted.count)
        for id in pair.accepted {
            #expect(try await gateway.curl("GET", "\(gateway.opsURL)/v1/pushes/\(id)").status == 200)
        }
        #expect(try await gateway.curl("GET", "\(gateway.opsURL)/readyz").status == 200)
    }

    private static func register(_ number: Int, _ revision: Int, at gateway: TestGateway, _ pair: Pair) async throws {
        let answer = try await gateway.curl(
            "PUT",
            "\(gateway.hostURL)/v1/hosts/\(TestGateway.token(number))/widgets",
            bearer: pair.bearer,
            body: TestGateway.registration(number, teams: ["seahawks"], revision: revision)
        )
        #expect(answer.status == 200, "host \(number): \(answer.body)")
    }

    /// How many rows a list of operators has, over all its pages; it lacks nothing.
    private static func count(_ path: String, _ key: String, at gateway: TestGateway) async throws -> Int {
        var (count, query) = (0, "")
        while true {
            let answer = try await gateway.curl("GET", "\(gateway.opsURL)\(path)\(query)")
            #expect(answer.status == 200 && answer.json["partial"] == nil, "\(answer.body)")
            count += (answer.json[key] as? [Any])?.count ?? 0
            // One request asks for a moment only.
            guard let next = answer.json["next"] as? String else { return count }
            query = "?cursor=\(next)"
        }
    }

    /// A push to all that show scores, as a dry run unless it says more.
    private static func targeted(_ gateway: TestGateway, _ pair: Pair, _ members: String) async throws
        -> TestGateway.Answer
    {
        try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes\(members.isEmpty ? "?dry-run=true" : "")",
            bearer: pair.bearer,
            headers: ["apns-push-type: widgets", "apns-priority: 10"],
            body: #"{"aps":{"content-changed":true},"freshet":{"kind":"scores"\#(members)}}"#
        )
    }

    @Test func `two share the partitions, and each does everything for all of them`() async throws {
        var pair = try await Self.pair()
        for (index, gateway) in pair.gateways.enumerated() {
            for number in Self.hosts {
                try await Self.register(number, 2 + index, at: gateway, pair)
                let token = TestGateway.token(number)
                let state = try await gateway.curl(
                    "GET",
                    "\(gateway.hostURL)/v1/hosts/\(token)/state",
                    bearer: pair.bearer
                )
                #expect(state.status == 200, "\(state.body)")
                let id = UUID().uuidString.lowercased()
                let answer = try await Self.push(gateway, number, id, pair.bearer)
                #expect(answer.status == 200, "\(answer.body)")
                pair.accepted.append(id)
            }
            let unknown = try await Self.push(gateway, 99, UUID().uuidString, pair.bearer)
            #expect(unknown.reason == "BadDeviceToken", "\(unknown.body)")
            #expect(try await Self.count("/v1/hosts", "hosts", at: gateway) == Self.hosts.count)
            #expect(try await Self.count("/v1/instances", "instances", at: gateway) == 2 * Self.hosts.count)
            #expect(try await Self.count("/v1/partitions", "partitions", at: gateway) == Self.partitions)
            let dryRun = try await Self.targeted(gateway, pair, "")
            #expect(dryRun.json["matched"] as? Int == Self.hosts.count, "\(dryRun.body)")
            let over = try await Self.targeted(gateway, pair, #","maxMatched":7"#)
            #expect(over.status == 409 && over.json["matched"] as? Int == 8, "\(over.body)")
            let order = try await gateway.curl(
                "POST",
                "\(gateway.opsURL)/v1/orders",
                body: #"{"action":"grant","count":5,"of":{"app":"\#(TestGateway.app)"}}"#
            )
            #expect(order.json["matched"] as? Int == 2 * Self.hosts.count, "\(order.body)")
        }
        let missed = try await pair.first.curl("GET", "\(pair.first.opsURL)/metrics").body
        #expect(!missed.contains("freshet_push_tokens_sought_total 0\n"))
        // Handed over, and the end of it is that of any gateway.
        try await Self.awaitStandbys(pair)
        let (had, before) = (try await Self.owned(pair.first).count, Self.goneOn(pair.second))
        #expect(await pair.first.drain() == 0)
        try await Self.awaitTakeover(pair.second, of: had, since: before)
        try await Self.pushToAll(&pair, at: [pair.second])
        try await Self.checkBooks(pair.second, pair)
        #expect(pair.first.logged.contains { $0.contains("the partition is handed over") })
        await pair.second.stop()
        await pair.first.stop()
    }

    /// How many partitions each node has, by its name, as a gateway tells it; and the states of all.
    private static func seen(by gateway: TestGateway) async throws -> (owned: [String: Int], states: Set<String>) {
        let json = try await gateway.curl("GET", "\(gateway.opsURL)/v1/cluster").json
        let partitions = json["partitions"] as? [[String: Any]] ?? []
        let owners = partitions.compactMap { $0["owner"] as? String }
        return (
            Dictionary(owners.map { ($0, 1) }, uniquingKeysWith: +),
            Set(partitions.compactMap { $0["state"] as? String })
        )
    }

    /// Gives an order at one of the gateways, and waits until it is carried out as the other one sees it.
    private static func order(_ words: [String], _ pair: Pair, _ isDone: @escaping ([String: Int]) -> Bool) async throws
    {
        let ordered = try await pair.first.runVerb(["cluster"] + words + ["--yes"])
        try #require(ordered.status == 0, "\(ordered.errors)")
        _ = try await pair.second.eventually("\(words)") {
            let seen = try await Self.seen(by: pair.second)
            return seen.states == ["running"] && isDone(seen.owned) ? true : nil
        }
    }

    @Test func `operators see who has what at any of them, drain one and move a partition`() async throws {
        var pair = try await Self.pair()
        let (status, before) = (
            try await pair.second.runVerb(["cluster", "status"]), try await Self.seen(by: pair.first)
        )
        for word in ["gateway-a", "gateway-b", "gateway-b:443", "running"] {
            #expect(status.output.contains(word), "\(status.output)\(status.errors)")
        }
        let shared = before.owned
        #expect(shared.count == 2 && shared.values.reduce(0, +) == Self.partitions)
        try await Self.order(["drain", "gateway-b"], pair) { $0 == ["gateway-a": Self.partitions] }
        try await Self.order(["move", "0", "--to", "gateway-a"], pair) { $0 == ["gateway-a": Self.partitions] }
        try await Self.pushToAll(&pair, at: [pair.first])
        let refused = try await pair.first.runVerb(["cluster", "drain", "gateway-c", "--yes"])
        #expect(refused.status == 2 && refused.errors.contains("there is no node"), "\(refused.errors)")
        try await Self.order(["undrain", "gateway-b"], pair) { $0["gateway-b"] != nil }
        let json = try await pair.second.curl("GET", "\(pair.second.opsURL)/v1/cluster").json
        let partitions = try #require(json["partitions"] as? [[String: Any]])
        #expect(partitions[0]["wished"] as? String == "gateway-a" && partitions[0]["owner"] as? String == "gateway-a")
        try await Self.order(["move", "0", "--back"], pair) { $0 == shared }
        try await Self.pushToAll(&pair, at: pair.gateways)
        // Other views want all partitions.
        let reports = try await DashboardTests.reports(pair.first, ["tour", "cluster"], shots: "cluster")
        try DashboardTests.check(reports, of: ["cluster"], besides: 503)
        try DashboardScan.check(reports)
        #expect(await pair.first.drain() == 0)
        try await Self.awaitAll(pair.second)
        try await Self.checkBooks(pair.second, pair)
        await pair.second.stop()
    }

    @Test func `what is erased with its history is in no partition's log, whichever gateway has it`() async throws {
        let pair = try await Self.pair()
        // Hosts of several partitions, and so of both gateways.
        let erased = Array(120..<128)
        for number in erased { _ = try await pair.first.register(number, teams: ["seahawks"], bearer: pair.bearer) }
        func entries() async throws -> [Substring] {
            let words = ["log", "export", "--config", "\(pair.second.folder)/freshet.yaml", "--kind", "register"]
            let export = try await Command.run(TestGateway.program, words)
            try #require(export.status == 0, "\(export.errors)")
            return export.output.split(separator: "\n")
        }
        #expect(try await entries().count { $0.contains(#""host":"host-12"#) } == erased.count)
        for number in erased {
            let words = ["hosts", "remove", "\(TestGateway.app)/host-\(number)", "--yes", "--history", "--json"]
            let removed = try await Command.run(TestGateway.program, words + pair.second.access())
            #expect(removed.status == 0 && removed.output.hasPrefix("{\"removed\":1,\"files\":"), "\(removed.errors)")
        }
        #expect(try await entries() == [])
        // The state goes on.
        for gateway in pair.gateways {
            for number in Self.hosts {
                #expect(try await gateway.host(number, pair.bearer).state().instances.count == 2)
            }
        }
        for gateway in pair.gateways { await gateway.stop() }
    }

    @Test func `what is asked and sent while an owner dies is answered by the other`() async throws {
        var pair = try await Self.pair()
        try await Self.pushToAll(&pair, at: [pair.second])
        await pair.first.crash()
        // At once: the other one does not know of it yet.
        for number in Self.hosts { try await Self.register(number, 2, at: pair.second, pair) }
        try await Self.pushToAll(&pair, at: [pair.second])
        #expect(try await Self.count("/v1/hosts", "hosts", at: pair.second) == Self.hosts.count)
        try await Self.awaitAll(pair.second)
        try await Self.checkBooks(pair.second, pair)
        await pair.second.stop()
    }

    @Test func `a gateway with another file says so, until a reload puts that in force for all`() async throws {
        let brokers = try Brokers()
        let first = try await Self.start("gateway-a", brokers)
        let folder = try TestGateway.makeFolder(beside: first.folder)
        let more = "\nlimits: {maxAcknowledgement: 7m}"
        let second = try await Self.start("gateway-b", brokers, in: folder, more: more)
        func firing(_ gateway: TestGateway) async throws -> Int {
            try await Alerts.firing("FreshetConfigurationDiffers", gateway, afterMinutes: 20)
        }
        _ = try await second.eventually("it says so") { try await firing(second) == 1 ? true : nil }
        #expect(try await firing(first) == 0)
        try await Self.awaitTrouble("gateway-b has other settings than gateway-a", at: first)
        let reload = try await second.curl("POST", "\(second.opsURL)/v1/config/reload")
        #expect(reload.status == 200, "\(reload.body)")
        _ = try await second.eventually("its own is in force") { try await firing(second) == 0 ? true : nil }
        _ = try await first.eventually("the other one's is not") { try await firing(first) == 1 ? true : nil }
        try await Self.awaitTrouble("gateway-a has other settings than gateway-b", at: first)
        await second.stop()
        await first.stop()
    }

    @Test func `a gateway with another key is told apart, until it reads the key of the others`() async throws {
        let brokers = try Brokers()
        let first = try await Self.start("gateway-a", brokers)
        let folder = try TestGateway.makeFolder(beside: first.folder)
        let other = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: other)
        let key = "certs/provider-key.public.pem"
        func give(_ source: String) throws {
            try Data(contentsOf: URL(filePath: "\(source)/\(key)")).write(to: URL(filePath: "\(folder)/\(key)"))
        }
        try give(other)
        let second = try await TestGateway.start(
            in: folder,
            partitions: Self.partitions,
            extra: try JetStreamGatewayTests.journal(brokers, node: "gateway-b"),
            environment: ["FRESHET_TLS_CHECK_INTERVAL": "1s"]
        )
        try await Self.awaitTrouble("gateway-b has other credentials than gateway-a", at: first)
        try give(first.folder)
        _ = try await first.eventually("they are the same") {
            try await Self.troubles(at: first).contains("credentials") ? nil : true
        }
        await second.stop()
        await first.stop()
    }

    private static func troubles(at gateway: TestGateway) async throws -> String {
        try await gateway.runVerb(["cluster", "status"]).output
    }

    private static func awaitTrouble(_ trouble: String, at gateway: TestGateway) async throws {
        _ = try await gateway.eventually(trouble) {
            try await Self.troubles(at: gateway).contains(trouble) ? true : nil
        }
    }

    @Test func `after a kill -9 of one the other has all, and its books close`() async throws {
        var pair = try await Self.pair()
        try await Self.pushToAll(&pair, at: pair.gateways)
        #expect(try await Alerts.firing("FreshetNodeMissing", pair.second, afterMinutes: 5) == 0)
        try await Self.awaitStandbys(pair)
        let (had, before) = (try await Self.owned(pair.first).count, Self.goneOn(pair.second))
        let lags = try await pair.second.curl("GET", "\(pair.second.opsURL)/metrics").body
        #expect(lags.split(separator: "\n").count { $0.hasPrefix("freshet_partition_standby_lag_entries{") } == had)
        await pair.first.crash()
        try await Self.awaitTakeover(pair.second, of: had, since: before)
        #expect(try await Alerts.firing("FreshetNodeMissing", pair.second, afterMinutes: 5) == 1)
        let status = try await pair.second.runVerb(["cluster", "status"])
        #expect(status.status == 1 && status.output.contains("gateway-a was not heard for"), "\(status.output)")
        try await Self.pushToAll(&pair, at: [pair.second])
        try await Self.checkBooks(pair.second, pair)
        await pair.second.stop()
    }

    @Test func `one that was stopped for a while gives up what it lost, and gets its share again`() async throws {
        var pair = try await Self.pair()
        try await Self.pushToAll(&pair, at: pair.gateways)
        kill(pair.second.pid, SIGSTOP)
        try await Self.awaitAll(pair.first)
        try await Self.pushToAll(&pair, at: [pair.first])
        try await Self.checkBooks(pair.first, pair)
        kill(pair.second.pid, SIGCONT)
        _ = try await pair.second.eventually("it has given up") {
            pair.second.logged.contains { $0.contains("another node has the partition") || $0.contains("fenced") }
                ? true : nil
        }
        try await Self.awaitSharing(pair)
        try await Self.pushToAll(&pair, at: pair.gateways)
        #expect(try await pair.second.curl("GET", "\(pair.second.opsURL)/readyz").status == 200)
        #expect(await pair.second.drain() == 0)
        try await Self.awaitAll(pair.first)
        try await Self.checkBooks(pair.first, pair)
        await pair.first.stop()
        await pair.second.stop()
    }
}
#endif
