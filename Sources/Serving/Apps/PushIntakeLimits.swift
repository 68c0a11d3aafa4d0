package import APNSWire
package import Settings

/// The bounds of the push listener.
package struct PushIntakeLimits: Hashable, Sendable {
    /// The longest body of a push to a device token. Default 4,096 bytes, as at APNs.
    package var deviceBodyBytesMax = 4096
    /// The longest body of a targeted push. Default 16,384 bytes: patterns take room.
    package var targetedBodyBytesMax = 16_384
    /// The longest device token in hex digits. Default 400.
    package var tokenDigitsMax = 400
    /// Streams of a connection before its first good provider token. Default 1,000; APNs has 1.
    package var streamsBeforeTokenMax: UInt32 = 1000
    /// Verified provider tokens that each event loop remembers, and verified credentials that the routes of hosts and those of operators
    /// remember. Default 1,024.
    package var verifiedTokensMax = 1024
    package var bulk = BulkLimits()

    package init() {}

    package func push(_ target: APNSWire.PushTarget) -> PushLimits {
        PushLimits(bodyBytesMax: self.bytesMax(of: target.path.body), tokenDigitsMax: self.tokenDigitsMax)
    }

    package func bytesMax(of body: PushPath.Body) -> Int {
        switch body {
        case .device: self.deviceBodyBytesMax
        case .targeted: self.targetedBodyBytesMax
        case .bulk: self.bulk.bytesMax
        case .channel: ChannelValidation.bodyBytesMax
        }
    }
}

extension PushIntakeLimits {
    package init(_ configuration: GatewayConfiguration) {
        self.init()
        let limits = configuration.limits
        self.deviceBodyBytesMax = limits.deviceBodyBytesMax
        self.targetedBodyBytesMax = limits.targetedBodyBytesMax
        self.tokenDigitsMax = limits.tokenDigitsMax
        // It is not known yet whose the connection is.
        let isAsAtAPNs = configuration.apps.contains { $0.streamLimit == .apns }
        self.streamsBeforeTokenMax = isAsAtAPNs ? 1 : UInt32(limits.streamsBeforeTokenMax)
        self.verifiedTokensMax = limits.verifiedTokensMax
        self.bulk.bytesMax = limits.bulkBytesMax
        self.bulk.linesMax = limits.bulkLinesMax
        self.bulk.inFlightMax = limits.bulkInFlightMax
        self.bulk.requestsMax = limits.bulkRequestsMax
    }
}
