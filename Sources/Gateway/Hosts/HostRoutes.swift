import APNSWire
import Engine
package import HTTPTransport
import IntentMatching
package import Timelines
package import WidgetModel

/// The routes of the host listener: registration, signals, timelines, event streams, and an app's own requests.
package struct HostRoutes: Sendable {
    private let liveApps: LiveApps
    var apps: ServedApps { self.liveApps.apps }
    let authorizer: HostAuthorizer
    let directory: HostDirectory
    let log: CommandLog
    let streams: HostStreams
    let followers: PushFollowers
    var bounds: ServingBounds { self.liveApps.bounds }
    var limits: HostRouteLimits { self.bounds.hosts }
    /// Nil where no kind has one.
    let providers: TimelineProviders?
    let states: KindStates
    /// Nil where whatever is registered is taken.
    let registry: RegistryWatch?
    package let problems: ProblemCounters

    package init(
        apps: LiveApps,
        authorizer: HostAuthorizer,
        directory: HostDirectory,
        log: CommandLog,
        streams: HostStreams,
        followers: PushFollowers,
        providers: TimelineProviders? = nil,
        states: KindStates = KindStates(),
        registry: RegistryWatch? = nil,
        problems: ProblemCounters = ProblemCounters()
    ) {
        self.liveApps = apps
        self.authorizer = authorizer
        self.directory = directory
        self.log = log
        self.streams = streams
        self.followers = followers
        self.providers = providers
        self.states = states
        self.registry = registry
        self.problems = problems
    }

    /// Answers a request; never throws, a ``Problem`` becomes its answer.
    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        // Hosts that are no web pages name no origin.
        guard let origin = request.headers["origin"] else { return await self.answer(request) }
        let isAllowed = self.liveApps.origins.allows(origin)
        if let preflight = CrossOrigin.preflight(request, isAllowed: isAllowed) {
            return CrossOrigin.marked(preflight, isAllowed ? origin : nil)
        }
        return CrossOrigin.marked(await self.answer(request), isAllowed ? origin : nil)
    }

    /// Judges a request by its head: who asks, and how long the body may be.
    package func judge(_ head: HTTPRequest) -> HTTPHeadVerdict {
        if head.method == "OPTIONS" { return .accepted(bodyBytesMax: self.limits.unreadBodyBytesMax) }
        do throws(Problem) {
            try self.admit(head)
        } catch {
            self.problems.add(error.code)
            let response = HTTPResponse(problem: error)
            guard let origin = head.headers["origin"] else { return .refused(response) }
            let isAllowed = self.liveApps.origins.allows(origin)
            return .refused(CrossOrigin.marked(response, isAllowed ? origin : nil))
        }
        guard head.hasReadBody else { return .accepted(bodyBytesMax: self.limits.unreadBodyBytesMax) }
        let isLarge = head.path[1] == "apps" && (head.path.last == "hosts" || head.path.last == "timelines")
        return .accepted(bodyBytesMax: isLarge ? self.limits.importBytesMax : self.limits.bodyBytesMax)
    }

    /// Refuses who may not ask for what a head says, as the answer to the whole request would.
    private func admit(_ head: HTTPRequest) throws(Problem) {
        let path = head.path
        guard path.count >= 3, path[0] == "v1" else { throw Self.notFound }
        switch (path[1], path.count) {
        case ("hosts", 4...): _ = try self.callerOfHost(head)
        case ("apps", 6) where path[3] == "kinds": _ = try self.callerOfKind(head)
        case ("apps", 4...): _ = try self.callerOfApp(head)
        case ("pushes", 3...): _ = try self.authorizer.caller(of: head)
        default: throw Self.notFound
        }
    }

    private func answer(_ request: HTTPRequest) async -> HTTPResponse {
        do throws(Problem) {
            return try await self.route(request)
        } catch {
            self.problems.add(error.code)
            return HTTPResponse(problem: error)
        }
    }

    private func route(_ request: HTTPRequest) async throws(Problem) -> HTTPResponse {
        let path = request.path
        guard path.count >= 3, path[0] == "v1" else { throw Self.notFound }
        switch (path[1], path.count) {
        case ("hosts", 4...):
            return try await self.routeHost(request, path)
        case ("apps", 6) where path[3] == "kinds":
            return try await self.routeKind(request, path)
        case ("apps", 4...):
            return try await self.routeApp(request, path)
        case ("pushes", 3):
            switch request.method {
            case "GET": return try await self.push(request, path[2])
            case "DELETE": return try await self.cancel(request, path[2])
            default: throw Self.methodNotAllowed("GET, DELETE")
            }
        case ("pushes", 4) where path[3] == "events":
            try Self.allow(request, "GET")
            return try await self.followPush(request, path[2])
        default:
            throw Self.notFound
        }
    }

    private func callerOfHost(_ request: HTTPRequest) throws(Problem) -> (token: DeviceToken, caller: Caller) {
        guard let token = DeviceToken(hex: request.path[2]) else {
            throw Problem(.badRequest, "the host's push token in the path is not hex")
        }
        return (token, try self.authorizer.caller(of: request))
    }

    private func routeHost(_ request: HTTPRequest, _ path: [String]) async throws(Problem) -> HTTPResponse {
        let (token, caller) = try self.callerOfHost(request)
        switch (path[3], path.count) {
        case ("widgets", 4):
            switch request.method {
            case "PUT": return try await self.register(request, token, caller)
            case "GET": return try await self.widgets(token, caller)
            case "DELETE": return try await self.unregister(token, caller)
            default: throw Self.methodNotAllowed("PUT, GET, DELETE")
            }
        case ("widgets", 6) where path[5] == "timeline":
            try Self.allow(request, "PUT")
            return try await self.timeline(request, token, InstanceID(path[4]), caller)
        case ("state", 4):
            try Self.allow(request, "GET")
            return try await self.state(token, caller)
        case ("stack", 4):
            try Self.allow(request, "GET")
            return try await self.stack(request, token, caller)
        case ("suggestions", 4):
            try Self.allow(request, "GET")
            return try await self.suggestions(request, token, caller)
        case ("signals", 4):
            try Self.allow(request, "POST")
            return try await self.signals(request, token, caller)
        case ("events", 4):
            try Self.allow(request, "GET")
            let entry = try self.entry(token, caller)
            let last = request.headers["last-event-id"]
            return try await self.events(.host(entry.host), by: caller, token, lastEventID: last)
        default:
            throw Self.notFound
        }
    }

    private func callerOfApp(_ request: HTTPRequest) throws(Problem) -> (app: ServedApps.App, caller: Caller) {
        // Which apps are served is not told without a credential.
        let caller = try self.authorizer.caller(of: request)
        guard let app = self.apps[BundleID(request.path[2])] else {
            throw Problem(.notFound, "the app \"\(request.path[2])\" is not served here")
        }
        guard case .sender = caller, caller.mayAct(for: nil, of: app.bundle) else {
            throw Problem(
                .forbidden,
                "a provider token of the app's team is needed for this route; \(self.asked(by: caller))"
            )
        }
        return (app, caller)
    }

    private func routeApp(_ request: HTTPRequest, _ path: [String]) async throws(Problem) -> HTTPResponse {
        let (app, caller) = try self.callerOfApp(request)
        switch (path[3], path.count) {
        case ("hosts", 4):
            switch request.method {
            case "POST": return try await self.importHosts(request, app, caller)
            case "GET": return try await self.exportHosts(request, app)
            default: throw Self.methodNotAllowed("GET, POST")
            }
        case ("widgets", 4):
            try Self.allow(request, "GET")
            return try await self.currentConfigurations(request, app)
        case ("reload", 4):
            try Self.allow(request, "POST")
            return try await self.reload(request, app)
        case ("invalidate-relevance", 4):
            try Self.allow(request, "POST")
            return try await self.invalidate(.relevance, request, app)
        case ("invalidate-recommendations", 4):
            try Self.allow(request, "POST")
            return try await self.invalidate(.recommendations, request, app)
        case ("acknowledgements", 4):
            try Self.allow(request, "POST")
            return try await self.acknowledge(request, app)
        case ("events", 4):
            try Self.allow(request, "GET")
            let last = request.headers["last-event-id"]
            return try await self.events(.app(app.bundle), by: caller, lastEventID: last)
        default:
            throw Self.notFound
        }
    }

    static let notFound = Problem(.notFound, "there is no such route; docs/wire.md lists them")

    static func methodNotAllowed(_ allowed: String) -> Problem {
        Problem(.methodNotAllowed, "this route takes \(allowed)", allowed: allowed)
    }

    static func allow(_ request: HTTPRequest, _ method: String) throws(Problem) {
        guard request.method == method else { throw Self.methodNotAllowed(method) }
    }

    /// The host behind a token, if the caller may act for it.
    func entry(_ token: DeviceToken, _ caller: Caller) throws(Problem) -> HostDirectory.Entry {
        switch self.directory.lookup(token) {
        case .bound(let entry):
            // Whose token it is must not be told to untrusted peers: not theirs looks like not there.
            guard caller.mayAct(for: token, of: entry.app) else { throw self.noHost(of: caller) }
            guard entry.instance == nil else {
                throw Problem(.unknownHost, "this is the push token of a control; use the host's own")
            }
            return entry
        case .removed(let app, let reason, let at):
            guard caller.mayAct(for: token, of: app) else { throw self.noHost(of: caller) }
            let what = reason == .leaseEnded ? "the lease ended" : "the push token was removed"
            throw Problem(.gone, "\(what) at \(RFC3339.text(of: at) ?? ""); register again")
        case .unknown: throw self.noHost(of: caller)
        }
    }

    /// There is no such host, or none of the caller's.
    private func noHost(of caller: Caller) -> Problem {
        Problem(.unknownHost, "no host with this push token is registered; \(self.asked(by: caller))")
    }

    /// Who asked, at the end of a sentence that refuses.
    func asked(by caller: Caller) -> String { "this was asked with \(caller.phrase(self.apps))" }

    /// The lines of an NDJSON body; blank ones do not count.
    static func lines(_ body: [UInt8]) -> [ArraySlice<UInt8>] {
        body.split(separator: UInt8(ascii: "\n")).filter { $0.contains { $0 > 0x20 } }
    }

    /// The body as JSON.
    func json(_ request: HTTPRequest) throws(Problem) -> JSONValue {
        try Self.json(request.body, reader: JSONReader(), bytesMax: self.limits.bodyBytesMax)
    }

    static func json(_ bytes: [UInt8], reader: JSONReader, bytesMax: Int) throws(Problem) -> JSONValue {
        do throws(JSONFault) {
            return try reader.parse(bytes, limits: JSONLimits(bytesMax: bytesMax))
        } catch {
            if error.code == .tooLarge { throw Problem(.tooLarge, "at most \(bytesMax) bytes are taken") }
            throw Problem(.malformedJSON, error.description)
        }
    }
}

/// The bounds of the host listener's routes.
package struct HostRouteLimits: Hashable, Sendable {
    /// The longest body of one request, imports excepted. Default 1 MiB.
    package var bodyBytesMax = 1_048_576
    /// The longest body of one import request. Default 16 MiB.
    package var importBytesMax = 16_777_216
    /// The longest body that no route reads. Default 4,096 bytes.
    package var unreadBodyBytesMax = 4096
    /// Lines of one import request. Default 10,000.
    package var importLinesMax = 10_000
    /// Instances of one host. Default 256.
    package var instancesPerHostMax = 256
    /// Entries and digests of timelines; what is advised is for the engine to say.
    package var timelines = TimelineLimits()
    /// Signals or acknowledgements of one request. Default 10,000.
    package var reportsMax = 10_000
    /// Widgets on one page of an app's current configurations. Default 1,000.
    package var pageMax = 1000

    package init() {}
}

extension HTTPRequest {
    /// Whether a route may read the body.
    var hasReadBody: Bool { self.method == "POST" || self.method == "PUT" }
}

extension HTTPResponse {
    /// A JSON answer.
    package init(status: Int = 200, json: JSONValue) {
        self.init(status: status, headers: ["content-type": "application/json"], body: .bytes(json.jsonText))
    }

    /// JSON, a value a line.
    package init(lines: some Sequence<JSONValue>) {
        var text: [UInt8] = []
        for line in lines {
            line.append(to: &text)
            text.append(UInt8(ascii: "\n"))
        }
        self.init(status: 200, headers: ["content-type": "application/x-ndjson"], body: .bytes(text))
    }

    package init(problem: Problem) {
        self.init(
            status: problem.code.status,
            headers: ["content-type": "application/problem+json"],
            body: .bytes(problem.json.jsonText)
        )
        if problem.code.status == 401 { self.headers["www-authenticate"] = "Bearer" }
        if let allowed = problem.allowed { self.headers["allow"] = allowed }
        switch problem.code {
        case .unavailable, .overShare: self.headers["retry-after"] = String(SenderLimits.retryAfterSeconds)
        case .storageFull: self.headers["retry-after"] = String(StorageWatch.retryAfterSeconds)
        default: break
        }
        if let seconds = problem.retryAfter { self.headers["retry-after"] = String(seconds) }
    }
}
