import Engine
package import HTTPTransport
import Journaling
package import Logging
package import Ownership
package import Partitions
package import Serving
package import Settings
package import WidgetModel

/// Tells senders the outcomes of their pushes by webhook.
///
/// A `ReceiptMachine` decides the actions; this has the clock, the HTTP client, the partitions and the places.
///
/// Where nodes share the partitions, the one that has an app's home partition tells the app's senders, of all partitions.
package actor ReceiptSender {
    private let live: LiveDeliveryPlans
    private let client: HTTPClient
    private let log: CommandLog
    private let places: any ReceiptPlaces
    private let delivers: Bool
    private let clock: @Sendable () -> Instant
    private let logger: Logger
    private var machine: ReceiptMachine
    /// The partitions whose apps' senders this one tells.
    private var homes: Set<PartitionID> = []
    /// Each time that the plans have become others.
    private let planned: AsyncStream<Void>
    private let plan: AsyncStream<Void>.Continuation
    private var timer = DueTimer()

    /// - Parameters:
    ///   - store: Where it is kept how far receivers were told.
    ///   - delivers: False for one that sends nothing, ever: its receipts stay to be sent.
    ///   - clock: The log's time.
    package init(
        plans: LiveDeliveryPlans,
        settings: GatewayConfiguration.Deliveries,
        client: HTTPClient,
        log: CommandLog,
        store: ReceiptStore,
        delivers: Bool = true,
        clock: @escaping @Sendable () -> Instant,
        logger: Logger
    ) {
        (self.planned, self.plan) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.live = plans
        self.client = client
        self.log = log
        self.places = store.places(partitions: log.partitions, logger)
        self.delivers = delivers
        self.clock = clock
        self.logger = logger
        self.machine = ReceiptMachine(partitions: log.partitions, settings.receipts)
    }

    /// Goes on where it was before a start. Where senders are told for the first time, they are told of pushes that complete from here on:
    /// no push is to be taken before.
    package func begin() async {
        for partition in self.log.partitionIDs where self.log.isPresent(partition) { await self.takeUp(partition) }
        while let action = self.machine.next(now: self.clock()) {
            // A receiver is not waited for.
            if case .send = action { self.perform(action) } else { await self.carryOut(action) }
        }
    }

    /// A partition has come to this node: goes on where its owner before was.
    package func takeUp(_ partition: PartitionID) async {
        guard self.delivers else { return }
        let stored = self.isHome(partition) ? await self.places.read(homeIn: partition) : [:]
        // It may have gone meanwhile.
        guard self.log.isPresent(partition) else { return }
        self.homes.insert(partition)
        self.machine.setApps(self.apps, stored: stored)
        self.plan.yield()
    }

    /// A partition is another node's now, which goes on from the stored places.
    package func letGo(_ partition: PartitionID) {
        guard !self.log.isPresent(partition) else { return }
        self.homes.remove(partition)
        self.machine.setApps(self.apps)
    }

    private func isHome(_ partition: PartitionID) -> Bool {
        self.live.current.receipts.keys.contains { PartitionID(homeOf: $0, among: self.log.partitions) == partition }
    }

    /// Those whose senders this one tells.
    private var apps: Set<BundleID> {
        Set(
            self.live.current.receipts.keys.filter { app in
                self.homes.contains(PartitionID(homeOf: app, among: self.log.partitions))
            }
        )
    }

    /// Looks again each time that something was applied, until the task is cancelled or followers are told to end.
    package func run(_ applied: PushFollowers) async {
        guard self.delivers else { return }
        while !Task.isCancelled {
            if self.machine.apps.isEmpty {
                // A follower is woken for each entry of the log: without receivers that is spared.
                var plans = self.planned.makeAsyncIterator()
                await plans.next()
                continue
            }
            guard let subscription = try? applied.subscribe() else { break }
            await self.follow(subscription)
            applied.cancel(subscription)
        }
        self.machine.stop()
        self.timer.cancel()
    }

    private func follow(_ subscription: PushFollowers.Subscription) async {
        self.run()
        for await _ in subscription.wakes where !self.machine.apps.isEmpty {
            self.machine.noteApplied()
            self.run()
        }
    }

    /// Keeps to other settings from now on.
    package func applySettings(_ settings: GatewayConfiguration.Deliveries) {
        self.machine.settings = settings.receipts
        self.run()
    }

    /// The plans have become others: waiting receipts are tried at once.
    package func usePlans() {
        guard self.delivers else { return }
        self.machine.setApps(self.apps)
        self.tryNow(self.apps)
        self.plan.yield()
    }

    /// How the receiver of each app does.
    package func views() -> [BundleID: ReceiptView] { self.machine.views(now: self.clock()) }

    /// Tries at once the receipts that wait for the receivers of some apps.
    package func tryNow(_ apps: Set<BundleID>) {
        self.machine.tryNow(apps, now: self.clock())
        self.run()
    }

    /// Tries at once the receipts that wait for the receivers that failed last.
    package func tryFailing() {
        self.machine.tryFailing(now: self.clock())
        self.run()
    }
}

// MARK: - Actions

extension ReceiptSender {
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

    private func perform(_ action: ReceiptAction) {
        Task {
            await self.carryOut(action)
            self.run()
        }
    }

    private func carryOut(_ action: ReceiptAction) async {
        switch action {
        case .find(let app, let partition, let place, let limit):
            let question = CompletedPushesQuestion(for: app, after: place, limit: limit)
            let page = try? await self.log.ask(partition, question)
            self.machine.takePage(page, of: partition, for: app, now: self.clock())
        case .findParts(let app, let ids):
            let parts = try? await self.log.askAll(PushesQuestion(ids))
            self.machine.takeParts(parts, for: app, now: self.clock())
        case .send(let request):
            let answer = await self.send(request)
            self.machine.takeAnswer(answer, to: request, now: self.clock())
        case .store(let places):
            await self.places.write(places)
            self.machine.stored(now: self.clock())
        case .tellHealth(let change, let app):
            var metadata: Logger.Metadata = ["apps": "\(app)"]
            metadata["origin"] = self.live.current.receipts[app].map { "\($0.target.origin)" }
            change.tell("a receiver of receipts", metadata, heldUntil: nil, self.logger)
        case .tellGap(let app, let partition):
            self.logger.error(
                "some pushes may have been removed before their sender got the receipt",
                metadata: ["app": "\(app)", "partition": "\(partition)"]
            )
        }
    }

    private func send(_ request: ReceiptRequest) async -> DeliveryAnswer {
        guard let receiver = self.live.current.receipts[request.app] else {
            let detail = "\(request.app) no longer has receipts"
            return .failure(DeliveryFailure(isFinal: false, reason: "not configured", detail: detail))
        }
        let post = DeliveryRequests.receipts(receiver, request, at: self.clock())
        do {
            return .response(DeliveryResponse(try await self.client.send(post, to: receiver.target)))
        } catch {
            return .failure(DeliveryFailure(error))
        }
    }
}
