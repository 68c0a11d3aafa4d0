import APNSWire
import Engine
import HTTPTransport
import HostAPI
import Ingest
import IntentMatching
import OperatorAPI
import Partitions
import Serving
import TestSupport
import Testing
import Timelines
import WidgetModel

/// One listener over an in-memory log with a host, a push and a reload on its way, and the usual requests to it.
struct ExtremeScene {
    enum Listener: Hashable, Sendable {
        case push, host, operators
    }

    let scene: OwnerScene
    /// The id of a reload that is on its way.
    let reload: ReloadID
    private let passDay: () async throws -> Void
    private let answer: (HTTPRequest) async throws -> HTTPResponse
    private let authorization: String?

    static let host = "phone"
    private static let token = Sports.token(Self.host)
    private static let push = PushID(high: 7, low: 1)
    private static let schema = Sports.schema(
        "numbers",
        [ParameterSchema("limit", .int), ParameterSchema("ratio", .double), ParameterSchema("since", .date)]
    )

    init(_ listener: Listener) async throws {
        let key = try TestKey("ABC123DEFG")
        let apps = ServedApps([
            ServedApps.App(
                number: 0,
                bundle: Sports.app,
                acceptsUnknownTokens: false,
                matchedMax: nil,
                schemas: [Sports.scores, Self.schema],
                samples: [Self.schema.kind: .object([])]
            )
        ])
        switch listener {
        case .push:
            let scene = try await OwnerScene.started(partitions: 2)
            let judge = JudgeScene(scene, key, apps)
            self.scene = scene
            self.passDay = { scene.time.pass(.day) }
            self.answer = { try await judge.answer($0) }
            self.authorization = try key.providerToken()
        case .host:
            let scene = try await OwnerScene.started(partitions: 2)
            let senders = SenderDirectory(keys: [key.known()])
            let routes = HostRoutes(
                apps: LiveApps(apps),
                authorizer: HostAuthorizer(senders: senders, clock: scene.time.makeClock()),
                directory: scene.directory,
                log: scene.log,
                updates: HostUpdates(
                    streams: scene.streams,
                    followers: scene.followers,
                    providers: try ProviderScene(scene, keys: [KindKey(app: Sports.app, kind: Self.schema.kind)])
                        .providers
                )
            )
            self.scene = scene
            self.passDay = { scene.time.pass(.day) }
            self.answer = { await routes.respond(to: $0) }
            self.authorization = try key.providerToken()
        case .operators:
            let operators = try await OperatorScene(
                movable: MovableClock(monotonicNanoseconds: { 5_000_000_000 }, wall: { Sports.start }),
                cluster: FakeCluster(),
                apps: apps
            )
            self.scene = operators.scene
            self.passDay = { _ = try await operators.travel?.pass(.day, stopsMax: 10_000) }
            self.answer = { await operators.routes.respond(to: $0) }
            self.authorization = nil
        }
        let kinds = [Sports.scores, Self.schema].map { KindSettings(schema: $0, budget: .widgetkit) }
        let app = AppSettings(app: Sports.app, team: Sports.team, kinds: kinds)
        _ = try await self.scene.log.appendToAll(.settings(EngineSettings(apps: [app])))
        try await self.scene.register(Self.host)
        let number = InstanceRegistration(
            id: InstanceID("n0"),
            kind: Self.schema.kind,
            family: .systemSmall,
            configuration: .empty
        )
        let shown = Sports.registration(Self.host, revision: 2, [Sports.instance("a0"), number])
        _ = try await self.scene.log.append(.register(shown), for: HostKey(Self.host))
        _ = try await self.scene.log.append(.push(Sports.push(1, to: Self.host)), for: HostKey(Self.host))
        try await self.scene.settle()
        self.reload = try #require(self.scene.handedOn.first?.id)
    }

    /// An answer that the document allows, and that is no fault of the gateway.
    @discardableResult
    func send(_ request: HTTPRequest) async throws -> Int {
        var request = request
        if let authorization = self.authorization { request.headers.append("authorization", authorization) }
        request.authority = "localhost:9443"
        let response = try await self.answer(request)
        OpenAPI.document.check(request, response)
        #expect(
            response.status < 500 || [503, 507].contains(response.status),
            "\(request.method) \(request.target) \(request.headers.all) \(String(decoding: request.body, as: UTF8.self))"
        )
        return response.status
    }

    /// Places in the event streams that are open to hosts.
    func places() throws -> [String] {
        let subscription = try self.scene.streams.subscribe(.host(HostKey(Self.host)))
        defer { self.scene.streams.cancel(subscription) }
        return ExtremeTexts.places(log: subscription.start.log)
    }

    /// That every partition goes on, its books close, and another process comes to the same.
    func check() async throws {
        for _ in 0..<2 {
            try await self.passDay()
            _ = try await self.scene.log.appendToAll(.tick)
        }
        try await self.scene.settle()
        #expect(await self.scene.log.progress().map(\.hasFailed) == [false, false])
        for stats in try await self.scene.log.askAll(TotalsQuestion()) {
            #expect(stats.matched == stats.outcomes.total)
        }
        let other = self.scene.restarted()
        _ = try await other.start()
        #expect(try await other.digests() == (try await self.scene.digests()))
    }
}

// MARK: - Usual requests

extension ExtremeScene {
    /// A request to an operation, with `{name}` filled in.
    struct Sample {
        var path: String
        var body = ""
        var headers: HTTPFields = [:]

        func request(_ method: String, query: String = "", header: (name: String, value: String)? = nil) -> HTTPRequest
        {
            var headers = self.headers
            if !self.body.isEmpty { headers["content-type"] = "application/json" }
            if let header { headers[header.name] = header.value }
            return HTTPRequest(method: method, target: self.path + query, headers: headers, body: Array(self.body.utf8))
        }
    }

    /// Values of path parameters; the operators' instance has its host's name before it.
    private static let values = [
        "token": Self.token.hex, "app": Sports.app.rawValue, "host": Self.host, "push": Self.push.description,
        "kind": Self.schema.kind.rawValue, "question": "placeholder",
    ]

    /// The path of an operation; with `text` in the place of one of its parameters if it is given.
    static func path(of operation: OpenAPI.Operation, _ replaced: (name: String, text: String)? = nil) -> String {
        var path = operation.path
        for parameter in operation.parameters(in: "path") {
            let instance = operation.tags == ["operators"] ? "\(Self.host):a0" : "a0"
            let usual = parameter.name == "instance" ? instance : Self.values[parameter.name] ?? ""
            let text = parameter.name == replaced?.name ? replaced?.text : nil
            path = path.replacing("{\(parameter.name)}", with: text.map(ExtremeTexts.escaped) ?? usual)
        }
        return path
    }

    /// The usual requests to an operation, the first of them with success.
    func samples(of operation: OpenAPI.Operation) -> [Sample] {
        let bodies = Self.bodies(reload: self.reload)[operation.id] ?? [""]
        let isPush = operation.id.hasPrefix("pushTo")
        let headers: HTTPFields =
            isPush ? ["apns-topic": "\(Sports.app).push-type.widgets", "apns-push-type": "widgets"] : [:]
        return bodies.map { Sample(path: Self.path(of: operation), body: $0, headers: headers) }
    }

    /// The bodies of operations, by operation; a body of lines has one.
    static func bodies(reload: ReloadID) -> [String: [String]] {
        let date = "2026-11-02T18:00:00Z"
        let app = #""app":"\#(Sports.app)""#
        let match = #"{"limit":[3,{"numeric":[">",1,"<=",9]}],"ratio":{"anything-but":[0.5]},"since":"\#(date)"}"#
        let attributes = #"{"health":5,"ratio":0.5,"since":"\#(date)"}"#
        let own =
            #"{"kind":"numbers","match":\#(match),"attributes":\#(attributes),"not-before":1793642400,"maxMatched":5}"#
        let configuration = #"{"limit":3,"ratio":0.5,"since":"\#(date)"}"#
        let registration =
            #"\#(app),"host":"\#(Self.host)","revision":3,"lease":3600,"context":{"displaySize":{"width":170,"height":158.5}},"#
            + #""instances":[{"id":"n0","kind":"numbers","family":"systemSmall","configuration":\#(configuration),"#
            + #""when":{"health":{"numeric":["<",50]},"ratio":0.5}}]}"#
        let relevance = #""relevance":{"score":1.5,"duration":60}"#
        let timeline =
            #""entries":[{"date":"\#(date)",\#(relevance)}],"policy":{"after":"\#(date)"},"contentBytes":10}"#
        let provided =
            #""timeline":{"entries":[{"date":"\#(date)",\#(relevance),"content":{"n":1}}],"policy":{"after":"\#(date)"}}"#
        return [
            "setLogLevels": [#"{"levels":{}}"#], "tryNow": ["{}"], "putTeam": ["{}"], "putTeamKey": ["{}"],
            "putApp": ["{}"], "putAppKind": ["{}"],
            "orderCluster": [
                #"{"action":"move","partition":0,"to":"gateway-1"}"#, #"{"action":"change-rules","rules":1}"#,
            ],
            "order": [
                #"{"action":"grant","count":3,"of":{\#(app)}}"#,
                #"{"action":"pause","until":"\#(date)","of":{\#(app)}}"#,
            ],
            "moveClock": [#"{"advance":1}"#, #"{"to":"\#(date)"}"#],
            "dryRun": [#"{"freshet":\#(own),"priority":10}"#],
            "pushToDevice": [#"{"aps":{"content-changed":true}}"#, #"{"aps":{},"freshet":\#(own)}"#],
            "pushToApp": [#"{"aps":{"content-changed":true},"freshet":\#(own)}"#],
            "register": ["{" + registration],
            "timeline": ["{" + timeline, #"{"reload":"\#(reload)",\#(timeline)"#],
            "signals": [
                #"{"signals":[{"signal":"appForeground"},{"signal":"reloaded","reload":"\#(reload)"}]}"#,
                #"{"signal":"entryShown","reload":"\#(reload)","date":"\#(date)"}"#,
                #"{"signals":[{"signal":"entryShown","reload":"\#(reload)","date":"\#(date)"}]}"#,
                #"{"signal":"refused","reload":"\#(reload)","reason":"1"}"#,
            ],
            "importHosts": [#"{"token":"\#(Self.token.hex)",\#(registration)"#],
            "reload": [#"{"kind":"numbers","match":\#(match),"digest":"1"}"#],
            "invalidateRelevance": [#"{"kind":"numbers"}"#],
            "invalidateRecommendations": [#"{"kind":"numbers"}"#],
            "acknowledge": [#"{"reload":"\#(reload)"}"#],
            "callBack": [#"{"answers":[{"id":"\#(reload)",\#(provided)}]}"#],
        ]
    }
}

// MARK: - The push listener

/// Judges pushes and logs them, as the push listener does.
private final class JudgeScene {
    private let scene: OwnerScene
    private var judge: PushJudge
    private let connection = PushConnection(certificate: nil)

    init(_ scene: OwnerScene, _ key: TestKey, _ apps: ServedApps) {
        self.scene = scene
        self.judge = PushJudge(
            apps: LiveApps(apps),
            senders: SenderDirectory(keys: [key.known()]),
            directory: scene.directory,
            seed: 7
        )
    }

    func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
        let pseudo = [(":method", request.method), (":path", request.target)]
        let bytes = PushRequestBytes(
            (pseudo + request.headers.all.map { ($0.name, $0.value) }).map { (name: $0.0, value: $0.1) },
            body: request.body
        )
        do throws(RejectionAnswer) {
            let judged = try self.judge.judge(bytes, on: self.connection, at: self.scene.time.wall)
            return await self.log(judged.push, judged.details)
        } catch {
            return HTTPResponse(
                status: error.status,
                headers: ["content-type": "application/json"],
                body: .bytes(error.body)
            )
        }
    }

    private func log(_ push: ValidatedPush, _ details: JudgedPush.Details?) async -> HTTPResponse {
        do throws(Problem) {
            let payload = details?.payload
            var record = Sports.push(2, to: ExtremeScene.host)
            record.id = push.id ?? PushID(high: 8, low: .random(in: 0 ... .max))
            record.priority = push.priority
            record.expiration = push.expiration
            record.notBefore = payload?.notBefore
            record.kind = payload?.kind
            record.pattern = details?.pattern
            record.attributes = details?.attributes ?? .empty
            guard push.isTargeted else {
                _ = try await self.scene.log.append(.push(record), for: HostKey(ExtremeScene.host))
                return HTTPResponse(status: 200)
            }
            record.target = .app(Sports.app)
            _ = try await self.scene.log.matched(record, atMost: payload?.maxMatched)
            _ = try await self.scene.log.appendToAll(.push(record))
            let summary = try await self.scene.log.dryRun(record, decidedMax: 10_000)
            return HTTPResponse(json: summary.json)
        } catch {
            return HTTPResponse(problem: error)
        }
    }
}
