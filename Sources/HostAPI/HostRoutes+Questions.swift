import APNSWire
import Engine
import HTTPTransport
import IntentMatching
import Partitions
import Serving
import Timelines
import WidgetModel

extension HostRoutes {
    /// `GET /v1/apps/<bundle-id>/widgets`: `getCurrentConfigurations` over an app, paged, with kind and match filters.
    func currentConfigurations(_ call: Call<AppAsker>) async throws(Problem) -> HTTPResponse {
        let app = call.asker.app
        let kind = call.query("kind").map { WidgetKind($0) }
        if let kind, app.schema(of: kind) == nil {
            throw Problem(.unknownKind, "the app has no kind \"\(kind)\"", path: "kind")
        }
        var pattern: MatchPattern?
        if let match = call.query("match") {
            let value = try JSONReader().value(of: Array(match.utf8), bytesMax: self.limits.bodyBytesMax)
            pattern = try app.pattern(value, kind, self.bounds.patterns)
        }
        let limit = try self.pageLimit(call)
        let cursor = try call.cursor("from", below: self.log.rowBounds)
        let widgets = WidgetList(of: app.bundle, kind: kind, matching: pattern)
        let page = try await self.log.walk(widgets, from: cursor, limit: limit)
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

    /// Rows of a page where none asks for more or fewer.
    private static let pageDefault = 100

    func pageLimit<Asker>(_ call: Call<Asker>) throws(Problem) -> Int {
        let max = self.limits.pageMax
        return try call.int("limit", in: 1...max) ?? min(Self.pageDefault, max)
    }

    /// `GET /v1/pushes/<apns-id>` for a sender: the outcomes of a push of its team.
    func push(_ call: Call<Caller>) async throws(Problem) -> HTTPResponse {
        HTTPResponse(json: try await self.question(call).ask().json)
    }

    /// `GET /v1/pushes/<apns-id>/events` for a sender: a receipt, without asking again and again.
    func followPush(_ call: Call<Caller>) async throws(Problem) -> HTTPResponse {
        let question = try self.question(call)
        return try await question.follow(self.updates.followers) { [authorizer = self.authorizer] in
            authorizer.present(call.asker).map { question.put(by: $0) }
        }
    }

    private func question(_ call: Call<Caller>) throws(Problem) -> PushQuestion {
        guard let sender = call.asker.sender else {
            throw Problem(
                .forbidden,
                "the outcomes of pushes need a provider token; \(self.asked(by: call.asker))"
            )
        }
        return try PushQuestion(call["push"], of: sender, self.bounds, self.log)
    }
}

extension HostRoutes {
    /// `GET /v1/hosts/<token>/stack`: the host's widgets in the order of a Smart Stack, at the log's time or at `at`.
    func stack(_ call: Call<HostAsker>) async throws(Problem) -> HTTPResponse {
        let entry = try await self.entry(call.asker)
        let question = StackQuestion(entry.host, at: try call.instant("at"))
        guard let answer = try await self.log.ask(question) else {
            throw Problem(.unknownHost, "no host with this push token is registered")
        }
        return HTTPResponse(json: Views.stack(answer.stack, at: answer.at))
    }

    /// `DELETE /v1/pushes/<apns-id>`: the sender takes a push back where it still waits.
    func cancel(_ call: Call<Caller>) async throws(Problem) -> HTTPResponse {
        let question = try self.question(call)
        guard let sender = question.sender else { throw Problem.noRoute }
        let seen = try await question.views()
        let all = try await self.log.askAll(PushesQuestion([question.id], of: sender.team)).joined()
        var cancelled = 0
        for app in Set(seen.compactMap(\.app)).sorted() {
            // One order takes back all with this id: also one of a kind that the key is not for.
            guard all.allSatisfy({ $0.app != app || sender.maySee($0) }) else {
                throw Problem(.forbidden, "the key may not send all pushes of \(app) with this apns-id")
            }
            cancelled += try await self.log.carryOut(OperatorOrder(.cancel, .push(question.id, sender.team, app)))
        }
        return HTTPResponse(json: JSONValue.object(of: [("cancelled", .count(cancelled))]))
    }
}
