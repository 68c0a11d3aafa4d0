import APNSWire
import Engine
package import HTTPTransport
import WidgetModel

/// The routes of the ops listener: health, version, totals, and questions about one instance or push.
package struct OperatorRoutes: Sendable {
    let log: CommandLog
    let streams: HostStreams
    let followers: PushFollowers
    let directory: HostDirectory
    let counters: PushCounters
    /// Those of the routes for hosts and senders.
    let problems: ProblemCounters
    /// Those of these routes.
    let ownProblems = ProblemCounters()
    let senderLimits: SenderLimits
    let listeners: OpenListeners
    let readiness: Readiness
    let access: OperatorAccess
    let gate: OperatorGate
    let certificates: ServerCertificates
    let clientCertificates: ClientCertificates
    let providerKeys: ProviderKeys
    let outgoing: Outgoing?
    let clock: LogClock
    /// What moves the clock, in a gateway that was started for that.
    let travel: TimeTravel?
    let liveApps: LiveApps
    var apps: ServedApps { self.liveApps.apps }
    /// The longest body of a request.
    var bodyBytesMax: Int { self.liveApps.bounds.hosts.bodyBytesMax }
    let states: KindStates
    /// Nil where no kind has one.
    let providers: TimelineProviders?
    let watch: GatewayWatch
    /// Nil where nothing is asked of the past.
    let history: HistoryQuestions?
    /// What became of the snapshots; nil where none are made.
    let snapshots: @Sendable () -> Snapshotter.Counters?
    /// Lets go of what was logged, see ``Snapshotter/forgetHistory()``; nil where there are no snapshots to go on with.
    let forgetHistory: @Sendable () async throws -> Int?
    /// What the data directory has room for; nil where nothing is written to it.
    let storage: StorageWatch?
    let work: WorkAdmission?
    /// Nil where it is not counted who has how much of the registry.
    let registry: RegistryWatch?
    let audit: OperatorAudit
    let logs: GatewayLogs
    /// Nil where there is no configuration to read again.
    let live: LiveConfiguration?
    /// What else is written in metrics; nil for nothing.
    let telemetry: TelemetrySources?
    /// Nil where the page is off.
    let dashboard: DashboardFiles?

    package init(
        log: CommandLog,
        streams: HostStreams,
        followers: PushFollowers,
        directory: HostDirectory,
        counters: PushCounters,
        problems: ProblemCounters = ProblemCounters(),
        senderLimits: SenderLimits,
        listeners: OpenListeners,
        readiness: Readiness,
        access: OperatorAccess,
        gate: OperatorGate,
        certificates: ServerCertificates = ServerCertificates(),
        clientCertificates: ClientCertificates = ClientCertificates(),
        providerKeys: ProviderKeys = ProviderKeys([]),
        outgoing: Outgoing? = nil,
        clock: LogClock,
        travel: TimeTravel? = nil,
        apps: LiveApps = LiveApps(ServedApps([])),
        states: KindStates = KindStates(),
        providers: TimelineProviders? = nil,
        watch: GatewayWatch? = nil,
        history: HistoryQuestions? = nil,
        snapshots: @escaping @Sendable () -> Snapshotter.Counters? = { nil },
        storage: StorageWatch? = nil,
        work: WorkAdmission? = nil,
        registry: RegistryWatch? = nil,
        forgetHistory: @escaping @Sendable () async throws -> Int? = { nil },
        live: LiveConfiguration? = nil,
        telemetry: TelemetrySources? = nil,
        logs: GatewayLogs = .none,
        audit: OperatorAudit,
        dashboard: DashboardFiles? = nil
    ) {
        self.log = log
        self.streams = streams
        self.followers = followers
        self.directory = directory
        self.counters = counters
        self.problems = problems
        self.senderLimits = senderLimits
        self.listeners = listeners
        self.readiness = readiness
        self.access = access
        self.gate = gate
        self.certificates = certificates
        self.clientCertificates = clientCertificates
        self.providerKeys = providerKeys
        self.outgoing = outgoing
        self.clock = clock
        self.travel = travel
        self.liveApps = apps
        self.states = states
        self.providers = providers
        self.history = history
        self.snapshots = snapshots
        self.storage = storage
        self.work = work
        self.registry = registry
        self.forgetHistory = forgetHistory
        let watch =
            watch
            ?? GatewayWatch(
                log: log,
                clock: clock,
                counters: counters,
                senderLimits: senderLimits,
                streams: streams
            )
        self.watch = watch
        self.live = live
        self.telemetry = telemetry
        self.logs = logs
        self.audit = audit
        self.dashboard = dashboard
    }

    /// Answers a request; never throws, a ``Problem`` becomes its answer.
    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        if let probe = self.probe(request) { return probe }
        let id = OperatorRequestID(request).text
        var source: OperatorSource?
        var response: HTTPResponse
        do throws(Problem) {
            response = try await self.route(request, id, &source)
            // What is so now is no answer for later.
            if response.headers["cache-control"] == nil { response.headers.append("cache-control", "no-store") }
        } catch {
            self.ownProblems.add(error.code)
            response = HTTPResponse(problem: error)
        }
        response.headers.append("x-request-id", id)
        if let source {
            self.tell(request, by: source, status: response.status)
        }
        return response
    }

    /// The answer to a probe, which waits for nothing; nil for any other request. Probes have no secret to learn, and call
    /// the gateway whatever they like.
    package func probe(_ request: HTTPRequest) -> HTTPResponse? {
        guard var response = HealthRoutes.respond(to: request, self.readiness) else { return nil }
        response.headers.append("x-request-id", OperatorRequestID(request).text)
        return response
    }

    /// Tells of a request that may change something. Questions are not told of, and neither is who has no business here.
    private func tell(_ request: HTTPRequest, by source: OperatorSource, status: Int) {
        guard OperatorAccess.scope(of: request) != .read, request.method != "GET" else { return }
        self.audit.tell(request, by: source, status: status)
    }

    /// Judges a request by its head: who asks, whether it may, and how long the body may be.
    package func judge(_ head: HTTPRequest) -> HTTPHeadVerdict {
        guard head.hasReadBody else { return .accepted(bodyBytesMax: self.liveApps.bounds.hosts.unreadBodyBytesMax) }
        let id = OperatorRequestID(head).text
        var source: OperatorSource?
        do throws(Problem) {
            try self.gate.check(head)
            _ = try self.admit(head, id, &source)
            return .accepted(bodyBytesMax: self.bodyBytesMax)
        } catch {
            self.ownProblems.add(error.code)
            var response = HTTPResponse(problem: error)
            response.headers.append("x-request-id", id)
            if let source { self.tell(head, by: source, status: error.code.status) }
            return .refused(response)
        }
    }

    /// Who asks, if it may.
    ///
    /// - Parameter source: Set as soon as it is known, also if it may not.
    private func admit(
        _ request: HTTPRequest,
        _ id: String,
        _ source: inout OperatorSource?
    ) throws(Problem) -> (OperatorCaller, OperatorSource) {
        let caller = try self.access.caller(of: request)
        let known = OperatorSource(caller: caller.name, address: request.remoteAddress, request: id)
        source = known
        try self.access.check(request, caller)
        return (caller, known)
    }

    private func route(
        _ request: HTTPRequest,
        _ id: String,
        _ source: inout OperatorSource?
    ) async throws(Problem) -> HTTPResponse {
        try self.gate.check(request)
        if let file = self.dashboard?.respond(to: request) { return file }
        let (caller, known) = try self.admit(request, id, &source)
        guard request.path == ["metrics"] || request.path.count >= 2 && request.path[0] == "v1" else {
            throw HostRoutes.notFound
        }
        let methods = Self.methods(of: request.path)
        guard methods.contains(request.method) else {
            throw HostRoutes.methodNotAllowed(methods.joined(separator: ", "))
        }
        try Self.checkQuery(request)
        // The connection sends no body to who asks with HEAD.
        var request = request
        if request.method == "HEAD" { request.method = "GET" }
        if let answer = try await self.change(request, by: known) { return answer }
        let path = request.path
        if path == ["metrics"] { return try await self.metrics() }
        if path[1] == "apps", path.count == 4, path[3] == "dry-runs" { return try await self.dryRun(request, path[2]) }
        return path.count == 2 ? try await self.list(path[1], request, caller) : try await self.item(path, request)
    }

    private func list(
        _ name: String,
        _ request: HTTPRequest,
        _ caller: OperatorCaller
    ) async throws(Problem) -> HTTPResponse {
        switch name {
        case "audit":
            return try await self.answer([("requests", .array(try await self.audit.newest().map { Views.audit($0) }))])
        case "openapi.yaml":
            return HTTPResponse(
                status: 200,
                headers: ["content-type": "application/yaml; charset=utf-8"],
                text: EmbeddedText.openapi_yaml
            )
        case "session": return self.session(caller)
        case "apps": return try await self.appList()
        case "budget": return try await self.budget(request)
        case "clock": return self.clockNow()
        case "config": return try self.configuration()
        case "events": return try self.events(request, caller)
        case "forecast": return try await self.forecast()
        case "history": return try await self.samples(request)
        case "hosts": return try await self.hosts(request)
        case "instances": return try await self.instances(request)
        case "kinds": return try await self.kindList()
        case "log-levels": return self.logLevels()
        case "orders": return try await self.orderList()
        case "partitions": return try await self.partitionList()
        case "providers": return try await self.providerList()
        case "pushes": return try await self.pushes(request)
        case "senders": return try await self.senders()
        case "stats": return HTTPResponse(json: try await self.stats())
        case "upstreams": return try await self.upstreamList()
        default: throw HostRoutes.notFound
        }
    }

    private func item(_ path: [String], _ request: HTTPRequest) async throws(Problem) -> HTTPResponse {
        switch (path[1], path.count) {
        case ("config", 3) where path[2] == "diff": return try await self.configurationDifference()
        case ("hosts", 4): return try await self.host(Self.host(path))
        case ("instances", 4): return try await self.instance(try Self.address(path), request)
        case ("instances", 5) where path[4] == "why": return try await self.why(try Self.address(path), request)
        case ("kinds", 3): return try await self.kind(path[2])
        case ("pushes", 3):
            var question = try PushQuestion(path[2], self.liveApps.bounds, self.log)
            question.tellsWhatItWas = true
            return HTTPResponse(json: try await question.ask().json)
        case ("pushes", 4) where path[3] == "decisions": return try await self.decisions(path[2], request)
        case ("pushes", 4) where path[3] == "events":
            let question = try PushQuestion(path[2], self.liveApps.bounds, self.log)
            return try await question.follow(self.followers) { [access = self.access] in
                access.stillHolds(request, for: .read) ? question : nil
            }
        default: throw HostRoutes.notFound
        }
    }

    /// `GET /v1/session`: who asks, and what it may do.
    private func session(_ caller: OperatorCaller) -> HTTPResponse {
        HTTPResponse(
            json: JSONValue.object(of: [
                ("name", .string(caller.name)),
                ("scopes", .strings(OperatorScope.allCases.filter { $0 <= caller.scope }.map(\.rawValue))),
            ])
        )
    }

    /// `GET /v1/senders`: what each sender's pushes have cost and brought.
    private func senders() async throws(Problem) -> HTTPResponse {
        var sums: [SenderView] = []
        for view in try await self.log.askAll({ $0.senders() }).joined() {
            if let index = sums.firstIndex(where: { $0.team == view.team }) {
                sums[index] += view
            } else {
                sums.append(view)
            }
        }
        sums.sort { $0.team.rawValue < $1.team.rawValue }
        let orders = try await self.standingOrders()
        return try await self.answer([
            ("senders", .array(sums.map { Views.sender($0, paused: orders.holding(.sender($0.team))) }))
        ])
    }

    /// The host of a path `/v1/hosts/<app>/<host>`.
    static func host(_ path: [String]) -> HostKey { HostKey(app: BundleID(path[2]), id: HostID(path[3])) }

    /// The instance of a path `/v1/instances/<app>/<host>:<instance>`.
    private static func address(_ path: [String]) throws(Problem) -> InstanceAddress {
        let parts = path[3].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw Problem(.badRequest, "an instance is addressed as /v1/instances/<app>/<host>:<instance>")
        }
        return InstanceAddress(
            host: HostKey(app: BundleID(path[2]), id: HostID(String(parts[0]))),
            instance: InstanceID(String(parts[1]))
        )
    }

    private func instance(_ address: InstanceAddress, _ request: HTTPRequest) async throws(Problem) -> HTTPResponse {
        let decisions = try ListRequest.int(request, "decisions", in: 1...ListRequest.limitMax) ?? 100
        let pending = try ListRequest.int(request, "pending", in: 1...ListRequest.limitMax) ?? ListRequest.limitDefault
        let found = try await self.log.ask(address.host) {
            $0.instance(address, decisions: decisions, pending: pending)
        }
        guard let view = found else {
            throw Problem(.unknownInstance, "there is no instance \(address)")
        }
        guard case .object(let members) = Views.instance(view) else { throw Problem(.internal, "no instance") }
        return try await self.answer(members.map { ($0.name, $0.value) })
    }
}

/// `/livez`, `/readyz` and `/version`: on the ops listener and on the plain listener for probes.
package enum HealthRoutes {
    /// The answer to a probe, or nil if the request is none. It is made of what others have said before, and waits for none.
    package static func respond(to request: HTTPRequest, _ readiness: Readiness) -> HTTPResponse? {
        guard request.method == "GET" || request.method == "HEAD", request.path.count == 1 else { return nil }
        switch request.path[0] {
        case "livez":
            return HTTPResponse(status: 200, text: "alive\n")
        case "readyz":
            let lags = readiness.lags
            let missing = readiness.missing(lags)
            return HTTPResponse(
                status: missing.isEmpty ? 200 : 503,
                json: JSONValue.object(of: [
                    ("ready", .bool(missing.isEmpty)),
                    ("missing", missing.isEmpty ? nil : .strings(missing.map(\.description))),
                    (
                        "checks",
                        JSONValue.object(
                            of: Readiness.Condition.allCases.map { ($0.name, .bool(!missing.contains($0))) }
                        )
                    ),
                    ("partitions", lags.isEmpty ? nil : .array(lags.enumerated().map(Self.json))),
                    ("progress", readiness.progress.map { .string($0) }),
                ])
            )
        case "version":
            return HTTPResponse(
                json: JSONValue.object(of: [
                    ("name", .string("freshet")),
                    ("version", .string(FreshetVersion.current)),
                    ("engine", .count(Engine.version)),
                ])
            )
        default:
            return nil
        }
    }

    private static func json(_ partition: Int, _ lag: PartitionWork.Lag) -> JSONValue {
        JSONValue.object(of: [
            ("partition", .count(partition)),
            ("lag", .unsigned(lag.entries)),
            ("lagSeconds", .double(Double(lag.time.milliseconds) / 1000)),
        ])
    }
}

/// The version of this program; CHANGELOG.md says what each brought.
package enum FreshetVersion {
    package static let current = "0.1.0"
}
