import Engine
package import HTTPTransport
import IntentMatching
package import Partitions
package import Serving
import WidgetModel

/// The routes of the host listener: registration, signals, timelines, event streams, and an app's own requests.
package struct HostRoutes: Sendable {
    private let liveApps: LiveApps
    var apps: ServedApps { self.liveApps.apps }
    let authorizer: HostAuthorizer
    let directory: any TokenDirectory
    let log: CommandLog
    let updates: HostUpdates
    var streams: HostStreams { self.updates.streams }
    var bounds: ServingBounds { self.liveApps.bounds }
    var limits: HostRouteLimits { self.bounds.hosts }
    var providers: (any TimelineSource)? { self.updates.providers }
    let states: KindStates
    /// Nil where whatever is registered is taken.
    let registry: RegistryWatch?
    package let problems: ProblemCounters

    package init(
        apps: LiveApps,
        authorizer: HostAuthorizer,
        directory: any TokenDirectory,
        log: CommandLog,
        updates: HostUpdates,
        states: KindStates = KindStates(),
        registry: RegistryWatch? = nil,
        problems: ProblemCounters = ProblemCounters()
    ) {
        self.liveApps = apps
        self.authorizer = authorizer
        self.directory = directory
        self.log = log
        self.updates = updates
        self.states = states
        self.registry = registry
        self.problems = problems
    }

    /// Answers a request; never throws, a ``Problem`` becomes its answer.
    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        let origins = self.liveApps.origins
        if let preflight = origins.preflight(request) { return preflight }
        let response = await Manners.answer(request, counting: self.problems) { () async throws(Problem) in
            try await self.admit(request).answer()
        }
        return origins.marked(response, for: request)
    }

    /// Judges a request by its head: the caller's right, and how long the body may be.
    package func judge(_ head: HTTPRequest) -> HTTPHeadVerdict {
        let origins = self.liveApps.origins
        if origins.preflight(head) != nil { return .accepted(bodyBytesMax: self.limits.unreadBodyBytesMax) }
        do throws(Problem) {
            return .accepted(bodyBytesMax: try self.admit(head).bodyBytesMax)
        } catch {
            self.problems.add(error.code)
            return .refused(origins.marked(Manners.finished(HTTPResponse(problem: error), head), for: head))
        }
    }

    /// A request that may be answered, and how.
    private struct Admitted {
        let bodyBytesMax: Int
        let answer: () async throws(Problem) -> HTTPResponse

        init<Asker>(_ call: Call<Asker>, _ routes: HostRoutes, _ handler: @escaping HostEndpoint.Handler<Asker>) {
            self.bodyBytesMax = call.bodyBytesMax
            self.answer = { () async throws(Problem) in try await handler(routes)(call) }
        }
    }

    /// Where a request leads, if the caller may go there.
    private func admit(_ request: HTTPRequest) throws(Problem) -> Admitted {
        let route = try Self.table.route(of: request)
        let bounds = self.bounds
        switch route.endpoint {
        case .host(let handler):
            let asker = HostAsker(token: try Self.token(of: request), caller: try self.authorizer.caller(of: request))
            return Admitted(try route.call(request, by: asker, within: bounds), self, handler)
        case .app(let handler):
            return Admitted(try route.call(request, by: try self.backEnd(request), within: bounds), self, handler)
        case .kind(let handler):
            let asker = try self.member(request, mustBeSender: false)
            return Admitted(try route.call(request, by: asker, within: bounds), self, handler)
        case .provider(let handler):
            let asker = try self.member(request, mustBeSender: true)
            return Admitted(try route.call(request, by: asker, within: bounds), self, handler)
        case .sender(let handler):
            let caller = try self.authorizer.caller(of: request)
            return Admitted(try route.call(request, by: caller, within: bounds), self, handler)
        }
    }

    private static func token(of request: HTTPRequest) throws(Problem) -> DeviceToken {
        guard let token = DeviceToken(hex: request.path[2]) else {
            throw Problem(.badRequest, "the host's push token in the path is not hex")
        }
        return token
    }

    /// The back end of the app in the path.
    private func backEnd(_ request: HTTPRequest) throws(Problem) -> AppAsker {
        // Which apps are served is not told without a credential.
        let caller = try self.authorizer.caller(of: request)
        guard let app = self.apps[BundleID(request.path[2])] else {
            throw Problem(.notFound, "the gateway does not serve the app \"\(request.path[2])\"")
        }
        guard case .sender = caller, caller.mayAct(for: nil, of: app.bundle) else {
            throw Problem(
                .forbidden,
                "this route needs a provider token of the app's team; \(self.asked(by: caller))"
            )
        }
        return AppAsker(app: app, caller: caller)
    }

    /// The caller, who must be of the app in the path, with the kind in it.
    private func member(_ request: HTTPRequest, mustBeSender: Bool) throws(Problem) -> KindAsker {
        let (path, caller) = (request.path, try self.authorizer.caller(of: request))
        guard let app = self.apps[BundleID(path[2])], caller.isOf(app.bundle) else {
            throw Problem(.notFound, "the gateway does not serve the app \"\(path[2])\"; \(self.asked(by: caller))")
        }
        guard let schema = app.schema(of: WidgetKind(path[4])) else {
            throw Problem(.unknownKind, "the app has no kind \"\(path[4])\"")
        }
        if mustBeSender, caller.sender == nil {
            throw Problem(
                .forbidden,
                "this callback needs a provider token of the app's team; \(self.asked(by: caller))"
            )
        }
        return KindAsker(app: app, schema: schema)
    }

    /// The host behind a token, if the caller may act for it.
    func entry(_ asker: HostAsker) async throws(Problem) -> TokenBinding {
        let (token, caller) = (asker.token, asker.caller)
        switch try await self.log.lookup(token, in: self.directory) {
        case .bound(let entry):
            // Untrusted peers must not learn a token's owner: another's token looks like none.
            guard caller.mayAct(for: token, of: entry.app) else { throw self.noHost(of: caller) }
            guard entry.instance == nil else {
                throw Problem(.unknownHost, "this is the push token of a control; use the host's own")
            }
            return entry
        case .removed(let app, let reason, let at):
            guard caller.mayAct(for: token, of: app) else { throw self.noHost(of: caller) }
            guard !reason.isUnderWay(since: at, now: self.authorizer.now) else { throw Problem.tokenMoves }
            let what = reason == .leaseEnded ? "the lease ended" : "the push token was removed"
            throw Problem(.gone, "\(what) at \(RFC3339.text(of: at) ?? ""); register again")
        case .unknown: throw self.noHost(of: caller)
        }
    }

    /// There is no such host, or none of the caller's.
    private func noHost(of caller: Caller) -> Problem {
        Problem(.unknownHost, "no host with this push token is registered; \(self.asked(by: caller))")
    }

    /// The caller, for the end of a sentence that refuses.
    func asked(by caller: Caller) -> String { "the request came with \(caller.phrase(self.apps))" }
}
