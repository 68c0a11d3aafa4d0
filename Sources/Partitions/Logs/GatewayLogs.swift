package import Logging
package import Settings
import Synchronization
package import WidgetModel

/// The gateway's log messages: a logger for each subsystem, with levels that change while it runs, and a bound on messages that
/// repeat themselves.
package final class GatewayLogs: Sendable {
    /// How one subsystem does.
    package struct View: Hashable, Sendable {
        package let subsystem: LogSubsystem
        /// The level in force.
        package let level: GatewayConfiguration.Log.Level
        /// The configuration's level.
        package let configured: GatewayConfiguration.Log.Level
        package let written: Int
        /// Messages that were not written, since the same had been; a later message says how many.
        package let repeated: Int
    }

    private struct State {
        var settings: GatewayConfiguration.Log
        /// The levels that operators have set; they win over the configuration.
        var overrides: [LogSubsystem: GatewayConfiguration.Log.Level] = [:]
        var repetition: LogRepetition
        /// Windows that ended before their time in those before.
        var cut = 0
    }

    private let logs: [SubsystemLog]
    private let state: Mutex<State>
    private let now: @Sendable () -> Instant

    /// - Parameters:
    ///   - settings: Levels and bounds at the start.
    ///   - now: A time that does not go back; by default the machine's.
    ///   - backend: Makes the handler that writes the messages of a label.
    package init(
        _ settings: GatewayConfiguration.Log,
        now: (@Sendable () -> Instant)? = nil,
        backend: (String) -> any LogHandler
    ) {
        self.logs = LogSubsystem.allCases.map { subsystem in
            var handler = backend("freshet.\(subsystem.rawValue)")
            // A message that gets this far is written.
            handler.logLevel = .trace
            return SubsystemLog(subsystem, settings.level(of: subsystem), backend: handler)
        }
        self.state = Mutex(State(settings: settings, repetition: LogRepetition(settings)))
        let start = ContinuousClock.now
        self.now =
            now ?? {
                let (seconds, attoseconds) = (ContinuousClock.now - start).components
                return Instant(milliseconds: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
            }
    }

    /// Logs that go nowhere.
    package static var none: GatewayLogs { GatewayLogs(GatewayConfiguration.Log()) { _ in SwiftLogNoOpLogHandler() } }

    package func logger(_ subsystem: LogSubsystem) -> Logger {
        Logger(label: "freshet.\(subsystem.rawValue)") { _ in SubsystemLogHandler(self, self.log(of: subsystem)) }
    }

    private func log(of subsystem: LogSubsystem) -> SubsystemLog {
        self.logs[LogSubsystem.allCases.firstIndex(of: subsystem) ?? 0]
    }

    // MARK: Messages

    /// Writes a message, or counts it if the same was written a moment ago.
    func logEvent(_ event: LogEvent, of log: SubsystemLog) {
        guard log.subsystem.isLimited else { return log.write(event) }
        let message = LogRepetition.Message(event, log.subsystem)
        let verdict = self.state.withLock { $0.repetition.takeMessage(message, at: self.now()) }
        for summary in verdict.summaries { self.write(summary) }
        if verdict.isWritten {
            log.write(event)
        } else {
            log.countRepeated()
        }
    }

    private func write(_ summary: LogRepetition.Summary) {
        self.log(of: summary.message.subsystem).write(
            LogEvent(
                level: summary.message.level.logging,
                message: "repeated \(summary.times) times: \(summary.message.text)",
                metadata: summary.message.details.mapValues { "\($0)" },
                source: "Gateway",
                file: #fileID,
                function: #function,
                line: #line
            )
        )
    }

    /// Says how often messages repeated themselves whose windows are over.
    package func tick() {
        for summary in self.state.withLock({ $0.repetition.end(at: self.now()) }) { self.write(summary) }
    }

    /// Says of all messages how often they repeated themselves: the process ends.
    package func finish() {
        for summary in self.state.withLock({ $0.repetition.endAll() }) { self.write(summary) }
    }

    /// Calls ``tick()`` once a second, until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: .seconds(1))
            } catch {
                return
            }
            self.tick()
        }
    }

    // MARK: Settings

    /// Takes a configuration's settings; those that operators have set stay.
    package func applySettings(_ settings: GatewayConfiguration.Log) {
        let summaries = self.state.withLock { state -> [LogRepetition.Summary] in
            let old = state.settings
            state.settings = settings
            self.setLevels(state)
            guard (settings.repeatWindow, settings.repeatsMax) != (old.repeatWindow, old.repeatsMax) else { return [] }
            let summaries = state.repetition.endAll()
            state.cut += state.repetition.cut
            state.repetition = LogRepetition(settings)
            return summaries
        }
        for summary in summaries { self.write(summary) }
    }

    /// Levels that win over the configuration until the process ends or others are given; a subsystem that is not among them
    /// has the configuration's.
    package func override(_ levels: [LogSubsystem: GatewayConfiguration.Log.Level]) {
        self.state.withLock { state in
            state.overrides = levels
            self.setLevels(state)
        }
    }

    private func setLevels(_ state: State) {
        for log in self.logs { log.level = state.overrides[log.subsystem] ?? state.settings.level(of: log.subsystem) }
    }

    /// Each subsystem, in the order of their names' declaration.
    package var views: [View] {
        let settings = self.state.withLock { $0.settings }
        return self.logs.map { log in
            let counts = log.counts
            return View(
                subsystem: log.subsystem,
                level: log.level,
                configured: settings.level(of: log.subsystem),
                written: counts.written,
                repeated: counts.repeated
            )
        }
    }

    /// How often a message's repetition was told before its time, since `log.maxRepeats` others repeated themselves.
    package var cut: Int { self.state.withLock { $0.cut + $0.repetition.cut } }
}

extension GatewayConfiguration.Log {
    /// The level of a subsystem: its own, or that of all.
    package func level(of subsystem: LogSubsystem) -> Level { self.levels[subsystem] ?? self.level }
}

extension GatewayConfiguration.Log.Level {
    var logging: Logger.Level { Logger.Level(rawValue: self.rawValue) ?? .info }
}

extension LogRepetition {
    init(_ settings: GatewayConfiguration.Log) {
        self.init(length: settings.repeatWindow, windowsMax: settings.repeatsMax)
    }
}

extension LogRepetition.Message {
    /// The parts by which a message is compared: all but the port of a peer, which is another with each connection.
    init(_ event: LogEvent, _ subsystem: LogSubsystem) {
        var details: [String: String] = [:]
        for (name, value) in event.metadata ?? [:] {
            let text = "\(value)"
            let port = name == "peer" ? text.lastIndex(of: ":") : nil
            details[name] = port.map { String(text[..<$0]) } ?? text
        }
        self.init(subsystem, .init(rawValue: event.level.rawValue) ?? .info, "\(event.message)", details)
    }
}
