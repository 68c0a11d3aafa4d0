#if JetStream
package import Journaling

extension JetStreamJournal {
    /// Where the log is, and how it is kept.
    package struct Configuration: Hashable, Sendable {
        package var access: BrokerAccess
        /// A user of the system account, who may ask brokers how they are configured.
        package var systemCredentials: BrokerAccess.Credentials
        /// The cluster's name, part of the names of its streams: letters, digits and hyphens, at most 32.
        package var cluster: String
        /// How many partitions the log has, if it is created; `1...JournalFormat.partitionsMax`.
        package var partitions: Int
        /// On how many brokers each stream is, if it is created. Default 3.
        package var replicas: Int
        package var limits: JournalLimits
        /// The most bytes of each stream, if it is created; brokers keep as many free for it. Default 1 GiB. Further messages are refused
        /// with `.full`.
        package var streamBytesMax: Int
        /// About how many bytes one read returns at most. Default 1,048,576; at least one entry or output comes back.
        package var readBytesMax: Int
        /// How many bytes of newest entries are kept in memory over all partitions. Default 67,108,864.
        package var cacheBytesMax: Int
        /// How long something is tried again while brokers do not answer, in milliseconds. Default 10,000: longer than they
        /// take to elect a new leader. Outputs are tried for as long as the journal is open.
        package var patienceMilliseconds: Int

        /// The same brokers, by that user.
        var systemAccess: BrokerAccess {
            BrokerAccess(servers: self.access.servers, credentials: self.systemCredentials, tls: self.access.tls)
        }

        package init(
            access: BrokerAccess,
            systemCredentials: BrokerAccess.Credentials,
            cluster: String,
            partitions: Int,
            replicas: Int = 3,
            limits: JournalLimits = JournalLimits(),
            streamBytesMax: Int = 1_073_741_824,
            readBytesMax: Int = 1_048_576,
            cacheBytesMax: Int = 67_108_864,
            patienceMilliseconds: Int = 10_000
        ) {
            precondition((1...JournalFormat.partitionsMax).contains(partitions) && replicas > 0)
            self.access = access
            self.systemCredentials = systemCredentials
            self.cluster = cluster
            self.partitions = partitions
            self.replicas = replicas
            self.limits = limits
            self.streamBytesMax = streamBytesMax
            self.readBytesMax = readBytesMax
            self.cacheBytesMax = cacheBytesMax
            self.patienceMilliseconds = patienceMilliseconds
        }
    }
}
#endif
