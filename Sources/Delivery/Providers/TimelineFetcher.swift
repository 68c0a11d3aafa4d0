import APNSWire
package import Engine
import HTTPTransport
import Logging
import Metrics
import Ownership
package import Partitions
package import Serving
package import TimelineProviding
package import Timelines
package import WidgetModel

/// Asks one kind's timeline provider, as its ``FetchPlanner`` says, and logs its answers.
///
/// An answer becomes a record of the log, like a host's own report, so that a replay knows it. A request that fails is tried again until
/// the reload's time is over; the instance keeps the timeline that it has.
package actor TimelineFetcher {
    /// Its services, shared by the fetchers of all kinds.
    package struct Services: Sendable {
        package let log: CommandLog
        package let contents: ContentStore
        package let clock: LogClock
        package let gallery: Gallery
        let timelineLimits: Shared<TimelineLimits>
        /// False where no provider is ever asked: the reloads to be fetched wait.
        let asks: Bool
        package let telemetry: DeliveryTelemetry
        /// Shows placeholders and entries on the streams of their hosts.
        package let draw: @Sendable ([HostEvent]) -> Void
        /// The findings about the timelines of each kind.
        var states: KindStates { self.gallery.states }

        package init(
            log: CommandLog,
            contents: ContentStore,
            clock: LogClock,
            gallery: Gallery,
            timelineLimits: TimelineLimits = TimelineLimits(),
            asks: Bool = true,
            telemetry: DeliveryTelemetry,
            draw: @escaping @Sendable ([HostEvent]) -> Void
        ) {
            self.log = log
            self.contents = contents
            self.clock = clock
            self.gallery = gallery
            self.timelineLimits = Shared(timelineLimits)
            self.asks = asks
            self.telemetry = telemetry
            self.draw = draw
        }
    }

    /// How many reloads are looked for at once.
    private static let refillPage = 512
    /// How long the content of an accepted timeline is asked for at least, also if its last entry is shown already.
    private static let contentPatience = Interval.hours(1)
    /// How long no placeholder is asked for after one has failed, so that a provider that has none, or is slow with
    /// them, delays no more timelines.
    private static let placeholderPause = Interval.minutes(1)

    package nonisolated let key: KindKey
    package nonisolated let connection: ProviderConnection
    let services: Services
    private var planner: FetchPlanner
    private let answerBytesMax: Int
    private var wake: (at: Instant, task: Task<Void, Never>)?
    private var requests: [Int: Task<Void, Never>] = [:]
    private var isClosed = false
    /// Those whose placeholder is being asked for, one request for each context. Looked up only.
    private var awaitingPlaceholder: [TimelineProviderContext: [FetchSubject]] = [:]
    private var placeholderRequests: [TimelineProviderContext: Task<Void, Never>] = [:]
    /// Until then no placeholder is asked for.
    private var placeholdersPausedUntil = Instant.epoch
    /// Partitions whose accepted timelines are still to be looked through for content that is not here, and from where on.
    private var toRestore: [(partition: PartitionID, place: UInt64?)] = []
    private var isRestoring = false
    var timelinesRefused = 0
    private var health = TargetHealth()
    /// The last fault, and when it was.
    private var lastFault: (at: Instant, text: String)?

    package init(
        key: KindKey,
        connection: ProviderConnection,
        limits: FetchLimits,
        answerBytesMax: Int,
        services: Services
    ) {
        self.key = key
        self.connection = connection
        self.answerBytesMax = answerBytesMax
        self.services = services
        self.planner = FetchPlanner(limits: limits, name: key.description)
    }

    package init(_ item: ProviderConnections.Item, services: Services) {
        self.init(
            key: item.key,
            connection: item.connection,
            limits: item.limits,
            answerBytesMax: item.answerBytesMax,
            services: services
        )
    }

    /// The fetcher as operators see it.
    package var view: ProviderView {
        ProviderView(
            breaker: self.planner.breaker.state,
            counters: self.planner.counters,
            waiting: self.planner.count,
            requestsInFlight: self.planner.requestsInFlight,
            timelinesRefused: self.timelinesRefused,
            lastFault: self.lastFault,
            target: TargetView(
                health: self.health,
                heldUntil: self.heldUntil(self.services.clock.now()),
                waiting: self.planner.count,
                oldest: self.planner.oldest
            )
        )
    }

    /// Until when no request goes; nil if one may go now.
    private func heldUntil(_ now: Instant) -> Instant? {
        guard case .refused(let until) = self.planner.breaker.permission(at: now) else { return nil }
        return until
    }

    /// Sends nothing more, and gives up the requests on their way: the log has the reloads that are still to be asked about.
    package func close() {
        self.isClosed = true
        self.wake?.task.cancel()
        for task in self.requests.values { task.cancel() }
    }

    // MARK: In

    /// Asks about reloads that were issued.
    package func fetch(_ reloads: [ReloadID]) async {
        // Before the engine is asked too: after an overflow most of those that are out are known.
        let unknown = reloads.filter { !self.planner.knows($0) }
        for subject in await self.subjects(of: unknown) where !self.planner.knows(subject.reload) {
            if subject.isNew, self.services.gallery.kept(self.placeholder(subject)) == nil {
                self.askForPlaceholder(subject)
            } else {
                self.begin(subject)
            }
        }
        self.pump()
    }

    /// Lets a timeline be asked for. Its instance shows a placeholder before, if it is new and one is kept.
    private func begin(_ subject: FetchSubject) {
        guard !self.planner.knows(subject.reload) else { return }
        if subject.isNew, self.services.contents.begin(subject.address, subject.reload),
            let placeholder = Placeholder(subject, entry: self.services.gallery.kept(self.placeholder(subject)))
        {
            self.services.draw([.placeholder(placeholder)])
        }
        self.planner.add(
            FetchItem(
                reload: subject.reload,
                address: subject.address,
                isVisible: subject.isVisible,
                expiresAt: subject.expiresAt,
                priority: subject.priority,
                issuedAt: subject.issuedAt
            )
        )
    }

    // MARK: Placeholders

    private func placeholder(_ subject: FetchSubject) -> GalleryQuestion {
        GalleryQuestion(key: self.key, question: .placeholder, context: subject.placeholderContext)
    }

    /// Asks for the placeholder of an instance's context, then for its timeline: that waits until the placeholder has come
    /// or failed, for ``Gallery/previewMax`` at most, with those of all others that come meanwhile and have the same
    /// context. No part of any budget, and no reload.
    private func askForPlaceholder(_ subject: FetchSubject) {
        let context = subject.placeholderContext
        guard self.awaitingPlaceholder[context] == nil else {
            self.awaitingPlaceholder[context]?.append(subject)
            return
        }
        let now = self.services.clock.now()
        let mayAsk =
            self.services.asks && now >= self.placeholdersPausedUntil
            && self.planner.breaker.permission(at: now) == .granted
            && self.awaitingPlaceholder.count < self.planner.limits.inFlightMax
        guard mayAsk else { return self.begin(subject) }
        self.awaitingPlaceholder[context] = [subject]
        let question = self.placeholder(subject)
        self.placeholderRequests[context] = Task {
            let answer = await self.services.gallery.answer(question, self.connection)
            self.placeholderRequests[context] = nil
            if answer == nil { self.placeholdersPausedUntil = self.services.clock.now() + Self.placeholderPause }
            for subject in self.awaitingPlaceholder.removeValue(forKey: context) ?? [] { self.begin(subject) }
            self.pump()
        }
    }

    /// The placeholders of those instances that are new and whose timeline is not there yet, as far as they are kept.
    func placeholders(of reloads: [ReloadID]) async -> [Placeholder] {
        await self.subjects(of: reloads).compactMap { subject in
            guard subject.isNew else { return nil }
            return Placeholder(subject, entry: self.services.gallery.kept(self.placeholder(subject)))
        }
    }

    /// Looks for the kind's reloads that are out: at the start, and after more came than there was room for.
    package func refill() async {
        for partition in self.services.log.partitionIDs where self.services.log.isPresent(partition) {
            var cursor: InstanceNumber? = InstanceNumber(0)
            var through: LogPosition?
            while let from = cursor, !self.isClosed {
                let question = ReloadsQuestion(
                    .app(self.key.app),
                    from: from,
                    through: through,
                    limit: Self.refillPage
                )
                guard let page = try? await self.services.log.ask(partition, question) else { break }
                (cursor, through) = (page.next, page.through)
                let ours = page.reloads.filter { $0.kind == self.key.kind && $0.delivery == .stream }
                await self.fetch(ours.map(\.id))
            }
        }
    }

    /// Asks for the content of accepted timelines that is not here: at the start, and when a partition has come from another node.
    ///
    /// It costs no reload, and no part of any budget. The provider may give another timeline by now, which takes the place of the accepted
    /// one.
    package func restore(_ partition: PartitionID) async {
        self.toRestore.append((partition, nil))
        await self.goOnRestoring()
    }

    private func goOnRestoring() async {
        guard !self.isRestoring else { return }
        self.isRestoring = true
        defer { self.isRestoring = false }
        while self.hasRoomToRestore, let (partition, place) = self.toRestore.first, !self.isClosed {
            self.toRestore.removeFirst()
            guard self.services.log.isPresent(partition) else { continue }
            let question = PageQuestion(
                ShownTimelines(of: self.key.app, self.key.kind),
                from: place,
                limit: Self.refillPage
            )
            guard let page = try? await self.services.log.ask(partition, question) else { continue }
            if let next = page.next { self.toRestore.append((partition, next)) }
            for shown in self.lacking(page.rows) { self.planner.add(self.item(shown)) }
            self.pump()
        }
    }

    /// Half of the room is for reloads.
    private var hasRoomToRestore: Bool { self.planner.count <= self.planner.limits.waitingMax / 2 }

    private func item(_ shown: ShownTimeline) -> FetchItem {
        let now = self.services.clock.now()
        return FetchItem(
            reload: shown.subject.reload,
            address: shown.subject.address,
            isVisible: shown.subject.isVisible,
            expiresAt: max(shown.timeline.end ?? now, now + Self.contentPatience),
            priority: shown.subject.priority,
            issuedAt: now,
            isForContent: true
        )
    }

    /// Asks about all outstanding reloads that may be asked about now, and waits for the answers.
    ///
    /// - Returns: When there may be more to ask; nil if only an event can change that.
    func settle() async -> Instant? {
        await self.refill()
        while let request = self.placeholderRequests.values.first ?? self.requests.values.first {
            await request.value
        }
        return self.planner.wakesAt(self.services.clock.now())
    }

    /// Reads the body of a call-back.
    func read(_ body: JSONValue) throws(Problem) -> ProviderAnswer {
        let limits = self.services.timelineLimits.value
        return try ProviderAnswer(body, countMax: self.planner.limits.batchMax, limits: limits) { _ in true }
    }

    /// A provider calls back with what it said it would.
    package func callBack(_ body: JSONValue) async throws(Problem) -> CallBack.Result {
        let answer = try self.read(body)
        let wanted = await self.wanted(of: Array(answer.parts.keys))
        let shown = wanted.shown.filter { self.planner.knows($0.subject.reload) }
        let answered = await self.take(answer, Wanted(subjects: wanted.subjects, shown: shown))
        for id in answered { _ = self.planner.calledBack(id) }
        self.pump()
        return CallBack.Result(
            taken: answered.count,
            unknown: answer.unknown + answer.parts.count - answered.count
        )
    }

    // MARK: Out

    /// Sends the requests that may go now, and wakes up when there are more.
    private func pump() {
        guard !self.isClosed, self.services.asks else { return }
        let now = self.services.clock.now()
        if let change = self.health.look(at: now) { self.tell(change) }
        while let batch = self.planner.next(at: now) {
            self.requests[batch.number] = Task { [weak self] in await self?.run(batch) }
        }
        if !self.toRestore.isEmpty, self.hasRoomToRestore, !self.isRestoring {
            Task { [weak self] in await self?.goOnRestoring() }
        }
        if self.planner.wantsMore() { Task { [weak self] in await self?.refill() } }
        self.arm([self.planner.wakesAt(now), self.health.looksAt].compactMap { $0 }.min(), now)
    }

    private func arm(_ instant: Instant?, _ now: Instant) {
        guard self.wake?.at != instant else { return }
        self.wake?.task.cancel()
        self.wake = nil
        guard let instant else { return }
        let wait = max(1, (instant - now).milliseconds)
        let task = Task { [weak self] in
            do { try await Task.sleep(for: .milliseconds(wait)) } catch { return }
            await self?.woken()
        }
        self.wake = (instant, task)
    }

    private func woken() {
        self.wake = nil
        self.pump()
    }

    /// Asks at once about the reloads that wait after failures.
    package func tryNow() {
        self.planner.tryNow()
        self.placeholdersPausedUntil = .epoch
        self.pump()
    }

    private func run(_ batch: FetchPlanner.Batch) async {
        let wanted = await self.wanted(of: batch.items.map(\.reload))
        if wanted.subjects.isEmpty, wanted.shown.isEmpty {
            self.planner.withdrawn(batch.number)
        } else {
            await self.ask(batch, wanted)
        }
        self.requests[batch.number] = nil
        self.pump()
    }

    private func ask(_ batch: FetchPlanner.Batch, _ wanted: Wanted) async {
        let subjects = wanted.subjects + wanted.shown.map(\.subject)
        let body = ProviderRequest.timelines(subjects, now: self.services.clock.now()).jsonText
        let findings = self.services.states.takeHeader(of: self.key)
        let trace = self.services.telemetry.tracing?.request("fetch", for: subjects.map(\.reload))
        let response: HTTPClientResponse
        do {
            let begunAt = ContinuousClock.now
            response = try await self.connection.ask(body, findings: findings, trace: trace)
            self.services.telemetry.instruments?.fetch.record(duration: begunAt.duration(to: .now))
            trace?.end(status: response.status, errorsFrom: 400)
        } catch {
            trace?.fail("\(error)")
            return self.fail(batch, TargetHealth.Answer(error, at: self.services.clock.now()))
        }
        let now = self.services.clock.now()
        let status = response.status
        guard status == 200 || status == 202 else {
            let answer = TargetHealth.Answer(.failure, status: status, reason: "status \(status)", at: now)
            return self.fail(batch, answer, retryAfter: response.retryAfter)
        }
        let asked = Set(subjects.map(\.reload))
        let answer: ProviderAnswer
        do throws(Problem) {
            // A 202 may have nothing to say yet.
            let text = response.body.isEmpty && response.status == 202 ? Array("{}".utf8) : response.body
            let value = try JSONReader().value(of: text, bytesMax: self.answerBytesMax)
            let limits = self.services.timelineLimits.value
            answer = try ProviderAnswer(value, countMax: subjects.count, limits: limits) { asked.contains($0) }
        } catch {
            let detail = "\(error.path.map { "\($0): " } ?? "")\(error.detail)"
            let answer = TargetHealth.Answer(.failure, status: status, reason: "no timelines", detail: detail, at: now)
            return self.fail(batch, answer)
        }
        let sign =
            status == 202 || answer.hasTimeline
            ? TargetHealth.Answer(.success, status: status, at: now)
            : TargetHealth.Answer(.refusal, status: status, reason: "none of the requested timelines", at: now)
        if let change = self.health.take(sign) { self.tell(change) }
        var answered = await self.take(answer, await self.still(wanted))
        // Those that are not out any more need no answer.
        answered.formUnion(batch.items.map(\.reload).filter { !asked.contains($0) })
        let called: Set<ReloadID> = response.status == 202 ? asked.filter { answer.parts[$0] == nil } : []
        self.services.telemetry.tracing?.forget(Array(answered))
        self.planner.succeeded(batch.number, answered: answered, called: called, at: self.services.clock.now())
    }

    private func fail(_ batch: FetchPlanner.Batch, _ answer: TargetHealth.Answer, retryAfter: Interval? = nil) {
        self.note(answer.detail ?? answer.reason, answer.at)
        self.planner.failed(batch.number, retryAfter: retryAfter, at: answer.at)
        if let change = self.health.take(answer, heldUntil: self.heldUntil(answer.at)) { self.tell(change) }
    }

    private func tell(_ change: TargetHealth.Change) {
        let heldUntil = self.heldUntil(self.services.clock.now())
        let metadata: Logger.Metadata = ["app": "\(self.key.app)", "kind": "\(self.key.kind)"]
        change.tell("a timeline provider", metadata, heldUntil: heldUntil, self.services.telemetry.logger)
    }

    func note(_ text: String, _ now: Instant) {
        self.lastFault = (now, String(text.prefix(300)))
        self.services.telemetry.logger.debug(
            "timeline provider",
            metadata: ["kind": "\(self.key)", "error": "\(text)"]
        )
    }
}
