import Dispatch
import Journaling
import WidgetModel

/// The writer thread's side of a log: takes everything that waits, commits it in one transaction, calls back.
final class LogWriter {
    /// The state that the writer shares with the callers' threads.
    struct Shared: Sendable {
        let queue: WorkQueue
        let tails: Tails
        let reader: LogReader
        let observers: AppendObservers
        let checkpointer: Checkpointer
        let fileEnd: FileEnd
    }

    /// The reply to a piece of work if the transaction succeeds.
    private enum Reply {
        case appended(AppendReceipt)
        case appendedToAll([AppendReceipt])
        case output(Result<OutputPosition, JournalError>)
    }

    /// After a file could not be begun, this fraction of a file is written to the old one before the next attempt.
    private static let rotationRetryDivisor = 16
    /// The writer itself copies the last pages of a write-ahead log that is to start over, if they have so few bytes.
    private static let lastBytesMax = 1_048_576
    /// The write-ahead log of a file that holds next to nothing is copied no sooner than it has so many bytes.
    private static let checkpointBytesMin = 262_144
    /// The bytes that a row takes beside its blob, about.
    private static let rowBytes = 48

    private let configuration: SQLiteJournal.Configuration
    private let format: JournalFormat
    private let directory: DataDirectory
    private let clock: @Sendable () -> Instant
    private let shared: Shared
    private var file: LogFile
    /// Where each partition stands.
    private var ends: [PartitionStart]
    /// About how many bytes of rows the newest file has.
    private var fileBytes: Int
    private var rotateAtBytes: Int

    /// - Parameters:
    ///   - configuration: How the log is kept.
    ///   - format: The format that it was created with.
    ///   - directory: Where it is.
    ///   - clock: Read once for each transaction.
    ///   - shared: The state that the callers' threads use as well.
    ///   - log: The files as they were found.
    init(
        configuration: SQLiteJournal.Configuration,
        format: JournalFormat,
        directory: DataDirectory,
        clock: @escaping @Sendable () -> Instant,
        shared: Shared,
        log: OpenedLog
    ) {
        self.configuration = configuration
        self.format = format
        self.directory = directory
        self.clock = clock
        self.shared = shared
        self.file = log.newest
        self.ends = log.ends
        self.fileBytes = log.newestBytes
        self.rotateAtBytes = configuration.fileBytesMax
    }

    /// The thread's body: ends when the queue is closed and empty.
    func run() {
        var earliest: DispatchTime?
        while let group = self.shared.queue.next(notBefore: earliest) {
            // Where one caller waits alone, nothing else comes until it has its answer.
            earliest = group.count > 1 ? .now() + self.spacing : nil
            if self.commit(group) { self.maintain() }
        }
        self.shared.checkpointer.finish(path: self.directory.logFilePath(self.file.number), self.file)
    }

    /// Commits a group and calls back; true if anything was written.
    private func commit(_ group: [WorkQueue.Work]) -> Bool {
        var assembler = EntryAssembler(
            tails: self.ends.map(\.tail),
            now: self.clock(),
            entryBytesMax: self.configuration.limits.entryBytesMax
        )
        var newest = self.ends.map(\.newestOutput)
        var outputs: [(PartitionID, OutputEntry)] = []
        var replies: [Reply] = []
        replies.reserveCapacity(group.count)
        for work in group {
            switch work {
            case .append(let submission, _):
                replies.append(.appended(assembler.add(submission)))
            case .appendToAll(let submission, _, _):
                replies.append(.appendedToAll(assembler.add(submission)))
            case .output(let partition, let expected, let output, _):
                let index = Int(partition.rawValue)
                if let refusal = OutputRule.refusal(
                    of: output,
                    to: partition,
                    expected: expected,
                    newest: newest[index],
                    tail: self.ends[index].tail.position
                ) {
                    replies.append(.output(.failure(refusal)))
                } else {
                    let position = newest[index].map(\.next) ?? .first
                    newest[index] = position
                    outputs.append((partition, OutputEntry(position: position, record: output)))
                    replies.append(.output(.success(position)))
                }
            }
        }
        let entries = assembler.finish()
        let failure = self.write(entries, outputs)
        if failure == nil {
            for index in self.ends.indices {
                self.ends[index].tail = assembler.tails[index]
                self.ends[index].newestOutput = newest[index]
            }
            self.shared.tails.publish(entries, outputs.map { ($0.0, $0.1.position) })
        }
        self.shared.queue.finish(group)
        Self.call(group, replies, failure)
        if failure == nil { self.hint(entries) }
        return failure == nil && !(entries.isEmpty && outputs.isEmpty)
    }

    /// Makes it durable in one transaction, or says why it is not.
    private func write(
        _ entries: [EntryAssembler.Assembled],
        _ outputs: [(PartitionID, OutputEntry)]
    ) -> JournalError? {
        // Nothing is left of a group of outputs that were all fenced.
        if entries.isEmpty, outputs.isEmpty { return nil }
        var bytes = entries.reduce(0) { $0 + $1.entry.bytes.count }
        bytes += outputs.reduce(0) { $0 + $1.1.record.effects.count }
        self.makeRoom(rows: entries.count + outputs.count, bytes: bytes)
        do throws(LogFile.WriteError) {
            try self.file.write(entries, outputs)
        } catch {
            let action = "cannot write \(entries.count) entries and \(outputs.count) outputs"
            if error.isOutcomeKnown { return error.cause.journalError(action) }
            return JournalError(
                .unknownOutcome,
                "\(action) in \(error.cause.file): \(error.cause.sentence)"
            )
        }
        self.fileBytes += bytes + (entries.count + outputs.count) * Self.rowBytes
        return nil
    }

    private var spacing: DispatchTimeInterval {
        .milliseconds(Int(clamping: self.configuration.commitSpacing.milliseconds))
    }

    private static func call(_ group: [WorkQueue.Work], _ replies: [Reply], _ failure: JournalError?) {
        for (work, reply) in zip(group, replies) {
            switch (work, reply) {
            case (.append(_, let whenDurable), .appended(let receipt)):
                whenDurable(failure.map { .failure($0) } ?? .success(receipt))
            case (.appendToAll(_, let whenDurable, let whenPlaced), .appendedToAll(let receipts)):
                if let failure {
                    whenDurable(.failure(failure))
                } else {
                    whenDurable(.success(()))
                    for receipt in receipts { whenPlaced(receipt) }
                }
            case (.output(_, _, _, let whenDurable), .output(let result)):
                // Fenced by an output of the same transaction is not fenced if that one failed.
                if let failure, (try? result.get()) != nil || Self.isFenced(result) {
                    whenDurable(.failure(failure))
                } else {
                    whenDurable(result)
                }
            case (.append, _), (.appendToAll, _), (.output, _):
                preconditionFailure("a reply is made for the work it belongs to")
            }
        }
    }

    private static func isFenced(_ result: Result<OutputPosition, JournalError>) -> Bool {
        if case .failure(let error) = result { return error.code == .fenced }
        return false
    }

    private func hint(_ entries: [EntryAssembler.Assembled]) {
        for assembled in entries
        where assembled.entry.position == self.ends[Int(assembled.partition.rawValue)].tail.position {
            for observer in self.shared.observers.all(of: assembled.partition) {
                observer(assembled.entry.position)
            }
        }
    }
}

// MARK: - Between two transactions

extension LogWriter {
    /// To be called only after a commit that wrote something.
    ///
    /// SQLite before 3.51.3 can lose commits if a checkpoint begins when every page has been copied already and a commit
    /// starts the write-ahead log over meanwhile (sqlite.org/wal.html, "The WAL-Reset Bug"). That cannot happen here: a
    /// copy is asked for right behind a commit, so it finds pages to copy, and until it is done no other thread copies
    /// any.
    private func maintain() {
        if self.shared.fileEnd.takeRequest() || self.fileBytes >= self.rotateAtBytes { return self.rotate() }
        let path = self.directory.logFilePath(self.file.number)
        if let copied = self.shared.checkpointer.takeCopied(of: path),
            (self.file.database.walPages - copied.copied) * self.file.pageBytes <= Self.lastBytesMax
        {
            // Once every page is copied, the next commit starts the write-ahead log over: it writes over the file's
            // blocks, which needs no new ones and syncs faster. A failure loses nothing; the next copy tries again.
            _ = try? self.file.database.checkpoint()
        } else if self.file.walBytes >= self.checkpointBytes {
            self.shared.checkpointer.requestCopy(of: path)
        }
    }

    /// The size at which the write-ahead log is copied: all files together are to stay in proportion to their contents.
    private var checkpointBytes: Int {
        min(self.configuration.walBytesMax / 2, max(Self.checkpointBytesMin, self.fileBytes / 2))
    }

    /// Empties the write-ahead log before it is too large: commits came faster than they could be copied, or a reader
    /// of it does not stop. Then a new file is begun, since no reader holds the write-ahead log of that file.
    private func makeRoom(rows: Int, bytes: Int) {
        let walBytes = self.file.walBytes
        guard walBytes > 0, walBytes + self.file.walBytes(rows: rows, bytes: bytes) > self.configuration.walBytesMax
        else { return }
        self.shared.checkpointer.waitForCopy()
        do throws(SQLiteError) {
            try self.file.database.checkpointAndRestart()
        } catch {
            self.rotate()
        }
    }

    /// Begins the next file. If that fails, the old one goes on and another attempt is made later.
    private func rotate() {
        let number = self.file.number + 1
        do throws(JournalError) {
            let next = try LogFile(
                creating: number,
                in: self.directory,
                format: self.format,
                starts: self.ends
            )
            // A failure only leaves the loss of this file unnoticed until the next is begun or the log is opened. The
            // file stays: the note may be there in spite of it.
            try? self.directory.markBegun(number)
            let path = self.directory.logFilePath(number)
            self.shared.reader.add(LogReader.File(number: number, path: path, starts: next.starts))
            let old = self.file
            self.file = next
            self.fileBytes = 0
            self.rotateAtBytes = self.configuration.fileBytesMax
            self.shared.checkpointer.finish(path: self.directory.logFilePath(old.number), old)
        } catch {
            // The unfinished file must not be taken for the newest one; if it cannot be removed, it is empty, and
            // opening the log removes it.
            try? self.directory.removeLogFile(number)
            let step = max(1, self.configuration.fileBytesMax / Self.rotationRetryDivisor)
            self.rotateAtBytes = self.fileBytes + step
        }
    }
}
