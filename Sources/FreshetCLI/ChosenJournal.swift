import Clustering
import Engine
import Foundation
import Gateway
import JournalSQLite
import Journaling
import Logging
import Partitions
import Settings
import WidgetModel

#if JetStream
import JournalJetStream
#endif

/// The log that a gateway stands on, by its configuration. Nothing but this names a journal to write to.
struct ChosenJournal {
    let journal: any Journal
    /// Nil where a restart has nothing to begin with.
    let snapshots: (any SnapshotStore)?
    /// Measures the room for the log; nil where it needs none on this machine.
    let storage: StorageWatch.Measure?
    /// How the log is opened for a question about the past, beside the journal; nil where the journal itself is asked.
    let history: HistoryQuestions.Opening?
    /// The nodes that share the log; nil where it is one gateway's.
    let membership: Membership?
    /// Reads other nodes' decisions; nil where it is one gateway's.
    let outputs: (any OutputFollowing)?
    /// Where nodes keep the notes that their successors need; nil where it is one gateway's.
    let notes: (any PartitionNotes)?

    /// In memory: nothing outlives the process.
    init(inMemory configuration: GatewayConfiguration, _ clock: LogClock) {
        let limits = JournalLimits(configuration)
        self.journal = MemoryJournal(partitions: configuration.partitions, limits: limits) { clock.now() }
        self.snapshots = nil
        self.storage = nil
        self.history = nil
        self.membership = nil
        self.outputs = nil
        self.notes = nil
    }

    /// Where the configuration says.
    ///
    /// - Throws: ``JournalError`` with what to change.
    init(_ configuration: GatewayConfiguration, _ clock: LogClock, _ logger: Logger) throws(JournalError) {
        if let place = configuration.journal.jetStream {
            try self.init(jetStream: place, configuration, clock)
        } else {
            try self.init(sqlite: configuration, clock, logger)
        }
    }

    private init(sqlite configuration: GatewayConfiguration, _ clock: LogClock, _ logger: Logger) throws(JournalError) {
        let directory = configuration.dataDirectory
        let own = SQLiteJournal.Configuration(
            directory: directory,
            partitions: configuration.partitions,
            limits: JournalLimits(configuration)
        )
        let journal = try SQLiteJournal(configuration: own) { clock.now() }
        if let cut = journal.cut { logger.warning("\(cut)") }
        self.journal = journal
        self.snapshots = journal
        self.storage = { () throws(JournalError) in try LogDirectory.sizes(of: directory) }
        // So that neither waits for the other.
        self.history = { try LogDirectory(path: directory) }
        self.membership = nil
        self.outputs = nil
        self.notes = nil
    }
}

extension GatewayConfiguration.JetStream {
    /// Where the log is, for people.
    var words: String { "NATS JetStream, cluster \(self.cluster)" }
}

#if JetStream
extension ChosenJournal {
    private init(
        jetStream place: GatewayConfiguration.JetStream,
        _ configuration: GatewayConfiguration,
        _ clock: LogClock
    ) throws(JournalError) {
        let journal = try JetStreamJournal(configuration: .init(place, configuration)) { clock.now() }
        let folder = try DirectoryBesideLog(
            path: configuration.dataDirectory,
            log: journal.format.journalID,
            place: place.words
        )
        self.journal = journal
        self.snapshots = journal
        self.storage = { () throws(JournalError) in
            // The directory is this process's for as long as it is measured.
            try withExtendedLifetime(folder) { () throws(JournalError) in
                var sizes = try journal.sizes()
                sizes.lastBackup = LogDirectory.lastBackup(of: configuration.dataDirectory)
                return sizes
            }
        }
        self.history = nil
        self.membership = Membership(place, journal.makeCluster(), journal.makeExchange(), startedAt: clock.now())
        self.outputs = journal
        self.notes = journal
    }

    /// The log that a configuration names, to be read and not written to.
    static func history(of configuration: GatewayConfiguration) throws(JournalError) -> any LogHistory {
        guard let place = configuration.journal.jetStream else {
            return try LogDirectory(path: configuration.dataDirectory)
        }
        return try JetStreamHistory(.init(place, configuration))
    }

    /// The fault of the brokers that a configuration names; nil if it names none, or they have no fault.
    static func fault(of configuration: GatewayConfiguration) -> JournalError? {
        guard let place = configuration.journal.jetStream else { return nil }
        do throws(JournalError) {
            try JetStreamJournal.check(.init(place, configuration))
            return nil
        } catch {
            return error
        }
    }
}

extension Membership {
    fileprivate init(
        _ place: GatewayConfiguration.JetStream,
        _ cluster: any Cluster,
        _ exchange: any NodeExchange,
        startedAt: Instant
    ) {
        let machine = ProcessInfo.processInfo.hostName
        let node = ClusterNode(
            name: NodeName(place.node.name ?? machine) ?? NodeName("node")!,
            incarnation: Incarnation(startedAt: startedAt, number: .random(in: .min ... .max)),
            address: place.node.address ?? machine,
            rules: UInt32(Engine.version)
        )
        self.init(cluster, exchange, as: node)
        self.limits.beat = place.beat
        self.limits.silence = place.beat * 4
        self.limits.standsBy = place.standsBy
    }
}

extension JetStreamJournal.Configuration {
    init(_ place: GatewayConfiguration.JetStream, _ configuration: GatewayConfiguration) {
        let tls = place.tls.map { tls in
            BrokerAccess.TLS(authorities: tls.authorities, certificate: tls.certificate, key: tls.key)
        }
        self.init(
            access: BrokerAccess(servers: place.servers, credentials: .init(place.credentials), tls: tls),
            systemCredentials: .init(place.systemCredentials),
            cluster: place.cluster,
            partitions: configuration.partitions,
            replicas: place.replicas,
            limits: JournalLimits(configuration),
            streamBytesMax: place.streamBytesMax,
            cacheBytesMax: place.cacheBytesMax,
            patienceMilliseconds: Int(place.patience.milliseconds)
        )
    }
}

extension BrokerAccess.Credentials {
    fileprivate init(_ credentials: GatewayConfiguration.BrokerCredentials) {
        self =
            switch (credentials.user, credentials.file) {
            case (_, nil): .none
            case (nil, let file?): .file(file)
            case (let key?, let file?) where credentials.isKey: .nkey(key, seedFile: file)
            case (let user?, let file?): .password(user: user, file: file)
            }
    }
}
#else
extension ChosenJournal {
    static let absence = JournalError(
        .invalid,
        "this program was built without NATS JetStream; take journal.jetstream out of the configuration, or build it with the trait "
            + "JetStream"
    )

    private init(
        jetStream place: GatewayConfiguration.JetStream,
        _ configuration: GatewayConfiguration,
        _ clock: LogClock
    ) throws(JournalError) {
        throw Self.absence
    }

    /// The log that a configuration names, to be read and not written to.
    static func history(of configuration: GatewayConfiguration) throws(JournalError) -> any LogHistory {
        guard configuration.journal.jetStream == nil else { throw Self.absence }
        return try LogDirectory(path: configuration.dataDirectory)
    }

    /// The fault of the brokers that a configuration names; nil if it names none.
    static func fault(of configuration: GatewayConfiguration) -> JournalError? {
        configuration.journal.jetStream == nil ? nil : Self.absence
    }
}
#endif
