import Gateway
import JournalSQLite
import Journaling
import Logging
import Ownership
import Partitions
import WidgetModel

/// A data directory without a gateway on it, for the verbs that bring it from one version of Freshet to another.
struct DataDirectoryAccess {
    private let path: String

    init(_ path: String) { self.path = path }

    /// How each partition stands. Takes no lock and changes nothing.
    func readStandings() throws -> [RulesStanding] {
        let log = try LogDirectory(path: self.path)
        return try (0..<log.format.partitions).map { number in
            let partition = PartitionID(UInt16(number))
            return try RulesStanding.read(partition, newestOutput: log.newestOutput(partition), in: log, log)
        }
    }

    /// Takes over the states that other decision rules have left.
    ///
    /// - Returns: The snapshots that are this program's now.
    func adopt() async throws -> [SnapshotID] {
        let journal = try self.openJournal(LogClock())
        defer { journal.close() }
        return try await RulesAdoption(journal: journal, store: journal, logger: self.logger).run()
    }

    /// Decides all there is, and writes a last snapshot of each partition.
    func settle(isQuiet: Bool) async throws -> [SnapshotID] {
        let clock = LogClock()
        let journal = try self.openJournal(clock)
        return try await LogSettling(journal: journal, store: journal, clock: clock, logger: self.logger)
            .run { partition, applied, through in
                guard !isQuiet else { return }
                let isLast = applied >= through
                Output.progress("partition \(partition): entry \(applied) of \(max(applied, through))", isLast: isLast)
            }
    }

    /// - Throws: ``JournalError``, also where a gateway has it open.
    private func openJournal(_ clock: LogClock) throws -> SQLiteJournal {
        let format = try LogDirectory.format(in: self.path)
        let settings = SQLiteJournal.Configuration(directory: self.path, partitions: format.partitions)
        return try SQLiteJournal(configuration: settings) { clock.now() }
    }

    private var logger: Logger {
        var logger = Logger(label: "freshet") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        return logger
    }
}
