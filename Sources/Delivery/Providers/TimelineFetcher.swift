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

/// Asks one kind's timeline provider, and logs its answers.
///
/// A ``FetchMachine`` decides the actions; this has the clock, the connection, the log and the contents. An answer becomes a record of
/// the log, like a host's own report, so that a replay knows it.
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
        /// Tells this node's streams and all other nodes.
        package let announce: @Sendable ([Announcement]) -> Void
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
            announce: @escaping @Sendable ([Announcement]) -> Void
        ) {
            self.log = log
            self.contents = contents
            self.clock = clock
            self.gallery = gallery
            self.timelineLimits = Shared(timelineLimits)
            self.asks = asks
            self.telemetry = telemetry
            self.announce = announce
        }
    }

    package nonisolated let key: KindKey
    package nonisolated let connection: ProviderConnection
    let services: Services
    let answerBytesMax: Int
    private var machine: FetchMachine
    private var timer = DueTimer()
    /// The actions that are being carried out, by number.
    private var tasks: [Int: Task<Void, Never>] = [:]
    private var tasksBegun = 0
    /// Those who wait for the result of a call-back, by its number.
    private var callBacks: [Int: CheckedContinuation<Int, Never>] = [:]

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
        self.machine = FetchMachine(limits: limits, name: key.description, asks: services.asks)
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
        let planner = self.machine.planner
        return ProviderView(
            breaker: planner.breaker.state,
            counters: planner.counters,
            waiting: planner.count,
            requestsInFlight: planner.requestsInFlight,
            timelinesRefused: self.machine.timelinesRefused,
            lastFault: self.machine.lastFault,
            target: TargetView(
                health: self.machine.health,
                heldUntil: self.machine.heldUntil(self.services.clock.now()),
                waiting: planner.count,
                oldest: planner.oldest
            )
        )
    }

    /// Sends nothing more, and gives up the requests on their way: the log has the reloads that are still to be asked about.
    package func close() {
        self.machine.close()
        self.timer.cancel()
        for task in self.tasks.values { task.cancel() }
    }

    /// Asks about reloads that were issued.
    package func fetch(_ reloads: [ReloadID]) {
        self.machine.takeReloads(issued: reloads)
        self.run()
    }

    /// Looks for the kind's outstanding reloads: at the start, and when a partition has come to this gateway.
    package func refill() {
        for partition in self.services.log.partitionIDs where self.services.log.isPresent(partition) {
            self.machine.lookForReloads(in: partition)
        }
        self.run()
    }

    /// Asks for the content of accepted timelines that is not here: at the start, and when a partition has come from another node.
    package func restore(_ partition: PartitionID) {
        self.machine.restoreContent(in: partition)
        self.run()
    }

    /// Asks at once about the reloads that wait after failures.
    package func tryNow() {
        self.machine.tryNow()
        self.run()
    }

    /// Asks about all outstanding reloads that may be asked about now, and waits for the answers.
    ///
    /// - Returns: When there may be more to ask; nil if only an event can change that.
    package func settle() async -> Instant? {
        self.refill()
        while let task = self.tasks.values.first { await task.value }
        return self.machine.nextDue(self.services.clock.now())
    }

    /// Reads the body of a call-back.
    func read(_ body: JSONValue) throws(Problem) -> ProviderAnswer {
        let limits = self.services.timelineLimits.value
        return try ProviderAnswer(body, countMax: self.machine.planner.limits.batchMax, limits: limits) { _ in true }
    }

    /// A provider calls back with the answers that it has promised.
    package func callBack(_ body: JSONValue) async throws(Problem) -> CallBack.Result {
        let answer = try self.read(body)
        let taken = await withCheckedContinuation { continuation in
            self.callBacks[self.machine.callBack(answer.parts)] = continuation
            self.run()
        }
        return CallBack.Result(taken: taken, unknown: answer.unknown + answer.parts.count - taken)
    }
}

// MARK: - Actions

extension TimelineFetcher {
    /// Performs the due actions, and sleeps until the next one is due.
    private func run() {
        let now = self.services.clock.now()
        while let action = self.machine.next(now: now) { self.perform(action) }
        self.timer.set(self.machine.nextDue(now), now: now) { [weak self] in await self?.wake() }
    }

    private func wake() {
        self.timer.fired()
        self.run()
    }

    private func perform(_ action: FetchAction) {
        switch action {
        case .findSubjects(let partition, let reloads):
            self.begin { fetcher in
                let subjects = await fetcher.subjects(of: reloads, in: partition)
                let now = fetcher.services.clock.now()
                fetcher.machine.takeSubjects(subjects, of: reloads, in: partition, now: now) { context in
                    fetcher.services.gallery.kept(fetcher.placeholder(of: context)) != nil
                }
            }
        case .search(let search, let limit):
            self.begin { fetcher in
                let (finds, next) = await fetcher.find(search, limit: limit)
                fetcher.machine.takeFinds(finds, in: search, next: next, now: fetcher.services.clock.now())
            }
        case .askForPlaceholder(let context):
            self.begin { fetcher in
                let question = fetcher.placeholder(of: context)
                let isThere = await fetcher.services.gallery.answer(question, fetcher.connection) != nil
                fetcher.machine.takePlaceholder(of: context, isThere: isThere, now: fetcher.services.clock.now())
            }
        case .findWanted(let exchange, let reloads):
            self.begin { fetcher in
                let wanted = await fetcher.wanted(of: reloads)
                fetcher.machine.takeWanted(wanted, of: exchange, now: fetcher.services.clock.now())
            }
        case .send(let number, let subjects):
            self.begin { fetcher in
                let answer = await fetcher.ask(subjects)
                fetcher.machine.takeAnswer(answer, to: number, now: fetcher.services.clock.now())
            }
        case .store(let exchange, let timelines):
            self.begin { fetcher in
                let stored = await fetcher.store(timelines)
                fetcher.machine.takeStored(stored, of: exchange, now: fetcher.services.clock.now())
            }
        case .showPlaceholder(let subject):
            guard self.services.contents.begin(subject.address, subject.reload) else { return }
            if let placeholder = self.placeholder(subject) {
                self.services.announce([.drawing(.placeholder(placeholder))])
            }
        case .answerCallBack(let number, let taken):
            self.callBacks.removeValue(forKey: number)?.resume(returning: taken)
        case .forget(let reloads): self.services.telemetry.tracing?.forget(reloads)
        case .tellHealth(let change, let heldUntil):
            let metadata: Logger.Metadata = ["app": "\(self.key.app)", "kind": "\(self.key.kind)"]
            change.tell("a timeline provider", metadata, heldUntil: heldUntil, self.services.telemetry.logger)
        case .tellFault(let text):
            let metadata: Logger.Metadata = ["kind": "\(self.key)", "error": "\(text)"]
            self.services.telemetry.logger.debug("timeline provider", metadata: metadata)
        }
    }

    /// Begins work that takes time. The machine gets its result, and names the next step.
    private func begin(_ work: @escaping @Sendable (isolated TimelineFetcher) async -> Void) {
        self.tasksBegun += 1
        let number = self.tasksBegun
        self.tasks[number] = Task {
            await work(self)
            self.tasks[number] = nil
            self.run()
        }
    }
}
