import APNSWire
package import Engine
package import HTTPTransport
package import Logging
import Metrics
package import WidgetModel

/// Brings reloads to upstreams and webhooks, and logs what became of them.
///
/// Committed effects come in; each host's reloads of one log position and token are one delivery, one request however
/// many instances matched. The answer becomes records, so that a replay decides as this run did. Until they are applied the
/// delivery is known here and is not taken again; afterwards the engine says that it is over, and that is asked before every
/// try. What memory has no room for stays in the engine's tables and is fetched when there is.
package actor ReloadDeliverer {
    struct Delivery {
        let id: PushID
        let app: BundleID
        let host: HostKey
        var reloads: [ReloadEffect]
        var tries = 0

        var way: HostDelivery { self.reloads[0].delivery }
        var seed: UInt64 { self.id.low }
    }

    /// How a try stands when its answer has come.
    struct Attempt {
        let reloads: [ReloadEffect]
        let token: DeviceToken?
        let begunAt: Instant
        let lane: Int
        /// What its credentials come from.
        let tokens: UpstreamTokens?
    }

    /// What came of a try: what it means for the delivery and, if something was sent, for the other side's health.
    struct Outcome {
        let verdict: DeliveryVerdict
        var answer: TargetHealth.Answer?
    }

    private let live: LiveDeliveryPlans
    var plans: DeliveryPlans { self.live.current }
    private var settings: GatewayConfiguration.Deliveries
    private let client: HTTPClient
    let log: CommandLog
    let clock: @Sendable () -> Instant
    let logger: Logger
    private let tracing: GatewayTracing?
    private let instruments: GatewayInstruments?
    private let reader = JSONReader()
    var schedule: DeliverySchedule
    var deliveries: [UInt64: Delivery] = [:]
    /// The reloads that are known here.
    private var known: Set<ReloadID> = []
    private var lastNumber: UInt64 = 0
    private var counters: [HostDelivery: DeliveryCounters] = [:]
    /// By lane.
    var healths: [Int: TargetHealth] = [:]
    /// Lanes that have begun to fail, and that time alone may put in trouble.
    var failing: Set<Int> = []
    private var timer: Task<Void, Never>?
    private var timerDue = Instant.distantFuture
    /// Whether the engines hold deliveries that had no room.
    private var isBehind = false
    private var isCatchingUp = false
    var isStopped = false

    /// - Parameters:
    ///   - delivers: False for one that sends nothing, ever: what it is given waits.
    ///   - clock: The log's time, which expirations are in. Provider tokens go by wall time.
    package init(
        plans: LiveDeliveryPlans,
        settings: GatewayConfiguration.Deliveries,
        client: HTTPClient,
        log: CommandLog,
        delivers: Bool = true,
        clock: @escaping @Sendable () -> Instant,
        logger: Logger,
        tracing: GatewayTracing? = nil,
        instruments: GatewayInstruments? = nil
    ) {
        self.isStopped = !delivers
        self.instruments = instruments
        self.tracing = tracing
        self.live = plans
        self.settings = settings
        self.client = client
        self.log = log
        self.clock = clock
        self.logger = logger
        self.schedule = DeliverySchedule(settings.schedule)
    }

    /// Keeps to other settings from now on, its client included.
    package func use(_ settings: GatewayConfiguration.Deliveries) {
        self.settings = settings
        self.schedule.limits = settings.schedule
        self.client.use(settings.client)
        self.pump()
    }

    /// Takes committed effects, those that are for streams excepted.
    package nonisolated func publish(_ effects: [Effect]) {
        let reloads = Self.outgoing(effects)
        guard !reloads.isEmpty else { return }
        Task { await self.take(reloads) }
    }

    /// Takes up what is out and was not delivered, after a start or for want of room before.
    package func catchUp() async {
        guard !self.isCatchingUp, !self.isStopped else { return }
        self.isCatchingUp = true
        self.isBehind = false
        for number in 0..<self.log.partitions {
            // A partition that has stopped delivers nothing; its log has everything.
            if let reloads = try? await self.undelivered(in: PartitionID(UInt16(number))) { await self.take(reloads) }
        }
        self.isCatchingUp = false
        self.pump()
    }

    /// What is out of a partition and was not delivered, as much of it as there may be known, in the order in which it was
    /// issued: those for one host are one delivery, so none is taken before all are there.
    private func undelivered(in partition: PartitionID) async throws(Problem) -> [ReloadEffect] {
        let limit = self.settings.knownMax
        var found: [ReloadEffect] = []
        var cursor: InstanceNumber? = InstanceNumber(0)
        while let from = cursor, found.count < limit {
            let rest = limit - found.count
            let page = try await self.log.ask(partition) { $0.undeliveredReloads(from: from, limit: rest) }
            found += page.reloads
            cursor = page.next
        }
        if cursor != nil { self.isBehind = true }
        return found.sorted { $0.id.position < $1.id.position }
    }

    /// Starts nothing any more. What is in work is given up; the log has it.
    package func stop() async {
        self.isStopped = true
        self.timer?.cancel()
        await self.client.close()
    }

    /// What was counted, by the way of delivering.
    package func stats() -> (counters: [HostDelivery: DeliveryCounters], waiting: Int, inWork: Int) {
        (self.counters, self.schedule.count - self.schedule.inWork, self.schedule.inWork)
    }

    private static func outgoing(_ effects: [Effect]) -> [ReloadEffect] {
        effects.flatMap { effect -> [ReloadEffect] in
            switch effect {
            case .reload(let reload): reload.delivery == .stream ? [] : [reload]
            case .push(let push): push.members.map(\.reload)
            case .invalidation: []
            }
        }
    }
}

// MARK: - Taking

extension ReloadDeliverer {
    /// Groups reloads into deliveries: those of one host, one position and one token are one.
    private func take(_ reloads: [ReloadEffect]) async {
        let new = reloads.filter { $0.delivery != .stream && self.known.insert($0.id).inserted }
        var groups: [(token: DeviceToken?, reloads: [ReloadEffect])] = []
        for reload in new {
            let push: OutgoingPush?
            do {
                push = try await self.log.ask(reload.host, { $0.outgoingPush(for: reload.id) })
            } catch {
                // The engine still has it; it is asked again when there is a reason to.
                self.isBehind = true
                self.forget([reload])
                continue
            }
            guard let push else {
                self.forget([reload])
                continue
            }
            let token = reload.delivery == .apns ? push.token : nil
            let index = groups.lastIndex { group in
                group.token == token && group.reloads[0].host == reload.host
                    && group.reloads[0].id.position == reload.id.position
                    && group.reloads[0].delivery == reload.delivery
            }
            if let index { groups[index].reloads.append(reload) } else { groups.append((token, [reload])) }
        }
        for group in groups { self.add(group.reloads) }
        self.pump()
    }

    private func add(_ reloads: [ReloadEffect]) {
        let first = reloads[0]
        self.lastNumber += 1
        let isTaken = self.schedule.add(
            self.lastNumber,
            lane: self.lane(of: first),
            since: reloads.map(\.issuedAt).min(),
            expiresAt: reloads.map(\.expiresAt).max() ?? first.expiresAt,
            now: self.clock()
        )
        guard isTaken else {
            self.forget(reloads)
            self.isBehind = true
            return self.count(first.delivery) { $0.deferred += reloads.count }
        }
        self.deliveries[self.lastNumber] = Delivery(
            id: DeliveryRequests.id(first.id),
            app: first.app,
            host: first.host,
            reloads: reloads
        )
    }

    func lane(of reload: ReloadEffect) -> Int {
        switch reload.delivery {
        case .webhook: self.plans.webhooks[reload.app]?.lane ?? .min
        default: self.plans.upstreams[reload.app]?.lane ?? .min
        }
    }

    func forget(_ reloads: [ReloadEffect]) {
        for reload in reloads { self.known.remove(reload.id) }
        self.tracing?.forget(reloads.map(\.id))
    }

    func count(_ way: HostDelivery, _ change: (inout DeliveryCounters) -> Void) {
        change(&self.counters[way, default: DeliveryCounters()])
    }
}

// MARK: - Trying

extension ReloadDeliverer {
    /// Does what is due, and sleeps until the next thing is.
    func pump() {
        guard !self.isStopped else { return }
        let now = self.clock()
        self.lookAtHealth(now)
        for step in self.schedule.steps(now: now) {
            switch step {
            case .start(let number):
                Task { await self.attempt(number) }
            case .expired(let number):
                guard let delivery = self.deliveries.removeValue(forKey: number) else { continue }
                self.forget(delivery.reloads)
                self.count(delivery.way) { $0.expired += delivery.reloads.count }
            }
        }
        if self.isBehind, self.schedule.count * 2 < self.settings.knownMax {
            Task { await self.catchUp() }
        }
        var due = self.schedule.nextDue ?? .distantFuture
        for lane in self.failing { due = min(due, self.healths[lane]?.looksAt ?? due) }
        guard due < self.timerDue else { return }
        self.timer?.cancel()
        self.timerDue = due
        let wait = max(0, min((due - now).milliseconds, Interval.day.milliseconds))
        self.timer = Task {
            guard (try? await Task.sleep(for: .milliseconds(wait))) != nil else { return }
            self.wake()
        }
    }

    private func wake() {
        self.timer = nil
        self.timerDue = .distantFuture
        self.pump()
    }

    private func attempt(_ number: UInt64) async {
        guard var delivery = self.deliveries[number] else { return }
        delivery.tries += 1
        self.deliveries[number] = delivery
        let now = self.clock()
        let ids = delivery.reloads.map(\.id)
        // The engine has the last word on whether a reload is still out, and on the token.
        let pushes = try? await self.log.ask(delivery.host, { $0.outgoingPushes(for: ids) })
        guard let pushes else { return self.again(number, after: .seconds(1)) }
        var live: [ReloadEffect] = []
        var push: OutgoingPush?
        for (reload, found) in zip(delivery.reloads, pushes) {
            guard let found, found.expiresAt > now else { continue }
            let mayWait = push?.mayWait ?? false
            push = push ?? found
            // One of them that may wait is enough.
            push?.mayWait = mayWait || found.mayWait
            live.append(reload)
        }
        guard let push, let expiresAt = live.map(\.expiresAt).min() else {
            self.count(delivery.way) { $0.dropped += delivery.reloads.count }
            return self.end(number)
        }
        self.count(delivery.way) { $0.tries += 1 }
        let attempt = Attempt(
            reloads: live,
            token: delivery.way == .apns ? push.token : nil,
            begunAt: now,
            lane: self.lane(of: live[0]),
            tokens: self.plans.upstreams[delivery.app]?.tokens
        )
        let outcome = await self.send(delivery, live, push, expiresAt)
        await self.settle(number, delivery, attempt, outcome)
    }

    /// Sends the request of a try.
    private func send(
        _ delivery: Delivery,
        _ reloads: [ReloadEffect],
        _ push: OutgoingPush,
        _ expiresAt: Instant
    ) async -> Outcome {
        let now = self.clock()
        let retries = self.settings.retries
        // A request that is not sent by then is not sent.
        let timeout = min(self.settings.request, expiresAt - now)
        guard timeout > .zero else { return Outcome(verdict: .again(after: .zero, "expired")) }
        let trace = self.tracing?.request("deliver", for: reloads.map(\.id))
        do {
            let target: HTTPTarget
            var request: HTTPClientRequest
            switch delivery.way {
            case .webhook:
                guard let webhook = self.plans.webhooks[delivery.app] else {
                    trace?.fail("no webhook")
                    return Outcome(verdict: .refused("the app has no webhook any more"))
                }
                target = webhook.target
                request = DeliveryRequests.webhook(webhook, reloads, id: delivery.id, at: now, timeout: timeout)
            case .apns, .stream:
                guard let upstream = self.plans.upstreams[delivery.app] else {
                    trace?.fail("no upstream")
                    return Outcome(verdict: .refused("the app has no upstream any more"))
                }
                target = upstream.target
                request = DeliveryRequests.push(
                    push,
                    app: delivery.app,
                    id: delivery.id,
                    token: try upstream.tokens?.token(now: LogClock.wallTime()),
                    expiresAt: expiresAt,
                    timeout: timeout
                )
            }
            if let trace { request.headers.append("traceparent", trace.context.traceparent) }
            let begunAt = ContinuousClock.now
            let response = try await self.client.send(request, to: target)
            (delivery.way == .webhook ? self.instruments?.webhook : self.instruments?.upstream)?
                .record(duration: begunAt.duration(to: .now))
            trace?.end(status: response.status, errorsFrom: 400)
            let verdict: DeliveryVerdict =
                delivery.way == .webhook
                ? .ofWebhook(response, tries: delivery.tries, seed: delivery.seed, retries: retries)
                : .ofUpstream(
                    response,
                    tries: delivery.tries,
                    seed: delivery.seed,
                    retries: retries,
                    reader: self.reader
                )
            return Outcome(verdict: verdict, answer: verdict.answer(status: response.status, at: self.clock()))
        } catch {
            trace?.fail("\(error)")
            let verdict: DeliveryVerdict =
                switch error {
                case let error as HTTPTransportError:
                    .ofFailure(error, tries: delivery.tries, seed: delivery.seed, retries: retries)
                default: .again(after: retries.wait(after: delivery.tries, seed: delivery.seed), "\(error)")
                }
            return Outcome(verdict: verdict, answer: TargetHealth.Answer(error, at: self.clock()))
        }
    }
}
