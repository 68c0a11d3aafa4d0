package import Journaling
package import WidgetModel

extension GatewayConfiguration {
    /// Where the log is.
    package struct JournalPlace: Hashable, Sendable {
        /// On NATS brokers. Default nil: in the data directory.
        package var jetStream: JetStream?

        package init() {}
    }

    /// A log on NATS JetStream.
    package struct JetStream: Hashable, Sendable {
        /// Addresses of brokers; one is enough, the others are found by it. At least one.
        package var servers: [String] = []
        /// A part of the names of streams and subjects. Default `freshet`.
        package var cluster = "freshet"
        /// On how many brokers each stream is, if it is created: 1, 3 or 5. Default 3.
        package var replicas = 3
        /// The most bytes of each stream, if it is created. Default 1 GiB.
        package var streamBytesMax = 1_073_741_824
        /// The newest entries of all partitions that memory holds. Default 64 MiB.
        package var cacheBytesMax = 67_108_864
        /// How long something is tried again while brokers do not answer. Default 10 s, which is longer than an election.
        package var patience = Interval.seconds(10)
        /// The name by which other gateways on this log know this one.
        package var node = ClusterNodeNames()
        /// How often a gateway tells the others that it is there; one that is silent for four beats is taken for dead. Default 500 ms.
        package var beat = Interval.milliseconds(500)
        /// How long a gateway that has a partition is looked for when something is asked of it. Default 3 s, in which partitions of a
        /// gateway that died are another's.
        package var questionPatience = Interval.seconds(3)
        /// Whether the gateway follows partitions of others, to go on with them at once when those die. Default true: it costs the
        /// memory of their states, which it needs anyway once it has them.
        package var standsBy = true
        /// As whom the log is written and read.
        package var credentials = BrokerCredentials()
        /// As whom brokers are asked how they are configured: a user of their system account.
        package var systemCredentials = BrokerCredentials()
        /// Default nil: connections are not encrypted, which brokers on this machine alone are allowed.
        package var tls: BrokerTLS?

        package init() {}

        /// Whether an address is one of this machine.
        package static func isLoopback(_ server: String) -> Bool {
            let place = server.dropFirst(Self.scheme.count)
            if place.hasPrefix("[") { return SettingRules.isLoopback(String(place.dropFirst().prefix { $0 != "]" })) }
            return SettingRules.isLoopback(String(place.prefix { $0 != ":" }))
        }

        fileprivate static let scheme = "nats://"
    }

    /// The names of a gateway among those that share a log.
    package struct ClusterNodeNames: Hashable, Sendable {
        /// Decides which partitions are its own, so that it is the same after a restart. Default nil: the machine's name.
        package var name: String?
        /// The address to which people and other nodes are sent for this node's partitions. Default nil: the machine's
        /// name.
        package var address: String?

        package init() {}
    }

    /// A user of brokers, and the file with its secret. Neither for a client certificate alone.
    package struct BrokerCredentials: Hashable, Sendable {
        /// A name, or a public key. Nil where the file says it.
        package var user: String?
        /// The password in the first line, the key's seed, or a user's JWT with the seed of its key.
        package var file: String?

        package init() {}

        /// Whether the user is known by its public key.
        package var isKey: Bool {
            guard let user = self.user, user.utf8.count == 56, user.hasPrefix("U") else { return false }
            return user.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x32...0x37).contains($0) }
        }
    }

    /// PEM files of encrypted connections to brokers.
    package struct BrokerTLS: Hashable, Sendable {
        /// The authorities by which brokers are believed. Default nil: the system's.
        package var authorities: String?
        package var certificate: String?
        /// The private key of ``certificate``.
        package var key: String?

        package init() {}
    }
}

extension GatewayConfiguration {
    func journalFaults() -> [(path: String, sentence: String)] {
        (self.journal.jetStream?.faults ?? []).map { ("journal.jetstream.\($0.key)", $0.sentence) }
    }
}

extension GatewayConfiguration.JetStream {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        visitor.scalars("servers", &self.servers, .brokerAddress)
        visitor.scalar("cluster", &self.cluster, .clusterName)
        visitor.scalar("replicas", &self.replicas, .integer(1...5))
        visitor.scalar("maxStreamBytes", &self.streamBytesMax, .bytes(134_217_728...1_125_899_906_842_624))
        visitor.scalar("maxCacheBytes", &self.cacheBytesMax, .bytes(1_048_576...1_099_511_627_776))
        visitor.scalar("patience", &self.patience, .duration(.seconds(1) ... .minutes(5)))
        visitor.section("node") { node in
            node.optional("name", &self.node.name, .nodeName)
            node.optional("address", &self.node.address, .nodeAddress)
        }
        visitor.scalar("beat", &self.beat, .duration(.milliseconds(100) ... .seconds(10)))
        visitor.scalar("questionPatience", &self.questionPatience, .duration(.milliseconds(100) ... .minutes(5)))
        visitor.scalar("standby", &self.standsBy, .flag)
        visitor.section("credentials") { self.credentials.visit(&$0) }
        visitor.section("systemCredentials") { self.systemCredentials.visit(&$0) }
        visitor.optionalSection("tls", &self.tls, empty: GatewayConfiguration.BrokerTLS()) { tls, visitor in
            visitor.optionalFile("ca", &tls.authorities, .certificates)
            visitor.optionalFile("certificate", &tls.certificate, .certificates)
            visitor.optionalFile("key", &tls.key, .privateKey)
        }
    }

    /// Faults of one key beside another.
    fileprivate var faults: [(key: String, sentence: String)] {
        var faults: [(key: String, sentence: String)] = []
        if self.servers.isEmpty { faults.append(("servers", "has no broker; give one, as in nats://127.0.0.1:4222")) }
        if ![1, 3, 5].contains(self.replicas) {
            faults.append(("replicas", "must be 1, 3 or 5: more than half of them must be reachable at all times"))
        }
        if self.tls == nil, let server = self.servers.first(where: { !Self.isLoopback($0) }) {
            let sentence =
                "has \(server), which is not this machine, and connections are not encrypted; give the brokers a `tls` block, and "
                + "give their CA in journal.jetstream.tls.ca"
            faults.append(("servers", sentence))
        }
        if self.systemCredentials == GatewayConfiguration.BrokerCredentials() {
            let sentence =
                "names no user; give one of the brokers' system account, to which alone they show their sync_interval"
            faults.append(("systemCredentials", sentence))
        }
        for (key, credentials) in [("credentials", self.credentials), ("systemCredentials", self.systemCredentials)]
        where credentials.user != nil && credentials.file == nil {
            faults.append((key, "needs the file with the user's secret: a password, or the seed of a key"))
        }
        if let tls = self.tls, (tls.certificate == nil) != (tls.key == nil) {
            faults.append(("tls", "needs both certificate and key, or neither"))
        }
        return faults
    }
}

extension GatewayConfiguration.BrokerCredentials {
    mutating func visit(_ visitor: inout some SettingsVisitor) {
        visitor.optional("user", &self.user, .label)
        visitor.optionalFile("file", &self.file, .brokerSecret)
    }
}

extension SettingType<String> {
    /// Without a user: secrets stand in files of their own.
    static let brokerAddress = SettingType.text(
        "a broker's address, such as nats://127.0.0.1:4222, without user and TLS"
    ) {
        text in
        let scheme = GatewayConfiguration.JetStream.scheme
        guard text.hasPrefix(scheme), text.utf8.count <= 300 else { return false }
        let rest = text.dropFirst(scheme.count)
        let port: Substring
        if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
            guard SettingRules.isIPv6(String(rest[rest.index(after: rest.startIndex)..<end])) else { return false }
            port = rest[rest.index(after: end)...]
        } else {
            let host = rest.prefix { $0 != ":" }
            guard !host.isEmpty,
                host.utf8.allSatisfy({ SettingRules.isLetterOrDigit($0) || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F })
            else { return false }
            port = rest.dropFirst(host.count)
        }
        return port.isEmpty || (port.first == ":" && (UInt16(port.dropFirst()) ?? 0) > 0)
    }

    static let nodeName = SettingType.text("a name of 1 to 64 letters, digits, dots, hyphens and underscores") { text in
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                SettingRules.isLetterOrDigit($0) || [0x2D, 0x2E, 0x5F].contains($0)
            }
    }

    static let nodeAddress = SettingType.text(
        "an address of 1 to 300 characters without spaces, such as https://gw-1:8443"
    ) { text in
        (1...300).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    static let clusterName = SettingType.text("a name of 1 to 32 letters, digits and hyphens") { text in
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { SettingRules.isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
    }
}

extension JournalLimits {
    /// How much a log takes at once.
    package init(_ configuration: GatewayConfiguration) {
        self.init(
            appendBytesInFlightMax: configuration.limits.inFlightBytesMax,
            outputBytesPerCommit: configuration.limits.outputCommitBytesMax
        )
    }
}
