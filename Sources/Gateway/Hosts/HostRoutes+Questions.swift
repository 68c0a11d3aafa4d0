import APNSWire
import Engine
import HTTPTransport
import IntentMatching
import Timelines
import WidgetModel

extension HostRoutes {
    /// `GET /v1/apps/<bundle-id>/widgets`: `getCurrentConfigurations` over an app, paged, with kind and match filters.
    func currentConfigurations(_ request: HTTPRequest, _ app: ServedApps.App) async throws(Problem) -> HTTPResponse {
        let kind = request.query("kind").map { WidgetKind($0) }
        if let kind, app.schema(of: kind) == nil {
            throw Problem(.unknownKind, "the app has no kind \"\(kind)\"", path: "kind")
        }
        var pattern: MatchPattern?
        if let match = request.query("match") {
            let value = try Self.json(Array(match.utf8), reader: JSONReader(), bytesMax: self.limits.bodyBytesMax)
            pattern = try Self.pattern(value, kind, app)
        }
        let limit = try self.pageLimit(request)
        let from = request.query("from").map { InstanceAddress($0) }
        if case .some(nil) = from { throw Problem(.badRequest, "expected the `next` of the page before", path: "from") }
        let bundle = app.bundle
        let chosen = pattern
        // Each partition gives its first `limit` widgets from the cursor on; the first of all of them are the page.
        let pages = try await self.log.askAll {
            $0.widgets(app: bundle, kind: kind, pattern: chosen, from: from ?? nil, limit: limit)
        }
        let widgets = pages.flatMap(\.widgets).sorted { Self.address($0) < Self.address($1) }
        let page = widgets.prefix(limit)
        let next = (widgets.dropFirst(limit).prefix(1).map { Self.address($0) } + pages.compactMap(\.next)).min()
        return HTTPResponse(
            json: JSONValue.object(of: [
                (
                    "widgets",
                    .array(
                        page.map { widget in
                            guard case .object(let members) = Views.instance(widget.registration) else { return .null }
                            let host = JSONValue.Member(name: "host", value: .string(widget.host.rawValue))
                            return .object([host] + members)
                        }
                    )
                ),
                ("next", next.map { .string($0.description) }),
            ])
        )
    }

    private static func address(_ widget: WidgetsPage.Widget) -> InstanceAddress {
        InstanceAddress(host: widget.host, instance: widget.registration.id)
    }

    private func pageLimit(_ request: HTTPRequest) throws(Problem) -> Int {
        guard let text = request.query("limit") else { return min(100, self.limits.pageMax) }
        guard let limit = Int(text), (1...self.limits.pageMax).contains(limit) else {
            throw Problem(.badRequest, "expected 1 to \(self.limits.pageMax)", path: "limit")
        }
        return limit
    }

    /// `GET /v1/pushes/<apns-id>` for a sender: what became of a push of its team.
    func push(_ request: HTTPRequest, _ text: String) async throws(Problem) -> HTTPResponse {
        guard let sender = try self.authorizer.caller(of: request).sender else {
            throw Problem(.forbidden, "a provider token is needed to ask about pushes")
        }
        return try await PushQuestion.answer(text, team: sender.team, self.log)
    }
}

extension HostRoutes {
    /// `GET /v1/hosts/<token>/stack`: the host's widgets in the order of a Smart Stack, at the log's time or at `at`.
    func stack(_ request: HTTPRequest, _ token: DeviceToken, _ caller: Caller) async throws(Problem) -> HTTPResponse {
        let entry = try self.entry(token, caller)
        var asked: Instant?
        if let text = request.query("at") {
            do throws(RFC3339.Fault) {
                asked = try RFC3339.parse(text)
            } catch {
                throw Problem(.badRequest, "expected an RFC 3339 date: \(error.sentence)", path: "at")
            }
        }
        let (host, at) = (entry.host, asked)
        let answer = try await self.log.ask(host) { engine in
            let now = at ?? engine.time
            return engine.stack(of: host, at: now).map { (stack: $0, at: now) }
        }
        guard let answer else { throw Problem(.unknownHost, "no host with this push token is registered") }
        return HTTPResponse(json: Views.stack(answer.stack, at: answer.at))
    }

    /// `DELETE /v1/pushes/<apns-id>`: the sender takes a push back where it still waits.
    func cancel(_ request: HTTPRequest, _ text: String) async throws(Problem) -> HTTPResponse {
        guard let sender = try self.authorizer.caller(of: request).sender else {
            throw Problem(.forbidden, "a provider token is needed to take a push back")
        }
        guard let id = PushID(text) else { throw Problem(.badRequest, "an apns-id is a UUID") }
        let cancelled = try await self.log.carryOut(OperatorOrder(.cancel, .push(id, sender.team)))
        return HTTPResponse(json: JSONValue.object(of: [("cancelled", .count(cancelled))]))
    }
}

/// What became of a push, for its sender and for operators.
enum PushQuestion {
    /// - Parameters:
    ///   - text: The `apns-id`.
    ///   - team: Whose pushes may be seen, nil for everybody's.
    static func answer(_ text: String, team: TeamID?, _ log: CommandLog) async throws(Problem) -> HTTPResponse {
        guard let id = PushID(text) else { throw Problem(.badRequest, "an apns-id is a UUID") }
        let answers = try await log.askAll { (engine) -> [PushView] in
            if let team { return engine.push(id, team: team) }
            return engine.push(id)
        }
        // One id may stand for several pushes, by content or by team: the newest is the answer, the others are beside.
        var pushes: [[PushView]] = []
        for view in answers.joined() {
            if let index = pushes.firstIndex(where: { $0[0].team == view.team && $0[0].contentHash == view.contentHash }
            ) {
                pushes[index].append(view)
            } else {
                pushes.append([view])
            }
        }
        pushes.sort { $0[0].acceptedAt > $1[0].acceptedAt }
        let found = pushes.compactMap { Views.push($0, partitions: log.partitions) }
        guard let first = found.first, case .object(let members) = first else {
            throw Problem(.notFound, "no push with this apns-id is known: never accepted, or longer ago than is kept")
        }
        guard found.count > 1 else { return HTTPResponse(json: first) }
        let others = JSONValue.Member(name: "others", value: .array(Array(found.dropFirst())))
        return HTTPResponse(json: .object(members + [others]))
    }
}
