#if JetStream
import JournalStreams
import Journaling
import Synchronization
import WidgetModel

/// Reads one partition's streams. Waits for the brokers.
final class Reader: Sendable {
    /// How long a message may take that is known to be there.
    private static let waitMilliseconds = 2000
    /// How many times the wanted entries are read at once: brokers begin a reading as slowly as they send hundreds of entries.
    private static let readAhead = 16

    let partition: PartitionID
    private let core: OpenLog
    private let times = Times()
    /// Entries that were read and not asked for yet, without a gap.
    private let ahead = Mutex<ArraySlice<LogEntry>>([])

    init(_ core: OpenLog, _ partition: PartitionID) {
        self.core = core
        self.partition = partition
    }

    private var input: String { self.core.names.input(self.partition) }

    func head() throws(JournalError) -> LogPosition { LogPosition(try self.core.ends(of: self.input).first) }

    // MARK: Entries

    /// Entries from a position on, and none that is missing.
    func entries(from position: LogPosition, entriesMax: Int) throws(JournalError) -> [LogEntry] {
        guard entriesMax > 0 else { return [] }
        let first = max(position, LogPosition.start.next)
        if let ready = self.takeAhead(from: first, entriesMax: entriesMax) { return ready }
        let entries = try self.fetch(from: first, entriesMax: entriesMax.multipliedSaturating(by: Self.readAhead))
        self.ahead.withLock { $0 = entries.dropFirst(entriesMax) }
        return Array(entries.prefix(entriesMax))
    }

    /// The entries that were read ahead from a position on; nil for none.
    private func takeAhead(from first: LogPosition, entriesMax: Int) -> [LogEntry]? {
        self.ahead.withLock { ahead in
            guard ahead.first?.position == first else { return nil }
            let (ready, rest) = (ahead.prefix(entriesMax), ahead.dropFirst(entriesMax))
            // An empty slice would keep all entries in memory.
            ahead = rest.isEmpty ? [] : rest
            return Array(ready)
        }
    }

    private func fetch(from first: LogPosition, entriesMax: Int) throws(JournalError) -> [LogEntry] {
        let ends = try self.core.ends(of: self.input)
        guard first.rawValue <= ends.last else { return [] }
        guard first.rawValue >= ends.first else {
            throw JournalError(
                .corrupt,
                "read of position \(first) in \(self.input): the log begins with position \(ends.first)"
            )
        }
        var entries: [LogEntry] = []
        var bytes = 0
        try self.walk(to: first, through: LogPosition(ends.last)) { entry in
            if entry.position >= first {
                entries.append(entry)
                bytes += entry.bytes.count
            }
            return entries.count < entriesMax && bytes < self.core.configuration.readBytesMax
        }
        return entries
    }

    /// A walk that begins at a position, with the facts about the part before it.
    func walk(from position: LogPosition) throws(JournalError) -> EntryWalk {
        let last = LogPosition(position.rawValue - 1)
        var anchor = try self.anchor(notBehind: last)
        if anchor.position < last {
            try self.walk(to: last, through: last) { $0.position < last }
            anchor = self.times.last(notBehind: last) ?? anchor
        }
        guard anchor.position == last else {
            throw JournalError(.corrupt, "read of position \(last) in \(self.input): its time is not known")
        }
        return EntryWalk(behind: anchor, self.core.journalID, in: self.input)
    }

    /// The last entry not behind a position whose time is known.
    private func anchor(notBehind position: LogPosition) throws(JournalError) -> TimeAnchor {
        if position == .start { return .start }
        let known = self.times.last(notBehind: position)
        if let known, known.position == position { return known }
        return TimeAnchor.last(
            notBehind: position,
            known: known,
            trimmed: try Trimmed.read(of: self.partition, self.core),
            snapshots: try SnapshotNote.ids(of: self.partition, self.core)
        )
    }

    /// Reads from where a time is known to a position and on, until `body` has enough or the log ends.
    private func walk(
        to position: LogPosition,
        through last: LogPosition,
        _ body: (LogEntry) -> Bool
    ) throws(JournalError) {
        let anchor = try self.anchor(notBehind: LogPosition(position.rawValue - 1))
        var walk = EntryWalk(behind: anchor, self.core.journalID, in: self.input)
        let following = try self.core.persist { () throws(JournalError) in
            try self.core.broker.follow(self.input, self.core.names.allInput(self.partition), from: walk.next.rawValue)
        }
        while walk.next <= last {
            guard body(try walk.takeMessage(Self.next(of: following, in: self.input, at: walk.next.rawValue)).entry)
            else {
                break
            }
        }
        if walk.last != anchor { self.times.noteAnchor(walk.last) }
    }

    // MARK: Outputs

    func newestOutput() throws(JournalError) -> OutputEntry? {
        let stream = self.core.names.output(self.partition)
        let subject = self.core.names.outputs(self.partition)
        let message = try self.core.persist { () throws(JournalError) in
            try self.core.broker.newest(in: stream, of: subject)
        }
        return try message.map { (message) throws(JournalError) in try self.output(of: message) }
    }

    /// The output at a position; nil if there is none.
    func output(at position: OutputPosition) throws(JournalError) -> OutputEntry? {
        let message = try self.core.persist { () throws(JournalError) in
            try self.core.broker.message(position.rawValue, in: self.core.names.output(self.partition))
        }
        return try message.map { (message) throws(JournalError) in try self.output(of: message) }
    }

    /// Outputs from a position on, and none that is missing.
    func outputs(from position: OutputPosition, outputsMax: Int) throws(JournalError) -> [OutputEntry] {
        let stream = self.core.names.output(self.partition)
        var next = max(position, .first)
        let ends = try self.core.ends(of: stream)
        guard outputsMax > 0, next.rawValue <= ends.last else { return [] }
        let following = try self.core.persist { () throws(JournalError) in
            try self.core.broker.follow(stream, self.core.names.outputs(self.partition), from: next.rawValue)
        }
        var outputs: [OutputEntry] = []
        var bytes = 0
        while outputs.count < outputsMax, bytes < self.core.configuration.readBytesMax, next.rawValue <= ends.last {
            let message = try Self.next(of: following, in: stream, at: next.rawValue)
            guard message.sequence == next.rawValue else {
                throw JournalError(
                    .corrupt,
                    "position \(next) is missing in \(stream), behind it is \(message.sequence)"
                )
            }
            let output = try self.output(of: message)
            bytes += output.record.effects.count
            outputs.append(output)
            next = next.next
        }
        return outputs
    }

    /// The message that comes next, at a position of a stream if none is missing.
    private static func next(
        of following: Broker.Following,
        in stream: String,
        at position: UInt64
    ) throws(JournalError) -> StoredMessage {
        guard case .message(let message) = following.next(waitMilliseconds: Self.waitMilliseconds) else {
            throw JournalError(.unavailable, "read of position \(position) in \(stream): the brokers do not answer")
        }
        return message
    }

    func output(of message: StoredMessage) throws(JournalError) -> OutputEntry {
        let stream = self.core.names.output(self.partition)
        do throws(MessageError) {
            let record = try OutputMessage.record(message.bytes, self.core.journalID, in: stream)
            return OutputEntry(position: OutputPosition(message.sequence), record: record)
        } catch {
            throw JournalError(.corrupt, "position \(message.sequence) in \(stream) is damaged: \(error.sentence)")
        }
    }
}
#endif
