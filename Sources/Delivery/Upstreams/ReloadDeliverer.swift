package import Engine
package import HTTPTransport
import Logging
import Metrics
package import Ownership
package import Partitions
package import Settings
package import WidgetModel

/// Brings reloads to upstreams and webhooks, and logs the results.
///
/// A `DeliveryMachine` decides the actions; this has the clock, the HTTP client, the log and the keys.
package actor ReloadDeliverer {
    private let live: LiveDeliveryPlans
    private let client: HTTPClient
    private let log: CommandLog
    private let clock: @Sendable () -> Instant
    private let telemetry: DeliveryTelemetry
    private var machine: DeliveryMachine
    private var timer = DueTimer()

    /// - Parameters:
    ///   - delivers: False for one that sends nothing, ever: its deliveries wait.
    ///   - clock: The log's time, which expirations are in. Provider tokens go by wall time.
    package init(
        plans: LiveDeliveryPlans,
        settings: GatewayConfiguration.Deliveries,
        client: HTTPClient,
        log: CommandLog,
        delivers: Bool = true,
        clock: @escaping @Sendable () -> Instant,
        telemetry: DeliveryTelemetry
    ) {
        self.live = plans
        self.client = client
        self.log = log
        self.clock = clock
        self.telemetry = telemetry
        self.machine = DeliveryMachine(plans.current.destinations, partitions: log.partitions, settings.machine)
        if !delivers { self.machine.stop() }
    }

    /// Keeps to other settings from now on, its client included.
    package func applySettings(_ settings: GatewayConfiguration.Deliveries) {
        self.client.applyConfiguration(settings.client)
        self.machine.settings = settings.machine
        self.run()
    }

    /// Takes committed effects, those that are for streams excepted.
    package nonisolated func publish(_ effects: [Effect]) {
        let reloads = DeliveryMachine.reloads(in: effects)
        guard !reloads.isEmpty else { return }
        Task { await self.takeReloads(reloads) }
    }

    private func takeReloads(_ reloads: [ReloadEffect]) {
        self.machine.takeReloads(reloads, now: self.clock())
        self.run()
    }

    /// Takes up the reloads that were out before a start.
    package func catchUp() {
        self.machine.catchUp()
        self.run()
    }

    /// A partition has come to this gateway: takes up the outstanding reloads there.
    package func takeUp(_ partition: PartitionID) {
        self.machine.takeUp(partition)
        self.run()
    }

    /// A partition is another gateway's now.
    package func letGo(_ partition: PartitionID) {
        self.machine.letGo(partition)
        self.run()
    }

    /// Starts nothing any more. Deliveries in work are given up; the log has them.
    package func stop() async {
        self.machine.stop()
        self.timer.cancel()
        await self.client.close()
    }

    /// The counters by the way of delivering, and how many deliveries wait and are in work.
    package func stats() -> (counters: [HostDelivery: DeliveryCounters], waiting: Int, inWork: Int) {
        (self.machine.counters, self.machine.counts.waiting, self.machine.counts.inWork)
    }

    /// How each upstream and each webhook of the plans does. Apps of one team with the same upstream share its health.
    package func targets() -> [DeliveryTarget: TargetView] { self.machine.views(now: self.clock()) }

    /// Tries at once the deliveries that wait for some targets, and ends the pauses of these targets.
    package func tryNow(_ targets: Set<DeliveryTarget>) {
        self.machine.tryNow(targets, now: self.clock())
        self.run()
    }

    /// Tries at once the deliveries that wait for the targets that failed last.
    package func tryFailing() {
        self.machine.tryFailing(now: self.clock())
        self.run()
    }

    /// The plans have become others: waiting deliveries go by them, at once where they go to another place or with other credentials.
    package func usePlans(changed: Set<Destination>) {
        self.machine.setDestinations(self.live.current.destinations, changed: changed, now: self.clock())
        self.run()
    }
}

// MARK: - Actions

extension ReloadDeliverer {
    /// Performs the due actions, and sleeps until the next one is due.
    private func run() {
        let now = self.clock()
        while let action = self.machine.next(now: now) { self.perform(action) }
        self.timer.set(self.machine.nextDue, now: now) { await self.wake() }
    }

    private func wake() {
        self.timer.fired()
        self.run()
    }

    private func perform(_ action: DeliveryAction) {
        switch action {
        case .findUndelivered(let partition, let first, let limit):
            Task {
                let page = await self.log.undeliveredReloads(of: partition, from: first, limit: limit)
                self.machine.takeUndelivered(page, of: partition, now: self.clock())
                self.run()
            }
        case .findPushes(let number, let host, let ids):
            Task {
                let question = ReloadQuestion<OutgoingPush>(ids)
                let pushes = try? await self.log.ask(self.log.partition(of: host), question)
                self.machine.takePushes(pushes, for: number, now: self.clock())
                self.run()
            }
        case .send(let request):
            Task {
                let answer = await self.send(request)
                self.machine.takeAnswer(answer, to: request.number, try: request.tryNumber, now: self.clock())
                self.run()
            }
        case .log(let number, let tryNumber, let host, let records):
            Task {
                let answers = try? await self.log.append(records.map { (record: $0, host: host) })
                self.machine.logged(number, try: tryNumber, isLogged: answers != nil)
                self.run()
            }
        case .awaitLog(let number):
            Task {
                try? await Task.sleep(for: .seconds(1))
                self.machine.retryLog(number)
                self.run()
            }
        case .renewProviderToken(let app):
            self.live.current.upstreams[app]?.tokens?.expire(now: LogClock.wallTime())
        case .forget(let reloads): self.telemetry.tracing?.forget(reloads)
        case .tellHealth(let change, let destination, let heldUntil): self.tell(change, of: destination, heldUntil)
        case .tellInvalidToken(let app, let token, let reason):
            self.telemetry.logger.notice(
                "the upstream says that a push token is invalid",
                metadata: ["app": "\(app)", "token": "\(token)", "reason": "\(reason)"]
            )
        }
    }

    private func send(_ delivery: DeliveryRequest) async -> DeliveryAnswer {
        let trace = self.telemetry.tracing?.request("deliver", for: delivery.reloads.map(\.id))
        do {
            guard let (prepared, target) = try self.live.current.request(for: delivery, now: self.clock()) else {
                trace?.fail("no \(delivery.target.kind.rawValue)")
                let detail = "\(delivery.app) has no \(delivery.target.kind.rawValue) any more"
                return .failure(DeliveryFailure(isFinal: false, reason: "not configured", detail: detail))
            }
            var request = prepared
            if let trace { request.headers.append("traceparent", trace.context.traceparent) }
            let begunAt = ContinuousClock.now
            let response = try await self.client.send(request, to: target)
            (delivery.target.kind == .webhook
                ? self.telemetry.instruments?.webhook : self.telemetry.instruments?.upstream)?
                .record(duration: begunAt.duration(to: .now))
            trace?.end(status: response.status, errorsFrom: 400)
            return .response(DeliveryResponse(response))
        } catch {
            trace?.fail("\(error)")
            return .failure(DeliveryFailure(error))
        }
    }

    private func tell(_ change: TargetHealth.Change, of destination: Destination, _ heldUntil: Instant?) {
        let plans = self.live.current
        let name: String
        var targets: [BundleID: HTTPTarget] = [:]
        switch destination {
        case .upstream(let number):
            name = "an upstream"
            for (app, plan) in plans.upstreams where plan.number == number { targets[app] = plan.target }
        case .webhook(let app):
            name = "a webhook"
            targets[app] = plans.webhooks[app]?.target
        }
        var metadata: Logger.Metadata = [
            "apps": "\(targets.keys.map(\.rawValue).sorted().joined(separator: ", "))"
        ]
        metadata["origin"] = targets.values.first.map { "\($0.origin)" }
        change.tell(name, metadata, heldUntil: heldUntil, self.telemetry.logger)
    }
}

extension TargetHealth.Change {
    /// Writes it to a log.
    ///
    /// - Parameters:
    ///   - name: The kind of target, with its article.
    ///   - metadata: Which one it is.
    ///   - heldUntil: Nothing is sent before then.
    func tell(_ name: String, _ metadata: Logger.Metadata, heldUntil: Instant?, _ logger: Logger) {
        var metadata = metadata
        switch self {
        case .trouble(let answer):
            metadata["status"] = answer.status.map { "\($0)" }
            metadata["reason"] = "\(answer.reason)"
            metadata["detail"] = answer.detail.map { "\($0)" }
            metadata["heldUntil"] = heldUntil.flatMap { RFC3339.text(of: $0) }.map { "\($0)" }
            logger.error("\(name) is in trouble", metadata: metadata)
        case .well(let time):
            metadata["inTroubleForSeconds"] = "\(time.milliseconds / 1000)"
            logger.notice("\(name) is well again", metadata: metadata)
        }
    }
}
