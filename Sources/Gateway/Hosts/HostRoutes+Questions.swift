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
            pattern = try Self.pattern(value, kind, app, self.bounds.patterns)
        }
        let limit = try self.pageLimit(request)
        let cursor = try ListRequest.cursor(request, "from", below: self.log.rowBounds)
        let (bundle, chosen) = (app.bundle, pattern)
        let page = try await self.log.walk(from: cursor, limit: limit) { engine, start, limit in
            engine.widgets(
                app: bundle,
                kind: kind,
                pattern: chosen,
                from: start,
                limit: limit,
                scanMax: SearchBudget.stepRows
            )
        }
        return HTTPResponse(
            json: JSONValue.object(of: [
                (
                    "widgets",
                    .array(
                        page.rows.map { widget in
                            guard case .object(let members) = Views.instance(widget.registration) else { return .null }
                            let host = JSONValue.Member(name: "host", value: .string(widget.host.id.rawValue))
                            return .object([host] + members)
                        }
                    )
                ),
                ("next", page.next.map { .string($0) }),
            ])
        )
    }

    func pageLimit(_ request: HTTPRequest) throws(Problem) -> Int {
        guard let text = request.query("limit") else { return min(100, self.limits.pageMax) }
        guard let limit = Int(text), (1...self.limits.pageMax).contains(limit) else {
            throw Problem(.badRequest, "expected 1 to \(self.limits.pageMax)", path: "limit")
        }
        return limit
    }

    /// `GET /v1/pushes/<apns-id>` for a sender: what became of a push of its team.
    func push(_ request: HTTPRequest, _ text: String) async throws(Problem) -> HTTPResponse {
        HTTPResponse(json: try await self.question(try self.authorizer.caller(of: request), text).ask().json)
    }

    /// `GET /v1/pushes/<apns-id>/events` for a sender: a receipt, without asking again and again.
    func followPush(_ request: HTTPRequest, _ text: String) async throws(Problem) -> HTTPResponse {
        let caller = try self.authorizer.caller(of: request)
        let question = try self.question(caller, text)
        return try await question.follow(self.followers) { [authorizer = self.authorizer] in
            authorizer.present(caller).map { question.put(by: $0) }
        }
    }

    private func question(_ caller: Caller, _ text: String) throws(Problem) -> PushQuestion {
        guard let sender = caller.sender else {
            throw Problem(
                .forbidden,
                "a provider token is needed for what became of pushes; \(self.asked(by: caller))"
            )
        }
        return try PushQuestion(text, of: sender, self.bounds, self.log)
    }
}

extension HostRoutes {
    /// `GET /v1/hosts/<token>/stack`: the host's widgets in the order of a Smart Stack, at the log's time or at `at`.
    func stack(_ request: HTTPRequest, _ token: DeviceToken, _ caller: Caller) async throws(Problem) -> HTTPResponse {
        let entry = try self.entry(token, caller)
        let (host, at) = (entry.host, try Self.date(request, "at"))
        let answer = try await self.log.ask(host) { engine in
            let now = at ?? engine.time
            return engine.stack(of: host, at: now).map { (stack: $0, at: now) }
        }
        guard let answer else { throw Problem(.unknownHost, "no host with this push token is registered") }
        return HTTPResponse(json: Views.stack(answer.stack, at: answer.at))
    }

    /// A date in the query, nil if it is not there.
    static func date(_ request: HTTPRequest, _ name: String) throws(Problem) -> Instant? {
        guard let text = request.query(name) else { return nil }
        do throws(RFC3339.Fault) {
            return try RFC3339.parse(text)
        } catch {
            throw Problem(.badRequest, "expected an RFC 3339 date: \(error.sentence)", path: name)
        }
    }

    /// `DELETE /v1/pushes/<apns-id>`: the sender takes a push back where it still waits.
    func cancel(_ request: HTTPRequest, _ text: String) async throws(Problem) -> HTTPResponse {
        let question = try self.question(try self.authorizer.caller(of: request), text)
        guard let sender = question.sender else { throw HostRoutes.notFound }
        let seen = try await question.views()
        let all = try await self.log.askAll { $0.push(question.id, team: sender.team) }.joined()
        var cancelled = 0
        for app in Set(seen.compactMap(\.app)).sorted() {
            // One order takes back all with this id: also one of a kind that the key is not for.
            guard all.allSatisfy({ $0.app != app || sender.maySee($0) }) else {
                throw Problem(.forbidden, "the key is not for all pushes of \(app) with this apns-id")
            }
            cancelled += try await self.log.carryOut(OperatorOrder(.cancel, .push(question.id, sender.team, app)))
        }
        return HTTPResponse(json: JSONValue.object(of: [("cancelled", .count(cancelled))]))
    }
}
