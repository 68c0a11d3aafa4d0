import Delivery
import Engine
import FoundationEssentials
import HTTPTransport
import Journaling
import NIOCore
import NIOPosix
import Ownership
import Partitions
import ScriptedServer
import Settings
import Synchronization
import TLS
import TestSupport
import Testing
import TransportSupport
import WidgetModel

/// A partition's owner, a deliverer behind it, and a scripted server in the place of APNs. Time passes while a test waits, each
/// time that the owner was asked and answered, so that no lease ends because the machine is busy.
final class UpstreamScene: Sendable {
    let scene: OwnerScene
    let server: ScriptedServer
    let deliverer: ReloadDeliverer
    let client: HTTPClient
    let plans: LiveDeliveryPlans
    let log: RecordedLog
    private let lastPush = Atomic<UInt64>(0)
    let configuration: GatewayConfiguration
    private let folder: String

    private init(
        _ scene: OwnerScene,
        _ server: ScriptedServer,
        _ deliverer: ReloadDeliverer,
        _ client: HTTPClient,
        _ plans: LiveDeliveryPlans,
        _ log: RecordedLog,
        _ configuration: GatewayConfiguration,
        _ folder: String
    ) {
        self.plans = plans
        self.log = log
        self.configuration = configuration
        self.scene = scene
        self.server = server
        self.deliverer = deliverer
        self.client = client
        self.folder = folder
        scene.tap { deliverer.publish($0) }
    }

    static func with(
        streamsMax: UInt32 = 1000,
        _ configure: (inout GatewayConfiguration.Deliveries) -> Void = { _ in },
        script: @escaping ScriptedServer.Script,
        _ body: (UpstreamScene) async throws -> Void
    ) async throws {
        let scene = try await OwnerScene.started()
        let folder = FileManager.default.temporaryDirectory.appending(path: "upstream-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let validity = CertificateValidity(days: 1)
        let authority = try CertificateAuthority.make(commonName: "Upstream Authority", validity: validity)
        let issued = try authority.issueServer(dnsNames: ["localhost"], ipAddresses: ["127.0.0.1"], validity: validity)
        let server = try await ScriptedServer.start(
            tls: try TLSContext.server(TLSServerConfiguration(identity: issued.identity, alpn: ["h2"])),
            streamsMax: streamsMax,
            script: script
        )
        try authority.certificatePEM.write(toFile: "\(folder)/ca.pem", atomically: true, encoding: .utf8)
        try ES256PrivateKey.generate().pemRepresentation.write(
            toFile: "\(folder)/key.p8",
            atomically: true,
            encoding: .utf8
        )
        try "a secret of the webhook".write(toFile: "\(folder)/secret", atomically: true, encoding: .utf8)
        let configuration = Self.configuration(folder, server.port, configure)
        let client = Self.client(configuration)
        let plans = LiveDeliveryPlans(try DeliveryPlans(configuration))
        let log = RecordedLog()
        let deliverer = Self.deliverer(plans, configuration, client, scene, log)
        let upstream = UpstreamScene(scene, server, deliverer, client, plans, log, configuration, folder)
        do {
            try await body(upstream)
            await upstream.stop()
        } catch {
            await upstream.stop()
            throw error
        }
    }

    private static func configuration(
        _ folder: String,
        _ port: Int,
        _ configure: (inout GatewayConfiguration.Deliveries) -> Void
    ) -> GatewayConfiguration {
        var app = GatewayConfiguration.App(bundleID: Sports.app, team: Sports.team)
        var upstream = GatewayConfiguration.Upstream()
        upstream.url = "https://localhost:\(port)"
        upstream.keyID = KeyID("ABC123DEFG")
        upstream.key = "\(folder)/key.p8"
        upstream.authorities = "\(folder)/ca.pem"
        app.upstream = upstream
        var webhook = GatewayConfiguration.Webhook()
        webhook.url = "https://localhost:\(port)/hook?of=scores"
        webhook.secretFile = "\(folder)/secret"
        webhook.authorities = "\(folder)/ca.pem"
        app.webhook = webhook
        webhook.url = "https://localhost:\(port)/receipts"
        app.receipts = webhook
        var configuration = GatewayConfiguration()
        configuration.apps = [app]
        // Virtual time runs ahead of the waits, which are real.
        configuration.deliveries.retryMin = .milliseconds(20)
        configuration.deliveries.retryMax = .milliseconds(200)
        configuration.deliveries.afterServerError = .milliseconds(200)
        configuration.deliveries.reconnectMin = .milliseconds(10)
        configuration.deliveries.receiptInterval = .milliseconds(10)
        configuration.deliveries.allowedNetworks = ["127.0.0.0/8", "::1"]
        // Nor is an answer that takes its time a failed try.
        configuration.deliveries.request = .hours(1)
        configuration.deliveries.pingAnswer = .hours(1)
        configure(&configuration.deliveries)
        return configuration
    }

    /// Where other tests have the machine, a connection takes its time: that is no failed try.
    private static func client(_ configuration: GatewayConfiguration) -> HTTPClient {
        var client = configuration.deliveries.client
        client.connection.connectTimeout = .hours(1)
        client.connection.handshakeTimeout = .hours(1)
        return HTTPClient(client, on: MultiThreadedEventLoopGroup.singleton)
    }

    private static func deliverer(
        _ plans: LiveDeliveryPlans,
        _ configuration: GatewayConfiguration,
        _ client: HTTPClient,
        _ scene: OwnerScene,
        _ log: RecordedLog
    ) -> ReloadDeliverer {
        ReloadDeliverer(
            plans: plans,
            settings: configuration.deliveries,
            client: client,
            log: scene.log,
            clock: { scene.time.wall },
            telemetry: DeliveryTelemetry(logger: log.logger)
        )
    }

    /// The sender of receipts, which tells senders the outcome of their pushes; it is not running yet.
    func makeReceipts(_ archive: MemoryArchive) -> ReceiptSender {
        ReceiptSender(
            plans: self.plans,
            settings: self.configuration.deliveries,
            client: self.client,
            log: self.scene.log,
            store: .archive(archive),
            clock: { self.scene.time.wall },
            logger: self.log.logger
        )
    }

    /// Another deliverer on the same log, as after a restart.
    func restartedDeliverer() throws -> ReloadDeliverer {
        let plans = LiveDeliveryPlans(try DeliveryPlans(self.configuration))
        return Self.deliverer(plans, self.configuration, Self.client(self.configuration), self.scene, self.log)
    }

    func stop() async {
        await self.deliverer.stop()
        await self.server.stop()
        try? FileManager.default.removeItem(atPath: self.folder)
    }

    /// Registers a host whose reloads go this way, and makes its instances want a reload.
    func register(_ host: String, _ delivery: HostDelivery = .apns, instances: Int = 1) async throws {
        var registration = Sports.registration(host, (0..<instances).map { Sports.instance("a\($0)") })
        registration.delivery = delivery
        _ = try await self.scene.log.append(.register(registration), for: registration.host)
        // A host that drives its timelines by itself is not told of what it adds.
        if delivery == .apns { try await self.push(to: host) }
    }

    /// Sends a push to a host.
    func push(to host: String, collapseID: String? = nil, expiration: Int64? = nil) async throws {
        let number = self.lastPush.add(1, ordering: .relaxed).newValue
        var push = Sports.push(number, to: host)
        push.expiration = expiration
        push.collapseID = collapseID.flatMap { CollapseID(bytes: Array($0.utf8)) }
        _ = try await self.scene.log.append(.push(push), for: HostKey(host))
    }

    /// How the app's upstream does.
    var upstream: TargetView {
        get async throws {
            try #require(await self.deliverer.targets()[.init(kind: .upstream, app: Sports.app)])
        }
    }

    /// Exchanges the key that provider tokens are signed with.
    func renewKey() throws {
        let key = try ES256PrivateKey.generate().pemRepresentation
        try key.write(toFile: "\(self.folder)/key.p8", atomically: true, encoding: .utf8)
    }

    var stats: EngineStats {
        get async throws { try await self.scene.owners[0].ask(TotalsQuestion()) }
    }

    /// The counters, once nothing waits or is in work any more.
    func idleCounters() async throws -> [HostDelivery: DeliveryCounters] {
        try await self.until("nothing is left to do") {
            let stats = await self.deliverer.stats()
            return stats.waiting + stats.inWork == 0
        }
        return await self.deliverer.stats().counters
    }

    /// Waits until the engine counts so many reloads as acknowledged or refused.
    func until(
        acknowledged: Int = 0,
        refused: Int = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await self.until("\(acknowledged) acknowledged, \(refused) refused", sourceLocation: sourceLocation) {
            let stats = try await self.stats
            return stats.reloadsAcknowledged == acknowledged && stats.reloadsRefused == refused
        }
    }

    func until(
        _ what: String,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: () async throws -> Bool
    ) async throws {
        for _ in 0..<120_000 {
            if try await condition() { return }
            // Asked of the owner's loop, which has to have had its turn.
            _ = try await self.stats
            self.scene.time.pass(.milliseconds(20))
            try await Task.sleep(for: .milliseconds(5))
        }
        let stats = try await self.stats
        let now = "\(stats.reloadsAcknowledged) acknowledged, \(stats.reloadsRefused) refused"
        Issue.record("never happened: \(what); \(now)", sourceLocation: sourceLocation)
    }
}
