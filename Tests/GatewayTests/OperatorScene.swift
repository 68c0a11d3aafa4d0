import APNSWire
import Clustering
import Engine
import HTTPTransport
import Journaling
import OperatorAPI
import Partitions
import Serving
import Settings
import TransportSupport
import WidgetModel

/// The ops listener's routes over an in-memory log.
struct OperatorScene {
    let scene: OwnerScene
    let watch: GatewayWatch
    let states = KindStates()
    let access: OperatorAccess
    let routes: OperatorRoutes
    /// Nil where the clock is not movable.
    let travel: TimeTravel?
    /// Nil where decisions are in memory only.
    let filer: DecisionFiler?

    init(
        partitions: Int = 2,
        tokens: [String] = [],
        senders: SenderDirectory? = nil,
        access: OperatorAccess? = nil,
        movable: MovableClock? = nil,
        logs: GatewayLogs = .none,
        snapshots: Snapshotter.Counters? = nil,
        storage: StorageWatch? = nil,
        registry: RegistryWatch? = nil,
        bounds: ServingBounds = ServingBounds(),
        cluster: (any Cluster)? = nil,
        auditArchive: any RecordArchive = MemoryArchive(),
        auditLog: RecordedLog = RecordedLog(),
        apps: ServedApps = Sports.served,
        decisions: (CommandLog, HistoryQuestions, LogClock) -> DecisionFiler? = { _, _, _ in nil },
        forgetHistory: (@Sendable () async throws(Problem) -> Int)? = nil
    ) async throws {
        let ownClock = movable?.makeLogClock()
        self.scene = try await OwnerScene.started(
            partitions: partitions,
            clock: ownClock,
            auditArchive: auditArchive,
            auditLog: auditLog,
            registry: registry
        )
        let clock = ownClock ?? self.scene.time.makeClock()
        self.travel = movable.map { [log = self.scene.log] in TimeTravel($0, clock, log) }
        let readers = senders.map { VerifiedCredentials(senders: $0, clock: clock, seed: 7) }
        self.access = try access ?? .knowing(tokens, readers: readers)
        let (counters, senderLimits) = (PushCounters(), SenderLimits())
        self.watch = GatewayWatch(
            log: self.scene.log,
            clock: clock,
            counters: counters,
            senderLimits: senderLimits,
            streams: self.scene.streams,
            feed: self.scene.feed
        )
        let doors = OperatorDoors(
            access: self.access,
            gate: OperatorGate(address: "127.0.0.1"),
            audit: self.scene.audit
        )
        var store = OperatedStore(log: self.scene.log, clock: clock)
        store.travel = self.travel
        let history = HistoryQuestions(concurrentMax: 2) { [journal = self.scene.journal] in journal }
        store.history = history
        self.filer = decisions(self.scene.log, history, clock)
        store.decisions = self.filer
        store.storage = storage
        store.cluster = cluster
        store.forgetHistory = forgetHistory
        store.snapshots = { snapshots }
        var traffic = OperatedTraffic(
            streams: self.scene.streams,
            followers: self.scene.followers,
            directory: self.scene.directory,
            counters: counters,
            senderLimits: senderLimits
        )
        traffic.registry = registry
        var targets = OperatedTargets()
        targets.states = self.states
        var settings = OperatedSettings(apps: LiveApps(apps, bounds: bounds))
        settings.logs = logs
        self.routes = OperatorRoutes(
            doors: doors,
            store: store,
            traffic: traffic,
            credentials: OperatedCredentials(),
            targets: targets,
            settings: settings,
            watch: self.watch,
            readiness: Readiness(self.scene.work.partitions)
        )
    }

    static func request(_ method: String, _ target: String, _ body: String = "") -> HTTPRequest {
        let headers: HTTPFields = body.isEmpty ? [:] : ["content-type": "application/json"]
        return HTTPRequest(
            method: method,
            target: target,
            headers: headers,
            body: Array(body.utf8),
            authority: "localhost:9443"
        )
    }

    /// A status and the body.
    func send(_ method: String, _ target: String, _ body: String = "") async throws -> (status: Int, json: JSONValue) {
        try await self.send(Self.request(method, target, body))
    }

    /// A status and the body.
    func send(_ request: HTTPRequest) async throws -> (status: Int, json: JSONValue) {
        let response = await self.routes.respond(to: request)
        OpenAPI.document.check(request, response)
        guard case .bytes(let bytes) = response.body else { return (response.status, .null) }
        return (response.status, try json(String(decoding: bytes, as: UTF8.self)))
    }

    /// Acknowledges everything that is out.
    func acknowledgeAll() async throws {
        for reload in try await self.scene.log.askAll(ReloadsQuestion(.app(Sports.app), limit: 1000)).map(\.reloads)
            .joined()
        {
            let report = DeliveryReport(host: reload.host, reload: reload.id, result: .acknowledged)
            _ = try await self.scene.log.append(.delivery(report), for: reload.host)
        }
    }
}

extension OperatorAccess {
    /// Knows those who have one of these tokens from now on, and no others.
    func use(tokens: [String]) throws {
        var operators = GatewayConfiguration.Operators()
        operators.tokens = tokens.map { Secret($0) }
        try self.applySettings(operators)
    }

    /// The holders of these tokens or certificates; every caller if there is neither.
    static func knowing(
        _ tokens: [String],
        _ certificates: [GatewayConfiguration.OperatorCertificate] = [],
        revocations: ClientCertificates = ClientCertificates(),
        readers: VerifiedCredentials? = nil
    ) throws -> OperatorAccess {
        var operators = GatewayConfiguration.Operators()
        operators.tokens = tokens.map { Secret($0) }
        operators.certificates = certificates
        operators.isOpen = tokens.isEmpty && certificates.isEmpty
        return try OperatorAccess(operators, revocations: revocations, credentials: readers)
    }
}
