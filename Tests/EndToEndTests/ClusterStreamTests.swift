#if JetStream
import BrokerSupport
import Foundation
import ScriptedServer
import Testing

/// Event streams and receipts of gateways that share a log: at any of them, and whichever of them dies.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .timeLimit(.minutes(60)))
struct ClusterStreamTests {
    private static let partitions = 8
    private static let hosts = 1...8

    private static func start(
        _ name: String,
        _ brokers: Brokers,
        in folder: String,
        more: String = "",
        appSettings: String = ""
    ) async throws -> TestGateway {
        try await TestGateway.start(
            in: folder,
            partitions: Self.partitions,
            extra: try JetStreamGatewayTests.journal(brokers, node: name) + more,
            appSettings: appSettings
        )
    }

    /// A gateway whose hosts have acknowledged all that there is, and the token of their sender.
    private static func startWithHosts(
        _ name: String,
        _ brokers: Brokers,
        in folder: String
    ) async throws -> (TestGateway, bearer: String) {
        let gateway = try await Self.start(name, brokers, in: folder)
        let bearer = try await gateway.providerToken()
        for number in Self.hosts {
            _ = try await gateway.register(number, teams: ["seahawks"], bearer: bearer)
            try await gateway.acknowledge(try await gateway.outstanding(number, bearer: bearer), bearer: bearer)
        }
        return (gateway, bearer)
    }

    /// How many partitions a gateway has.
    private static func owned(_ gateway: TestGateway) async throws -> Int {
        try await gateway.curl("GET", "\(gateway.opsURL)/metrics").body.split(separator: "\n")
            .count { $0.hasPrefix("freshet_partition_failed{") && $0.hasSuffix(" 0") }
    }

    private static func awaitSharing(_ first: TestGateway, _ second: TestGateway) async throws {
        _ = try await first.eventually("both have partitions") {
            let (own, other) = (try await Self.owned(first), try await Self.owned(second))
            return own > 0 && other > 0 && own + other == Self.partitions ? true : nil
        }
    }

    private static func awaitAll(_ gateway: TestGateway) async throws {
        _ = try await gateway.eventually("one has all") {
            try await Self.owned(gateway) == Self.partitions ? true : nil
        }
    }

    private static func push(_ gateway: TestGateway, _ whom: String, _ bearer: String) async throws -> String {
        let id = UUID().uuidString.lowercased()
        let answer = try await gateway.curl(
            "POST",
            "\(gateway.pushURL)/v1/apps/\(TestGateway.app)/pushes",
            bearer: bearer,
            headers: ["apns-id: \(id)"],
            body: #"{"aps":{"content-changed":true},"freshet":\#(whom)}"#
        )
        try #require(answer.status == 200, "\(answer.body)")
        return id
    }

    /// An event stream that curl reads.
    private struct Stream {
        struct Reload: Hashable {
            let id: String
            let address: String
            let isRepeated: Bool
        }

        let command: Command

        init(_ gateway: TestGateway, _ path: String, _ bearer: String, after cursor: String? = nil) throws {
            let cursor = cursor.map { ["--header", "last-event-id: \($0)"] } ?? []
            self.command = try Command(
                "curl",
                [
                    "--silent", "--no-buffer", "--http2", "--cacert", gateway.ca, "--header",
                    "authorization: bearer \(bearer)",
                ] + cursor + ["\(gateway.hostURL)\(path)"]
            )
        }

        /// Those that are there whole.
        private var lines: [Substring] {
            let text = self.command.written
            guard let end = text.lastIndex(of: "\n") else { return [] }
            return text[..<end].split(separator: "\n")
        }

        /// The place behind the last event; nil before the stream has begun.
        var cursor: String? { self.lines.last { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) } }
        var hasGap: Bool { self.lines.contains("event: gap") }
        var hasBegun: Bool { self.cursor != nil }

        var reloads: [Reload] {
            self.lines.compactMap { line in
                guard line.hasPrefix("data: "),
                    let json = try? JSONSerialization.jsonObject(with: Data(line.dropFirst(6).utf8)),
                    let object = json as? [String: Any], let id = object["id"] as? String,
                    let host = object["host"] as? String, let instance = object["instance"] as? String
                else { return nil }
                let isRepeated = object["redelivered"] as? Bool == true
                return Reload(id: id, address: "\(host):\(instance)", isRepeated: isRepeated)
            }
        }

        var addresses: [String] { self.reloads.map(\.address).sorted() }

        func end() async {
            self.command.terminate()
            _ = await self.command.wait()
        }
    }

    private static func open(_ gateway: TestGateway, _ bearer: String, after cursors: [String]? = nil) async throws
        -> [Stream]
    {
        let paths =
            Self.hosts.map { "/v1/hosts/\(TestGateway.token($0))/events" } + ["/v1/apps/\(TestGateway.app)/events"]
        let streams = try paths.enumerated().map { index, path in
            try Stream(gateway, path, bearer, after: cursors?[index])
        }
        _ = try await gateway.eventually("all streams have begun") { streams.allSatisfy(\.hasBegun) ? true : nil }
        return streams
    }

    /// The addresses on the streams of all hosts and of the app when each host's widgets of these kinds have reloaded.
    private static func addresses(_ instances: [String]) -> [[String]] {
        let each = Self.hosts.map { host in instances.map { "host-\(host):\($0)" } }
        return (each + [each.flatMap(\.self)]).map { $0.sorted() }
    }

    @Test func `open streams go on when partitions move to another gateway, and when that dies`() async throws {
        let (brokers, folder) = (try Brokers(), try TestGateway.makeFolder())
        let (first, bearer) = try await Self.startWithHosts("gateway-a", brokers, in: folder)
        let streams = try await Self.open(first, bearer)
        let beside = try TestGateway.makeFolder(beside: folder)
        let second = try await Self.start("gateway-b", brokers, in: beside)
        try await Self.awaitSharing(first, second)
        _ = try await Self.push(second, #"{"kind":"scores"}"#, bearer)
        _ = try await first.eventually("reloads of both gateways' hosts come") {
            streams.map(\.addresses) == Self.addresses(["scores-0"]) ? true : nil
        }
        await second.crash()
        try await Self.awaitAll(first)
        _ = try await Self.push(first, #"{"kind":"character"}"#, bearer)
        _ = try await first.eventually("the same streams go on") {
            streams.map(\.addresses) == Self.addresses(["scores-0", "character"]) ? true : nil
        }
        // Another start of it has the places of before.
        let places = streams.compactMap(\.cursor)
        await first.crash()
        let third = try await Self.start("gateway-a", brokers, in: folder)
        let resumed = try await Self.open(third, bearer, after: places)
        #expect(resumed.map(\.addresses) == Self.addresses(["scores-0", "character"]))
        let news = resumed.flatMap(\.reloads).filter { !$0.isRepeated }
        #expect(news == [])
        let gaps = (streams + resumed).filter(\.hasGap)
        #expect(gaps.count == 0)
        for stream in streams + resumed { await stream.end() }
        await third.stop()
        try FileManager.default.removeItem(atPath: beside)
    }

    @Test func `a stream goes on at any gateway, whichever dies, and is resumed at any`() async throws {
        let (brokers, folder) = (try Brokers(), try TestGateway.makeFolder())
        let (first, bearer) = try await Self.startWithHosts("gateway-a", brokers, in: folder)
        let second = try await Self.start("gateway-b", brokers, in: try TestGateway.makeFolder(beside: folder))
        try await Self.awaitSharing(first, second)

        let streams = try await Self.open(second, bearer)
        let starts = streams.compactMap(\.cursor)
        _ = try await Self.push(first, #"{"kind":"scores"}"#, bearer)
        _ = try await second.eventually("reloads of both gateways' hosts come") {
            streams.map(\.addresses) == Self.addresses(["scores-0"]) ? true : nil
        }
        await first.crash()
        try await Self.awaitAll(second)
        _ = try await Self.push(second, #"{"kind":"character"}"#, bearer)
        _ = try await second.eventually("the same streams go on") {
            streams.map(\.addresses) == Self.addresses(["scores-0", "character"]) ? true : nil
        }

        // One more gateway takes partitions over, while the streams are open, and takes their readers.
        let third = try await Self.start("gateway-c", brokers, in: try TestGateway.makeFolder(beside: folder))
        try await Self.awaitSharing(second, third)
        let resumed = try await Self.open(third, bearer, after: streams.compactMap(\.cursor))
        #expect(resumed.map(\.addresses) == Self.addresses(["scores-0", "character"]))
        let news = resumed.flatMap(\.reloads).filter { !$0.isRepeated }
        #expect(news == [])
        let late = try await Self.open(third, bearer, after: starts)
        #expect(late.map(\.addresses) == Self.addresses(["scores-0", "character"]))
        let repeated = late.flatMap(\.reloads).filter(\.isRepeated)
        #expect(repeated == [])
        for number in Self.hosts {
            let reloads = try await third.outstanding(number, bearer: bearer)
            #expect(reloads.count == 2)
            try await third.acknowledge(reloads, bearer: bearer)
        }
        // With a place that it had long ago, a host is not told of what it has acknowledged.
        let last = try await Self.open(second, bearer, after: starts)
        let told = last.flatMap(\.reloads)
        #expect(told == [])
        let gaps = (streams + resumed + late + last).filter(\.hasGap)
        #expect(gaps.count == 0)
        for stream in streams + resumed + late + last { await stream.end() }
        await third.stop()
        await second.stop()
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `a stream ends at any gateway once its token is removed`() async throws {
        let brokers = try Brokers()
        let folder = try TestGateway.makeFolder()
        let more = "\nstreams: {heartbeat: 1s}"
        let first = try await Self.start("gateway-a", brokers, in: folder, more: more)
        let bearer = try await first.providerToken()
        for number in Self.hosts { _ = try await first.register(number, teams: ["seahawks"], bearer: bearer) }
        let second = try await Self.start(
            "gateway-b",
            brokers,
            in: try TestGateway.makeFolder(beside: folder),
            more: more
        )
        try await Self.awaitSharing(first, second)
        let streams = try await Self.open(second, bearer)
        for number in Self.hosts {
            let path = "\(first.hostURL)/v1/hosts/\(TestGateway.token(number))/widgets"
            #expect(try await first.curl("DELETE", path, bearer: bearer).status == 204)
        }
        // Those of the hosts end; the app's is not theirs.
        for stream in streams.dropLast() { #expect(await stream.command.wait().status == 0) }
        await streams[Self.hosts.count].end()
        await first.stop()
        await second.stop()
    }

    @Test func `a sender follows a push at a gateway that has not all of it`() async throws {
        let (brokers, folder) = (try Brokers(), try TestGateway.makeFolder())
        let (first, bearer) = try await Self.startWithHosts("gateway-a", brokers, in: folder)
        let second = try await Self.start("gateway-b", brokers, in: try TestGateway.makeFolder(beside: folder))
        try await Self.awaitSharing(first, second)
        let id = try await Self.push(first, #"{"kind":"scores"}"#, bearer)
        for gateway in [first, second] {
            _ = try await gateway.eventually("the push is applied everywhere") {
                let push = try await gateway.curl("GET", "\(gateway.hostURL)/v1/pushes/\(id)", bearer: bearer)
                return (push.json["outcomes"] as? [String: Int])?["issued"] == Self.hosts.count ? true : nil
            }
        }
        let followed = try [first, second].map { try Stream($0, "/v1/pushes/\(id)/events", bearer) }
        for number in Self.hosts {
            try await first.acknowledge(try await first.outstanding(number, bearer: bearer), bearer: bearer)
        }
        for (gateway, stream) in zip([first, second], followed) {
            _ = try await gateway.eventually("its end is told") {
                stream.command.written.contains("event: complete") ? true : nil
            }
            await stream.end()
        }
        await first.stop()
        await second.stop()
    }

    @Test func `receipts are told by one gateway, and go on at another when it dies`() async throws {
        let brokers = try Brokers()
        let folder = try TestGateway.makeFolder()
        try await TestGateway.makeCertificates(in: folder, ["--topic", TestGateway.topic])
        try "a secret of receipts".write(toFile: "\(folder)/secret", atomically: true, encoding: .utf8)
        let target = try await FakeTarget(in: folder, .answer(200))
        let deliveries = """

            deliveries: {connect: 1h, handshake: 1h, request: 1h, pingAnswer: 1h, receiptInterval: 10ms, minRetry: 10ms,
              maxRetry: 100ms, allowedNetworks: [127.0.0.0/8, "::1"]}
            """
        let app = """
                developerMode: true
                receipts: {url: "\(target.url)/receipts", secretFile: \(folder)/secret, ca: \(target.ca)}
            """
        let first = try await Self.start("gateway-a", brokers, in: folder, more: deliveries, appSettings: app)
        let bearer = try await first.providerToken()
        let beside = try TestGateway.makeFolder(beside: folder)
        let second = try await Self.start("gateway-b", brokers, in: beside, more: deliveries, appSettings: app)
        try await Self.awaitSharing(first, second)
        func told() -> [String: Int] {
            target.server.requests.reduce(into: [:]) { told, request in
                let body = try? JSONSerialization.jsonObject(with: Data(request.text.utf8)) as? [String: Any]
                for receipt in body?["receipts"] as? [[String: Any]] ?? [] {
                    told[receipt["id"] as? String ?? "", default: 0] += 1
                }
            }
        }
        var ids: [String] = []
        for gateway in [first, second] {
            ids.append(try await Self.push(gateway, #"{"kind":"scores","match":{"team":["kraken"]}}"#, bearer))
        }
        _ = try await first.eventually("both are told") { ids.allSatisfy { told()[$0] != nil } ? true : nil }
        #expect(ids.allSatisfy { told()[$0] == 1 })
        // The one that tells them is the one that shows how it does.
        let list = try await first.curl("GET", "\(first.opsURL)/v1/upstreams").json["receipts"] as? [[String: Any]]
        let (teller, other) = list?.isEmpty == false ? (first, second) : (second, first)
        // If a push completes while it cannot be told, the node that goes on tells it.
        target.steps.set(.answer(503))
        ids.append(try await Self.push(other, #"{"kind":"scores","match":{"team":["rams"]}}"#, bearer))
        _ = try await other.eventually("the third is tried") { told()[ids[2]] }
        await teller.crash()
        try await Self.awaitAll(other)
        let tried = try #require(told()[ids[2]])
        target.steps.set(.answer(200))
        _ = try await other.eventually("the third is told") { told()[ids[2]] ?? 0 > tried ? true : nil }
        ids.append(try await Self.push(other, #"{"kind":"scores","match":{"team":["bears"]}}"#, bearer))
        _ = try await other.eventually("the fourth is told") { told()[ids[3]] }
        await other.stop()
        await target.server.stop()
        try? FileManager.default.removeItem(atPath: folder)
        try? FileManager.default.removeItem(atPath: beside)
    }
}
#endif
