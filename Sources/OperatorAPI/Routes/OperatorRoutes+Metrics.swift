import APNSWire
import Engine
import HTTPTransport
import Ownership
import Partitions
import Serving
import Settings
import WidgetModel

/// `GET /metrics`: Prometheus text. The configuration and fixed lists bound the labels: never a token, an instance, a
/// host or a sender.
extension OperatorRoutes {
    func metrics(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        var text = PrometheusText()
        text.add(
            "freshet_build_info",
            .gauge,
            "Version of the program and of its decision rules.",
            [(labels: [("version", FreshetVersion.current), ("engine", "\(Engine.version)")], value: 1)]
        )
        text.add("freshet_ready", .gauge, "Whether the gateway is ready.", self.readiness.isReady ? 1 : 0)
        text.add(
            "freshet_ready_condition",
            .gauge,
            "Whether each condition of readiness is met.",
            by: "condition",
            Readiness.Condition.allCases.map { ("\($0.name)", self.readiness.missing.contains($0) ? 0 : 1) }
        )
        if let reloading = self.settings.reloading {
            text.add(
                "freshet_config_last_reload_successful",
                .gauge,
                "Whether the configuration that was last read is in force.",
                reloading.report.faults.isEmpty ? 1 : 0
            )
            text.add(
                "freshet_config_in_force",
                .gauge,
                "Whether partitions decide by this gateway's settings; 0 where another gateway put others in force.",
                reloading.isDecidedBy ? 1 : 0
            )
        }
        text.add(
            "freshet_paused_scopes",
            .gauge,
            "Apps, kinds and senders that operators have paused.",
            by: "scope",
            // A scrape waits for no other node: the alert about partitions without an owner needs it most then.
            Self.paused((try? await self.standingOrders(isPresentOnly: true)) ?? []).map { ($0.name, $0.count) }
        )
        self.addTraffic(&text)
        try await self.addEngine(&text)
        try await self.addBehind(&text)
        await self.addBudgets(&text)
        self.addFindings(&text)
        await self.addEdges(&text)
        await self.addDeliveries(&text)
        await self.addHealth(&text)
        self.addSnapshots(&text)
        self.addStorage(&text)
        self.addCluster(&text)
        self.addDecisions(&text)
        self.addMemory(&text)
        try await self.addTables(&text)
        self.addLogs(&text)
        ProcessMetrics.add(&text)
        text.add(
            "process_start_time_seconds",
            .gauge,
            "When the gateway was started.",
            Double(self.watch.startedAt.milliseconds) / 1000
        )
        self.addTelemetry(&text)
        return HTTPResponse(
            status: 200,
            headers: ["content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store"],
            text: text.text
        )
    }

    private func addTraffic(_ text: inout PrometheusText) {
        let limited = self.traffic.senderLimits.counters
        let rows =
            [
                ("accepted", self.traffic.counters.accepted), ("unavailable", self.traffic.counters.unavailable),
                ("tooManyMatched", self.traffic.counters.tooManyMatched),
            ] + self.traffic.counters.rejected.map { ($0.0.rawValue, $0.1) }
        text.add(
            "freshet_pushes_received_total",
            .counter,
            "Pushes answered, by result: accepted, or APNs' reason.",
            by: "result",
            rows
        )
        text.add(
            "freshet_rate_limited_total",
            .counter,
            "Pushes refused since they came too fast, by rate limit.",
            by: "scope",
            [("app", limited[.app]), ("key", limited[.key]), ("token", limited[.token])]
        )
        text.add(
            "freshet_pushes_in_flight",
            .gauge,
            "Pushes that wait to be applied.",
            self.traffic.senderLimits.backlog.count
        )
        text.add(
            "freshet_backlog_full_total",
            .counter,
            "Pushes refused since too many waited.",
            limited.backlogFull
        )
        text.add(
            "freshet_push_tokens_sought_total",
            .counter,
            "Pushes to tokens without a host here, about which this gateway asked other gateways.",
            self.traffic.counters.tokensSought
        )
        text.add(
            "freshet_push_tokens_unanswered_total",
            .counter,
            "Pushes refused since a partition did not say whether it has the token.",
            self.traffic.counters.tokensUnanswered
        )
        text.add(
            "freshet_provider_tokens_verified_total",
            .counter,
            "Signatures of provider tokens that were checked.",
            self.traffic.counters.verified
        )
        text.add(
            "freshet_problems_total",
            .counter,
            "Requests refused with a problem, by listener and code, without pushes.",
            [("host", self.traffic.problems), ("ops", self.ownProblems)].flatMap { listener, problems in
                problems.all.map {
                    (labels: [("listener", listener), ("code", $0.0.rawValue)], value: Double($0.1))
                }
            }
        )
    }

    private func addEngine(_ text: inout PrometheusText) async throws(Problem) {
        let totals = try await self.log.askPresent(TotalsQuestion())
        let stats = PartitionStats(of: totals)
        text.add(stats)
        text.add("freshet_outcomes_total", .counter, "Matched instances by final outcome.", by: "outcome", stats) {
            let outcomes = $0.outcomes
            return PushOutcome.allCases.filter(\.isFinal).map { ($0.name, outcomes[$0]) }
        }
        text.add("freshet_failures_total", .counter, "Matched instances that failed, by reason.", by: "reason", stats) {
            let outcomes = $0.outcomes
            return FailureReason.allCases.map { ($0.name, outcomes[$0]) }
        }
        text.add("freshet_deferred", .gauge, "Matched instances that wait for their budget.", stats) {
            $0.outcomes[.deferred]
        }
        text.add("freshet_issued", .gauge, "Matched instances whose reload is outstanding.", stats) {
            $0.outcomes[.issued]
        }
        text.add(
            "freshet_reloads_total",
            .counter,
            "Reloads issued by cause; one with several counts for each.",
            by: "cause",
            stats,
            \.byCause
        )
        text.add(
            "freshet_reloads_exempt_total",
            .counter,
            "Reloads not charged, by exemption.",
            by: "exemption",
            stats,
            \.byExemption
        )
        text.histogram(
            "freshet_freshness_seconds",
            "Time from the accepted push until the host reports that it shows the entry.",
            stats,
            \.freshness
        )
        text.histogram(
            "freshet_acknowledgement_seconds",
            "Time from the issued reload to its acknowledgement.",
            stats,
            \.acknowledgement
        )
        let progress = await self.log.progress()
        func rows(_ value: (OwnerProgress) -> Int) -> [(String, Int)] {
            progress.map { ("\($0.partition.rawValue)", value($0)) }
        }
        text.add(
            "freshet_log_lag_entries",
            .gauge,
            "Entries in the log that are not applied yet.",
            by: "partition",
            rows { Int(clamping: $0.lag) }
        )
        text.add(
            "freshet_log_lag_seconds",
            .gauge,
            "Age of the oldest entry that is not applied yet.",
            progress.map {
                (
                    labels: [("partition", "\($0.partition.rawValue)")],
                    value: Double($0.lagTime.milliseconds) / 1000
                )
            }
        )
        self.addRepeats(&text, totals)
        self.addShares(&text)
        text.add(
            "freshet_log_applied_position",
            .gauge,
            "The last entry applied.",
            by: "partition",
            rows { Int(clamping: $0.applied.rawValue) }
        )
        text.add(
            "freshet_partition_failed",
            .gauge,
            "Whether the partition has stopped.",
            by: "partition",
            rows { $0.hasFailed ? 1 : 0 }
        )
    }

    /// How far back repeats are recognised: with more pushes than `limits.maxRepeatEntries` that grows shorter.
    private func addRepeats(
        _ text: inout PrometheusText,
        _ totals: [(partition: PartitionID, answer: EngineStats)]
    ) {
        let now = self.clock.now()
        text.add(
            "freshet_repeat_window_seconds",
            .gauge,
            "Age of the oldest push whose repeat is recognised.",
            by: "partition",
            totals.map {
                ("\($0.partition)", Int(($0.answer.rememberedSince.map { now - $0 } ?? .zero).milliseconds / 1000))
            }
        )
        text.add(
            "freshet_repeat_window_pushes",
            .gauge,
            "Pushes whose repeats are recognised.",
            by: "partition",
            totals.map { ("\($0.partition)", $0.answer.pushesRemembered) }
        )
    }

    /// The effect of smoothing: when timelines ask for the next one, and when that is done.
    private func addDueTimelines(_ text: inout PrometheusText, _ survey: BudgetSurvey) {
        let due = self.watch.dueTimelines
        text.add(
            "freshet_timelines_due_total",
            .counter,
            "Timelines that ask for a reload, by the date that they asked for and the date after smoothing.",
            by: "date",
            [("asked", due.asked), ("smoothed", due.smoothed)]
        )
        text.add(
            "freshet_timelines_due_peak",
            .gauge,
            "The most of the timelines' reloads in one second of the next hour.",
            by: "date",
            [("asked", Int(survey.asked.max() ?? 0)), ("smoothed", Int(survey.planned.max() ?? 0))]
        )
    }

    private func addBudgets(_ text: inout PrometheusText) async {
        guard let survey = await self.watch.surveys.latest else { return }
        self.addDueTimelines(&text, survey.own)
        let kinds = survey.own.kinds.filter { $0.instances > 0 }
        func rows(_ member: KeyPath<BudgetSurvey.KindRow, Int>) -> [(labels: [(String, String)], value: Double)] {
            kinds.map {
                (labels: [("app", $0.app.rawValue), ("kind", $0.kind.rawValue)], value: Double($0[keyPath: member]))
            }
        }
        text.add("freshet_kind_instances", .gauge, "Instances by kind.", rows(\.instances))
        text.add(
            "freshet_budget_exhausted_instances",
            .gauge,
            "Instances that have used up the budget of their window.",
            rows(\.exhausted)
        )
        text.add("freshet_waiting_instances", .gauge, "Instances for which a push or a reload waits.", rows(\.waiting))
        var left = Array(repeating: 0, count: BudgetSurvey.leftRows)
        for kind in kinds { for index in left.indices { left[index] += kind.left[index] } }
        let tenth = 100 / BudgetSurvey.leftRows
        text.add(
            "freshet_budget_left_instances",
            .gauge,
            "Instances by percent of the allowance that is left.",
            by: "percent",
            left.enumerated().map { ("\($0.offset * tenth)-\(($0.offset + 1) * tenth)", $0.element) }
        )
    }

    private func addFindings(_ text: inout PrometheusText) {
        text.add(
            "freshet_timeline_findings_total",
            .counter,
            "Findings about timelines, by kind and code.",
            self.targets.states.counts.map { key, code, count in
                (
                    labels: [("app", key.app.rawValue), ("kind", key.kind.rawValue), ("code", code)],
                    value: Double(count)
                )
            }
        )
    }

    private func addEdges(_ text: inout PrometheusText) async {
        let listeners = await self.traffic.listeners.counters()
        func rows(_ member: KeyPath<HTTPListenerCounters, Int>) -> [(String, Int)] {
            listeners.map { ($0.name, $0.counters[keyPath: member]) }
        }
        text.add("freshet_connections", .gauge, "Connections open.", by: "listener", rows(\.connections))
        text.add(
            "freshet_connections_allowance",
            .gauge,
            "Connections that these listeners may have open together, by the process's limit of open files.",
            by: "listener",
            listeners.compactMap { name, counters in counters.allowance.map { (name, $0) } }
        )
        text.add(
            "freshet_connections_refused_total",
            .counter,
            "Connections refused by a limit.",
            by: "listener",
            rows(\.connectionsRefused)
        )
        text.add(
            "freshet_connections_cut_off_total",
            .counter,
            "Connections that a limit has ended, by its key in the configuration.",
            listeners.flatMap { name, counters in
                counters.cutOff.map { (labels: [("listener", name), ("limit", $0.limit)], value: Double($0.times)) }
            }
        )
        Self.addRequests(&text, listeners)
        text.add("freshet_event_streams", .gauge, "Event streams open.", self.traffic.streams.count)
        let streams = self.traffic.streams.counters
        text.add(
            "freshet_event_streams_ended_total",
            .counter,
            "Event streams that the gateway ended, by reason.",
            by: "reason",
            [("slow", streams.cutOff), ("rotated", streams.rotated)]
        )
        text.add(
            "freshet_event_stream_gaps_total",
            .counter,
            "Readers that had missed too many events, and got the event gap.",
            streams.gaps
        )
        text.add(
            "freshet_certificate_expiry_timestamp_seconds",
            .gauge,
            "When each listener's certificate ends.",
            self.credentials.certificates.current.map {
                (
                    labels: [("listener", $0.listener)],
                    value: Double($0.certificate.notAfter.milliseconds) / 1000
                )
            }
        )
    }

    private func addDeliveries(_ text: inout PrometheusText) async {
        guard let outgoing = self.targets.outgoing else { return }
        let figures = await outgoing.figures()
        text.add("freshet_deliveries_waiting", .gauge, "Deliveries by HTTP that wait.", figures.waiting)
        var rows: [(labels: [(String, String)], value: Double)] = []
        for (way, delivery) in [("apns", HostDelivery.apns), ("webhook", .webhook)] {
            let counters = figures.counters[delivery] ?? DeliveryCounters()
            let results = [
                ("delivered", counters.delivered), ("refused", counters.refused), ("gone", counters.gone),
                ("again", counters.again), ("trouble", counters.troubles), ("expired", counters.expired),
                ("dropped", counters.dropped),
            ]
            rows += results.map { (labels: [("delivery", way), ("result", $0.0)], value: Double($0.1)) }
        }
        text.add("freshet_deliveries_total", .counter, "Deliveries by HTTP, by result.", rows)
        let client = figures.client
        text.add("freshet_upstream_connections", .gauge, "Connections to upstreams and webhooks.", client.connections)
        text.add("freshet_upstream_goaways_total", .counter, "GOAWAYs from upstreams.", client.goAways)
        text.add("freshet_upstream_connects_failed_total", .counter, "Connects that failed.", client.connectsFailed)
    }
}
