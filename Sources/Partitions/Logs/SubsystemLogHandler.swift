import Logging

/// Hands a logger's messages to ``GatewayLogs``. Copies share their subsystem's level, so that a change reaches every logger.
struct SubsystemLogHandler: LogHandler {
    private let logs: GatewayLogs
    private let log: SubsystemLog
    /// The level of this copy, if one was set.
    private var ownLevel: Logger.Level?
    var metadata: Logger.Metadata = [:]

    init(_ logs: GatewayLogs, _ log: SubsystemLog) {
        self.logs = logs
        self.log = log
    }

    var logLevel: Logger.Level {
        get { self.ownLevel ?? self.log.level.logging }
        set { self.ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var event = event
        if !self.metadata.isEmpty {
            event.metadata = self.metadata.merging(event.metadata ?? [:]) { _, new in new }
        }
        self.logs.logEvent(event, of: self.log)
    }
}
