import Clustering
import Delivery
import Engine
import HTTPTransport
import History
import Ingest
import Journaling
import Logging
import Metrics
import NIOCore
package import OperatorAPI
import Ownership
import Partitions
import ServiceLifecycle
import Serving
package import Settings
import Synchronization
import Telemetry
package import WidgetModel

/// The gateway whole: replays the log, opens the listeners, and drains when it is told to stop.
///
/// Which journal it stands on is the caller's choice.
package final class Gateway: Service {
    let configuration: GatewayConfiguration
    let watched: WatchedJournal
    var journal: any Journal { self.watched }
    let stores: GatewayStores
    let process: GatewayProcess
    var clock: LogClock { self.process.clock }
    var logs: GatewayLogs { self.process.logs }
    /// By which credentials are judged: real time, also where the log's time was moved.
    let credentialClock: LogClock
    let logger: Logger
    let loops: GatewayLoops
    /// The time of the newest entry when the gateway was started.
    let newestEntry = Mutex(Instant.epoch)
    let readiness: Readiness
    let listeners = OpenListeners()
    let directory: HostDirectory
    let streams: HostStreams
    let followers: PushFollowers
    /// Wakes the sender of receipts.
    let receiptWakes: PushFollowers
    /// The settings that are in force.
    let settings: LiveSettings
    let audit: OperatorAudit
    let operatorToken: OperatorTokenFile?
    let feed: OperatorFeed
    let states = KindStates()
    let counters = PushCounters()
    /// Nil where pushes are not traced.
    let tracing: GatewayTracing?
    let instruments: GatewayInstruments
    let spans: SpanQueue
    let sampler: SpanSampler
    let problems = ProblemCounters()
    let senderLimits: SenderLimits
    let seed: UInt64
    /// Whether anything goes to upstreams, webhooks and timeline providers.
    let delivers: Bool
    private let onReady: @Sendable (BoundPorts) -> Void
    let history: HistoryQuestions
    /// The undecided work of teams in the log.
    let work: WorkAdmission
    /// The watch over the data directory's room; nil where nothing is written to it.
    let storage: StorageWatch?
    /// Each app's part of the registry, and whether the memory has room for more.
    let registry: RegistryWatch
    let owners: [PartitionOwner]
    /// Starts and ends the owners as nodes that share the log have agreed; nil where this gateway has it alone.
    let placed: PlacedOwners?
    /// Partitions that were this node's.
    private let departing: AsyncStream<PartitionID>
    let log: CommandLog
    let reloading: ConfigurationReload

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
    ///   - stores: Where it keeps the data that outlasts it.
    ///   - process: The clock, the logs and the other parts of its process.
    ///   - operatorToken: Where the token for operators is or is to be, for where none is configured.
    ///   - source: Reads the configuration anew; nil where that cannot be.
    ///   - delivers: False for a drill: nothing goes to upstreams, webhooks and timeline providers.
    ///   - onReady: Called once every listener is bound.
    package init(
        configuration: GatewayConfiguration,
        stores: GatewayStores,
        process: GatewayProcess,
        operatorToken: OperatorTokenFile? = nil,
        source: (@Sendable () throws -> GatewayConfiguration)? = nil,
        delivers: Bool = true,
        onReady: @escaping @Sendable (BoundPorts) -> Void = { _ in }
    ) {
        var system = SystemRandomNumberGenerator()
        let (clock, logs) = (process.clock, process.logs)
        let instruments = GatewayInstruments(process.metrics)
        let work = WorkAdmission(partitions: configuration.partitions, configuration.fairness)
        let readiness = Readiness(work.partitions)
        let storage = stores.measure.map { measure in
            StorageWatch(
                configuration.storage,
                logger: logs.logger(.partitions),
                now: { clock.now() },
                measure: measure
            )
        }
        let registry = RegistryWatch(
            RegistryLimits(configuration),
            configuration.memoryMax,
            logger: logs.logger(.gateway),
            measure: { try MemoryReading.sizes() }
        )
        let watched = WatchedJournal(
            stores.journal,
            readiness: readiness,
            logger: logs.logger(.partitions),
            commit: instruments.commit,
            storage: storage,
            isApart: stores.membership != nil
        )
        let opening = stores.history ?? { stores.journal.history }
        let membership = stores.membership
        let directory = HostDirectory(
            seed: system.next(),
            apps: configuration.apps.map(\.bundleID),
            absent: membership == nil ? 0 : configuration.partitions,
            isCutOff: { membership?.cluster.isCutOff ?? false }
        )
        let streams = HostStreams(
            limits: HostStreams.Limits(configuration.streams),
            of: stores.journal.format,
            seed: system.next()
        )
        let followers = PushFollowers(max: configuration.streams.followedPushesMax)
        let receiptWakes = PushFollowers(max: 1)
        let feed = OperatorFeed(limits: configuration.feed, epoch: UInt32(truncatingIfNeeded: system.next()))
        let audit = OperatorAudit(
            archive: stores.audit,
            history: opening,
            shared: membership == nil ? nil : watched,
            feed: feed,
            logger: logs.logger(.audit)
        )
        let spans = SpanQueue(max: configuration.tracing.spansMax)
        let sampler = SpanSampler(
            perMillion: configuration.tracing.samplesPerMillion,
            perSecondMax: configuration.tracing.tracesPerSecondMax
        )
        let tracing =
            configuration.tracing.isEnabled
            ? GatewayTracing(SpanTracer(queue: spans, sampler: sampler), configuration.tracing) : nil
        let loops = process.loops ?? GatewayLoops(partitions: configuration.partitions)
        let (departing, departures) = AsyncStream<PartitionID>.makeStream()
        let owners = Self.owners(
            of: configuration,
            on: loops.owners,
            PartitionOwner.Services(
                journal: watched,
                snapshots: stores.snapshots,
                clock: clock,
                logger: logs.logger(.partitions),
                tracing: tracing,
                elsewhere: membership.map { $0.elsewhere },
                rules: stores.rules
            ),
            work,
            PartitionOwner.Sinks(
                // Tokens are spread over the partitions evenly.
                hosts: { partition, engine in
                    directory.reserve(engine.tokenCount * configuration.partitions)
                    directory.takeTokens(engine, partition)
                },
                directory: { partition, changes in
                    // First, so that a stream that is about to be opened finds what its token stands for now.
                    directory.apply(changes, partition)
                    streams.apply(changes)
                },
                // Where nodes share the log, the audit reads all of it.
                audit: { if membership == nil { audit.takeRecords($0, $1, $2, at: $3) } },
                usage: { registry.publish($1, of: $0) },
                applied: {
                    followers.wake(.applied)
                    receiptWakes.wake(.applied)
                },
                arrived: { _ in directory.noteArrival() },
                left: { partition, hadArrived in
                    directory.leave(partition, wasKnown: hadArrived)
                    registry.leave(partition)
                    departures.yield(partition)
                },
                failed: { partition, error in
                    if let membership {
                        let end = OwnerEnd(error)
                        membership.cluster.tell(.stopped(partition, end))
                        // It follows placement again: nothing is amiss with the gateway.
                        if end == .fenced { return }
                    }
                    readiness.set(.partitions, met: false)
                    let note = JSONValue.object(of: [
                        ("partition", .count(Int(partition.rawValue))), ("failed", .bool(true)),
                    ])
                    feed.publish(.note(.partition, note))
                }
            )
        )
        self.configuration = configuration
        self.stores = stores
        self.process = process
        self.watched = watched
        self.work = work
        self.readiness = readiness
        self.instruments = instruments
        self.storage = storage
        self.registry = registry
        self.operatorToken = operatorToken
        self.history = HistoryQuestions(
            from: HistoryStart(stores.snapshots),
            concurrentMax: configuration.limits.historyQuestionsMax,
            open: opening
        )
        self.credentialClock = process.movableClock == nil ? clock : LogClock()
        self.logger = logs.logger(.gateway)
        self.seed = system.next()
        self.senderLimits = SenderLimits(
            backlog: PushBacklog(max: configuration.limits.inFlightPushesMax),
            storage: storage
        )
        self.directory = directory
        self.streams = streams
        self.followers = followers
        self.receiptWakes = receiptWakes
        self.feed = feed
        self.audit = audit
        self.delivers = delivers
        self.onReady = onReady
        self.loops = loops
        self.spans = spans
        self.sampler = sampler
        self.tracing = tracing
        self.owners = owners
        self.departing = departing
        self.placed = Self.placement(stores, owners, watched, readiness, logs.logger(.partitions))
        self.log = CommandLog(
            journal: watched,
            owners: owners,
            nodes: membership.map { OtherNodes($0, limits: .init(configuration)) }
        )
        self.settings = LiveSettings(configuration)
        self.reloading = ConfigurationReload(
            self.settings,
            source: source,
            checkFiles: { try GatewayCheck.files(of: $0) },
            log: self.log,
            clock: clock,
            feed: feed,
            logs: logs,
            instruments: instruments
        )
        self.followSettings()
    }

    /// Runs until graceful shutdown or cancellation.
    ///
    /// - Throws: The error that kept it from starting: a file that cannot be read, a port in use, a log that cannot be replayed.
    package func run() async throws {
        do {
            // A start writes, too; and no request may be let in before it is known whether there is room.
            await self.storage?.look()
            let files = try self.readFiles()
            let health = try await self.openHealth(files.plans.health)
            do {
                try await self.serve(files, health)
            } catch {
                await health?.drain(within: .zero)
                throw error
            }
        } catch {
            guard let fault = error as? OwnerError, fault.isShutdown else {
                self.placed?.close()
                try? await self.loops.shutDown()
                throw error
            }
            // It was told to end while it read the log.
            self.end()
        }
        try await self.loops.shutDown()
    }

    private func serve(_ files: Files, _ health: HTTPServer?) async throws {
        try await self.startOwners()
        await self.registry.look()
        try await self.noteNewestEntry()
        let amended = try await self.takeAmendments()
        if amended != self.configuration { _ = try files.connections.applyConfiguration(amended) }
        try await self.logSettings()
        let watch = GatewayWatch(
            log: self.log,
            clock: self.clock,
            counters: self.counters,
            senderLimits: self.senderLimits,
            streams: self.streams,
            feed: self.feed,
            history: GatewayHistory(archive: self.stores.samples, now: self.clock.now(), logger: self.logger)
        )
        let delivering = try await self.startDelivering(files)
        let parts = try self.makeParts(files, delivering, watch)
        let credentials = self.makeReload(parts)
        // Before the listeners open: a sender or operator that a request has let in must not be refused after a restart.
        if amended != self.configuration { credentials.reload(amended) }
        let operators = self.operatorRoutes(parts)
        let servers = try await self.listen(health, parts, operators)
        for (name, server) in servers.all {
            self.settings.follow({ HTTPListenerConfiguration.Bounds(of: name, $0) }) { server.useBounds($0) }
        }
        // Last: it tries mended targets again, and by then all other parts know the new settings.
        self.settings.followReadings { credentials.reload($0) }
        let background = self.startBackground(parts, credentials, operators)
        self.readiness.set(.listeners, met: true)
        self.onReady(servers.ports)
        if let file = parts.access.tokenFile {
            self.logger.notice("operators need the token in this file", metadata: ["file": "\(file)"])
        }
        self.logger.notice("ready", metadata: servers.metadata)

        await self.waitForShutdown()
        let refusal = await self.placed?.reason
        self.readiness.set(.draining, met: false)
        await self.waitAsLameDuck(self.settings.inForce.timeouts.lameDuck)
        self.logger.notice("draining")
        await self.drain(parts, servers, background)
        self.end()
        if let refusal { throw refusal }
    }

    /// The tasks that run beside requests, until the gateway drains.
    private struct Background {
        /// Those that end at once when it drains.
        let looking: [Task<Void, Never>]
        /// Writes snapshots, until the owners have stopped.
        let writing: Task<Void, Never>
        /// Sends spans, until nothing makes any more.
        let exporting: Task<Void, Never>
    }

    private func startBackground(
        _ parts: Parts,
        _ credentials: GatewayReload,
        _ operators: OperatorRoutes
    ) -> Background {
        let looking: [Task<Void, Never>] = [
            Task { if let storage = self.storage { await storage.run() } },
            Task { await self.registry.run() },
            Task { await parts.watch.run() },
            Task { await self.audit.run(self.log) },
            Task { if let limits = self.stores.membership?.limits { await self.audit.follow(every: limits.beat) } },
            Task { await parts.delivering.providers.run() },
            Task { await parts.delivering.outgoing.receipts.run(self.receiptWakes) },
            Task { if let filer = parts.filer { await filer.run() } },
            Task { await self.logs.run() },
            Task { await credentials.run() },
            Task { await self.followLog(parts) },
            Task { await self.beat() },
            Task { for await gone in self.departing { await parts.delivering.outgoing.letGo(gone) } },
            Task { await self.tellStates(parts.watch, operators) },
            Task { await self.watchElsewhere() },
            Task { await self.announcePushedKinds(parts.files.apps) },
            Task { await self.watchTokensElsewhere() },
            Task { await self.watchUsagesElsewhere() },
        ]
        return Background(
            looking: looking,
            writing: Task { await parts.snapshotter?.run() },
            exporting: Task { await parts.files.exporter?.run() }
        )
    }

    private func drain(_ parts: Parts, _ servers: RunningListeners, _ background: Background) async {
        for task in background.looking { task.cancel() }
        await parts.delivering.providers.close()
        await parts.files.connections.close()
        self.streams.close()
        self.followers.close()
        self.feed.close()
        self.audit.close()
        await servers.drain(within: .milliseconds(self.settings.inForce.timeouts.drain.milliseconds))
        await parts.delivering.outgoing.deliverer.stop()
        background.writing.cancel()
        if let snapshotter = parts.snapshotter {
            await self.makeLastSnapshots(snapshotter, after: background.writing)
        }
        await self.leaveCluster()
        // No request waits for an answer any more, and questions to the owners must not wait from here on either.
        for owner in self.owners { owner.stop() }
        self.history.close()
        await parts.snapshotter?.stop()
        background.exporting.cancel()
        await parts.files.exporter?.close()
        await self.audit.reach(self.log)
        // A task that still asks the owners would ask loops that are gone.
        for task in background.looking { await task.value }
        parts.filer?.store.close()
    }

    /// The gateway's state in a line: ready, or the missing parts; and whether its listeners are open.
    package var status: (text: String, isListening: Bool) {
        let missing = self.readiness.missing
        let sentences = self.readiness.sentences(missing) + [self.readiness.progress].compactMap(\.self)
        let text = sentences.joined(separator: "; ")
        return (missing.isEmpty ? "ready" : text, !missing.contains(.listeners))
    }

    /// Comes back once every thread that serves has done its earlier work: a thread that hangs never does.
    package func reachLoops() async {
        for loop in self.loops.all { try? await loop.submit {}.get() }
    }

    private func end() {
        self.placed?.close()
        self.journal.close()
        self.logger.notice("stopped")
    }

    /// Reads the configuration and the files that it names again; does nothing before the gateway is ready.
    ///
    /// - Returns: The result, as `POST /v1/config/reload` answers; if the configuration was not read, `detail` with the reason.
    @discardableResult package func reload() async -> JSONValue {
        guard !self.readiness.missing.contains(.listeners) else {
            return .object(of: [("detail", .string("the gateway is not ready yet"))])
        }
        do throws(Problem) {
            return Views.report(try await self.reloading.reload())
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
        self.logger.notice("draining: not ready, but still accepting requests", metadata: ["seconds": "\(seconds)"])
        try? await Task.sleep(for: .milliseconds(time.milliseconds))
    }

    private func waitForShutdown() async {
        // The stream never yields: it ends when the task is told to shut down or is cancelled.
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        await self.placed?.whenRefused { continuation.finish() }
        await withGracefulShutdownHandler {
            for await _ in stream {}
        } onGracefulShutdown: {
            continuation.finish()
        }
    }
}
