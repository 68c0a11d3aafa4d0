package import Partitions
package import Telemetry

/// A gateway's surroundings in its process.
package struct GatewayProcess: Sendable {
    /// Stamps the log's entries.
    package let clock: LogClock
    /// The clock below it, for a gateway whose time operators may move; nil for one in service.
    package var movableClock: MovableClock?
    /// Where to write.
    package let logs: GatewayLogs
    /// The metrics that libraries and the gateway report through swift-metrics: they are written behind the gateway's
    /// own.
    package var metrics = MetricsRegistry()
    /// Its event loops; they end with the gateway. Nil for threads of its own.
    package var loops: GatewayLoops?

    package init(clock: LogClock, logs: GatewayLogs) {
        self.clock = clock
        self.logs = logs
    }
}
