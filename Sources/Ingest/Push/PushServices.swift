import APNSWire
package import Journaling
package import Partitions
package import Serving
import WidgetModel

/// The services that the push listener's handlers share. Immutable; every member may be used from any event loop.
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
    package let relay: (any UpstreamRelay)?
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
        relay: (any UpstreamRelay)? = nil,
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
