import APNSWire
import Engine
import HTTPTransport
import IntentMatching
import Ownership
import Partitions
import Serving
import Settings
import Timelines
import WidgetModel

/// Apps, kinds, timeline providers, upstreams and partitions.
extension OperatorRoutes {
    /// `GET /v1/apps`.
    func appList(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        let survey = await self.watch.surveys.current()
        let settings = try await self.log.askAnyPresent(InForceQuestion()).settings
        let usages = self.traffic.registry?.view.apps ?? []
        let orders = try await self.standingOrders()
        let board = try await self.behind()
        let amendments = try await self.settings.reloading?.amendments() ?? []
        return try await self.answer([
            self.survey(survey),
            (
                "apps",
                .array(
                    self.apps.apps.map { app in
                        let settings = settings?.apps.first { $0.app == app.bundle }
                        var sum = BudgetSurvey.KindRow(app: app.bundle, kind: WidgetKind(""))
                        for row in survey?.sum.kinds ?? [] where row.app == app.bundle { sum += row }
                        // Not counted yet is not none.
                        let counted = survey.map { _ in sum }
                        let usage = usages.first { $0.app == app.bundle }?.usage
                        return JSONValue.object(of: [
                            ("app", .string(app.bundle.rawValue)),
                            ("team", settings.map { .string($0.team.rawValue) }),
                            ("environment", .string(app.isInDevelopment ? "development" : "production")),
                            ("developerMode", settings.map { .bool($0.developerMode) }),
                            ("deliveries", .strings(app.deliveries.map(\.name))),
                            ("kinds", .strings(app.schemas.map(\.kind.rawValue))),
                            ("hosts", usage.map { .count($0.hosts) }),
                            ("bytes", usage.map { .count($0.bytes) }),
                            ("instances", counted.map { .count($0.instances) }),
                            ("pushEnabled", counted.map { .count($0.pushEnabled) }),
                            ("waiting", counted.map { .count($0.waiting) }),
                            ("exhausted", counted.map { .count($0.exhausted) }),
                            ("freshness", Views.behind(board[app.bundle], board)),
                            ("paused", self.pause(orders.holding(.app(app.bundle)))),
                            ("amendment", amendments[.app(app.bundle)].map { Views.author($0) }),
                        ])
                    }
                )
            ),
        ])
    }

    /// `GET /v1/kinds`: every kind of every app.
    func kindList(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        let survey = await self.watch.surveys.current()
        let settings = try await self.log.askAnyPresent(InForceQuestion()).settings
        let orders = try await self.standingOrders()
        let board = try await self.behind()
        var kinds: [JSONValue] = []
        for app in self.apps.apps {
            for schema in app.schemas {
                let none = BudgetSurvey.KindRow(app: app.bundle, kind: schema.kind)
                let row = survey.map { survey in
                    survey.sum.kinds.first { $0.app == app.bundle && $0.kind == schema.kind } ?? none
                }
                let budget = settings?.apps.first { $0.app == app.bundle }?.kinds
                    .first { $0.schema.kind == schema.kind }?.budget
                kinds.append(
                    JSONValue.object(
                        of: await self.members(of: KindKey(app: app.bundle, kind: schema.kind)) + [
                            ("policy", budget.map { .string($0.name) }),
                            ("instances", row.map { .count($0.instances) }),
                            ("waiting", row.map { .count($0.waiting) }),
                            ("exhausted", row.map { .count($0.exhausted) }),
                            (
                                "freshness",
                                Views.behind(board[KindKey(app: app.bundle, kind: schema.kind)], board)
                            ),
                            ("paused", self.pause(orders.holding(.kind(app.bundle, schema.kind)))),
                        ]
                    )
                )
            }
        }
        return try await self.answer([self.survey(survey), ("kinds", .array(kinds))])
    }

    /// `GET /v1/providers`: how each timeline provider does.
    func providerList(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        var providers: [JSONValue] = []
        for app in self.apps.apps {
            for schema in app.schemas {
                let key = KindKey(app: app.bundle, kind: schema.kind)
                guard case .object(let members) = await self.provider(key) else { continue }
                let names = JSONValue.object(of: [
                    ("name", .string(CalledTarget.Part.provider(key).name)),
                    ("app", .string(app.bundle.rawValue)), ("kind", .string(schema.kind.rawValue)),
                ])
                guard case .object(let first) = names else { continue }
                providers.append(.object(first + members))
            }
        }
        return try await self.answer([("providers", .array(providers))])
    }

    /// `GET /v1/upstreams`: where reloads go by HTTP, and how that goes.
    func upstreamList(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        guard let outgoing = self.targets.outgoing else {
            return try await self.answer([
                ("upstreams", .array([])), ("webhooks", .array([])), ("receipts", .array([])),
            ])
        }
        let wall = LogClock.wallTime()
        let now = self.clock.now()
        let targets = await outgoing.targets()
        func health(_ kind: DeliveryTarget.Kind, _ app: BundleID) -> JSONValue? {
            targets[.init(kind: kind, app: app)].map { Views.health($0, now: now) }
        }
        let upstreams = self.apps.apps.compactMap { app -> JSONValue? in
            guard let upstream = outgoing.upstream(of: app.bundle) else { return nil }
            return JSONValue.object(of: [
                ("name", .string(CalledTarget.Part.upstream(app.bundle).name)),
                ("app", .string(app.bundle.rawValue)),
                ("origin", .string(upstream.origin)),
                ("relay", .string(upstream.relay.rawValue)),
                ("keyID", upstream.tokens.map { .string($0.keyID.rawValue) }),
                ("tokensMinted", upstream.tokens.map { .count($0.minted) }),
                (
                    "tokenAgeSeconds",
                    upstream.tokens?.mintedAt.map { .int(max(0, (wall - $0).milliseconds / 1000)) }
                ),
                ("health", health(.upstream, app.bundle)),
            ])
        }
        let webhooks = self.apps.apps.compactMap { app -> JSONValue? in
            guard let origin = outgoing.webhookOrigin(of: app.bundle) else { return nil }
            return JSONValue.object(of: [
                ("name", .string(CalledTarget.Part.webhook(app.bundle).name)),
                ("app", .string(app.bundle.rawValue)), ("origin", .string(origin)),
                ("health", health(.webhook, app.bundle)),
            ])
        }
        let receivers = await outgoing.receivers()
        let receipts = self.apps.apps.compactMap { app -> JSONValue? in
            guard let origin = outgoing.receiptsOrigin(of: app.bundle) else { return nil }
            let view = receivers[app.bundle]
            return JSONValue.object(of: [
                ("name", .string(CalledTarget.Part.receipts(app.bundle).name)),
                ("app", .string(app.bundle.rawValue)), ("origin", .string(origin)),
                ("told", .count(view?.counters.told ?? 0)), ("gaps", .count(view?.counters.gaps ?? 0)),
                ("health", view.map { Views.health($0.target, now: now) }),
            ])
        }
        let lists = [("upstreams", upstreams), ("webhooks", webhooks), ("receipts", receipts)]
        var members: [(String, JSONValue?)] = lists.map { ($0.0, .array($0.1)) }
        if case .object(let totals)? = await self.deliveries() { members += totals.map { ($0.name, $0.value) } }
        return try await self.answer(members)
    }

    /// `GET /v1/partitions`: how far each is, and its contents.
    func partitionList(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        let progress = Dictionary(
            await self.log.progressOfAll().map { ($0.partition, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let views = try await self.log.askEach(ProgressQuestion())
        return try await self.answer([
            (
                "partitions",
                .array(
                    views.compactMap { partition, view in
                        guard let progress = progress[partition] else { return nil }
                        let number = Int(partition.rawValue)
                        let stats = view.totals
                        return JSONValue.object(of: [
                            ("partition", .count(number)),
                            ("applied", .unsigned(progress.applied.rawValue)),
                            ("announced", .unsigned(progress.announced.rawValue)),
                            ("lag", .unsigned(progress.lag)),
                            ("lagSeconds", .double(Double(progress.lagTime.milliseconds) / 1000)),
                            ("uncommittedEffects", .count(progress.uncommittedEffects)),
                            ("outputChunks", .count(progress.outputChunks)),
                            ("failed", .bool(progress.hasFailed)),
                            ("time", .instant(stats.time)),
                            ("hosts", .count(stats.hosts)),
                            ("instances", .count(stats.instances)),
                            ("pushesAccepted", .count(stats.pushesAccepted)),
                            ("matched", .count(stats.matched)),
                            ("deferred", .count(stats.outcomes[.deferred])),
                            ("issued", .count(stats.outcomes[.issued])),
                            ("timersArmed", .count(stats.timersArmed)),
                            ("nextTimer", view.nextTimer.map { .instant($0) }),
                            ("runningHash", .string(Base16.text(of: Self.bytes(of: view.runningHash)))),
                        ])
                    }
                )
            )
        ])
    }

    private static func bytes(of word: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt64($0)) }
    }
}
