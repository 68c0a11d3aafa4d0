import APNSWire
import Engine
import HTTP2
import HTTPTransport
import History
package import Journaling
import Logging
import Metrics
import NIOCore
import NIOPosix
import Ownership
import ServiceLifecycle
import Synchronization
import TLS
package import Telemetry
package import WidgetModel

/// The gateway whole: replays the log, opens the listeners, and drains when it is told to stop.
///
/// Which journal it stands on is the caller's choice.
package final class Gateway: Service {
    let configuration: GatewayConfiguration
    let journal: any Journal
    let watched: WatchedJournal
    /// Open from the beginning, so that probes are told how a start goes on.
    let health = Mutex<HTTPServer?>(nil)
    /// The time of the newest entry when the gateway was started.
    let newestEntry = Mutex(Instant.epoch)
    let snapshots: (any SnapshotStore)?
    let clock: LogClock
    let movableClock: MovableClock?
    /// By which credentials are judged: real time, also where the log's time was moved.
    let credentialClock: LogClock
    let logs: GatewayLogs
    let logger: Logger
    let readiness: Readiness
    let listeners = OpenListeners()
    let directory: HostDirectory
    let streams: HostStreams
    let followers: PushFollowers
    /// Wakes those who tell senders what became of their pushes.
    let receiptWakes = PushFollowers(max: 1)
    let receiptArchive: any RecordArchive
    /// What is in force of the configuration.
    let settings: LiveSettings
    let archive: any RecordArchive
    private let samplesArchive: any RecordArchive
    let decisionArchive: (any RecordArchive)?
    let audit: OperatorAudit
    private let operatorToken: OperatorTokenFile?
    let feed: OperatorFeed
    let states = KindStates()
    /// Set once the log is replayed; what is issued before is looked for then.
    let providers = Mutex<TimelineProviders?>(nil)
    let counters = PushCounters()
    /// What libraries and the gateway report through swift-metrics.
    let metrics: MetricsRegistry
    /// Nil where pushes are not traced.
    let tracing: GatewayTracing?
    let exporter = Mutex<SpanExporter?>(nil)
    let instruments: GatewayInstruments
    let spans: SpanQueue
    let sampler: SpanSampler
    let problems = ProblemCounters()
    let senderLimits: SenderLimits
    /// What brings reloads to upstreams and webhooks, once the owners have started.
    let deliverer = Mutex<ReloadDeliverer?>(nil)
    let seed: UInt64
    /// Whether anything goes to upstreams, webhooks and timeline providers.
    let delivers: Bool
    private let onReady: @Sendable (BoundPorts) -> Void
    private let loops: GatewayLoops
    let history: HistoryQuestions
    /// Reads the configuration anew, if there is a file of it.
    private let source: (@Sendable () throws -> GatewayConfiguration)?
    /// Reads the configuration again, once the gateway is ready.
    private let reloading = Mutex<ConfigurationReload?>(nil)
    /// What teams have in the log that is not decided.
    let work: WorkAdmission
    /// What the data directory has room for; nil where nothing is written to it.
    let storage: StorageWatch?
    /// Who has how much of the registry, and whether the memory has room for more.
    let registry: RegistryWatch

    /// The ports that were bound, nil for a listener that is off.
    package struct BoundPorts: Hashable, Sendable {
        package var push: Int?
        package var manage: Int?
        package var host: Int?
        package var ops: Int?
        package var health: Int?
    }

    /// - Parameters:
    ///   - configuration: Valid, as ``ConfigurationFile`` gives it.
    ///   - journal: The log; created with as many partitions as the configuration says.
    ///   - snapshots: Where the partitions' states are kept, so that a start need not replay the whole log; nil for nowhere.
    ///   - storage: Measures what all that takes of the disk; nil where it takes none.
    ///   - archive: Where the content of timelines is kept; by default nowhere but in memory.
    ///   - auditArchive: Where the index of who changed what is kept, beside the log; by default nowhere but in memory.
    ///   - samplesArchive: Where minutes and hours for charts are kept; by default nowhere but in memory.
    ///   - receiptArchive: Where it is kept how far senders were told what became of their pushes; by default nowhere but in memory.
    ///   - decisionArchive: Where decisions are kept that engines have no room for any more; nil for nowhere.
    ///   - clock: Stamps the log's entries.
    ///   - operatorToken: Where the token for operators is or is to be, for where none is configured.
    ///   - history: Opens the log for one question about the past; by default the journal itself is read.
    ///   - movableClock: What that clock is over, for a gateway whose time operators may move; nil for one in service.
    ///   - metrics: What is written behind the gateway's own metrics.
    ///   - logs: Where to write.
    ///   - source: Reads the configuration anew; nil where that cannot be.
    ///   - delivers: False for a drill: nothing goes to upstreams, webhooks and timeline providers.
    ///   - loops: What it runs on; it ends with the gateway. By default threads of its own.
    ///   - onReady: Called once every listener is bound.
    package init(
        configuration: GatewayConfiguration,
        journal: any Journal,
        snapshots: (any SnapshotStore)? = nil,
        storage: StorageWatch.Measure? = nil,
        archive: any RecordArchive = MemoryArchive(),
        auditArchive: any RecordArchive = MemoryArchive(),
        samplesArchive: any RecordArchive = MemoryArchive(),
        receiptArchive: any RecordArchive = MemoryArchive(),
        decisionArchive: (any RecordArchive)? = nil,
        operatorToken: OperatorTokenFile? = nil,
        history: HistoryQuestions.Opening? = nil,
        clock: LogClock,
        movableClock: MovableClock? = nil,
        metrics: MetricsRegistry = MetricsRegistry(),
        logs: GatewayLogs,
        source: (@Sendable () throws -> GatewayConfiguration)? = nil,
        delivers: Bool = true,
        loops: GatewayLoops? = nil,
        onReady: @escaping @Sendable (BoundPorts) -> Void = { _ in }
    ) {
        var system = SystemRandomNumberGenerator()
        self.configuration = configuration
        self.work = WorkAdmission(partitions: configuration.partitions, configuration.fairness)
        self.readiness = Readiness(self.work.partitions)
        let instruments = GatewayInstruments(metrics)
        self.instruments = instruments
        self.storage = storage.map { measure in
            StorageWatch(
                configuration.storage,
                logger: logs.logger(.partitions),
                now: { clock.now() },
                measure: measure
            )
        }
        self.registry = RegistryWatch(
            RegistryLimits(configuration),
            configuration.memoryMax,
            logger: logs.logger(.gateway),
            measure: { try MemoryReading.sizes() }
        )
        self.watched = WatchedJournal(
            journal,
            readiness: self.readiness,
            logger: logs.logger(.partitions),
            commit: instruments.commit,
            storage: self.storage
        )
        self.journal = self.watched
        self.snapshots = snapshots
        self.archive = archive
        self.samplesArchive = samplesArchive
        self.receiptArchive = receiptArchive
        self.decisionArchive = decisionArchive
        self.operatorToken = operatorToken
        let opening = history ?? { journal.history }
        self.history = HistoryQuestions(
            from: snapshots.map { SnapshotStart($0) as any HistoryStart } ?? EmptyStart(),
            concurrentMax: configuration.limits.historyQuestionsMax,
            open: opening
        )
        self.clock = clock
        self.movableClock = movableClock
        self.credentialClock = movableClock == nil ? clock : LogClock()
        self.logs = logs
        self.logger = logs.logger(.gateway)
        self.seed = system.next()
        self.senderLimits = SenderLimits(
            backlog: PushBacklog(max: configuration.limits.inFlightPushesMax),
            storage: self.storage
        )
        self.directory = HostDirectory(seed: system.next(), apps: configuration.apps.map(\.bundleID))
        self.streams = HostStreams(limits: HostStreams.Limits(configuration.streams), seed: system.next())
        self.followers = PushFollowers(max: configuration.streams.followedPushesMax)
        self.settings = LiveSettings(configuration)
        self.source = source
        let feed = OperatorFeed(limits: configuration.feed, epoch: UInt32(truncatingIfNeeded: system.next()))
        self.feed = feed
        self.audit = OperatorAudit(archive: auditArchive, history: opening, feed: feed, logger: logs.logger(.audit))
        self.delivers = delivers
        self.onReady = onReady
        self.loops = loops ?? GatewayLoops(partitions: configuration.partitions)
        self.metrics = metrics
        let tracing = configuration.tracing
        self.spans = SpanQueue(max: tracing.spansMax)
        self.sampler = SpanSampler(perMillion: tracing.samplesPerMillion, perSecondMax: tracing.tracesPerSecondMax)
        self.tracing =
            tracing.isEnabled
            ? GatewayTracing(SpanTracer(queue: self.spans, sampler: self.sampler), tracing) : nil
        self.followSettings()
    }

    /// Runs until graceful shutdown or cancellation.
    ///
    /// - Throws: What kept it from starting: a file that cannot be read, a port in use, a log that cannot be replayed.
    package func run() async throws {
        let loops = self.loops
        do {
            try await self.run(loops)
        } catch {
            await self.health.withLock { $0 }?.drain(within: .zero)
            guard let fault = error as? OwnerError, fault.isShutdown else {
                try? await loops.shutDown()
                throw error
            }
            // It was told to end while it read the log.
            self.end()
        }
        try await loops.shutDown()
    }

    private func run(_ loops: GatewayLoops) async throws {
        // A start writes, too; and no request may be let in before it is known whether there is room.
        await self.storage?.look()
        let apps = LiveApps(self.configuration, seed: self.seed, work: self.work)
        let senders = try SenderDirectory(self.configuration)
        // Everything that may be wrong with files is found before the log is touched.
        let plans = try ListenerPlans(self.configuration)
        if let warning = DescriptorLimit.current?.warning(of: self.configuration) {
            self.logger.warning("\(warning)")
        }
        let deliveries = LiveDeliveryPlans(try DeliveryPlans(self.configuration))
        let group = loops.connections
        let connections = try ProviderConnections(self.configuration, on: group)
        let exporter = try self.tracing.map {
            try SpanExporter(self.spans, $0.settings, on: group, logger: self.logs.logger(.gateway))
        }
        self.exporter.withLock { $0 = exporter }
        try await self.openHealth(plans.health, on: loops.health)
        let owners = try await self.startOwners(loops.owners)
        await self.registry.look()
        let log = CommandLog(journal: self.journal, owners: owners)
        try await self.noteNewestEntry(log)
        try await self.logSettings(log)
        let watch = GatewayWatch(
            log: log,
            clock: self.clock,
            counters: self.counters,
            senderLimits: self.senderLimits,
            streams: self.streams,
            feed: self.feed,
            history: GatewayHistory(archive: self.samplesArchive, now: self.clock.now(), logger: self.logger)
        )
        let reloading = ConfigurationReload(
            self.settings,
            source: self.source,
            log: log,
            clock: self.clock,
            feed: self.feed,
            logs: self.logs,
            instruments: self.instruments
        )
        let providers = try await self.startProviders(log, connections)
        self.followSettings(providers, connections)
        self.readiness.progress = nil
        self.readiness.set(.replay, met: true)

        let client = HTTPClient(self.configuration.deliveries.client, on: group)
        let deliverer = ReloadDeliverer(
            plans: deliveries,
            settings: self.configuration.deliveries,
            client: client,
            log: log,
            delivers: self.delivers,
            clock: { self.clock.now() },
            logger: self.logs.logger(.deliveries),
            tracing: self.tracing,
            instruments: self.instruments
        )
        self.deliverer.withLock { $0 = deliverer }
        await deliverer.catchUp()
        let outgoing = Outgoing(
            plans: deliveries,
            deliverer: deliverer,
            receipts: self.makeReceipts(deliveries, client, log),
            client: client,
            delivers: self.delivers,
            timeout: self.configuration.deliveries.request
        )
        self.settings.follow(\.deliveries) { outgoing.use($0) }
        self.settings.follow(\.limits.outputCommitBytesMax) { bytes in
            for owner in owners { owner.setOutputBytesPerCommit(bytes) }
        }
        await outgoing.receipts.begin()
        let certificates = ServerCertificates(
            plans.certificates.compactMap { plan in
                plan.context.certificate.map { (listener: plan.listener, certificate: $0) }
            }
        )
        let access = try OperatorAccess(
            self.configuration.operators,
            ownToken: self.configuration.listeners.ops.isEnabled ? self.operatorToken : nil,
            revocations: senders.certificates
        )
        let gate = OperatorGate(
            address: self.configuration.listeners.ops.address,
            names: self.configuration.operators.names,
            certificates: certificates
        )
        let snapshotter = self.makeSnapshotter(owners)
        let filer = self.makeDecisionFiler(log)
        let parts = Parts(
            apps: apps,
            senders: senders,
            access: access,
            gate: gate,
            certificates: certificates,
            log: log,
            outgoing: outgoing,
            providers: providers,
            watch: watch,
            reloading: reloading,
            snapshotter: snapshotter,
            filer: filer
        )
        let operatorRoutes = self.operatorRoutes(parts)
        let servers = try await self.listen(plans, on: loops, parts, operatorRoutes)
        self.settings.follow({ $0 }) { servers.useBounds(of: $0) }
        let measuring = Task { if let storage = self.storage { await storage.run() } }
        let weighing = Task { [registry = self.registry] in await registry.run() }
        let observing = Task { await watch.run() }
        let auditing = Task { [audit = self.audit] in await audit.run(log) }
        let fetching = Task { await providers.run() }
        let filing = Task { if let filer { await filer.run() } }
        let logging = Task { await self.logs.run() }
        let exporting = Task { await exporter?.run() }
        let receipting = Task { [wakes = self.receiptWakes] in await outgoing.receipts.run(wakes) }
        self.readiness.set(.listeners, met: true)
        let credentials = GatewayReload(
            configuration: self.configuration,
            plans: plans,
            certificates: certificates,
            senders: senders,
            tables: .init(
                apps: apps,
                directory: self.directory,
                deliveries: deliveries,
                providers: connections,
                access: access,
                gate: gate,
                retry: .init(
                    deliveries: { outgoing.usePlans(changed: $0) },
                    providers: { kinds in Task { await providers.tryNow(kinds) } },
                    failing: {
                        Task {
                            await outgoing.tryFailing()
                            await providers.tryNow()
                        }
                    }
                )
            ),
            clock: self.clock,
            logger: self.logs.logger(.certificates),
            use: { servers[$0]?.use($1) }
        )
        // Last: what was mended is tried again, and by then everything else is told.
        self.settings.followReadings { credentials.reload($0) }
        self.reloading.withLock { $0 = reloading }
        let watching = Task { await credentials.run() }
        let beating = Task { await self.beat() }
        let telling = Task {
            await self.tellStates(apps) { () async throws(Problem) in try await operatorRoutes.behind() }
        }
        let writing = Task { await snapshotter?.run() }
        self.onReady(servers.ports)
        if let file = access.tokenFile {
            self.logger.notice("operators need the token in a file", metadata: ["file": "\(file)"])
        }
        self.logger.notice("ready", metadata: servers.metadata)

        await self.waitForShutdown()
        self.readiness.set(.draining, met: false)
        await self.waitAsLameDuck(self.settings.inForce.timeouts.lameDuck)
        self.logger.notice("draining")
        beating.cancel()
        telling.cancel()
        watching.cancel()
        fetching.cancel()
        observing.cancel()
        auditing.cancel()
        measuring.cancel()
        weighing.cancel()
        filing.cancel()
        logging.cancel()
        await providers.close()
        await connections.close()
        self.streams.close()
        self.followers.close()
        receipting.cancel()
        await receipting.value
        self.feed.close()
        self.audit.close()
        await servers.drain(within: .milliseconds(self.settings.inForce.timeouts.drain.milliseconds))
        await deliverer.stop()
        // No request waits for an answer any more, and what is asked of the owners from here on must not wait either.
        for owner in owners { owner.stop() }
        self.history.close()
        writing.cancel()
        await snapshotter?.stop()
        exporting.cancel()
        await exporter?.close()
        await self.audit.reach(log)
        // Whoever still asks the owners would ask loops that are gone.
        for task in [beating, telling, watching, fetching, observing, auditing, measuring, weighing, filing, logging] {
            await task.value
        }
        filer?.store.close()
        self.end()
    }

    /// How it does, in a line: that it is ready, or what is missing; and whether its listeners are open.
    package var status: (text: String, isListening: Bool) {
        let missing = self.readiness.missing
        let text = (missing.map(\.description) + [self.readiness.progress].compactMap { $0 }).joined(separator: "; ")
        return (missing.isEmpty ? "ready" : text, !missing.contains(.listeners))
    }

    /// Comes back once every thread that serves has done what it had to do before: a thread that hangs never does.
    package func reachLoops() async {
        for loop in self.loops.all { try? await loop.submit {}.get() }
    }

    private func end() {
        self.journal.close()
        self.logger.notice("stopped")
    }

    /// Reads the configuration and the files that it names again; does nothing before the gateway is ready.
    ///
    /// - Returns: What came of it, as `POST /v1/config/reload` answers; where it was not read, `detail` with the reason.
    @discardableResult package func reload() async -> JSONValue {
        guard let reloading = self.reloading.withLock({ $0 }) else {
            return .object(of: [("detail", .string("the gateway is not ready yet"))])
        }
        do throws(Problem) {
            return Views.report(try await reloading.reload())
        } catch {
            let logger = self.logs.logger(.configuration)
            logger.error("the configuration was not read", metadata: ["error": "\(error.detail)"])
            return .object(of: [("detail", .string(error.detail))])
        }
    }

    /// Goes on accepting, while it is not ready any more.
    private func waitAsLameDuck(_ time: Interval) async {
        guard time > .zero else { return }
        let seconds = time.milliseconds / 1000
        self.logger.notice("not ready any more, and still accepting", metadata: ["seconds": "\(seconds)"])
        try? await Task.sleep(for: .milliseconds(time.milliseconds))
    }

    private func waitForShutdown() async {
        // The stream never yields: it ends when the task is told to shut down or is cancelled.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        await withGracefulShutdownHandler {
            for await _ in stream {}
        } onGracefulShutdown: {
            continuation.finish()
        }
    }
}
