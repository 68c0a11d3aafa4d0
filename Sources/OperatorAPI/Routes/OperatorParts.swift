package import Clustering
package import Partitions
package import Serving

/// The access to the ops listener, and the audit of its changes.
package struct OperatorDoors: Sendable {
    package let access: OperatorAccess
    package let gate: OperatorGate
    package let audit: OperatorAudit
    /// Nil where the page is off.
    package var dashboard: DashboardFiles?

    package init(access: OperatorAccess, gate: OperatorGate, audit: OperatorAudit) {
        self.access = access
        self.gate = gate
        self.audit = audit
    }
}

/// The log that operators ask, with its time and its past.
package struct OperatedStore: Sendable {
    package let log: CommandLog
    package let clock: LogClock
    /// The mover of the clock, in a gateway that was started for that.
    package var travel: TimeTravel?
    /// Nil where nothing is asked of the past.
    package var history: HistoryQuestions?
    /// Decisions that engines have no room for any more; nil where they are not kept.
    package var decisions: DecisionFiler?
    /// The watch over the data directory's room; nil where nothing is written to it.
    package var storage: StorageWatch?
    /// The counters of snapshots; nil where none are made.
    package var snapshots: @Sendable () -> Snapshotter.Counters? = { nil }
    /// The nodes that share the log; nil where it is this gateway's alone.
    package var cluster: (any Cluster)?
    /// Forgets the log's history, see ``CommandLog/forgetHistory(here:)``; nil where there are no snapshots to go on with.
    package var forgetHistory: (@Sendable () async throws(Problem) -> Int)?

    package init(log: CommandLog, clock: LogClock) {
        self.log = log
        self.clock = clock
    }
}

/// The traffic of hosts and senders, and its counts.
package struct OperatedTraffic: Sendable {
    package let streams: HostStreams
    package let followers: PushFollowers
    package let directory: any TokenDirectory
    package let counters: PushCounters
    package let senderLimits: SenderLimits
    /// Those of the routes for hosts and senders.
    package var problems = ProblemCounters()
    package var listeners = OpenListeners()
    /// Nil where teams are not told apart.
    package var work: WorkAdmission?
    /// Nil where the shares of the registry are not counted.
    package var registry: RegistryWatch?

    package init(
        streams: HostStreams,
        followers: PushFollowers,
        directory: any TokenDirectory,
        counters: PushCounters,
        senderLimits: SenderLimits
    ) {
        self.streams = streams
        self.followers = followers
        self.directory = directory
        self.counters = counters
        self.senderLimits = senderLimits
    }
}

/// Keys and certificates, and how long they are good for.
package struct OperatedCredentials: Sendable {
    package var certificates = ServerCertificates()
    package var clientCertificates = ClientCertificates()
    package var providerKeys = ProviderKeys([])

    package init() {}
}

/// Where requests of the gateway's own go.
package struct OperatedTargets: Sendable {
    package var states = KindStates()
    /// Nil where nothing goes to upstreams and webhooks.
    package var outgoing: (any DeliveryStatus)?
    /// Nil where no kind has one.
    package var providers: (any ProviderStatus)?

    package init() {}
}

/// The configuration, and the parts that may change it.
package struct OperatedSettings: Sendable {
    package let apps: LiveApps
    package var logs = GatewayLogs.none
    /// Nil where there is no configuration to read again.
    package var reloading: ConfigurationReload?
    /// Further metrics to write; nil for none.
    package var telemetry: TelemetrySources?

    package init(apps: LiveApps) {
        self.apps = apps
    }
}
