package import Engine
package import WidgetModel

extension GatewayConfiguration {
    /// The bounds of everything that peers can make the gateway hold. Beyond one is refused with the answer that its comment names.
    package struct Limits: Hashable, Sendable {
        /// Connections of one listener at once. Default 10,000; more are closed as they are accepted.
        package var connectionsMax = 10_000
        /// Connections of one address to one listener at once. Default 1,000; more are closed as they come.
        package var connectionsPerAddressMax = 1000
        /// TLS handshakes of one listener at once. Default 1,000; the one that has taken longest makes room.
        package var handshakesMax = 1000
        /// Bytes that one HTTP/2 connection may make the gateway hold. Default 64 MiB; above it GOAWAY.
        package var connectionBytesMax = 67_108_864
        /// Bytes that all connections of one listener may. Default 1 GiB; above it the one that holds the most ends.
        package var listenerBytesMax = 1_073_741_824
        /// Requests of one HTTP/2 connection at once. Default 1,000; more are REFUSED_STREAM.
        package var concurrentStreamsMax = 1000
        /// The same on the push listener before a connection's first good provider token. Default 1,000, which is no
        /// difference; APNs has 1. At most ``concurrentStreamsMax`` counts.
        package var streamsBeforeTokenMax = 1000
        /// Bytes of one request's header list. Default 8,192; above it 431.
        package var headerBytesMax = 8192
        /// Bytes of a push to a device token. Default 4,096, as at APNs; above it 413 `PayloadTooLarge`.
        package var deviceBodyBytesMax = 4096
        /// Bytes of a targeted push. Default 16,384: patterns take room; above it 413 `PayloadTooLarge`.
        package var targetedBodyBytesMax = 16_384
        /// Bytes of one request of a host or operator, imports excepted. Default 1 MiB; above it 413.
        package var hostBodyBytesMax = 1_048_576
        /// Bytes of a body that no route of hosts and operators reads: of a question, a removal, a preflight, a probe. Default
        /// 4,096; above it 413.
        package var unreadBodyBytesMax = 4096
        /// Bytes of one import. Default 16 MiB; above it 413.
        package var importBytesMax = 16_777_216
        /// Lines of one import. Default 10,000; above it 413.
        package var importLinesMax = 10_000
        /// Bytes of one bulk of targeted pushes. Default 1 MiB; above it 413 `PayloadTooLarge`.
        package var bulkBytesMax = 1_048_576
        /// Lines of one bulk. Default 10,000; above it 413 `PayloadTooLarge`.
        package var bulkLinesMax = 10_000
        /// Lines of one bulk that are without an answer at once. Default 256; the others wait.
        package var bulkInFlightMax = 256
        /// Bulks at once, over all connections. Default 64; above it 429 `TooManyRequests`.
        package var bulkRequestsMax = 64
        /// Hex digits of a device token. Default 400; above it `BadDeviceToken`.
        package var tokenDigitsMax = 400
        /// Verified provider tokens that each event loop remembers, and verified credentials that the routes of hosts and those of operators
        /// remember. Default 1,024; the oldest makes room.
        package var verifiedTokensMax = 1024
        /// Credentials that one connection may have refused at once. Default 20; it is slowed down when half are used up, and ended
        /// with one more.
        package var badCredentialsMax = 20
        /// How many more with every second after. Default 1.
        package var badCredentialsPerSecond = 1
        /// Bytes of pushes that wait for the log, over all connections. Default 64 MiB; above it 503.
        package var inFlightBytesMax = 67_108_864
        /// Bytes of partitions' outputs in one commit of the log. Default 256 KiB; a larger output is written in
        /// chunks, between which pushes are committed.
        package var outputCommitBytesMax = 262_144
        /// Pushes that wait for the log or for the partitions' answers, over all connections. Default 200,000, which the
        /// streams of two hundred connections fill; above it 503.
        package var inFlightPushesMax = 200_000
        /// Channels of one app. Default 10,000, as at APNs; above it 400 `CannotCreateChannelConfig`.
        package var channelsPerAppMax = 10_000
        /// Instants that one move of a movable clock stops at. Default 10,000; where more are due, the clock stands at the
        /// last of them and the move ends with 409 `too-much-work`.
        package var clockStopsMax = 10_000
        /// Widgets of one partition that are looked at to tell why a push waits. Default 256; where it waits for more, the answer says
        /// `sampled`.
        package var waitingLookedMax = 256
        /// Hosts of one app, and of all apps of one team. Default nil: as many as the memory has room for. Above it 507
        /// `too-many-hosts`.
        package var hosts = RegistryShare()
        /// The same of instances. Above it 507 `too-many-instances`.
        package var instances = RegistryShare()
        /// Steps that asking a pattern may cost, see ``MatchPattern/cost``. Default 512; above it 400.
        package var patternCostMax = 512
        /// The same of an instance's condition, which pushes ask again and again. Default 64; above it 400.
        package var conditionCostMax = 64
        /// Teams and apps that operators may have changed by requests. Default 1,000; above it 413.
        package var amendmentsMax = 1000
        /// The most bytes of all of them, as JSON. Default 4 MiB; above it 413.
        package var amendmentBytesMax = 4_194_304
        /// Questions about history (`why`) that are answered at once, each on a thread. Default 2; above it 503.
        package var historyQuestionsMax = 2
        /// The engine's limits; logged with the apps, so that a replay decides under the same ones.
        package var engine = EngineLimits()

        package init() {}
    }

    /// How much undecided work a team may have in the log, so that the others' pushes do not wait for it.
    package struct Fairness: Hashable, Sendable {
        /// The most undecided work of one team in a partition, as time by the partition's pace. Default 1 s; beyond it
        /// 503.
        package var undecided = Interval.seconds(1)
        /// The most work of one push in a partition, for apps that have no setting of their own. Default 2 s; above it
        /// 409.
        package var pushMax = Interval.seconds(2)

        package init() {}
    }

    /// The part of the registry that one app, and one team, may have. Apps and teams may have limits of their own.
    package struct RegistryShare: Hashable, Sendable {
        /// Default nil: no limit.
        package var perApp: Int?
        /// Default nil: no limit.
        package var perTeam: Int?

        package init() {}
    }

    /// Pushes that are tried out.
    package struct DryRun: Hashable, Sendable {
        /// Matches that one decides over all partitions, on the threads that pushes are decided on. Default 500; of more
        /// matches a sample of so many is decided, and all are counted.
        package var decidedMax = 500

        package init() {}
    }

    /// The hosts' event streams.
    package struct Streams: Hashable, Sendable {
        /// Event streams of one host, or for all hosts of one app. Default 4; above it 429.
        package var perHostMax = 4
        /// Event streams in all. Default 50,000; above it 429.
        package var allMax = 50_000
        /// Events that wait for one reader before it is cut off. Default 4,096.
        package var bufferMax = 4096
        /// Event streams on which senders follow pushes, in all. Default 1,000; above it 429.
        package var followedPushesMax = 1000
        /// A comment is sent so often, to keep middleboxes and readers awake. Default 15 s.
        package var heartbeat = Interval.seconds(15)
        /// Events of all streams that are kept for readers that come back. Default 16,384; a reader that missed more
        /// has a gap.
        package var historyMax = 16_384
        /// How long a stream lives, by a quarter more or less, each its own time. Default 1 h.
        package var rotation = Interval.hours(1)
        /// The longest wait that readers are asked for before they connect again, each its own from 1 s on. Default 5 s.
        package var retryMax = Interval.seconds(5)

        package init() {}
    }
}
