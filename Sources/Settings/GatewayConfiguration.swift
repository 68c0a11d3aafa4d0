package import HTTP2
package import Journaling
package import Timelines
package import WidgetModel

/// Everything that an operator decides about one gateway.
///
/// Each part has its defaults, so that an empty file is a configuration. The struct knows no file: ``ConfigurationFile``
/// reads one, and `deploy/freshet.example.yaml` explains every key.
package struct GatewayConfiguration: Hashable, Sendable {
    /// The folder of the durable log. Default `/var/lib/freshet`; relative to the configuration file's folder.
    package var dataDirectory = "/var/lib/freshet"
    /// Into how many partitions hosts are divided. Default 1, or ``sharedPartitions`` for a log on brokers; at most 64. Fixed when
    /// the log is created: a host's partition is computed from this number.
    package var partitions = 1
    /// So many that the log can be divided among gateways.
    static let sharedPartitions = 16
    /// Where the log is. Default the data directory.
    package var journal = JournalPlace()
    /// When the state is written down beside the log, and how much of the log is kept.
    package var snapshots = Snapshots()
    package var decisions = Decisions()
    /// The part of the disk that the data directory may take.
    package var storage = StorageBudget.Settings()
    /// How much memory the process may take before the registry stops to grow. Default 70 % of the memory that there
    /// is.
    package var memoryMax = MemoryBound.percent(70)
    package var listeners = Listeners()
    /// The certificate of every TLS listener that names none of its own.
    package var tls = TLSFiles()
    /// How often the files of certificates are looked at for changes. Default 10 s.
    package var certificateCheck = Interval.seconds(10)
    package var clientCertificates = ClientCertificates()
    package var operators = Operators()
    /// The teams that may push. Default none; each id once.
    package var teams: [Team] = []
    /// The apps that may be pushed to. Default none; each bundle id once.
    package var apps: [App] = []
    /// Budget policies of the operator's own, by name; apps and kinds refer to them. Default none.
    package var policies: [BudgetPolicy] = []
    /// Files with one policy each, relative to the configuration file's folder. Default none.
    package var policyFiles: [String] = []
    /// The policies of those files; filled in when a configuration is loaded, and no key of its own.
    package var filePolicies: [BudgetPolicy] = []
    package var providerTokens = ProviderTokens()
    package var streams = Streams()
    /// The operators' live events.
    package var feed = Feed()
    package var deliveries = Deliveries()
    package var timelines = Timelines()
    package var dryRun = DryRun()
    /// The goal by which freshness is judged.
    package var freshnessGoal = FreshnessGoal()
    package var fairness = Fairness()
    package var rateLimits = RateLimits()
    package var limits = Limits()
    /// The limits of one HTTP/2 connection; those of its members that have keys under `limits` are set there.
    package var http2 = HTTP2Limits()
    package var timeouts = Timeouts()
    package var log = Log()
    /// Traces of pushes. Default off.
    package var tracing = Tracing()

    package init() {}

    /// The budget policies that apps and kinds may name, presets excepted.
    package var namedPolicies: [BudgetPolicy] { self.policies + self.filePolicies }

    /// The budget policy that a name stands for: one of ``namedPolicies``, or a preset.
    package func policy(named name: String) -> BudgetPolicy? {
        self.namedPolicies.first { $0.name == name } ?? BudgetPolicy.preset(named: name)
    }
}

extension GatewayConfiguration {
    /// Where the gateway listens.
    package struct Listeners: Hashable, Sendable {
        /// Senders: HTTP/2 over TLS. Default 127.0.0.1:2197.
        package var push = Listener(port: 2197)
        /// Senders that manage channels, HTTP/2 over TLS; the push listener does that, too. Default off,
        /// 127.0.0.1:2196, APNs' port for it.
        package var manage = Listener(port: 2196, isEnabled: false)
        /// Hosts: HTTP/2 or HTTP/1.1 over TLS. Default 127.0.0.1:8443.
        package var host = Listener(port: 8443)
        /// Operators: HTTP/2 or HTTP/1.1 over TLS. Default 127.0.0.1:9443.
        package var ops = Listener(port: 9443)
        /// Probes: plain HTTP/1.1, health routes only. Default off, 127.0.0.1:9080.
        package var health = Listener(port: 9080, isEnabled: false)
        /// Whether ``push`` takes the requests of ``manage`` and ``host``, in HTTP/2 and HTTP/1.1, and those are not opened. Default
        /// false.
        package var isMerged = false

        package init() {}

        /// Those that are opened: enabled, and not merged into another.
        package var opened: Listeners {
            var opened = self
            if self.isMerged { (opened.manage.isEnabled, opened.host.isEnabled) = (false, false) }
            return opened
        }

        /// A listener with TLS by its name.
        package subscript(name: String) -> Listener? {
            switch name {
            case "push": self.push
            case "manage": self.manage
            case "host": self.host
            case "ops": self.ops
            default: nil
            }
        }
    }

    /// One place to listen.
    package struct Listener: Hashable, Sendable {
        /// Whether it listens at all.
        package var isEnabled: Bool
        /// A numeric IPv4 or IPv6 address. Default 127.0.0.1.
        package var address = "127.0.0.1"
        /// 0 lets the system choose; at most 65,535.
        package var port: Int
        /// Whether a client without ALPN may speak HTTP/2 all the same. Default true. For the push listener only; the
        /// others take such a client for HTTP/1.1.
        package var acceptsPriorKnowledge = true
        /// A certificate of its own, nil for ``GatewayConfiguration/tls``. The health listener has none.
        package var tls: TLSFiles?

        package init(port: Int, isEnabled: Bool = true) {
            self.isEnabled = isEnabled
            self.port = port
        }

        /// Whether only this machine can connect.
        package var isLoopback: Bool {
            self.address == "::1" || self.address.hasPrefix("127.")
        }
    }

    /// The PEM files that TLS takes.
    package struct TLSFiles: Hashable, Sendable {
        /// The server's certificate, then its issuers. Default `certs/server.pem`.
        package var certificate = "certs/server.pem"
        /// The certificate's private key, without a passphrase. Default `certs/server.key`.
        package var key = "certs/server.key"
        /// The authorities whose client certificates are believed. Default none: no client certificate is asked for.
        package var clientAuthorities: String?

        package init() {}
    }

    /// The rules for senders' client certificates, beside the apps' own.
    package struct ClientCertificates: Hashable, Sendable {
        /// The sender of a certificate that no app names.
        package enum Unnamed: String, Hashable, Sendable, CaseIterable {
            /// No sender.
            case reject
            /// The apps of the topics that it lists.
            case topics
        }

        /// Default reject.
        package var unnamed = Unnamed.reject
        /// A file of certificates that are no longer believed. Default none.
        package var revocationList: String?

        package init() {}
    }

    /// Access to the operators' routes.
    package struct Operators: Hashable, Sendable {
        /// Whether each client that connects is an administrator. Default false; allowed on a loopback address only.
        package var isOpen = false
        /// Names of the ops listener beside its address, localhost and those in its certificate. Default none.
        package var names: [String] = []
        /// A file with one access token a line. Default none: the gateway makes a token.
        package var tokensFile: String?
        /// The tokens themselves, from the file and the environment; never from the configuration file.
        package var tokens: [Secret] = []
        /// Client certificates of operators; the ops listener has to ask for them. Default none.
        package var certificates: [OperatorCertificate] = []
        package var dashboard = Dashboard()

        package init() {}
    }

    /// The page at the root of the ops listener.
    package struct Dashboard: Hashable, Sendable {
        /// Default true.
        package var isEnabled = true
        /// Where Chart.js 3 is, an absolute path; empty for none. Default where Debian's libjs-chart.js puts it. Without it
        /// the page shows tables.
        package var chartScript = "/usr/share/javascript/chart.js/chart.min.js"

        package init() {}
    }

    /// A client certificate that an operator comes with.
    package struct OperatorCertificate: Hashable, Sendable {
        package var name: ClientCertificate.Name
        /// Its scope. Default read.
        package var scope = OperatorScope.read

        package init(name: ClientCertificate.Name, scope: OperatorScope = .read) {
            self.name = name
            self.scope = scope
        }
    }

    /// How provider tokens (the senders' JWTs) are judged.
    package struct ProviderTokens: Hashable, Sendable {
        /// The scope over which renewals are counted.
        package enum RefreshScope: String, Hashable, Sendable, CaseIterable {
            /// Each connection by itself, as Apple's documentation has it.
            case connection
            /// Each provider key, over all connections.
            case key
            /// All keys of a team, over all connections, as Apple's engineers say of its servers.
            case team
        }

        /// The greatest age of `iat`. Default 1 h, as at APNs.
        package var ageMax = Interval.hours(1)
        /// How far a sender's clock may be ahead. Default 5 min.
        package var futureSkewMax = Interval.minutes(5)
        /// How far apart renewals have to be, zero for no rule. Default 20 min, as at APNs; then
        /// `TooManyProviderTokenUpdates`.
        package var refreshMin = Interval.minutes(20)
        /// The scope over which renewals are counted. Default each connection by itself.
        package var refreshScope = RefreshScope.connection
        /// Whether a connection belongs to the team and key of its first push, as at APNs. Default true. Without it,
        /// renewals that would be counted by connection are counted by key.
        package var bindsConnections = true

        package init() {}
    }

    /// How long peers may take. Each is kept to within a second.
    package struct Timeouts: Hashable, Sendable {
        /// For the TLS handshake. Default 10 s.
        package var handshake = Interval.seconds(10)
        /// From the handshake to the first request. Default 10 s.
        package var firstRequest = Interval.seconds(10)
        /// For one header block to arrive whole on HTTP/2. Default 10 s.
        package var headers = Interval.seconds(10)
        /// For one request to arrive whole. Default 30 s.
        package var request = Interval.seconds(30)
        /// Without a byte from the peer and without a request in work; then GOAWAY. Default 1 h.
        package var idle = Interval.hours(1)
        /// Between two requests on HTTP/1.1. Default 75 s.
        package var idleHTTP1 = Interval.seconds(75)
        /// For a peer to take output that waits for it. Default 30 s.
        package var writeStall = Interval.seconds(30)
        /// Without a byte from the peer on HTTP/2, before a PING asks whether it is there. Default 5 min.
        package var keepAlive = Interval.minutes(5)
        /// For a peer to say anything after that PING. Default 30 s.
        package var keepAliveAnswer = Interval.seconds(30)
        /// From SIGTERM until the listeners stop accepting: `/readyz` says 503 meanwhile, so that load balancers send nothing new
        /// by the time that nothing new is taken. Default 0.
        package var lameDuck = Interval.zero
        /// From then until the connections that are still open are closed. Default 20 s.
        package var drain = Interval.seconds(20)
        /// Behind the drain, for a last snapshot of each partition to be written; without it the next start replays the log.
        /// Default 20 s.
        package var lastSnapshot = Interval.seconds(20)

        package init() {}
    }

    /// The messages on standard error.
    package struct Log: Hashable, Sendable {
        package enum Level: String, Hashable, Sendable, CaseIterable {
            case trace, debug, info, notice, warning, error, critical
        }

        package enum Format: String, Hashable, Sendable, CaseIterable {
            /// One JSON object a line.
            case json
            /// For a person at a terminal.
            case human
        }

        /// Less important lines are left out. Default info.
        package var level = Level.info
        /// The same for single subsystems. Default none: all have ``level``.
        package var levels: [LogSubsystem: Level] = [:]
        /// Default json.
        package var format = Format.json
        /// A message that was written is only counted for so long when it comes again. Default 30 s; zero writes all.
        package var repeatWindow = Interval.seconds(30)
        /// How many messages are known at a time that may come again. Default 256.
        package var repeatsMax = 256

        package init() {}
    }
}
