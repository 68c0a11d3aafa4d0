import APNSWire
import Engine
import HTTPTransport
import History
import Partitions
import Serving
import WidgetModel

/// Lists of instances, hosts and pushes.
extension OperatorRoutes {
    /// An answer's first members: the log's time, and how far each partition was; the latter is about all teams, and told to operators
    /// alone.
    func head() async throws(Problem) -> [(String, JSONValue?)] {
        let all = self.reach.isEverything ? await self.log.progressOfAll() : []
        return [
            ("asOf", .instant(self.clock.now())),
            ("partial", self.coverage?.json),
            (
                "positions",
                .array(
                    all.map { progress in
                        JSONValue.object(of: [
                            ("partition", .count(Int(progress.partition.rawValue))),
                            ("applied", .unsigned(progress.applied.rawValue)),
                        ])
                    }
                )
            ),
        ]
    }

    func answer(_ members: [(String, JSONValue?)]) async throws(Problem) -> HTTPResponse {
        HTTPResponse(ofNow: try await self.head() + members)
    }

    /// `GET /v1/instances`.
    func instances(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        var filter = InstanceFilter(
            app: call.query("app").map { BundleID($0) },
            kind: call.query("kind").map { WidgetKind($0) },
            state: try call.word("state", InstanceFilter.State.allCases.map { ($0.rawValue, $0) })
        )
        if let text = call.query("olderThan") {
            guard filter.state == .behind, let age = HistorySpan.parse(text) else {
                throw Problem(
                    .badRequest,
                    "olderThan takes a length of time, as in 15m or 24h, beside state=behind",
                    path: "olderThan"
                )
            }
            filter.behindSince = self.clock.now() - age
        }
        let filters = self.reach.lists(of: filter.app, among: self.apps).map { app in
            var filter = filter
            filter.app = app
            return filter
        }
        let list = try ListRequest(call, below: self.log.rowBounds(lists: filters.count))
        if let host = call.query("host") {
            guard let app = filter.app else {
                throw Problem(.badRequest, "a host belongs to an app: give the app, too", path: "app")
            }
            let key = HostKey(app: app, id: HostID(host))
            filter.host = key
            let page = try await self.log.ask(self.log.partition(of: key), PageQuestion(filter, limit: .max))
            return try await self.answer([("instances", await self.summaries(page.rows))])
        }
        let page = try await self.log.walk(filters, from: list.cursor, limit: list.limit)
        return try await self.answer([
            ("instances", await self.summaries(page.rows)),
            ("next", page.next.map { .string($0) }),
        ])
    }

    /// `GET /v1/hosts`.
    func hosts(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let app = call.query("app").map { BundleID($0) }
        let hosts = self.reach.lists(of: app, among: self.apps).map { HostList(of: $0) }
        let list = try ListRequest(call, below: self.log.rowBounds(lists: hosts.count))
        let isConnected = try call.flag("connected")
        var page: (rows: [HostSummary], next: String?) = ([], nil)
        if let keys = try await self.namedHosts(call, app) {
            for key in keys {
                if let row = try await self.log.ask(HostSummaryQuestion(key)) { page.rows.append(row) }
            }
        } else {
            page = try await self.log.walk(hosts, from: list.cursor, limit: list.limit)
        }
        let keys = page.rows.map(\.host)
        let streams = zip(self.traffic.streams.open(of: keys), self.traffic.streams.reaches(keys))
        let found = zip(page.rows, streams).filter { row in isConnected.map { $0 == (row.1.0 > 0) } ?? true }
        return try await self.answer([
            ("hosts", .array(found.map { Views.summary($0.0, streams: $0.1.0, isReached: $0.1.1) })),
            ("next", page.next.map { .string($0) }),
        ])
    }

    /// The hosts that a token or an id may be of; nil where neither is asked for.
    private func namedHosts(_ call: OperatorCall, _ app: BundleID?) async throws(Problem) -> [HostKey]? {
        if let text = call.query("token") {
            guard let token = DeviceToken(hex: text) else {
                throw Problem(.badRequest, "expected a whole device token in hex", path: "token")
            }
            guard case .bound(let entry) = try await self.log.lookup(token, in: self.traffic.directory),
                self.reach.includes(entry.app)
            else { return [] }
            let id = call.query("host") ?? entry.host.id.rawValue
            return entry.host.id.rawValue == id && (app ?? entry.app) == entry.app ? [entry.host] : []
        }
        guard let host = call.query("host") else { return nil }
        return (app.map { [$0] } ?? self.apps.apps.map(\.bundle)).map { HostKey(app: $0, id: HostID(host)) }
    }

    /// `GET /v1/hosts/<app>/<host>`.
    func host(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let key = call.host
        guard let view = try await self.log.ask(HostQuestion(key)) else {
            throw Problem(.unknownHost, "there is no host \(key)")
        }
        guard case .object(let members) = Views.registration(view) else { throw Problem(.internal, "no registration") }
        let isReached = view.delivery == .stream ? self.traffic.streams.reaches([key])[0] : nil
        return try await self.answer(members.map { ($0.name, $0.value) } + [("reached", isReached.map { .bool($0) })])
    }
    /// `GET /v1/instances/<app>/<host>:<instance>`.
    func instance(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let address = try call.instance()
        let decisions = try call.int("decisions", in: 1...ListRequest.limitMax) ?? 100
        let pending = try call.int("pending", in: 1...ListRequest.limitMax) ?? ListRequest.limitDefault
        let question = InstanceQuestion(address, decisions: decisions, pending: pending)
        guard var view = try await self.log.ask(question) else {
            throw Problem(.unknownInstance, "there is no instance \(address)")
        }
        let replay = self.replay(of: address.host, isAskedFor: try call.flag("replay") ?? false)
        await self.addEarlier(&view, decisions: decisions)
        guard case .object(let members) = Views.instance(view) else { throw Problem(.internal, "no instance") }
        let cause = await self.cause(of: view)
        return try await self.answer(
            members.map { ($0.name, $0.value) } + [
                ("behind", cause.map { .string($0.rawValue) }), ("replay", replay),
            ]
        )
    }
}

extension HTTPResponse {
    /// A JSON answer that says how something is at this moment, never to be had again.
    init(ofNow members: [(String, JSONValue?)]) {
        self.init(json: JSONValue.object(of: members))
        self.headers.append("cache-control", "no-store")
    }
}
