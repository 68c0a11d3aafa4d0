package import WidgetModel

// How the state is written down, and how operators watch it.

extension GatewayConfiguration {
    /// When a snapshot is made, and how much is kept.
    package struct Snapshots: Hashable, Sendable {
        /// The longest time between two snapshots of a partition. Default 10 min.
        package var interval: Interval
        /// A partition's next snapshot comes as soon as so many bytes of log lie behind its last. Default 256 MiB.
        package var logBytesMax: Int
        /// How much of the log is kept for questions, whatever snapshots there are. Default 48 h.
        package var history: Interval
        /// How far the thread gives way to the others, as nice(1) counts. Default 10.
        package var niceness: Int32

        package init(
            interval: Interval = .minutes(10),
            logBytesMax: Int = 268_435_456,
            history: Interval = .hours(48),
            niceness: Int32 = 10
        ) {
            self.interval = interval
            self.logBytesMax = logBytesMax
            self.history = history
            self.niceness = niceness
        }
    }

    /// The operators' live events, and how many are kept.
    package struct Feed: Hashable, Sendable {
        /// Events that are kept for readers that come back, at least 1. Default 4,096.
        package var historyMax = 4096
        /// Readers at a time. Default 64.
        package var readersMax = 64
        /// Events that wait for one reader before it is cut off. Default 1,024.
        package var bufferMax = 1024
        /// Reloads of one second that are told of. Default 50.
        package var reloadsPerSecond = 50

        package init() {}
    }
}
