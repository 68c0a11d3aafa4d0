import Logging
import Partitions
import Settings
import Synchronization
import Testing
import WidgetModel

/// The gateway's loggers: levels while it runs, and messages that come again.
@Suite struct GatewayLogsTests {
    /// Keeps lines in memory.
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        let milliseconds = Atomic<Int64>(0)

        var all: [String] { self.lines.withLock { $0 } }

        func logs(_ settings: GatewayConfiguration.Log) -> GatewayLogs {
            GatewayLogs(settings, now: { Instant(milliseconds: self.milliseconds.load(ordering: .relaxed)) }) {
                Handler(label: $0, lines: self)
            }
        }

        func pass(_ interval: Interval) { self.milliseconds.add(interval.milliseconds, ordering: .relaxed) }
        func append(_ line: String) { self.lines.withLock { $0.append(line) } }
    }

    private struct Handler: LogHandler {
        let label: String
        let lines: Lines
        var logLevel = Logger.Level.critical
        var metadata: Logger.Metadata = [:]

        init(label: String, lines: Lines) {
            self.label = label
            self.lines = lines
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let details = (event.metadata ?? [:]).map { " \($0.key)=\($0.value)" }.sorted().joined()
            self.lines.append("\(event.level) \(self.label): \(event.message)\(details)")
        }
    }

    @Test func `a subsystem has its own level, or that of all`() {
        let lines = Lines()
        var settings = GatewayConfiguration.Log()
        settings.levels = [.http: .debug]
        let logs = lines.logs(settings)
        logs.logger(.http).debug("seen")
        logs.logger(.providers).debug("not seen")
        logs.logger(.providers).info("seen as well")
        #expect(lines.all == ["debug freshet.http: seen", "info freshet.providers: seen as well"])
    }

    @Test func `a level that changes is that of the loggers that there are`() {
        let lines = Lines()
        var settings = GatewayConfiguration.Log()
        let logs = lines.logs(settings)
        let logger = logs.logger(.http)
        logger.debug("1")
        settings.level = .debug
        logs.applySettings(settings)
        logger.debug("2")
        settings.levels = [.http: .error]
        logs.applySettings(settings)
        logger.debug("3")
        #expect(lines.all == ["debug freshet.http: 2"])
    }

    @Test func `what an operator sets wins until it is taken back, whatever the configuration says meanwhile`() {
        let lines = Lines()
        var settings = GatewayConfiguration.Log()
        let logs = lines.logs(settings)
        logs.override([.http: .trace])
        settings.level = .error
        logs.applySettings(settings)
        logs.logger(.http).trace("1")
        logs.logger(.providers).info("2")
        #expect(logs.views.map(\.level) == LogSubsystem.allCases.map { $0 == .http ? .trace : .error })
        #expect(logs.views.map(\.configured) == LogSubsystem.allCases.map { _ in .error })
        logs.override([:])
        logs.logger(.http).trace("3")
        #expect(lines.all == ["trace freshet.http: 1"])
    }

    @Test func `a message that comes again is written once and counted`() {
        let lines = Lines()
        let logs = lines.logs(GatewayConfiguration.Log())
        let logger = logs.logger(.http)
        for port in 1...3 { logger.warning("TLS failed", metadata: ["peer": "10.0.0.1:\(port)", "error": "x"]) }
        logger.warning("TLS failed", metadata: ["peer": "10.0.0.2:1", "error": "x"])
        lines.pass(.seconds(29))
        logs.tick()
        let first = [
            "warning freshet.http: TLS failed error=x peer=10.0.0.1:1",
            "warning freshet.http: TLS failed error=x peer=10.0.0.2:1",
        ]
        #expect(lines.all == first)
        lines.pass(.seconds(1))
        logs.tick()
        #expect(lines.all == first + ["warning freshet.http: repeated 2 times: TLS failed error=x peer=10.0.0.1"])
        let view = logs.views.first { $0.subsystem == .http }
        #expect(view?.written == 3)
        #expect(view?.repeated == 2)
    }

    @Test func `the end of the process, or another window, tells what was counted`() {
        let lines = Lines()
        var settings = GatewayConfiguration.Log()
        let logs = lines.logs(settings)
        let logger = logs.logger(.providers)
        for _ in 0..<2 { logger.error("away") }
        settings.repeatWindow = .zero
        logs.applySettings(settings)
        let told = ["error freshet.providers: away", "error freshet.providers: repeated 1 times: away"]
        #expect(lines.all == told)
        for _ in 0..<2 { logger.error("away") }
        #expect(lines.all == told + [told[0], told[0]])
        settings.repeatWindow = .seconds(5)
        logs.applySettings(settings)
        for _ in 0..<3 { logger.error("away") }
        logs.finish()
        #expect(lines.all.last == "error freshet.providers: repeated 2 times: away")
    }

    @Test(arguments: [(2, 0), (3, 1)])
    func `as many messages may repeat themselves as the setting says`(count: Int, cut: Int) {
        let lines = Lines()
        var settings = GatewayConfiguration.Log()
        settings.repeatsMax = 2
        let logs = lines.logs(settings)
        for number in 0..<count { logs.logger(.gateway).info("message \(number)") }
        #expect(logs.cut == cut)
    }

    @Test func `what operators do is always written`() {
        let lines = Lines()
        let logs = lines.logs(GatewayConfiguration.Log())
        for subsystem in [LogSubsystem.audit, .configuration, .certificates] {
            for _ in 0..<2 { logs.logger(subsystem).notice("done") }
        }
        #expect(lines.all.count == 6)
        #expect(logs.views.map(\.repeated).reduce(0, +) == 0)
    }

    @Test func `a logger's own metadata and level are its own`() {
        let lines = Lines()
        let logs = lines.logs(GatewayConfiguration.Log())
        var logger = logs.logger(.gateway)
        logger[metadataKey: "part"] = "one"
        logger.logLevel = .debug
        logger.debug("hello", metadata: ["more": "two"])
        logs.logger(.gateway).debug("not seen")
        #expect(lines.all == ["debug freshet.gateway: hello more=two part=one"])
    }
}
