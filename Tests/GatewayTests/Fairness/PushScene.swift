import HTTPTransport
import Ingest
import IntentMatching
import Journaling
import Logging
import NIOCore
import NIOPosix
import Partitions
import Serving
import Synchronization
import TLS
import Testing
import WidgetModel

/// The push listener over an in-memory log, on a port of this machine, with a key of each team.
final class PushScene: Sendable {
    let scene: OwnerScene
    let counters = PushCounters()
    /// The pushes that wait for the log.
    var backlog: PushBacklog { self.senderLimits.backlog }
    private let senderLimits = SenderLimits()
    private let key: TestKey
    private let otherKey: TestKey
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let server: HTTPServer
    /// Of each team: a connection belongs to the one whose token came first.
    private let connections: [TeamID: HTTP2ClientConnection]

    var work: WorkAdmission { self.scene.work }

    private init(partitions: Int, pushMax: Interval?, bounds: ServingBounds, actions: SenderActions) async throws {
        let scene = try await OwnerScene.started(partitions: partitions)
        let (key, otherKey) = (try TestKey("ABC123DEFG"), try TestKey("OTHERKEY00", Sports.otherTeam))
        let apps = LiveApps(Sports.served(charging: scene.work, pushMax: pushMax), bounds: bounds)
        let services = PushServices(
            apps: apps,
            senders: SenderDirectory(keys: [key.known(actions: actions), otherKey.known(Sports.otherApp, number: 1)]),
            directory: scene.directory,
            journal: scene.journal,
            log: scene.log,
            partitions: partitions,
            clock: scene.time.makeClock(),
            counters: self.counters,
            senderLimits: self.senderLimits,
            channels: ChannelService(
                log: scene.log.charged(to: scene.work, apps, refuses: true),
                journal: scene.journal,
                apps: apps
            ),
            work: scene.work,
            seed: 7
        )
        let authority = try CertificateAuthority.make(commonName: "Test root")
        let identity = try authority.issueServer(dnsNames: ["localhost"]).identity
        var listener = HTTPListenerConfiguration(
            name: "push",
            port: 0,
            tls: try TLSContext.server(TLSServerConfiguration(identity: identity, alpn: ["h2"]))
        )
        listener.bounds.deadlines.handshake = .hours(1)
        listener.bounds.deadlines.firstRequest = .hours(1)
        listener.bounds.deadlines.request = .hours(1)
        self.server = try await HTTPServer.start(listener, on: self.group, logger: Logger(label: "test")) { loop in
            PushHandler(
                loop: loop,
                services: services,
                others: AsyncRequestHandler(eventLoop: loop) { _ in HTTPResponse(status: 404) }
            )
        }
        let trust = TLSClientConfiguration(trust: .roots(.text(authority.certificatePEM)), alpn: ["h2"])
        var client = HTTP2ClientConfiguration()
        client.connectTimeout = .hours(1)
        var connections: [TeamID: HTTP2ClientConnection] = [:]
        for team in [Sports.team, Sports.otherTeam] {
            connections[team] = try await HTTP2ClientConnection.connect(
                host: "127.0.0.1",
                port: self.server.port,
                tls: try TLSContext.client(trust),
                serverName: "localhost",
                on: self.group,
                configuration: client
            )
        }
        self.connections = connections
        (self.scene, self.key, self.otherKey) = (scene, key, otherKey)
    }

    static func with(
        partitions: Int = 1,
        pushMax: Interval? = nil,
        bounds: ServingBounds = ServingBounds(),
        actions: SenderActions = .all,
        _ body: (PushScene) async throws -> Void
    ) async throws {
        let scene = try await PushScene(partitions: partitions, pushMax: pushMax, bounds: bounds, actions: actions)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(scene))
        } catch {
            result = .failure(error)
        }
        for connection in scene.connections.values { await connection.close() }
        await scene.server.drain(within: .zero)
        try await scene.group.shutdownGracefully()
        try result.get()
    }

    /// A sender's request.
    struct Request: Sendable, CustomStringConvertible {
        let description: String
        var method = "POST"
        let path: String
        var headers: HTTPFields = [:]
        let body: String

        static func device(_ token: DeviceToken, of app: BundleID = Sports.app) -> Request {
            Request(
                description: "a push to a device",
                path: "/3/device/\(token.hex)",
                headers: ["apns-topic": "\(app).push-type.widgets", "apns-push-type": "widgets"],
                body: #"{"aps":{"content-changed":true}}"#
            )
        }

        static func app(
            _ description: String = "a push to an app",
            _ members: String = #""all":true"#,
            query: String = "",
            of app: BundleID = Sports.app
        ) -> Request {
            Request(
                description: description,
                path: "/v1/apps/\(app)/pushes\(query)",
                body: #"{"aps":{"content-changed":true},"freshet":{\#(members)}}"#
            )
        }

        static func broadcast(_ channel: String, _ members: String = "") -> Request {
            Request(
                description: "a broadcast",
                path: "/4/broadcasts/apps/\(Sports.app)",
                headers: ["apns-channel-id": channel, "apns-push-type": "liveactivity"],
                body: #"{"aps":{"event":"update"},"freshet":{\#(members)}}"#
            )
        }
    }

    func send(_ request: Request, as team: TeamID = Sports.team) async throws -> HTTPClientResponse {
        var headers = request.headers
        headers.append("authorization", try (team == Sports.team ? self.key : self.otherKey).providerToken())
        return try await #require(self.connections[team]).send(
            HTTPClientRequest(
                method: request.method,
                path: request.path,
                headers: headers,
                body: Array(request.body.utf8),
                timeout: .hours(1)
            )
        )
    }

    /// A channel for the widgets of a team.
    func makeChannel() async throws -> String {
        let made = try await self.send(
            Request(
                description: "a channel",
                path: "/1/apps/\(Sports.app)/channels",
                body:
                    #"{"message-storage-policy":1,"push-type":"LiveActivity","freshet":{"match":{"team":["seahawks"]}}}"#
            )
        )
        try #require(made.status == 201, "\(made.text)")
        return try #require(made.headers["apns-channel-id"])
    }

    /// Waits until a team has nothing undecided.
    func decide(of team: TeamID = Sports.team) async {
        while self.work.work(of: team).undecided > 0 { await Task.yield() }
    }

    /// The charge of a request in each partition while its record waits for the commit.
    func charge(of request: Request) async throws -> [Int] {
        await self.decide()
        let team = self.work.work(of: Sports.team)
        self.scene.journal.hold()
        let isAnswered = Atomic(false)
        async let answer = {
            defer { isAnswered.store(true, ordering: .sequentiallyConsistent) }
            return try await self.send(request)
        }()
        // One that is refused never comes to the journal.
        while self.scene.journal.waiting == 0, !isAnswered.load(ordering: .sequentiallyConsistent) {
            await Task.yield()
        }
        let charged = self.work.partitions.map { team.undecided(in: $0.partition) }
        self.scene.journal.release()
        let given = try await answer
        #expect(given.status == 200, "\(request): \(given.text)")
        return charged
    }
}
