import Delivery
import HTTPTransport
import HostAPI
import Partitions
import Serving
import TLS
import Testing
import WidgetModel

/// The host listener's routes over an in-memory log, with a key of each team.
struct RouteScene {
    let scene: OwnerScene
    let key: TestKey
    let otherKey: TestKey
    /// The known senders, which may change while the gateway runs.
    let senders: SenderDirectory
    let routes: HostRoutes
    let apps: ServedApps

    init(
        partitions: Int = 2,
        _ limits: HostRouteLimits = HostRouteLimits(),
        origins: CrossOrigin = CrossOrigin(),
        storage: StorageWatch? = nil,
        registry: RegistryWatch? = nil
    ) async throws {
        try self.init(
            try await OwnerScene.started(partitions: partitions, registry: registry),
            limits,
            origins: origins,
            storage: storage
        )
    }

    init(
        _ scene: OwnerScene,
        _ limits: HostRouteLimits = HostRouteLimits(),
        providers: TimelineProviders? = nil,
        apps: ServedApps = Sports.served,
        origins: CrossOrigin = CrossOrigin(),
        storage: StorageWatch? = nil
    ) throws {
        self.scene = scene
        self.apps = apps
        self.key = try TestKey("ABC123DEFG")
        self.otherKey = try TestKey("OTHERKEY00", Sports.otherTeam)
        self.senders = SenderDirectory(keys: [self.key.known(), self.otherKey.known(Sports.otherApp, number: 1)])
        var bounds = ServingBounds()
        bounds.hosts = limits
        let live = LiveApps(self.apps, origins: origins, bounds: bounds)
        self.routes = HostRoutes(
            apps: live,
            authorizer: HostAuthorizer(senders: self.senders, clock: self.scene.time.makeClock()),
            directory: self.scene.directory,
            log: self.scene.log.admitted(by: storage).charged(to: self.scene.work, live, refuses: true),
            updates: HostUpdates(
                streams: self.scene.streams,
                followers: self.scene.followers,
                providers: providers
            ),
            registry: self.scene.registry
        )
    }

    /// A status, the code of a problem and its path, or the body.
    struct Answer: Hashable {
        let status: Int
        let code: String?
        let path: String?
        let body: String
        /// Where the next page of an export begins.
        var next: String?

        /// Status, code and path, for comparing.
        var place: [String] { ["\(self.status)"] + [self.code, self.path].compactMap { $0 } }
    }

    func send(_ method: String, _ target: String, _ authorization: String?, _ body: String = "") async throws -> Answer
    {
        var request = HTTPRequest(method: method, target: target, body: Array(body.utf8))
        if let authorization { request.headers.append("authorization", authorization) }
        let response = await self.routes.respond(to: request)
        OpenAPI.document.check(request, response)
        guard case .bytes(let bytes) = response.body else {
            return Answer(status: response.status, code: nil, path: nil, body: "stream")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard response.headers["content-type"] == "application/problem+json" else {
            let next = response.headers[HostRoutes.nextHeader]
            return Answer(status: response.status, code: nil, path: nil, body: text, next: next)
        }
        let value = try json(text)
        return Answer(
            status: response.status,
            code: value["code"].flatMap(Self.string),
            path: value["path"].flatMap(Self.string),
            body: text
        )
    }

    /// An answer as it is, for streams: one that is not held any more has no reader.
    func open(_ target: String, _ authorization: String?, certificate: PeerCertificate? = nil) async -> HTTPResponse {
        var request = HTTPRequest(method: "GET", target: target, peerCertificate: certificate)
        if let authorization { request.headers.append("authorization", authorization) }
        return await self.routes.respond(to: request)
    }

    /// Puts another key in force in place of the first; nil for none.
    func use(_ key: SenderDirectory.Key?) throws(TLSError) {
        let other = self.otherKey.known(Sports.otherApp, number: 1)
        try self.senders.keys.replace { () throws(TLSError) in [key, other].compactMap(\.self) }
    }

    /// All lines of an export, page by page: one may be short, or empty, while there is a next one.
    func export() async throws -> [String] {
        var lines: [String] = []
        var from = ""
        while true {
            let path = "/v1/apps/\(Sports.app)/hosts?limit=1\(from)"
            let answer = try await self.send("GET", path, try self.key.providerToken())
            #expect(answer.status == 200, "\(answer.body)")
            lines += answer.body.split(separator: "\n").map { String($0) }
            guard answer.status == 200, let next = answer.next else { return lines.sorted() }
            from = "&from=\(next)"
        }
    }

    private static func string(_ value: JSONValue) -> String? {
        guard case .string(let string) = value else { return nil }
        return string
    }

    static func path(_ token: DeviceToken, _ rest: String = "widgets") -> String { "/v1/hosts/\(token.hex)/\(rest)" }

    /// A registration's body with these members beside app and instances.
    static func body(
        _ members: String = "",
        app: BundleID = Sports.app,
        instances: String = #"[{"id":"a","kind":"scores","family":"systemSmall"}]"#
    ) -> String {
        #"{"app":"\#(app)",\#(members)\#(members.isEmpty ? "" : ",")"instances":\#(instances)}"#
    }

    /// Registers a host under its own name with its own credential, which names it.
    @discardableResult
    func register(_ name: String, _ members: String = "") async throws -> Answer {
        let token = Sports.token(name)
        let named = #""host":"\#(name)""# + (members.isEmpty ? "" : ",\(members)")
        let credential = try self.key.hostCredential(token, of: name)
        return try await self.send("PUT", Self.path(token), credential, Self.body(named))
    }
}
