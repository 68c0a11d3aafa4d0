package import Engine
package import HTTPTransport
package import Journaling
package import Logging
import NIOPosix
package import Partitions
import Serving
import Synchronization
package import WidgetModel

/// The requests that changed something, and their callers: read from the log, where every order and every other change stands before it is
/// carried out.
///
/// The newest requests are kept in an index beside the log, which outlives log files that are removed, and which is made anew
/// from the log where it is missing, damaged or behind.
///
/// Owners hand on the requests in the entries that they apply. Where nodes share the log, the owners here apply only some of its entries:
/// then they hand on none, and all entries that come are read for it, of all partitions.
package final class OperatorAudit: Sendable {
    /// How often it is written down how far the log was read, so that the next start has little to read.
    private static let spacing = Duration.seconds(10)
    /// How many entries of the log are read at a time.
    private static let entriesPerStep = 256

    private struct State {
        var trail: AuditTrail
        /// The task that reads the log, while one does.
        var reading: Task<Bool, Never>?
        /// Whether the log was read to its end, and everything since then as far as it is known here.
        var isWhole = false
        var isClosed = false
        /// The newest entry of each partition that is known to have been appended, where nodes share the log; else none.
        var appended: [LogPosition] = []
        /// The entry of each partition from which on requests are told live, where nodes share the log; else none. An entry that the first
        /// reading finds before this node hears of it is in the list alone.
        var news: [LogPosition] = []

        /// Whether the trail has everything up to these entries.
        func has(_ appended: [LogPosition]) -> Bool {
            self.isWhole && appended.indices.allSatisfy { appended[$0] <= self.trail.position(PartitionID(UInt16($0))) }
        }

        /// Whether an entry that was read has come since the start.
        func isNews(_ position: LogPosition, of partition: PartitionID) -> Bool {
            let index = Int(partition.rawValue)
            return index < self.news.count && self.news[index] <= position
        }

        /// What is read from here on is news.
        mutating func beginNews() {
            for index in self.news.indices {
                self.news[index] = min(self.news[index], self.trail.position(PartitionID(UInt16(index))).next)
            }
        }
    }

    private let state: Mutex<State>
    /// One thread writes at a time.
    private let archive: Mutex<any RecordArchive>
    private let history: HistoryQuestions.Opening
    /// The log, where nodes share it.
    private let shared: (any Journal)?
    private let feed: OperatorFeed
    private let logger: Logger

    /// - Parameters:
    ///   - archive: Where the index is kept; it is read now. Blocks.
    ///   - history: Opens the log.
    ///   - shared: The log, if other nodes append to it, too; nil if the owners hand on all its entries.
    package init(
        archive: any RecordArchive = MemoryArchive(),
        history: @escaping HistoryQuestions.Opening,
        shared: (any Journal)? = nil,
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
        self.shared = shared
        self.feed = feed
        self.logger = logger
        if let shared { self.observe(shared) }
    }

    /// Notes what is appended. Before the log's front is read, so that nothing comes between the two unseen.
    private func observe(_ journal: any Journal) {
        let count = journal.format.partitions
        self.state.withLock { state in
            state.appended = Array(repeating: .start, count: count)
            state.news = Array(repeating: LogPosition(.max), count: count)
        }
        for index in 0..<count {
            journal.observeAppends(PartitionID(UInt16(index))) { [weak self] position in
                self?.state.withLock { state in
                    state.appended[index] = max(state.appended[index], position)
                    state.news[index] = min(state.news[index], position)
                }
            }
        }
    }

    /// The newest requests first, as soon as the log was read as far as it is known to go.
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
    package func takeRecords(
        _ records: [AuditedRecord],
        _ partition: PartitionID,
        _ position: LogPosition,
        at: Instant
    ) {
        for entry in self.add(records, partition, position, at: at) {
            self.feed.publish(.note(.order, Views.audit(entry)))
        }
        self.writeSoon()
    }

    /// - Returns: The requests of which all is known now and was not before.
    @discardableResult
    private func add(
        _ records: [AuditedRecord],
        _ partition: PartitionID,
        _ position: LogPosition,
        at: Instant
    ) -> [AuditTrail.Entry] {
        self.state.withLock { state in
            records.compactMap { state.trail.add($0, partition, position, at: at) }
        }
    }

    /// Reads the entries that the index does not have yet, and that no owner hands on.
    ///
    /// - Returns: Whether they could be read.
    @discardableResult
    package func catchUp() async -> Bool {
        let wanted = self.state.withLock { $0.appended }
        // A reading that is under way may have read some partitions before these entries came.
        for _ in 0..<2 where !self.state.withLock({ $0.has(wanted) }) {
            guard await self.read() else { return false }
        }
        return true
    }

    /// Reads, or waits for the reading that is under way.
    private func read() async -> Bool {
        let reading = self.state.withLock { state -> Task<Bool, Never>? in
            guard state.reading == nil, !state.isClosed else { return state.reading }
            let reading = Task { await self.readLog() }
            state.reading = reading
            return reading
        }
        return await reading?.value ?? false
    }

    private func readLog() async -> Bool {
        let (wasWhole, appended) = self.state.withLock { ($0.isWhole, $0.appended) }
        do {
            if wasWhole, let shared = self.shared {
                for (number, last) in appended.enumerated() {
                    try await self.goOn(PartitionID(UInt16(number)), of: shared, to: last)
                }
            } else {
                let log = try await NIOThreadPool.singleton.runIfActive(self.history)
                for number in 0..<log.format.partitions { try await self.read(PartitionID(UInt16(number)), of: log) }
            }
        } catch {
            self.state.withLock { state in
                state.reading = nil
                // The next reading begins with a look at what the log still has.
                state.isWhole = false
            }
            if !(error is CancellationError) {
                self.logger.error("the log cannot be read for the audit", metadata: ["error": "\(error)"])
            }
            return false
        }
        self.state.withLock { state in
            state.reading = nil
            state.isWhole = true
            state.beginNews()
        }
        if !wasWhole { self.writeSoon() }
        return true
    }

    /// Reads what was appended since the last reading, up to an entry: mostly the journal has it in memory.
    private func goOn(_ partition: PartitionID, of journal: any Journal, to end: LogPosition) async throws {
        while true {
            try Task.checkCancellation()
            let last = self.state.withLock { $0.trail.position(partition) }
            guard last < end else { return }
            let entries: [LogEntry] = try await withCheckedThrowingContinuation { waiting in
                journal.read(partition, from: last.next, entriesMax: Self.entriesPerStep) { waiting.resume(with: $0) }
            }
            guard !entries.isEmpty else { return }
            try self.takeEntries(entries, of: partition)
        }
    }

    /// Reads a partition's log to its end, from where the index ends.
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
        self.state.withLock { [last] in $0.trail.reach(partition, last) }
        while true {
            let entries = try await Self.entries(of: log, partition, from: last.next, entriesMax: Self.entriesPerStep)
            guard let newest = entries.last else { return }
            try self.takeEntries(entries, of: partition)
            last = newest.position
        }
    }

    /// Takes in entries that were read behind those before.
    private func takeEntries(_ entries: [LogEntry], of partition: PartitionID) throws {
        for entry in entries {
            let records = try AuditedRecord.all(entry.bytes, in: entry.records)
            guard !records.isEmpty else { continue }
            if self.state.withLock({ $0.isNews(entry.position, of: partition) }) {
                self.takeRecords(records, partition, entry.position, at: entry.logTime)
            } else {
                self.add(records, partition, entry.position, at: entry.logTime)
            }
        }
        if let newest = entries.last { self.state.withLock { $0.trail.reach(partition, newest.position) } }
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
    /// Reads the log, and writes down now and then how far everything was read, until the task is cancelled.
    package func run(_ log: CommandLog) async {
        while !Task.isCancelled {
            await self.reach(log)
            try? await Task.sleep(for: Self.spacing)
        }
    }

    /// Reads at every beat what was appended since, until the task is cancelled.
    package func follow(every beat: Interval) async {
        while (try? await Task.sleep(for: .milliseconds(beat.milliseconds))) != nil {
            // The first reading is long, and a failed one is not tried again so often.
            if self.state.withLock({ $0.isWhole }) { await self.catchUp() }
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

    /// Reads what there is, and writes down the requests, and how far the log was read for them.
    package func reach(_ log: CommandLog) async {
        await self.catchUp()
        if self.shared == nil {
            let progress = await log.progress()
            self.state.withLock { state in
                guard state.isWhole else { return }
                // Owners hand on all entries that they apply, so that everything before that is known, too.
                for owner in progress { state.trail.reach(owner.partition, owner.applied) }
            }
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
