import Delivery
import JournalSQLite
import Journaling
import Logging
import Partitions
import Settings
import WidgetModel

#if JetStream
import JournalJetStream

/// Moves a log between a data directory and the brokers that a configuration names.
struct ClusterMove {
    private let configuration: GatewayConfiguration
    private let place: GatewayConfiguration.JetStream
    private let progress: MoveReport.Progress

    init(_ configuration: GatewayConfiguration, _ progress: @escaping MoveReport.Progress) throws {
        guard let place = configuration.journal.jetStream else {
            throw ClusterMoveError("the configuration names no brokers; set journal.jetstream")
        }
        self.configuration = configuration
        self.place = place
        self.progress = progress
    }

    private var brokers: JetStreamJournal.Configuration { .init(self.place, self.configuration) }

    /// Removes the rest of an unfinished move to the brokers.
    func discard() throws -> MoveReport {
        let isAny = try JetStreamSuccessor(self.brokers).discard()
        let what = isAny ? "removed the rest of an unfinished move" : "there is nothing to remove"
        return MoveReport(sentences: ["\(what): \(self.place.words)"])
    }

    func adopt(_ data: String, isDryRun: Bool) async throws -> MoveReport {
        let held = try HeldDirectory(path: data)
        defer { withExtendedLifetime(held) {} }
        let log = try LogDirectory(path: data)
        try self.checkPartitions(of: log.format)
        let (successor, beside) = (
            try JetStreamSuccessor(self.brokers), MovedBesideLog(path: self.configuration.dataDirectory)
        )
        try successor.check(log.format)
        try beside.check()
        var report = MoveReport(parts: try self.move(log, to: isDryRun ? nil : successor))
        guard !isDryRun else {
            report.besideBytes = try LogDirectory.sizes(of: data).archives
            report.sentences = ["nothing was moved, as you asked"]
            return report
        }
        let id = log.format.journalID
        report.besideBytes = try beside.copy(from: data, log: id, place: self.place.words).bytes
        let archive = try SQLiteArchive(path: "\(beside.partialPath)/receipts.sqlite")
        if let notes = successor.notes {
            try await ReceiptStore.archive(archive)
                .copy(to: .notes(notes), partitions: log.format.partitions, logger: Self.logger)
        }
        archive.close()
        try successor.finish()
        try beside.finish()
        report.sentences = [
            "moved to \(self.place.words): start the gateway with this configuration",
            "\(data) is unchanged; no gateway may run on it any more, unless you go back",
        ]
        return report
    }

    func leave(to data: String) async throws -> MoveReport {
        let successor = DirectorySuccessor(path: data)
        let before = try JetStreamHistory(self.brokers)
        let format = before.format
        try self.checkPartitions(of: format)
        try successor.check(format)
        let silence = Int(self.place.beat.milliseconds) * 4
        let running = try before.nodes(heardWithin: silence)
        guard running.isEmpty else {
            throw ClusterMoveError(
                "\(running.joined(separator: ", ")) \(running.count == 1 ? "runs" : "run"); stop all gateways of the cluster by "
                    + "SIGTERM, then run this again"
            )
        }
        try await self.settle()
        let log = try JetStreamHistory(self.brokers)
        var report = MoveReport(parts: try self.move(log, to: successor))
        report.besideBytes = try successor.copyBesideLog(from: self.configuration.dataDirectory).bytes
        let archive = try SQLiteArchive(path: "\(successor.partialPath)/receipts.sqlite")
        try await ReceiptStore.notes(log)
            .copy(to: .archive(archive), partitions: format.partitions, logger: Self.logger)
        archive.close()
        try successor.finish()
        report.sentences = [
            "moved to \(data): start one gateway with that dataDirectory, and without journal.jetstream",
            "\(self.place.words) is as it was; no gateway may run on it any more, unless you go back",
        ]
        return report
    }

    /// Copies the brokers' log into a data directory, while gateways go on: see ``LogCopy``.
    func backUp(to data: String) async throws -> LogBackup.Summary {
        let log = try JetStreamHistory(self.brokers)
        let successor = DirectorySuccessor(path: data)
        try successor.check(log.format)
        // First: so senders were told of nothing that the copy does not have.
        let receipts = MemoryArchive()
        let partitions = log.format.partitions
        try await ReceiptStore.notes(log).copy(to: .archive(receipts), partitions: partitions, logger: Self.logger)
        self.progress("finding where the log ends", false)
        try LogCopy(of: log, to: successor).run(to: log.cut) { [progress = self.progress] partition, applied, end in
            progress("partition \(partition) of \(partitions): entry \(applied) of \(end)", false)
        }
        _ = try successor.copyBesideLog(from: self.configuration.dataDirectory, hasCaches: false)
        let archive = try SQLiteArchive(path: "\(successor.partialPath)/receipts.sqlite")
        try await ReceiptStore.archive(receipts).copy(
            to: .archive(archive),
            partitions: partitions,
            logger: Self.logger
        )
        archive.close()
        self.progress("checking the copy", true)
        try successor.finish(check: CopyCheck.check)
        return try LogBackup.Summary(of: data)
    }

    /// Decides the undecided entries, so that a snapshot of each partition holds everything.
    private func settle() async throws {
        let clock = LogClock()
        let journal = try JetStreamJournal(configuration: self.brokers) { clock.now() }
        do {
            try journal.waitUntilPlaced()
        } catch {
            journal.close()
            throw error
        }
        let settling = LogSettling(journal: journal, store: journal, clock: clock, logger: Self.logger)
        _ = try await settling.run { [progress = self.progress] partition, applied, through in
            progress("partition \(partition): entry \(applied) of \(max(applied, through))", false)
        }
    }

    private func move(_ log: any SourceLog, to successor: (any LogSuccessor)?) throws -> [LogMove.Part] {
        let parts = try LogMove(of: log).run(to: successor) { partition, bytes in
            self.progress("partition \(partition) of \(log.format.partitions): \(bytes) bytes", false)
        }
        self.progress("\(NumberText.counted(parts.count, "partition is", "partitions are")) read", true)
        return parts
    }

    private func checkPartitions(of format: JournalFormat) throws {
        guard format.partitions != self.configuration.partitions else { return }
        throw ClusterMoveError(
            "the log has \(format.partitions) partitions, the configuration \(self.configuration.partitions): a move keeps their "
                + "number, so set partitions to \(format.partitions). To have another number, use freshet export and freshet "
                + "import: hosts and widgets come along; budgets, waiting pushes and history do not"
        )
    }

    private static var logger: Logger {
        var logger = Logger(label: "freshet") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        return logger
    }
}
#else
/// Moves a log between a data directory and brokers, which this program knows nothing of.
struct ClusterMove {
    init(_ configuration: GatewayConfiguration, _ progress: @escaping MoveReport.Progress) throws {
        throw ChosenJournal.absence
    }

    func discard() throws -> MoveReport { throw ChosenJournal.absence }
    func adopt(_ data: String, isDryRun: Bool) async throws -> MoveReport { throw ChosenJournal.absence }
    func leave(to data: String) async throws -> MoveReport { throw ChosenJournal.absence }
    func backUp(to data: String) async throws -> LogBackup.Summary { throw ChosenJournal.absence }
}
#endif

/// Why a log is not moved.
struct ClusterMoveError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
