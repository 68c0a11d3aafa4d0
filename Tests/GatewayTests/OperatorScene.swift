import APNSWire
import Engine
import Gateway
import HTTPTransport
import WidgetModel

/// The ops listener's routes over an in-memory log.
struct OperatorScene {
    let scene: OwnerScene
    let watch: GatewayWatch
    let states = KindStates()
    let routes: OperatorRoutes

    init(
        partitions: Int = 2,
        tokens: [String] = [],
        logs: GatewayLogs = .none,
        snapshots: Snapshotter.Counters? = nil,
        storage: StorageWatch? = nil
    ) async throws {
        self.scene = try await OwnerScene.started(partitions: partitions)
        let (counters, senderLimits) = (PushCounters(), SenderLimits())
        self.watch = GatewayWatch(
            log: self.scene.log,
            clock: self.scene.time.makeClock(),
            counters: counters,
            senderLimits: senderLimits
        )
        self.routes = OperatorRoutes(
            log: self.scene.log,
            streams: self.scene.streams,
            followers: self.scene.followers,
            directory: self.scene.directory,
            counters: counters,
            senderLimits: senderLimits,
            listeners: OpenListeners(),
            readiness: Readiness(),
            access: OperatorAccess(tokens: tokens),
            clock: self.scene.time.makeClock(),
            apps: LiveApps(Sports.served),
            states: self.states,
            watch: self.watch,
            snapshots: { snapshots },
            storage: storage,
            logs: logs
        )
    }

    /// A status and the body.
    func send(_ method: String, _ target: String, _ body: String = "") async throws -> (status: Int, json: JSONValue) {
        let request = HTTPRequest(method: method, target: target, body: Array(body.utf8))
        let response = await self.routes.respond(to: request)
        OpenAPI.document.check(request, response)
        guard case .bytes(let bytes) = response.body else { return (response.status, .null) }
        return (response.status, try json(String(decoding: bytes, as: UTF8.self)))
    }

    /// Acknowledges everything that is out.
    func acknowledgeAll() async throws {
        for reload in try await self.scene.log.askAll({ $0.outstandingReloads(app: Sports.app, limit: 1000).reloads })
            .joined()
        {
            let report = DeliveryReport(reload: reload.id, result: .acknowledged)
            _ = try await self.scene.log.append(.delivery(report), for: reload.host)
        }
    }
}
