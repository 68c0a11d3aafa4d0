package import Engine
package import HTTPTransport
package import Journaling
package import Logging
import NIOPosix
package import Partitions
import Serving
import Settings
import Synchronization
package import WidgetModel

/// The requests that changed something, and their callers: read from the log, where every order and every other change stands before it is
/// carried out.
///
/// The newest requests are kept in an index beside the log, which outlives log files that are removed, and which is made anew
/// from the log where it is missing, damaged or behind.
package final class OperatorAudit: Sendable {
    /// How often it is written down how far the log was read, so that the next start has little to read.
    private static let spacing = Duration.seconds(10)
    /// How many entries of the log are read at a time.
    private static let entriesPerStep = 256

    private struct State {
        var trail: AuditTrail
        /// The task that reads the log's front; nil before that was begun, and after it failed.
        var reading: Task<Bool, Never>?
        /// Whether the trail has everything up to the entries that the partitions' owners have applied.
        var isWhole = false
        var isClosed = false
    }

    private let state: Mutex<State>
    /// One thread writes at a time.
    private let archive: Mutex<any RecordArchive>
    private let history: HistoryQuestions.Opening
    private let feed: OperatorFeed
    private let logger: Logger

    /// - Parameters:
    ///   - archive: Where the index is kept; it is read now. Blocks.
    ///   - history: Opens the log.
    package init(
        archive: any RecordArchive = MemoryArchive(),
        history: @escaping HistoryQuestions.Opening,
        feed: OperatorFeed,
        logger: Logger
    ) {
        var trail = AuditTrail()
        do throws(JournalError) {
            try archive.readAll { trail.restore($0) }
        } catch {
            // Missing requests are read from the log.
            logger.error("the audit's index cannot be read", metadata: ["error": "\(error)"])
            trail = AuditTrail()
        }
        self.state = Mutex(State(trail: trail))
        self.archive = Mutex(archive)
        self.history = history
        self.feed = feed
        self.logger = logger
    }

    /// The newest requests first, as soon as the log was read as far as it went when the process started.
    ///
    /// - Throws: `unavailable` if it cannot be read.
    package func newest() async throws(Problem) -> [AuditTrail.Entry] {
        guard await self.catchUp() else {
            throw Problem(.unavailable, "the log cannot be read for the audit; the gateway's own log says why")
        }
        return self.state.withLock { $0.trail.entries }
    }

    /// The newest requests that are known by now, the newest first: nothing is waited for.
    package var known: [AuditTrail.Entry] { self.state.withLock { $0.trail.entries } }

    // MARK: Reading

    /// Takes the operators' acts from an entry that a partition's owner has applied.
    package func take(
        _ records: [AuditedRecord],
        _ partition: PartitionID,
        _ position: LogPosition,
        at: Instant
    ) {
        let known = self.state.withLock { state in
            records.compactMap { state.trail.add($0, partition, position, at: at) }
        }
        for entry in known { self.feed.publish(.note(.order, Views.audit(entry))) }
        self.writeSoon()
    }

    /// Reads the entries that the index does not have yet; at once after the first time.
    ///
    /// - Returns: Whether it could be read.
    @discardableResult
    package func catchUp() async -> Bool {
        let reading = self.state.withLock { state -> Task<Bool, Never>? in
            if let reading = state.reading { return reading }
            guard !state.isClosed else { return nil }
            let reading = Task { await self.readLog() }
            state.reading = reading
            return reading
        }
        return await reading?.value ?? false
    }

    private func readLog() async -> Bool {
        do {
            let log = try await NIOThreadPool.singleton.runIfActive(self.history)
            for number in 0..<log.format.partitions { try await self.read(PartitionID(UInt16(number)), of: log) }
        } catch {
            self.state.withLock { $0.reading = nil }
            if !(error is CancellationError) {
                self.logger.error("the log cannot be read for the audit", metadata: ["error": "\(error)"])
            }
            return false
        }
        self.state.withLock { $0.isWhole = true }
        self.writeSoon()
        return true
    }

    private func read(_ partition: PartitionID, of log: any LogHistory) async throws {
        var last = self.state.withLock { $0.trail.position(partition) }
        let head = try await NIOThreadPool.singleton.runIfActive { try log.head(partition) }
        if last < head {
            last = LogPosition(head.rawValue - 1)
        } else if try await Self.entries(of: log, partition, from: last, entriesMax: 1).isEmpty {
            // The log ends before that: it is not the one that the index was made of.
            self.state.withLock { $0.trail.forget(partition, from: head) }
            last = LogPosition(head.rawValue - 1)
        }
        while true {
            let entries = try await Self.entries(of: log, partition, from: last.next, entriesMax: Self.entriesPerStep)
            guard let newest = entries.last else { return }
            for entry in entries {
                let records = try AuditedRecord.all(entry.bytes, in: entry.records)
                guard !records.isEmpty else { continue }
                self.state.withLock { state in
                    for record in records { _ = state.trail.add(record, partition, entry.position, at: entry.logTime) }
                }
            }
            last = newest.position
        }
    }

    private static func entries(
        of log: any LogHistory,
        _ partition: PartitionID,
        from position: LogPosition,
        entriesMax: Int
    ) async throws -> [LogEntry] {
        try await NIOThreadPool.singleton.runIfActive {
            try log.read(partition, from: position, entriesMax: entriesMax)
        }
    }
}

// MARK: - Writing

extension OperatorAudit {
    /// Reads the log's front, and then writes down now and then how far everything was read, until the task is cancelled.
    package func run(_ log: CommandLog) async {
        while !Task.isCancelled {
            await self.catchUp()
            await self.reach(log)
            try? await Task.sleep(for: Self.spacing)
        }
    }

    /// Reads no more: calls that wait for that are answered now.
    package func close() {
        let reading = self.state.withLock { state in
            state.isClosed = true
            return state.reading
        }
        reading?.cancel()
    }

    /// Writes the known requests, and how far the log was read for them.
    package func reach(_ log: CommandLog) async {
        let progress = await log.progress()
        self.state.withLock { state in
            // Owners hand on all entries that they apply, so that everything before that is known, too.
            guard state.isWhole, progress.count == log.partitions else { return }
            state.trail.reach(progress.map(\.applied))
        }
        try? await NIOThreadPool.singleton.runIfActive { self.write() }
    }

    private func writeSoon() {
        NIOThreadPool.singleton.submit { _ in self.write() }
    }

    /// Writes the changes. When it returns, all changes from before the call are written, or could not be.
    private func write() {
        self.archive.withLock { archive in
            let changes = self.state.withLock { $0.trail.takeChanges() }
            guard !changes.isEmpty else { return }
            do throws(JournalError) {
                try archive.write(changes.records, removing: changes.removed)
            } catch {
                // The log has them: changes that are not in the index are read from there, or written next time.
                self.logger.error("the audit's index cannot be written", metadata: ["error": "\(error)"])
                self.state.withLock { $0.trail.putBack(changes) }
            }
        }
    }

    /// Writes an operator's request and its status to the gateway's own log, also if it was refused.
    package func tell(_ request: HTTPRequest, by source: OperatorSource, status: Int) {
        self.logger.notice(
            "an operator's request",
            metadata: [
                "request": "\(source.request)", "caller": "\(source.caller)", "peer": "\(source.address)",
                "method": "\(request.method)", "path": "\(request.target)",
                "body": "\(String(decoding: request.body.prefix(AuditedRequest.bodyBytesMax), as: UTF8.self))",
                "status": "\(status)",
            ]
        )
    }
}

extension Views {
    static func audit(_ entry: AuditTrail.Entry) -> JSONValue {
        JSONValue.object(of: [
            ("at", .instant(entry.at)),
            ("request", .string(entry.source.request)),
            ("caller", .string(entry.source.caller)),
            ("remoteAddress", .string(entry.source.address)),
            ("method", .string(entry.method)),
            ("path", .string(entry.path)),
            ("body", .string(entry.body)),
            ("text", .string(entry.words)),
            ("status", entry.status.map { .count($0) }),
        ])
    }
}
