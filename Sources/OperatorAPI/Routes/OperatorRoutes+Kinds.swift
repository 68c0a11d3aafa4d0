import APNSWire
import HTTPTransport
import Partitions
import Serving
import TimelineProviding
import Timelines
import WidgetModel

extension OperatorRoutes {
    /// `GET /v1/kinds/<kind>`: the findings about its timelines, and the health of its provider; one for each app that
    /// has a kind of that name.
    func kind(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let kind = WidgetKind(call["kind"])
        var found: [JSONValue] = []
        for app in self.apps.apps where app.schema(of: kind) != nil {
            found.append(JSONValue.object(of: await self.members(of: KindKey(app: app.bundle, kind: kind))))
        }
        guard !found.isEmpty else {
            throw Problem(.notFound, "no app has a kind \"\(kind)\"; GET /v1/kinds lists them")
        }
        return try await self.answer([("kinds", .array(found))])
    }

    /// The findings about a kind's timelines, and the health of its provider.
    func members(of key: KindKey) async -> [(String, JSONValue?)] {
        let findings = self.targets.states[key]
        return [
            ("app", .string(key.app.rawValue)),
            ("kind", .string(key.kind.rawValue)),
            ("timelineProvider", await self.provider(key)),
            ("findings", JSONValue.object(of: findings.counts.map { ($0.code, .count($0.count)) })),
            (
                "recent",
                .array(
                    findings.recent.reversed().map { recent in
                        JSONValue.object(of: [
                            ("at", .instant(recent.at)),
                            ("instance", .string(recent.instance.description)),
                            ("code", .string(recent.finding.code)),
                            ("message", .string(recent.finding.message)),
                        ])
                    }
                )
            ),
        ]
    }

    func provider(_ key: KindKey) async -> JSONValue? {
        guard let view = await self.targets.providers?.view(of: key) else { return nil }
        let counters = view.counters
        let (state, until): (String, Instant?) =
            switch view.breaker {
            case .closed: ("closed", nil)
            case .open(let until, _): ("open", until)
            case .halfOpen: ("halfOpen", nil)
            }
        return JSONValue.object(of: [
            ("breaker", .string(state)),
            ("closedUntil", until.map { .instant($0) }),
            ("waiting", .count(view.waiting)),
            ("requestsInFlight", .count(view.requestsInFlight)),
            ("requests", .count(counters.requests)),
            ("failedRequests", .count(counters.failedRequests)),
            ("answered", .count(counters.answered)),
            ("retries", .count(counters.retries)),
            ("expired", .count(counters.expired)),
            ("overflowed", .count(counters.overflowed)),
            ("neverCalledBack", .count(counters.neverCalled)),
            ("refusedTimelines", .count(view.timelinesRefused)),
            (
                "lastFault",
                view.lastFault.map { fault in
                    JSONValue.object(of: [("at", .instant(fault.at)), ("fault", .string(fault.text))])
                }
            ),
            ("health", Views.health(view.target, now: self.clock.now())),
        ])
    }
}
