import JournalStreams
import Journaling
import Synchronization
import WidgetModel

/// Streams as brokers have them: messages in order, publishers' expectations, removal. Their leader tells the truth.
/// The caller decides whether it answers, and how late consumers see messages.
///
/// It remembers everything that ever was, for the checks.
final class SimulatedStreams: Sendable {
    private struct Message {
        let subject: String
        let stored: StoredMessage
    }

    private struct Stream {
        var messages: [Message] = []
        var first: UInt64 = 1
        /// Of the subjects that have messages.
        var newest: [String: UInt64] = [:]

        var last: UInt64 { UInt64(self.messages.count) }

        func message(_ sequence: UInt64) -> StoredMessage { self.messages[Int(sequence) - 1].stored }
    }

    private let streams = Mutex<[String: Stream]>([:])

    private func read<Value>(_ stream: String, _ body: (Stream) -> Value) -> Value {
        self.streams.withLock { body($0[stream] ?? Stream()) }
    }

    // MARK: Brokers

    /// Stores a message if the stream ends as expected.
    func publish(_ bytes: [UInt8], to subject: String, in stream: String, _ expectation: Expectation, stamp: Instant)
        -> PublishOutcome
    {
        self.streams.withLock { streams in
            let isExpected =
                switch expectation {
                case .nothing: true
                case .lastOfSubject(let last): streams[stream]?.newest[subject] ?? 0 == last
                case .lastOfStream(let last): streams[stream]?.last ?? 0 == last
                }
            guard isExpected else { return .otherEnd }
            let sequence = (streams[stream]?.last ?? 0) + 1
            let stored = StoredMessage(sequence: sequence, stamp: stamp, bytes: bytes)
            streams[stream, default: Stream()].messages.append(Message(subject: subject, stored: stored))
            streams[stream]?.newest[subject] = sequence
            return .stored(sequence)
        }
    }

    func newest(in stream: String, of subject: String) -> StoredMessage? {
        self.read(stream) { stream in stream.newest[subject].map { stream.message($0) } }
    }

    /// The message with a sequence, or the first one behind it.
    func message(from sequence: UInt64, in stream: String) -> StoredMessage? {
        self.read(stream) { stream in
            let place = max(sequence, stream.first)
            return place <= stream.last ? stream.message(place) : nil
        }
    }

    /// The first message of a subject behind a sequence.
    func message(of subject: String, behind sequence: UInt64, in stream: String) -> StoredMessage? {
        self.read(stream) { stream in
            let start = Int(max(sequence, stream.first - 1))
            return stream.messages.dropFirst(start).first { $0.subject == subject }?.stored
        }
    }

    func ends(of stream: String) -> StreamEnds {
        self.read(stream) { StreamEnds(first: $0.first, last: $0.last) }
    }

    /// The subjects that have messages and begin like this, in order.
    func subjects(of stream: String, like prefix: String) -> [String] {
        self.read(stream) { $0.newest.keys.filter { $0.hasPrefix(prefix) }.sorted() }
    }

    func purge(_ stream: String, before sequence: UInt64) {
        self.streams.withLock { streams in
            guard let known = streams[stream], sequence > known.first else { return }
            let first = min(sequence, known.last + 1)
            streams[stream]?.first = first
            streams[stream]?.newest = known.newest.filter { $0.value >= first }
        }
    }

    /// Removes the messages of the subjects that begin like this.
    func purge(_ stream: String, like prefix: String) {
        self.streams.withLock { streams in
            guard let known = streams[stream] else { return }
            streams[stream]?.newest = known.newest.filter { !$0.key.hasPrefix(prefix) }
        }
    }

    // MARK: For the checks

    /// Everything from a sequence on, whatever was removed since.
    func history(of stream: String, from sequence: UInt64) -> [StoredMessage] {
        self.read(stream) { $0.messages.dropFirst(Int(sequence) - 1).map(\.stored) }
    }
}

/// The names and numbers of the simulated log, and how the messages of its streams are read.
struct SimulatedLog: Sendable {
    static let journalID = "00000000-0000-4000-8000-0000000000c1"

    let streams = SimulatedStreams()
    let names: StreamNames
    /// A bug that readers have.
    let bug: ClusterBug?

    init(bug: ClusterBug?) {
        guard let names = StreamNames(cluster: "simulated") else { preconditionFailure("the name is a good one") }
        self.names = names
        self.bug = bug
    }

    func trimmed(_ partition: PartitionID) throws(JournalError) -> (note: Trimmed?, sequence: UInt64) {
        let subject = self.names.trimmed(partition)
        guard let note = self.streams.newest(in: self.names.notes, of: subject) else { return (nil, 0) }
        return (try Trimmed(note.bytes, Self.journalID, in: subject), note.sequence)
    }

    func newestOutput(_ partition: PartitionID) -> OutputEntry? {
        self.streams.newest(in: self.names.output(partition), of: self.names.outputs(partition)).flatMap {
            self.output($0, of: partition)
        }
    }

    func output(_ message: StoredMessage, of partition: PartitionID) -> OutputEntry? {
        let record = try? OutputMessage.record(message.bytes, Self.journalID, in: self.names.output(partition))
        return record.map { OutputEntry(position: OutputPosition(message.sequence), record: $0) }
    }

    func input(_ message: StoredMessage?, of partition: PartitionID) -> InputMessage? {
        message.flatMap { try? InputMessage($0.bytes, Self.journalID, in: self.names.input(partition)) }
    }

    /// Entries from a position on, as a reader finds them that sees the log up to a sequence.
    ///
    /// - Parameter known: An entry whose time the reader knows.
    /// - Throws: `.corrupt` if the first ones are gone.
    func entries(
        of partition: PartitionID,
        from position: LogPosition,
        through last: UInt64,
        entriesMax: Int,
        known: TimeAnchor?
    ) throws(JournalError) -> (entries: [LogEntry], last: TimeAnchor) {
        let anchor = TimeAnchor.last(
            notBehind: LogPosition(position.rawValue - 1),
            known: known,
            trimmed: try self.trimmed(partition).note,
            snapshots: ClusterSnapshots(log: self).snapshots(partition)
        )
        let stream = self.names.input(partition)
        var walk = EntryWalk(behind: anchor, Self.journalID, in: stream)
        var entries: [LogEntry] = []
        while entries.count < entriesMax, walk.next.rawValue <= last,
            let message = self.streams.message(from: walk.next.rawValue, in: stream)
        {
            let entry = try walk.takeMessage(self.misread(message, in: stream)).entry
            if entry.position >= position { entries.append(entry) }
        }
        return (entries, walk.last)
    }

    /// A message as readers with a bug take it.
    func misread(_ message: StoredMessage, in stream: String) -> StoredMessage {
        guard self.bug == .trustsStamps, let input = try? InputMessage(message.bytes, Self.journalID, in: stream) else {
            return message
        }
        let stamped = InputMessage(id: input.id, writtenAt: message.stamp, fan: input.fan, records: input.records)
        return StoredMessage(
            sequence: message.sequence,
            stamp: message.stamp,
            bytes: stamped.bytes(Self.journalID, in: stream)
        )
    }
}

extension SimulatedLog: OutputLog {
    func outputs(of partition: PartitionID, from first: OutputPosition) -> [OutputEntry] {
        self.streams.history(of: self.names.output(partition), from: first.rawValue).compactMap {
            self.output($0, of: partition)
        }
    }
}

/// The snapshots of the simulated log, in small chunks.
struct ClusterSnapshots: SnapshotStore {
    private static let chunkBytes = 4096

    let log: SimulatedLog
    /// Names the chunks of the next one that is written.
    var upload: UInt64 = 0
    /// How many messages its writer lives to write.
    var messagesMax = Int.max

    init(log: SimulatedLog) { self.log = log }

    private func head(_ id: SnapshotID) -> SnapshotFile.Head {
        SnapshotFile.Head(journalID: SimulatedLog.journalID, partitions: FaultWorld.partitions, id: id)
    }

    private func chunk(_ number: Int, _ partition: PartitionID, _ upload: UInt64) -> String {
        "\(self.log.names.chunks(partition, upload)).\(number)"
    }

    private func readNote(of id: SnapshotID) throws(JournalError) -> SnapshotNote? {
        let subject = SnapshotNote.subject(of: id, self.log.names)
        guard let note = self.log.streams.newest(in: self.log.names.notes, of: subject) else { return nil }
        return try SnapshotNote(note.bytes, SimulatedLog.journalID, in: subject)
    }

    func snapshots(_ partition: PartitionID) -> [SnapshotID] {
        let prefix = self.log.names.snapshots(partition) + "."
        let subjects = self.log.streams.subjects(of: self.log.names.notes, like: prefix)
        return SnapshotNote.ids(of: partition, in: subjects, self.log.names)
    }

    func read(_ id: SnapshotID, wanting isWanted: (UInt8) -> Bool, _ body: ([UInt8]) throws -> Void) throws {
        guard let note = try self.readNote(of: id) else { throw JournalError(.corrupt, "there is no \(id)") }
        try SnapshotChunks.read(
            note,
            of: self.head(id),
            size: Self.chunkBytes,
            wanting: isWanted,
            chunk: { (number) throws(JournalError) in
                let subject = self.chunk(number, id.partition, note.upload)
                guard let message = self.log.streams.newest(in: self.log.names.chunks, of: subject) else {
                    throw JournalError(.corrupt, "\(id) lacks chunk \(number)")
                }
                return message.bytes
            },
            body
        )
    }

    func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws { try self.write(id, .lastOfSubject(0), next) }
    func replace(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws { try self.write(id, .nothing, next) }

    private func write(_ id: SnapshotID, _ expectation: Expectation, _ next: () throws -> [UInt8]?) throws {
        var left = self.messagesMax
        func publish(_ bytes: [UInt8], to subject: String, in stream: String, _ expectation: Expectation = .nothing)
            throws(JournalError)
        {
            guard left > 0 else { throw JournalError(.closed, "the node is dead") }
            left -= 1
            _ = self.log.streams.publish(bytes, to: subject, in: stream, expectation, stamp: id.logTime)
        }
        let names = self.log.names
        var chunks = SnapshotChunks(of: self.head(id), size: Self.chunkBytes)
        while let frame = try next() { chunks.add(frame) }
        chunks.finish()
        while true {
            let subject = self.chunk(chunks.number, id.partition, self.upload)
            guard let chunk = chunks.next() ?? chunks.rest() else { break }
            try publish(chunk, to: subject, in: names.chunks)
        }
        let note = SnapshotNote(upload: self.upload, byteCount: chunks.byteCount)
        let subject = SnapshotNote.subject(of: id, names)
        try publish(note.bytes(SimulatedLog.journalID, in: subject), to: subject, in: names.notes, expectation)
    }

    func remove(_ id: SnapshotID) throws(JournalError) {
        let note = try self.readNote(of: id)
        self.log.streams.purge(self.log.names.notes, like: SnapshotNote.subject(of: id, self.log.names))
        guard let note else { return }
        self.log.streams.purge(self.log.names.chunks, like: self.log.names.chunks(id.partition, note.upload) + ".")
    }

    func setAside(_ id: SnapshotID) {
        self.log.streams.purge(self.log.names.notes, like: SnapshotNote.subject(of: id, self.log.names))
    }

    /// Takes a snapshot's first chunk away.
    func damage(_ id: SnapshotID) {
        guard let note = try? self.readNote(of: id) else { return }
        self.log.streams.purge(self.log.names.chunks, like: self.chunk(0, id.partition, note.upload))
    }

    func firstEntry(_ partition: PartitionID) -> LogPosition {
        LogPosition(self.log.streams.ends(of: self.log.names.input(partition)).first)
    }

    // Trimming goes step by step here: see ``Trimming``.

    var newestFile: Int { 1 }
    func endFile() {}
    func trim(through positions: [LogPosition], loggedBefore instant: Instant) -> Int { 0 }
    func trimAll(through positions: [LogPosition]) -> Int { 0 }
    func removeDamaged() {}
}
