import APNSWire
import Engine
package import HTTPTransport
package import Partitions
package import Serving
import Settings
import WidgetModel

/// The routes of the ops listener: health, version, totals, and questions about one instance or push.
package struct OperatorRoutes: Sendable {
    let doors: OperatorDoors
    let store: OperatedStore
    let traffic: OperatedTraffic
    let credentials: OperatedCredentials
    let targets: OperatedTargets
    private(set) var settings: OperatedSettings
    let watch: GatewayWatch
    let readiness: Readiness
    /// How much of the gateway they tell.
    private(set) var reach = Reach.everything
    /// Which partitions the answer under way lacks; nil where it has to have all.
    private(set) var coverage: Coverage?
    /// Those of these routes.
    package let ownProblems = ProblemCounters()

    var log: CommandLog { self.coverage.map { self.store.log.noting($0) } ?? self.store.log }
    var clock: LogClock { self.store.clock }
    /// Those within reach.
    var apps: ServedApps { self.reach.apps(of: self.settings.apps.apps) }
    var bounds: ServingBounds { self.settings.apps.bounds }

    package init(
        doors: OperatorDoors,
        store: OperatedStore,
        traffic: OperatedTraffic,
        credentials: OperatedCredentials,
        targets: OperatedTargets,
        settings: OperatedSettings,
        watch: GatewayWatch,
        readiness: Readiness
    ) {
        self.doors = doors
        self.store = store
        self.traffic = traffic
        self.credentials = credentials
        self.targets = targets
        self.settings = settings
        self.watch = watch
        self.readiness = readiness
    }

    /// The facts about a request while it is answered.
    private struct Visit {
        /// The request's id.
        let id: String
        /// The source of a change, as soon as it is known, also if it may not make it.
        var source: OperatorSource?

        init(_ request: HTTPRequest) {
            self.id = OperatorRequestID(request).text
        }
    }

    /// Answers a request; never throws, a ``Problem`` becomes its answer.
    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        if let probe = self.probe(request) { return probe }
        var visit = Visit(request)
        let response = await Manners.answer(request, counting: self.ownProblems) { () async throws(Problem) in
            try self.doors.gate.check(request)
            let found = Self.find(request)
            if let page = self.page(found, request) { return page }
            let (route, call) = try self.admit(request, to: found, &visit)
            switch route.endpoint.handler {
            case .page: throw Problem.noRoute
            case .question(let answer):
                let routes = self.asking(within: call.asker.reach)
                try await routes.checkNames(call)
                return try await answer(routes)(call)
            case .change(let prepare, let audit):
                return try await self.carryOut(try prepare(self)(call), for: call, audit)
            }
        }
        return self.signed(response, request, visit)
    }

    /// The answer to a probe, which waits for nothing; nil for any other request. Probes have no secret to learn, and call
    /// the gateway whatever they like.
    package func probe(_ request: HTTPRequest) -> HTTPResponse? {
        guard var response = HealthRoutes.respond(to: request, self.readiness) else { return nil }
        response.headers.append("x-request-id", OperatorRequestID(request).text)
        return response
    }

    /// The answer to a request for a part of the dashboard; nil for any other, and where there is no such part.
    private func page(_ found: Result<Route<OperatorEndpoint>, Problem>, _ request: HTTPRequest) -> HTTPResponse? {
        guard let files = self.doors.dashboard, case .success(let route) = found,
            case .page(let page) = route.endpoint.handler
        else { return nil }
        return page(files, request)
    }

    /// The route of a request. That there is none is told only to those who may ask.
    private static func find(_ request: HTTPRequest) -> Result<Route<OperatorEndpoint>, Problem> {
        Result { () throws(Problem) in try Self.table.route(of: request) }
    }

    /// Judges a request by its head: whether its caller may ask, and how long the body may be.
    package func judge(_ head: HTTPRequest) -> HTTPHeadVerdict {
        guard head.hasReadBody else { return .accepted(bodyBytesMax: self.bounds.hosts.unreadBodyBytesMax) }
        var visit = Visit(head)
        do throws(Problem) {
            try self.doors.gate.check(head)
            return .accepted(bodyBytesMax: try self.admit(head, to: Self.find(head), &visit).call.bodyBytesMax)
        } catch {
            self.ownProblems.add(error.code)
            let response = Manners.finished(HTTPResponse(problem: error), head)
            return .refused(self.signed(response, head, visit))
        }
    }

    /// The route of a request, if its caller may use it.
    private func admit(
        _ request: HTTPRequest,
        to found: Result<Route<OperatorEndpoint>, Problem>,
        _ visit: inout Visit
    ) throws(Problem) -> (route: Route<OperatorEndpoint>, call: OperatorCall) {
        let visitor = try self.doors.access.visitor(of: request)
        let caller = visitor.caller
        let route = try found.get()
        let source = OperatorSource(caller: caller.name, address: request.remoteAddress, request: visit.id)
        // A team's key changes nothing, and writes nothing into the log.
        if route.endpoint.isTold, visitor.reach.isEverything { visit.source = source }
        try OperatorAccess.check(caller, needed: route.endpoint.scope, for: "this request")
        let asker = OperatorAsker(caller: caller, reach: visitor.reach, source: source)
        let call = try route.call(request, by: asker, within: self.bounds)
        try visitor.reach.check(call, route.endpoint.teams)
        return (route, call)
    }

    /// The same routes for one question within a reach. Merged answers leave out the partitions that do not answer, and say so.
    private func asking(within reach: Reach) -> OperatorRoutes {
        var routes = self
        routes.coverage = Coverage(of: self.store.log.partitions)
        guard !reach.isEverything else { return routes }
        routes.reach = reach
        // The configuration and its changes are for operators alone.
        routes.settings.reloading = nil
        return routes
    }

    /// The answer with the request's id. A request that may change something is told in the gateway's own log.
    private func signed(_ response: HTTPResponse, _ request: HTTPRequest, _ visit: Visit) -> HTTPResponse {
        if let source = visit.source { self.doors.audit.tell(request, by: source, status: response.status) }
        var response = response
        response.headers.append("x-request-id", visit.id)
        return response
    }
}

// MARK: - Small answers

extension OperatorRoutes {
    /// `GET /v1/openapi.yaml`
    func document(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: ["content-type": "application/yaml; charset=utf-8"],
            text: EmbeddedText.openapi_yaml
        )
    }

    /// `GET /v1/session`: the caller, and its rights.
    func session(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let caller = call.asker.caller
        return HTTPResponse(
            json: JSONValue.object(of: [
                ("name", .string(caller.name)),
                ("scopes", .strings(OperatorScope.allCases.filter { $0 <= caller.scope }.map(\.rawValue))),
                ("team", self.reach.key.map { .string($0.team.rawValue) }),
            ])
        )
    }

    /// `GET /v1/audit`: the changes and their callers.
    func auditTrail(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        try await self.answer([
            ("requests", .array(try await self.doors.audit.newest().map { Views.audit($0) }))
        ])
    }

    /// `GET /v1/senders`: the costs and outcomes of each sender's pushes.
    func senders(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        var sums: [SenderView] = []
        for view in try await self.log.askEach(SendersQuestion()).flatMap(\.answer) where self.reach.includes(view.team)
        {
            if let index = sums.firstIndex(where: { $0.team == view.team }) {
                sums[index].counts += view.counts
            } else {
                sums.append(view)
            }
        }
        sums.sort { $0.team.rawValue < $1.team.rawValue }
        let orders = try await self.standingOrders()
        return try await self.answer([
            (
                "senders",
                .array(
                    sums.map { row in
                        Views.sender(row.team, row.counts, paused: self.pause(orders.holding(.sender(row.team))))
                    }
                )
            )
        ])
    }

    /// `GET /v1/history/senders`: the same by the hour, the oldest first.
    func senderHours(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let after = try call.instant("after")
        try await self.watch.countSenders(by: self.log)
        let hours = self.watch.history.senderHours(after: after, now: self.clock.now())
        return try await self.answer([
            (
                "hours",
                .array(
                    hours.map { hour in
                        let senders = hour.senders.filter { self.reach.includes($0.key) }.sorted { $0.key < $1.key }
                        return JSONValue.object(of: [
                            ("from", .instant(hour.from)), ("until", .instant(hour.until)),
                            ("senders", .array(senders.map { Views.sender($0.key, $0.value) })),
                        ])
                    }
                )
            )
        ])
    }
}

extension OperatorCall {
    /// The host of a path `/v1/hosts/{app}/{host}`.
    var host: HostKey { HostKey(app: BundleID(self["app"]), id: HostID(self["host"])) }

    /// The instance of a path `/v1/instances/{app}/{instance}`.
    func instance() throws(Problem) -> InstanceAddress {
        guard let (host, instance) = InstanceAddress.parts(self["instance"]) else {
            throw Problem(.badRequest, "give the instance as /v1/instances/<app>/<host>:<instance>")
        }
        return InstanceAddress(host: HostKey(app: BundleID(self["app"]), id: HostID(String(host))), instance: instance)
    }
}
