package import WidgetModel

extension HostStreams {
    /// The bounds of the streams.
    package struct Limits: Hashable, Sendable {
        /// Streams of one host, or for all hosts of one app. Default 4.
        package var perScopeMax = 4
        /// Streams in all. Default 50,000.
        package var allMax = 50_000
        /// Events that wait for one reader before it is cut off. Default 4,096; an app's own stream gets 64 times that.
        package var bufferMax = 4096
        /// Events that are kept for readers that come back. Default 16,384.
        package var historyMax = 16_384
        /// How many heartbeats a stream lives, by a quarter more or less. Default 240, an hour with one in 15 s.
        package var rotationBeats = 240
        /// The longest wait that a reader is asked for before it connects again. Default 5 s; at least one second.
        package var retryMax = Interval.seconds(5)

        private static let retryMin = Interval.seconds(1)

        package init() {}

        /// How many heartbeats a stream lives: three quarters to five quarters of the configured time.
        func lifetime(_ luck: UInt64) -> Int {
            let beats = UInt64(self.rotationBeats)
            return Int(max(1, beats - beats / 4 + StableHash.reduce(luck, below: beats / 2 + 1)))
        }

        func retryMilliseconds(_ luck: UInt64) -> Int {
            let spread = max(.zero, self.retryMax - Self.retryMin).milliseconds
            return Int(
                Self.retryMin.milliseconds + Int64(StableHash.reduce(StableHash.mix(luck), below: UInt64(spread) + 1))
            )
        }
    }

    /// Counts of the ends and gaps of streams so far.
    package struct Counters: Hashable, Sendable {
        /// Readers that were cut off because they were too slow.
        package var cutOff = 0
        /// Streams that ended since they had lived long enough.
        package var rotated = 0
        /// Streams that ended since their token was removed or their credential held no more.
        package var revoked = 0
        /// Readers that came back when the events that they had missed were not known any more.
        package var gaps = 0
        /// Streams that were not opened: too many of the scope, and too many in all.
        package var refusedOfScope = 0
        package var refused = 0
    }

    /// Why a stream was not opened.
    package enum SubscribeError: Error, Hashable, Sendable {
        /// The host, or the app, has as many open as it may.
        case tooManyOfScope(max: Int)
        case tooMany(max: Int)
        case closing
    }
}
