package import APNSWire
package import Journaling
import WidgetModel

/// What the push listener's handlers share. Immutable; every member may be used from any event loop.
package struct PushServices: Sendable {
    package let apps: LiveApps
    package let senders: SenderDirectory
    package let directory: HostDirectory
    package let journal: any Journal
    /// Where partitions are asked whom a push would match.
    package let log: CommandLog
    package let partitions: Int
    package let clock: LogClock
    package let counters: PushCounters
    package let senderLimits: SenderLimits
    /// The bulks that are being taken.
    package let bulks = PushBacklog(max: .max)
    package let channels: ChannelService
    /// Nil where teams are not told apart.
    package let work: WorkAdmission?
    /// Where pushes of types go that are not handled here; nil if no app has such a place.
    package let relay: PushRelay?
    /// Nil where pushes are not traced.
    package let tracing: GatewayTracing?
    /// Makes the hashes of this process its own.
    package let seed: UInt64

    package init(
        apps: LiveApps,
        senders: SenderDirectory,
        directory: HostDirectory,
        journal: any Journal,
        log: CommandLog,
        partitions: Int,
        clock: LogClock,
        counters: PushCounters,
        senderLimits: SenderLimits = SenderLimits(),
        channels: ChannelService,
        work: WorkAdmission? = nil,
        relay: PushRelay? = nil,
        tracing: GatewayTracing? = nil,
        seed: UInt64
    ) {
        self.apps = apps
        self.senders = senders
        self.directory = directory
        self.journal = journal
        self.log = log
        self.partitions = partitions
        self.clock = clock
        self.counters = counters
        self.senderLimits = senderLimits
        self.channels = channels
        self.work = work
        self.relay = relay
        self.tracing = tracing
        self.seed = seed
    }
}

/// The bounds of what the push listener takes.
package struct PushIntakeLimits: Hashable, Sendable {
    /// The longest body of a push to a device token. Default 4,096 bytes, as at APNs.
    package var deviceBodyBytesMax = 4096
    /// The longest body of a targeted push. Default 16,384 bytes: patterns take room.
    package var targetedBodyBytesMax = 16_384
    /// The longest device token in hex digits. Default 400.
    package var tokenDigitsMax = 400
    /// Streams of a connection before its first good provider token. Default 1,000; APNs has 1.
    package var streamsBeforeTokenMax: UInt32 = 1000
    /// Verified provider tokens that each event loop remembers. Default 1,024.
    package var verifiedTokensMax = 1024
    package var bulk = BulkLimits()

    package init() {}

    package func push(_ target: APNSWire.PushTarget) -> PushLimits {
        switch target {
        case .device: PushLimits(bodyBytesMax: self.deviceBodyBytesMax, tokenDigitsMax: self.tokenDigitsMax)
        case .targeted: PushLimits(bodyBytesMax: self.targetedBodyBytesMax, tokenDigitsMax: self.tokenDigitsMax)
        }
    }
}
