package import Partitions
package import Telemetry

/// What a gateway takes of the process that it runs in.
package struct GatewayProcess: Sendable {
    /// Stamps the log's entries.
    package let clock: LogClock
    /// What that clock is over, for a gateway whose time operators may move; nil for one in service.
    package var movableClock: MovableClock?
    /// Where to write.
    package let logs: GatewayLogs
    /// What libraries and the gateway report through swift-metrics: it is written behind the gateway's own metrics.
    package var metrics = MetricsRegistry()
    /// What it runs on; it ends with the gateway. Nil for threads of its own.
    package var loops: GatewayLoops?

    package init(clock: LogClock, logs: GatewayLogs) {
        self.clock = clock
        self.logs = logs
    }
}
