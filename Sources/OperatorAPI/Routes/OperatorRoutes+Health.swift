import APNSWire
import HTTPTransport
import IntentMatching
import Ownership
import Partitions
import Serving
import TimelineProviding
import WidgetModel

/// How upstreams, webhooks, receivers of receipts and timeline providers do.
extension OperatorRoutes {
    /// Gauges and counters of each target, by app and, for timeline providers, by kind.
    func addHealth(_ text: inout PrometheusText) async {
        let targets = await self.targets.outgoing?.targets() ?? [:]
        for kind in DeliveryTarget.Kind.allCases {
            let views = self.apps.apps.compactMap { app in
                targets[.init(kind: kind, app: app.bundle)].map { ([("app", app.bundle.rawValue)], $0) }
            }
            self.addHealth(&text, kind == .upstream ? .upstream : .webhook, views)
            text.add(
                kind == .upstream ? "freshet_upstream_held" : "freshet_webhook_held",
                .gauge,
                "Whether sending is held back for a while, since the target asked for it or would refuse.",
                views.map { (labels: $0.0, value: $0.1.heldUntil == nil ? 0 : 1) }
            )
        }
        await self.addReceipts(&text)
        var providers: [(labels: [(String, String)], view: ProviderView)] = []
        for app in self.apps.apps {
            for schema in app.schemas {
                let kind = schema.kind
                let key = KindKey(app: app.bundle, kind: kind)
                guard let view = await self.targets.providers?.view(of: key) else { continue }
                providers.append(([("app", app.bundle.rawValue), ("kind", kind.rawValue)], view))
            }
        }
        self.addHealth(&text, .provider, providers.map { ($0.labels, $0.view.target) })
        text.add(
            "freshet_provider_breaker_open",
            .gauge,
            "Whether a timeline provider gets no requests after failures, or one request on trial.",
            providers.map { (labels: $0.labels, value: $0.view.isClosed ? 0 : 1) }
        )
    }

    /// All that have been called, by app.
    package func calledTargets() async -> [CalledTarget] {
        let targets = await self.targets.outgoing?.targets() ?? [:]
        let receivers = await self.targets.outgoing?.receivers() ?? [:]
        var all: [CalledTarget] = []
        func add(_ part: CalledTarget.Part, _ view: TargetView?) {
            if let view { all.append(CalledTarget(part, view.health, isHeld: view.heldUntil != nil)) }
        }
        for app in self.apps.apps {
            let bundle = app.bundle
            add(.upstream(bundle), targets[.init(kind: .upstream, app: bundle)])
            add(.webhook(bundle), targets[.init(kind: .webhook, app: bundle)])
            add(.receipts(bundle), receivers[bundle]?.target)
            for schema in app.schemas {
                let key = KindKey(app: bundle, kind: schema.kind)
                guard let view = await self.targets.providers?.view(of: key) else { continue }
                all.append(CalledTarget(.provider(key), view.target.health, isHeld: !view.isClosed))
            }
        }
        return all
    }

    private func addReceipts(_ text: inout PrometheusText) async {
        let receivers = await self.targets.outgoing?.receivers() ?? [:]
        let views = self.apps.apps.compactMap { app in
            receivers[app.bundle].map { (labels: [("app", app.bundle.rawValue)], view: $0) }
        }
        self.addHealth(&text, .receipts, views.map { ($0.labels, $0.view.target) })
        text.add(
            "freshet_receipts_told_total",
            .counter,
            "Pushes whose receipt the app's receiver has accepted.",
            views.map { (labels: $0.labels, value: Double($0.view.counters.told)) }
        )
        text.add(
            "freshet_receipts_gaps_total",
            .counter,
            "How often pushes may have been removed before the app's receiver got their receipts.",
            views.map { (labels: $0.labels, value: Double($0.view.counters.gaps)) }
        )
    }

    private func addHealth(
        _ text: inout PrometheusText,
        _ names: HealthMetrics,
        _ views: [(labels: [(String, String)], view: TargetView)]
    ) {
        let now = self.clock.now()
        text.add(
            names.lastSuccess,
            .gauge,
            "When it last succeeded; absent until its first success.",
            views.compactMap { labels, view in
                view.health.lastSuccess.map { (labels: labels, value: Double($0.milliseconds) / 1000) }
            }
        )
        text.add(
            names.inTrouble,
            .gauge,
            "1 if most requests of the last half minute failed, or the target asked for a pause of 30 s or more.",
            views.map { (labels: $0.labels, value: $0.view.health.isInTrouble ? 1 : 0) }
        )
        text.add(
            names.requests,
            .counter,
            "Requests that were answered or failed.",
            views.map { (labels: $0.labels, value: Double($0.view.health.attempts)) }
        )
        text.add(
            names.failures,
            .counter,
            "Requests that were refused or failed, by reason.",
            views.flatMap { labels, view in
                view.health.failuresByReason.map { (labels: labels + [("reason", $0.reason)], value: Double($0.count)) }
            }
        )
        text.add(
            names.oldestWaiting,
            .gauge,
            "The age of its oldest waiting item; 0 if nothing waits.",
            views.map { labels, view in
                (labels: labels, value: view.oldest.map { Double(max(0, (now - $0).milliseconds)) / 1000 } ?? 0)
            }
        )
    }
}

/// The names of the metrics of each kind of target.
private struct HealthMetrics {
    let lastSuccess: String
    let inTrouble: String
    let requests: String
    let failures: String
    let oldestWaiting: String

    static let upstream = HealthMetrics(
        lastSuccess: "freshet_upstream_last_success_timestamp_seconds",
        inTrouble: "freshet_upstream_in_trouble",
        requests: "freshet_upstream_requests_total",
        failures: "freshet_upstream_failures_total",
        oldestWaiting: "freshet_upstream_oldest_waiting_seconds"
    )
    static let webhook = HealthMetrics(
        lastSuccess: "freshet_webhook_last_success_timestamp_seconds",
        inTrouble: "freshet_webhook_in_trouble",
        requests: "freshet_webhook_requests_total",
        failures: "freshet_webhook_failures_total",
        oldestWaiting: "freshet_webhook_oldest_waiting_seconds"
    )
    static let receipts = HealthMetrics(
        lastSuccess: "freshet_receipts_last_success_timestamp_seconds",
        inTrouble: "freshet_receipts_in_trouble",
        requests: "freshet_receipts_requests_total",
        failures: "freshet_receipts_failures_total",
        oldestWaiting: "freshet_receipts_oldest_waiting_seconds"
    )
    static let provider = HealthMetrics(
        lastSuccess: "freshet_provider_last_success_timestamp_seconds",
        inTrouble: "freshet_provider_in_trouble",
        requests: "freshet_provider_requests_total",
        failures: "freshet_provider_failures_total",
        oldestWaiting: "freshet_provider_oldest_waiting_seconds"
    )
}

extension ProviderView {
    /// Whether all is well with its breaker.
    var isClosed: Bool {
        switch self.breaker {
        case .closed: true
        case .open, .halfOpen: false
        }
    }
}

extension Views {
    /// The health of a target, and its waiting deliveries.
    static func health(_ view: TargetView, now: Instant) -> JSONValue {
        let health = view.health
        let state =
            health.attempts == 0
            ? "untried" : health.isInTrouble ? "inTrouble" : health.isFailing ? "failing" : "well"
        return JSONValue.object(of: [
            ("state", .string(state)),
            ("troubleSince", health.troubleSince.map { .instant($0) }),
            ("heldUntil", view.heldUntil.map { .instant($0) }),
            ("lastSuccess", health.lastSuccess.map { .instant($0) }),
            ("lastAnswer", health.lastAnswer.map { Self.answer($0) }),
            ("attempts", .count(health.attempts)),
            ("failures", JSONValue.object(of: health.failuresByReason.map { ($0.reason, .count($0.count)) })),
            ("waiting", .count(view.waiting)),
            (
                "oldestWaitingSeconds",
                view.oldest.map { .double(Double(max(0, (now - $0).milliseconds)) / 1000) }
            ),
        ])
    }

    private static func answer(_ answer: TargetHealth.Answer) -> JSONValue {
        let result =
            switch answer.meaning {
            case .success: "success"
            case .refusal: "refusal"
            case .failure: "failure"
            }
        return JSONValue.object(of: [
            ("result", .string(result)),
            ("status", answer.status.map { .count($0) }),
            ("reason", answer.reason.isEmpty ? nil : .string(answer.reason)),
            ("detail", answer.detail.map { .string($0) }),
            ("at", .instant(answer.at)),
        ])
    }
}
