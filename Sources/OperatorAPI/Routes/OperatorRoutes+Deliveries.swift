import Engine
import HTTPTransport
import Ownership
import Serving
import WidgetModel

extension OperatorRoutes {
    /// `deliveries` of `GET /v1/stats`: the outgoing HTTP requests, and how often each limit was met. Nil within a team's reach, since
    /// these are sums over all.
    func deliveries() async -> JSONValue? {
        guard let outgoing = self.targets.outgoing, self.reach.isEverything else { return nil }
        let figures = await outgoing.figures()
        let client = figures.client
        let limits = HTTPClientLimit.allCases.map { ($0.rawValue, client.limits[$0]) }
        return JSONValue.object(of: [
            ("isOff", outgoing.delivers ? nil : .bool(true)),
            ("waiting", .count(figures.waiting)),
            ("inWork", .count(figures.inWork)),
            ("apns", Self.deliveries(figures.counters[.apns] ?? DeliveryCounters())),
            ("webhook", Self.deliveries(figures.counters[.webhook] ?? DeliveryCounters())),
            ("providerTokensMinted", .count(figures.tokensMinted)),
            (
                "relay",
                JSONValue.object(of: [
                    ("answered", .count(figures.relayed)),
                    ("unanswered", .count(figures.relaysUnanswered)),
                ])
            ),
            (
                "client",
                JSONValue.object(of: [
                    ("targets", .count(client.targets)),
                    ("connections", .count(client.connections)),
                    ("requestsInWork", .count(client.requestsInWork)),
                    ("requests", .count(client.requests)),
                    ("responses", .count(client.responses)),
                    ("connectionsOpened", .count(client.connectionsOpened)),
                    ("connectsFailed", .count(client.connectsFailed)),
                    ("pings", .count(client.pings)),
                    ("goAways", .count(client.goAways)),
                    ("refused", .count(client.refused)),
                    ("resent", .count(client.resent)),
                    ("broken", .count(client.broken)),
                    ("limits", Self.nonzero(limits)),
                ])
            ),
        ])
    }

    private static func deliveries(_ counters: DeliveryCounters) -> JSONValue {
        JSONValue.object(of: [
            ("tries", .count(counters.tries)),
            ("delivered", .count(counters.delivered)),
            ("refused", .count(counters.refused)),
            ("gone", .count(counters.gone)),
            ("again", .count(counters.again)),
            ("troubles", .count(counters.troubles)),
            ("expired", .count(counters.expired)),
            ("dropped", .count(counters.dropped)),
            ("deferred", .count(counters.deferred)),
            ("lastTrouble", counters.lastTrouble.map { .string($0.reason) }),
            ("lastTroubleAt", counters.lastTrouble.map { .instant($0.at) }),
            ("lastRefusal", counters.lastRefusal.map { .string($0.reason) }),
            ("lastRefusalAt", counters.lastRefusal.map { .instant($0.at) }),
        ])
    }
}
