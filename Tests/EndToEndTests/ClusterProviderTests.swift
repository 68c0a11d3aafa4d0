#if JetStream
import BrokerSupport
import Foundation
import FreshetClient
import Testing

/// Timelines from providers, at gateways that share a log.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .timeLimit(.minutes(60)))
struct ClusterProviderTests {
    private static let partitions = 4
    private static let hosts = 1...8
    private static let instances: Set<String> = ["scores-0", "character"]

    private static func start(
        _ name: String,
        _ brokers: Brokers,
        _ provider: ExampleProvider,
        in folder: String
    ) async throws -> TestGateway {
        try await TestGateway.start(
            in: folder,
            partitions: Self.partitions,
            extra: try JetStreamGatewayTests.journal(brokers, node: name),
            timelineProvider: provider.url
        )
    }

    /// Waits until a gateway has so many partitions.
    private static func awaitPartitions(_ gateway: TestGateway, _ isRight: @escaping (Int) -> Bool) async throws {
        _ = try await gateway.eventually("it has its partitions") {
            let metrics = try await gateway.curl("GET", "\(gateway.opsURL)/metrics").body
            let own = metrics.split(separator: "\n")
                .count { $0.hasPrefix("freshet_partition_failed{") && $0.hasSuffix(" 0") }
            return isRight(own) ? true : nil
        }
    }

    /// The widgets that have been told an entry on a host's stream.
    private static func shown(_ stream: Command, _ number: Int) -> Set<String> {
        let found = stream.written.split(separator: "\n").compactMap { line -> String? in
            guard line.hasPrefix("data: "),
                let json = try? JSONSerialization.jsonObject(with: Data(line.dropFirst(6).utf8)),
                let object = json as? [String: Any], let content = object["content"] as? [String: Any],
                content["number"] as? Int == number
            else { return nil }
            return object["instance"] as? String
        }
        return Set(found)
    }

    /// The teams that a gateway suggests to the first host.
    private static func suggestions(_ gateway: TestGateway, _ bearer: String) async throws -> [String] {
        try await gateway.host(1, bearer).suggestions().suggestions.compactMap { $0.configuration["team"]?.string }
    }

    @Test func `a push or an invalidation at one gateway lets the other ask for relevance again`() async throws {
        let (brokers, folder) = (try Brokers(), try TestGateway.makeFolder())
        let provider = try await ExampleProvider(in: folder)
        try provider.set(us: 0, them: 0, team: "rams")
        let first = try await Self.start("gateway-a", brokers, provider, in: folder)
        let beside = try TestGateway.makeFolder(beside: folder)
        let second = try await Self.start("gateway-b", brokers, provider, in: beside)
        try await Self.awaitPartitions(first) { $0 < Self.partitions }
        let bearer = try await first.providerToken()
        _ = try await first.register(1, teams: ["seahawks"], bearer: bearer)
        for gateway in [first, second] { #expect(try await Self.suggestions(gateway, bearer) == ["rams"]) }

        try provider.set(us: 0, them: 0, team: "bears")
        for gateway in [first, second] { #expect(try await Self.suggestions(gateway, bearer) == ["rams"]) }
        _ = try await first.pushScore(bearer)
        _ = try await second.eventually("it has asked again after the push") {
            try await Self.suggestions(second, bearer) == ["bears"] ? true : nil
        }

        try provider.set(us: 0, them: 0, team: "rams")
        let path = "/v1/apps/\(TestGateway.app)/invalidate-relevance"
        let told = try await first.curl("POST", "\(first.hostURL)\(path)", bearer: bearer)
        #expect(told.status == 200)
        _ = try await second.eventually("it has asked again after the invalidation") {
            try await Self.suggestions(second, bearer) == ["rams"] ? true : nil
        }
        for gateway in [first, second] { await gateway.stop() }
        await provider.stop()
    }

    @Test func `later entries come to open streams when their gateway has died`() async throws {
        let (brokers, folder) = (try Brokers(), try TestGateway.makeFolder())
        let provider = try await ExampleProvider(later: 40, in: folder)
        let first = try await Self.start("gateway-a", brokers, provider, in: folder)
        let beside = try TestGateway.makeFolder(beside: folder)
        let second = try await Self.start("gateway-b", brokers, provider, in: beside)
        try await Self.awaitPartitions(first) { $0 < Self.partitions }
        let bearer = try await first.providerToken()
        for number in Self.hosts { _ = try await first.register(number, teams: ["seahawks"], bearer: bearer) }
        let streams = try Self.hosts.map { number in
            try Command(
                "curl",
                [
                    "--silent", "--no-buffer", "--http2", "--cacert", second.ca, "--header",
                    "authorization: bearer \(bearer)", "\(second.hostURL)/v1/hosts/\(TestGateway.token(number))/events",
                ]
            )
        }
        for number in Self.hosts {
            _ = try await first.eventually("its timelines are there") {
                try await first.outstanding(number, bearer: bearer).isEmpty ? true : nil
            }
        }
        // Both gateways tell the content: the owner, and the other one.
        for gateway in [first, second] {
            for number in Self.hosts {
                _ = try await gateway.eventually("it has the entries") {
                    let state = try await gateway.host(number, bearer).state()
                    return Set(state.entries.map(\.instance)) == Self.instances ? true : nil
                }
            }
        }
        await first.crash()
        try await Self.awaitPartitions(second) { $0 == Self.partitions }
        _ = try await second.eventually("the later entries are shown") {
            streams.allSatisfy { Self.shown($0, 2) == Self.instances } ? true : nil
        }
        for stream in streams {
            stream.terminate()
            _ = await stream.wait()
        }
        await second.stop()
        await provider.stop()
        try FileManager.default.removeItem(atPath: folder)
    }
}
#endif
