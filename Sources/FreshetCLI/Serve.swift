import ArgumentParser
import Foundation
import Gateway
import JournalSQLite
import Journaling
import Logging
import Metrics
import OperatorAPI
import Partitions
import Serving
import ServiceLifecycle
import Settings
import Telemetry
import UnixSignals
import WidgetModel

/// `freshet serve`
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the gateway.",
        discussion: """
            The gateway replays its log, opens the listeners and serves until SIGTERM or SIGINT. Then it drains: it \
            reports not ready for timeouts.lameDuck, sends GOAWAY, finishes open requests, and ends within \
            timeouts.drain. At SIGHUP it reads the configuration, certificates, provider keys and the revocation list \
            again; changes that need no restart are in force at once.

            It does not start if freshet check-config finds a fault, such as a certificate that has ended.

              freshet serve --config /etc/freshet/freshet.yaml

            Exit codes: 0 drained, 1 it could not start or go on, 78 the configuration has faults.
            """
    )

    @OptionGroup var options: ConfigurationOptions

    @Flag(help: "Keep the log in memory, for tests. It is lost when the process ends, and dataDirectory is not used.")
    var inMemory = false

    @Flag(help: "Let operators move the clock forward with POST /v1/clock, for tests. Needs --in-memory.")
    var movableClock = false

    @Flag(
        help: """
            Send nothing to upstreams and webhooks, and ask no timeline provider: for a drill with a restored copy. \
            Reloads for them wait until they expire. Hosts that connect are served.
            """
    )
    var noDeliveries = false

    func validate() throws {
        if self.movableClock, !self.inMemory {
            throw ValidationError(
                "--movable-clock needs --in-memory, since a log on disk would keep times that never were"
            )
        }
    }

    func run() async throws {
        let configuration = try self.options.load()
        DescriptorLimit.raise()
        let logs = Self.logs(configuration.log)
        defer { logs.finish() }
        let logger = logs.logger(.gateway)
        // Once in a process; all that libraries report from here on is in the gateway's metrics.
        let metrics = MetricsRegistry()
        MetricsSystem.bootstrap(metrics)
        let movable = self.movableClock ? MovableClock() : nil
        let clock = movable?.makeLogClock() ?? LogClock()
        let chosen = try self.journal(configuration, clock, logger)
        if self.inMemory { logger.warning("the log is in memory: it is lost when this process ends") }
        if self.noDeliveries { logger.warning("nothing is delivered: this is a drill (--no-deliveries)") }
        let operatorToken = self.operatorToken(configuration)
        defer { if self.inMemory { operatorToken.removeFolder() } }
        var stores = GatewayStores(journal: chosen.journal)
        stores.snapshots = chosen.snapshots
        stores.measure = chosen.storage
        stores.timelines = try self.archive("timelines.sqlite", configuration, logger)
        stores.audit = try self.archive("audit.sqlite", configuration, logger)
        stores.samples = try self.archive("samples.sqlite", configuration, logger)
        stores.receipts = try self.archive("receipts.sqlite", configuration, logger)
        stores.decisions = self.decisions(configuration, logger)
        stores.history = chosen.history
        stores.membership = chosen.membership
        stores.outputs = chosen.outputs
        stores.notes = chosen.notes
        var process = GatewayProcess(clock: clock, logs: logs)
        process.movableClock = movable
        process.metrics = metrics
        let gateway = Gateway(
            configuration: configuration,
            stores: stores,
            process: process,
            operatorToken: operatorToken,
            source: { [options = self.options] in try options.read() },
            delivers: !self.noDeliveries
        )
        let environment = ProcessInfo.processInfo.environment
        let notices: (any Service)? = await SupervisorNotices(gateway, environment: environment, logger)
        let socket: (any Service)? =
            self.inMemory ? nil : await ReloadSocket(gateway, inDirectory: configuration.dataDirectory, logger)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [gateway, Hangup(gateway: gateway)] + [notices, socket].compactMap { $0 },
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        do {
            try await group.run()
        } catch {
            logger.critical("\(error)")
            throw ExitCode.failure
        }
    }

    private func journal(
        _ configuration: GatewayConfiguration,
        _ clock: LogClock,
        _ logger: Logger
    ) throws -> ChosenJournal {
        if self.inMemory { return ChosenJournal(inMemory: configuration, clock) }
        do throws(JournalError) {
            return try ChosenJournal(configuration, clock, logger)
        } catch {
            logger.critical("\(error)")
            throw ExitCode.failure
        }
    }

    /// Where decisions are kept; nil for nowhere. They are made again from the log, so that nothing waits for the disk, and a gateway
    /// starts without them.
    private func decisions(_ configuration: GatewayConfiguration, _ logger: Logger) -> (any RecordArchive)? {
        guard !self.inMemory else { return nil }
        do {
            return try SQLiteArchive(path: configuration.dataDirectory + "/decisions.sqlite", isSynced: false)
        } catch {
            logger.warning("decisions are kept in memory only", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// An archive beside the log: for the content of timelines, the audit of changes, or samples for charts.
    private func archive(_ name: String, _ configuration: GatewayConfiguration, _ logger: Logger) throws
        -> any RecordArchive
    {
        guard !self.inMemory else { return MemoryArchive() }
        do {
            return try SQLiteArchive(path: configuration.dataDirectory + "/" + name)
        } catch {
            logger.critical("\(error)")
            throw ExitCode.failure
        }
    }

    /// The file of the token for operators: in the data directory or, for a gateway that leaves nothing behind, in a folder that is gone
    /// with the process and has a new random name.
    private func operatorToken(_ configuration: GatewayConfiguration) -> OperatorTokenFile {
        guard self.inMemory else { return OperatorTokenFile(inDirectory: configuration.dataDirectory) }
        let folder =
            ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] ?? FileManager.default.temporaryDirectory.path
        return OperatorTokenFile(inDirectory: "\(folder)/freshet-\(UUID().uuidString)")
    }

    private static func logs(_ settings: GatewayConfiguration.Log) -> GatewayLogs {
        let isForJournal = SystemJournal.takes(STDERR_FILENO, ProcessInfo.processInfo.environment)
        return GatewayLogs(settings) { label in
            switch settings.format {
            case .json: LineLogHandler(label: label, level: .trace, .json, isForJournal: isForJournal)
            case .human where isForJournal: LineLogHandler(label: label, level: .trace, .words, isForJournal: true)
            case .human: StreamLogHandler.standardError(label: label)
            }
        }
    }
}

/// Reads the configuration and its files again at every SIGHUP; by default the signal would end the process undrained.
private struct Hangup: Service {
    let gateway: Gateway

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            await self.gateway.reload()
        }
    }
}
