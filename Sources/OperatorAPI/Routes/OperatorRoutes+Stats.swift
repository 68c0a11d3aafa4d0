import APNSWire
import Engine
import HTTPTransport
import Partitions
import Serving
import Settings
import TLS
import WidgetModel

extension OperatorRoutes {
    /// `GET /v1/stats`: totals over all partitions, with the time and positions they were read at.
    func stats(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        let sum = EngineStats(sumOf: try await self.log.askEach(TotalsQuestion()).map(\.answer))
        let (matched, outcomes) = (sum.matched, sum.outcomes)
        let final = PushOutcome.allCases.filter(\.isFinal).reduce(0) { $0 + outcomes[$1] }
        let progress = await self.log.progressOfAll()
        let freshness = Views.freshness(try await self.behind())
        return HTTPResponse(ofNow: [
            ("asOf", .instant(self.clock.now())),
            ("partial", self.coverage?.json),
            ("startedAt", .instant(self.watch.startedAt)),
            ("ready", .bool(self.readiness.isReady)),
            ("missing", .strings(self.readiness.sentences(self.readiness.missing))),
            ("configuration", self.settings.reloading.map { Self.configuration($0.report, isInForce: $0.isDecidedBy) }),
            (
                "partitions",
                .array(
                    progress.map { progress in
                        JSONValue.object(of: [
                            ("partition", .count(Int(progress.partition.rawValue))),
                            ("applied", .unsigned(progress.applied.rawValue)),
                            ("lag", .unsigned(progress.lag)),
                            ("lagSeconds", .double(Double(progress.lagTime.milliseconds) / 1000)),
                            ("failed", .bool(progress.hasFailed)),
                        ])
                    }
                )
            ),
            ("freshness", freshness),
            ("registry", JSONValue.object(of: sum.members(of: .registry))),
            (
                "pushes",
                JSONValue.object(
                    of: sum.members(of: .pushes) + [
                        ("outcomes", Views.outcomes(outcomes)),
                        ("final", .count(final)),
                        // The books: matched = final + deferred + issued, at every instant.
                        ("balanced", .bool(matched == final + outcomes[.deferred] + outcomes[.issued])),
                    ]
                )
            ),
            ("reloads", Self.reloads(sum, self.watch.history.recentFreshness())),
            ("http", self.http()),
            ("listeners", Self.listeners(await self.traffic.listeners.counters())),
            (
                "providerKeys",
                JSONValue.object(of: [
                    ("count", .count(self.credentials.providerKeys.count)),
                    ("refusal", self.credentials.providerKeys.refusal.map { .string($0) }),
                ])
            ),
            (
                "clientCertificates",
                Self.revocations(self.credentials.clientCertificates.revocations, now: self.clock.now())
            ),
            (
                "paused",
                JSONValue.object(of: Self.paused(try await self.standingOrders()).map { ($0.name, .count($0.count)) })
            ),
            ("deliveries", await self.deliveries()),
            ("feed", self.feed()),
            ("snapshots", self.snapshotCounters()),
            ("storage", self.storageSizes()),
            ("decisionStore", self.decisionCounts()),
            ("fairness", self.shares()),
            ("memory", try await self.memorySizes()),
            ("tls", .array(self.credentials.certificates.current.map { Self.certificate($0, now: self.clock.now()) })),
        ])
    }

    /// The result of reading the configuration last.
    private static func configuration(_ report: ConfigurationReload.Report, isInForce: Bool) -> JSONValue {
        JSONValue.object(of: [
            ("loadedAt", .instant(report.at)),
            ("result", .string(report.faults.isEmpty ? "loaded" : "refused")),
            ("faults", .count(report.faults.count)),
            ("isInForce", .bool(isInForce)),
        ])
    }

    private static func certificate(_ view: ServerCertificates.View, now: Instant) -> JSONValue {
        let end = view.certificate.notAfter
        return JSONValue.object(of: [
            ("listener", .string(view.listener)),
            ("commonName", view.certificate.commonName.map { .string($0) }),
            ("fingerprint", .string(Base16.text(of: view.certificate.sha256Fingerprint))),
            ("notAfter", .instant(end)),
            // Negative once it has ended.
            ("secondsLeft", .int((end - now).milliseconds / 1000)),
            ("replaced", .count(view.replaced)),
            ("refusal", view.refusal.map { .string($0) }),
        ])
    }

    /// The readers of `GET /v1/events`, and how often each of its limits was met.
    private func feed() -> JSONValue {
        let feed = self.watch.feed
        return JSONValue.object(of: [
            ("readers", .count(feed.count)),
            ("refused", .count(feed.refused)),
            ("cutOff", .count(feed.cutOff)),
            ("gaps", .count(feed.gaps)),
            ("reloadsNotShown", .count(feed.reloadsNotShown)),
        ])
    }

    private static func revocations(_ revocations: ClientCertificates.Revocations, now: Instant) -> JSONValue {
        let due = revocations.nextUpdate
        return JSONValue.object(of: [
            ("revoked", .count(revocations.count)),
            ("nextUpdate", due.map { .instant($0) }),
            // Negative once the list should have been renewed.
            ("secondsLeft", due.map { .int(($0 - now).milliseconds / 1000) }),
            ("refusal", revocations.refusal.map { .string($0) }),
        ])
    }

    private static func reloads(
        _ sum: EngineStats,
        _ recent: (length: Interval, freshness: Freshness)?
    ) -> JSONValue {
        JSONValue.object(
            of: sum.members(of: .reloads) + [
                ("freshness", Self.freshness(sum.freshness, recent)),
                ("byCause", Self.nonzero(sum.byCause)),
                ("exempt", Self.nonzero(sum.byExemption)),
            ]
        )
    }

    /// How old news was when hosts said that they show it: ever, and in the last minutes.
    private static func freshness(
        _ all: Freshness,
        _ recent: (length: Interval, freshness: Freshness)?
    ) -> JSONValue {
        let last = recent.map { recent in
            JSONValue.object(
                of: [("seconds", .int(recent.length.milliseconds / 1000))] + Self.quantiles(recent.freshness)
            )
        }
        return JSONValue.object(of: Self.quantiles(all) + [("recent", last)])
    }

    private static func quantiles(_ freshness: Freshness) -> [(String, JSONValue?)] {
        [
            ("shown", .count(freshness.count)),
            ("p50Milliseconds", freshness.quantile(50).map { .int($0.milliseconds) }),
            ("p95Milliseconds", freshness.quantile(95).map { .int($0.milliseconds) }),
        ]
    }

    static func nonzero(_ counts: [(String, Int)]) -> JSONValue {
        JSONValue.object(of: counts.map { ($0.0, $0.1 == 0 ? nil : .count($0.1)) })
    }

    private func http() -> JSONValue {
        let bad = self.traffic.counters.badCredentials(at: PushCounters.second)
        return JSONValue.object(of: [
            ("accepted", .count(self.traffic.counters.accepted)),
            ("unavailable", .count(self.traffic.counters.unavailable)),
            ("rejected", JSONValue.object(of: self.traffic.counters.rejected.map { ($0.0.rawValue, .count($0.1)) })),
            (
                "badCredentials",
                JSONValue.object(of: [
                    ("withinMinute", .count(bad.withinMinute)),
                    ("keepComing", .bool(bad.keepComing)),
                    ("peer", bad.peer.isEmpty ? nil : .string(bad.peer)),
                ])
            ),
            ("tooManyMatched", .count(self.traffic.counters.tooManyMatched)),
            ("tokensVerified", .count(self.traffic.counters.verified)),
            ("problems", JSONValue.object(of: self.traffic.problems.all.map { ($0.0.rawValue, .count($0.1)) })),
            (
                "rateLimited",
                JSONValue.object(of: [
                    ("app", .count(self.traffic.senderLimits.counters[.app])),
                    ("key", .count(self.traffic.senderLimits.counters[.key])),
                    ("token", .count(self.traffic.senderLimits.counters[.token])),
                    // Tokens whose rate was forgotten too early: the table of rateLimits.maxTokens is too small.
                    ("forgotten", .count(self.bounds.tokenRates?.forgotten ?? 0)),
                ])
            ),
            ("inFlight", .count(self.traffic.senderLimits.backlog.count)),
            ("backlogFull", .count(self.traffic.senderLimits.counters.backlogFull)),
            ("eventStreams", .count(self.traffic.streams.count)),
            ("eventStreamsCutOff", .count(self.traffic.streams.counters.cutOff)),
            ("eventStreamsRotated", .count(self.traffic.streams.counters.rotated)),
            (
                "eventStreamsRefused",
                .count(self.traffic.streams.counters.refused + self.traffic.streams.counters.refusedOfScope)
            ),
            ("eventStreamGaps", .count(self.traffic.streams.counters.gaps)),
            ("pushesFollowed", .count(self.traffic.followers.count)),
            ("tokens", .count(self.traffic.directory.count)),
        ])
    }
}
