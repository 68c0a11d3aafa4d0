import Engine
import Ingest
import Journaling
import Logging
import NIOCore
import NIOPosix
import OperatorAPI
import Ownership
import Partitions
import Serving
import Synchronization
import TestSupport
import TransportSupport
import WidgetModel

/// The owners of an in-memory log, and everything that they hand on.
final class OwnerScene: Sendable {
    let journal: MemoryJournal
    let snapshots: MemorySnapshots?
    let time: FakeTime
    /// The clock that it reads in the place of ``time``; nil for that.
    private let clock: LogClock?
    private let news: @Sendable (OwnerNews, PartitionID) -> Void
    let owners: [PartitionOwner]
    let log: CommandLog
    let work: WorkAdmission
    let directory = HostDirectory(seed: 7, apps: [Sports.app])
    let streams: HostStreams
    let followers = PushFollowers(max: 2)
    let feed = OperatorFeed(epoch: 0)
    let audit: OperatorAudit
    /// Nil where it is not counted who has how much of the registry.
    let registry: RegistryWatch?
    /// Reloads in the order in which they were handed on; for one reader.
    let reloads: AsyncStream<ReloadEffect>
    /// The errors that stopped partitions; for one reader.
    let failures: AsyncStream<String>
    private let handed: Handed

    private final class Handed: Sendable {
        let reloads = Mutex<[ReloadEffect]>([])
        let tap = Mutex<(@Sendable ([Effect]) -> Void)?>(nil)
    }

    init(
        _ journal: MemoryJournal,
        _ time: FakeTime,
        snapshots: MemorySnapshots? = nil,
        submissionBytesMax: Int = JournalLimits().batchBytesMax,
        outputBytesPerCommit: Int = JournalLimits().outputBytesPerCommit,
        clock: LogClock? = nil,
        tracing: GatewayTracing? = nil,
        auditArchive: any RecordArchive = MemoryArchive(),
        auditLog: RecordedLog = RecordedLog(),
        registry: RegistryWatch? = nil,
        loops: MultiThreadedEventLoopGroup = .singleton
    ) {
        let (reloads, reload) = AsyncStream.makeStream(of: ReloadEffect.self)
        let (failures, failure) = AsyncStream.makeStream(of: String.self)
        let handed = Handed()
        let directory = self.directory
        let streams = HostStreams(of: journal.format)
        self.streams = streams
        let followers = self.followers
        self.clock = clock
        let clock = clock ?? time.makeClock()
        let audit = OperatorAudit(
            archive: auditArchive,
            history: { journal },
            feed: self.feed,
            logger: auditLog.logger
        )
        self.audit = audit
        self.registry = registry
        self.news = { news, partition in
            switch news {
            case .begins(let newest): streams.begin(partition, at: newest?.next ?? .first)
            case .committed(let output):
                for case .reload(let effect) in output.effects {
                    handed.reloads.withLock { $0.append(effect) }
                    reload.yield(effect)
                }
                streams.publish(output, of: partition)
                handed.tap.withLock { $0 }?(output.effects)
            case .ends: break
            }
        }
        let sinks = PartitionOwner.Sinks(
            hosts: { partition, engine in directory.takeTokens(engine, partition) },
            directory: { partition, changes in
                directory.apply(changes, partition)
                streams.apply(changes)
            },
            audit: { audit.takeRecords($0, $1, $2, at: $3) },
            usage: { registry?.publish($1, of: $0) },
            applied: { followers.wake(.applied) },
            failed: { partition, error in failure.yield("\(partition): \(error)") }
        )
        let work = WorkAdmission(partitions: journal.format.partitions)
        self.work = work
        let services = PartitionOwner.Services(
            journal: journal,
            snapshots: snapshots,
            clock: clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            tracing: tracing
        )
        let owners = (0..<journal.format.partitions).map { number in
            PartitionOwner(
                engine: Engine(partition: PartitionID(UInt16(number)), partitions: journal.format.partitions),
                partition: PartitionID(UInt16(number)),
                loop: loops.next(),
                services: services,
                work: work.partitions[number],
                sinks: sinks,
                outputBytesPerCommit: outputBytesPerCommit
            )
        }
        self.journal = journal
        self.snapshots = snapshots
        self.time = time
        self.owners = owners
        self.log = CommandLog(journal: journal, owners: owners, submissionBytesMax: submissionBytesMax)
        self.reloads = reloads
        self.failures = failures
        self.handed = handed
    }

    /// A new log with the sports apps' settings, its owners started.
    static func started(
        partitions: Int = 1,
        limits: JournalLimits = JournalLimits(),
        snapshots: MemorySnapshots? = nil,
        submissionBytesMax: Int = JournalLimits().batchBytesMax,
        clock: LogClock? = nil,
        tracing: GatewayTracing? = nil,
        auditArchive: any RecordArchive = MemoryArchive(),
        auditLog: RecordedLog = RecordedLog(),
        registry: RegistryWatch? = nil,
        loops: MultiThreadedEventLoopGroup = .singleton
    ) async throws -> OwnerScene {
        let time = FakeTime()
        let journal = MemoryJournal(partitions: partitions, limits: limits, clock: { clock?.now() ?? time.wall })
        let scene = OwnerScene(
            journal,
            time,
            snapshots: snapshots,
            submissionBytesMax: submissionBytesMax,
            outputBytesPerCommit: limits.outputBytesPerCommit,
            clock: clock,
            tracing: tracing,
            auditArchive: auditArchive,
            auditLog: auditLog,
            registry: registry,
            loops: loops
        )
        _ = try await scene.start()
        _ = try await scene.log.appendToAll(.settings(Sports.settings))
        return scene
    }

    /// Hands committed effects to `body`, too, as they come.
    func tap(_ body: @escaping @Sendable ([Effect]) -> Void) { self.handed.tap.withLock { $0 = body } }

    /// Starts the owners; how many entries they replayed.
    func start() async throws -> Int {
        var replayed = 0
        for owner in self.owners {
            let partition = owner.partition
            try await owner.serve { [news = self.news] in news($0, partition) }
            replayed += try await owner.start { _, _ in }
        }
        return replayed
    }

    /// The same log in a new process. Reads the entries that are committed at this moment.
    func restarted(
        outputBytesPerCommit: Int = JournalLimits().outputBytesPerCommit,
        tracing: GatewayTracing? = nil,
        auditArchive: any RecordArchive = MemoryArchive(),
        registry: RegistryWatch? = nil
    ) -> OwnerScene {
        OwnerScene(
            self.journal.reopened(),
            self.time,
            snapshots: self.snapshots,
            outputBytesPerCommit: outputBytesPerCommit,
            clock: self.clock,
            tracing: tracing,
            auditArchive: auditArchive,
            registry: registry
        )
    }

    /// Every reload that was handed on so far.
    var handedOn: [ReloadEffect] { self.handed.reloads.withLock { $0 } }

    /// Waits until the owners' loops have done their work up to now: an announced entry is applied, its output written
    /// and handed on, each of which may ask for one more turn.
    func settle() async throws {
        for _ in 0..<4 {
            for owner in self.owners { _ = try await owner.progress() }
        }
    }

    @discardableResult
    func register(_ host: String, revision: UInt64 = 1, instances: Int = 1) async throws -> RecordAnswer.Result {
        let shown = (0..<instances).map { Sports.instance("a\($0)") }
        return try await self.log.append(
            .register(Sports.registration(host, revision: revision, shown)),
            for: HostKey(host)
        )
    }

    /// A host's reloads that are out.
    func outstanding(_ host: HostKey) async throws -> [ReloadEffect] {
        try await self.log.ask(self.log.partition(of: host), ReloadsQuestion(.host(host))).reloads
    }

    func digests() async throws -> [UInt64] {
        var digests: [UInt64] = []
        for owner in self.owners { digests.append(try await owner.inspect { $0.stateDigest() }) }
        return digests
    }

    /// The reloads that the output log of a partition holds, a list for each record.
    func outputs(_ partition: UInt16 = 0) throws -> [[ReloadEffect]] {
        let outputs = try self.journal.readOutputs(PartitionID(partition), from: .first, outputsMax: 1000)
        return try outputs.map { try $0.record.readEffects().flatMap(\.reloads) }
    }
}
