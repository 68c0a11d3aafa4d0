import Foundation
import Glibc
import Journaling
import Synchronization
import WidgetModel

/// A journal whose process dies at one of the outputs that are pieces of a larger one.
///
/// FRESHET_FAULT=piece:<n>:before dies before the n-th is handed to the journal, piece:<n>:after as soon as it is durable.
/// Other faults are not its own.
final class PieceFaults: Journal {
    private let journal: any Journal
    private let pieces = Atomic<Int>(0)
    private let last: Int?
    private let isAfter: Bool
    private let whenReached: @Sendable () -> Void

    init(_ journal: any Journal, whenReached: @escaping @Sendable () -> Void) {
        let parts = ProcessInfo.processInfo.environment["FRESHET_FAULT"]?.split(separator: ":") ?? []
        self.journal = journal
        self.last = parts.first == "piece" ? Int(parts[1]) : nil
        self.isAfter = parts.count > 2 && parts[2] == "after"
        self.whenReached = whenReached
    }

    var format: JournalFormat { self.journal.format }
    var history: any LogHistory { self.journal.history }

    func commitOutput(
        _ partition: PartitionID,
        expected: OutputPosition?,
        _ output: OutputRecord,
        whenDurable: @escaping @Sendable (Result<OutputPosition, JournalError>) -> Void
    ) {
        let isPiece = output.ahead > 0
        let number = isPiece ? self.pieces.wrappingAdd(1, ordering: .relaxed).newValue : 0
        let isHere = number > 0 && number == self.last
        if isHere, !self.isAfter { self.die() }
        self.journal.commitOutput(partition, expected: expected, output) { result in
            if isHere { self.die() }
            whenDurable(result)
        }
    }

    private func die() {
        self.whenReached()
        kill(getpid(), SIGKILL)
    }

    func append(
        _ submission: Submission,
        whenDurable: @escaping @Sendable (Result<AppendReceipt, JournalError>) -> Void
    ) { self.journal.append(submission, whenDurable: whenDurable) }

    func appendToAll(
        _ submission: SubmissionToAll,
        whenDurable: @escaping @Sendable (Result<Void, JournalError>) -> Void,
        whenPlaced: @escaping @Sendable (AppendReceipt) -> Void
    ) { self.journal.appendToAll(submission, whenDurable: whenDurable, whenPlaced: whenPlaced) }

    func read(
        _ partition: PartitionID,
        from position: LogPosition,
        entriesMax: Int,
        whenRead: @escaping @Sendable (Result<[LogEntry], JournalError>) -> Void
    ) { self.journal.read(partition, from: position, entriesMax: entriesMax, whenRead: whenRead) }

    func observeAppends(_ partition: PartitionID, _ body: @escaping @Sendable (LogPosition) -> Void) {
        self.journal.observeAppends(partition, body)
    }

    func readNewestOutput(
        _ partition: PartitionID,
        whenRead: @escaping @Sendable (Result<OutputEntry?, JournalError>) -> Void
    ) { self.journal.readNewestOutput(partition, whenRead: whenRead) }

    func useLimits(_ limits: JournalLimits) { self.journal.useLimits(limits) }

    func close() { self.journal.close() }
}
