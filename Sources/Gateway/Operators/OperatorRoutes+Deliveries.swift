import Engine
import HTTPTransport
import Synchronization
import Ownership
import WidgetModel

extension OperatorRoutes {
    /// `deliveries` of `GET /v1/stats`: what goes out by HTTP, and how often each limit was met.
    func deliveries() async -> JSONValue? {
        guard let outgoing = self.targets.outgoing else { return nil }
        let stats = await outgoing.deliverer.stats()
        let client = outgoing.client.counters()
        let limits = HTTPClientLimit.allCases.map { ($0.rawValue, client.limits[$0]) }
        return JSONValue.object(of: [
            ("isOff", outgoing.delivers ? nil : .bool(true)),
            ("waiting", .count(stats.waiting)),
            ("inWork", .count(stats.inWork)),
            ("apns", Self.deliveries(stats.counters[.apns] ?? DeliveryCounters())),
            ("webhook", Self.deliveries(stats.counters[.webhook] ?? DeliveryCounters())),
            ("providerTokensMinted", .count(outgoing.plans.tokens.reduce(0) { $0 + $1.tokens.minted })),
            (
                "relay",
                JSONValue.object(of: [
                    ("answered", .count(outgoing.relayed.answered.load(ordering: .relaxed))),
                    ("unanswered", .count(outgoing.relayed.unanswered.load(ordering: .relaxed))),
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
            ("lastTrouble", counters.lastTrouble.map { .string($0) }),
            ("lastRefusal", counters.lastRefusal.map { .string($0) }),
        ])
    }
}
