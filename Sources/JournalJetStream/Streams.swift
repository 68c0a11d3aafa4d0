#if JetStream
import JournalStreams
import Journaling
import WidgetModel

/// The streams of a log: made when it is created, and looked at when it is opened.
struct Streams {
    private static let notesDescription = "Freshet: notes on the log"

    private let broker: Broker
    private let names: StreamNames
    private let configuration: JetStreamJournal.Configuration

    init(_ broker: Broker, _ names: StreamNames, _ configuration: JetStreamJournal.Configuration) {
        self.broker = broker
        self.names = names
        self.configuration = configuration
    }

    /// The log's format. Makes the streams if there is no log yet.
    func open(now: Instant) throws(JournalError) -> JournalFormat {
        try self.addNotes()
        let known = try self.usable()
        let format = if let known { known.format } else { try self.create(now: now) }
        let isWhole = known?.stage == .whole
        guard format.partitions == self.configuration.partitions else {
            throw JournalError(
                .formatMismatch,
                "the log of cluster \(self.names.cluster) has \(format.partitions) "
                    + "\(format.partitions == 1 ? "partition" : "partitions"), not \(self.configuration.partitions): "
                    + "set partitions to \(format.partitions)"
            )
        }
        for stream in self.all(format) { try self.open(stream, of: format, isWhole: isWhole) }
        if !isWhole { _ = try self.write(format, .whole, .nothing) }
        return format
    }

    private func addNotes() throws(JournalError) {
        guard try self.broker.ends(of: self.names.notes) == nil else { return }
        try self.add(
            Stream(name: self.names.notes, subject: self.names.allNotes),
            Self.notesDescription,
            messagesPerSubjectMax: 1
        )
    }

    private struct Stream {
        let name: String
        let subject: String
        /// The sequence of its first message.
        var first: UInt64 = 1
    }

    /// - Parameter ends: Where another log has ended that this one goes on from; nil for one that begins.
    private func all(_ format: JournalFormat, behind ends: [PartitionEnd]? = nil) -> [Stream] {
        let partitions = (0..<format.partitions).map { PartitionID(UInt16($0)) }
        let inputs = partitions.map { partition in
            let last = ends?[Int(partition.rawValue)].snapshot?.position ?? .start
            return Stream(
                name: self.names.input(partition),
                subject: self.names.allInput(partition),
                first: last.next.rawValue
            )
        }
        let outputs = partitions.map { partition in
            let first = ends?[Int(partition.rawValue)].outputs.first?.position ?? .first
            return Stream(
                name: self.names.output(partition),
                subject: self.names.outputs(partition),
                first: first.rawValue
            )
        }
        return inputs + outputs
            + [
                Stream(name: self.names.fan, subject: self.names.allFan),
                Stream(name: self.names.chunks, subject: self.names.allChunks),
            ]
    }

    private static func description(_ format: JournalFormat) -> String { "Freshet: log \(format.journalID)" }

    /// - Returns: Whether it is there.
    private func find(_ stream: Stream, of format: JournalFormat) throws(JournalError) -> Bool {
        guard let found = try self.broker.ends(of: stream.name) else { return false }
        guard found.description == Self.description(format) else {
            throw JournalError(
                .formatMismatch,
                "the stream \(stream.name) says \"\(found.description)\", and this is log \(format.journalID): it is "
                    + "another cluster's; give this one another name"
            )
        }
        return true
    }

    private func open(_ stream: Stream, of format: JournalFormat, isWhole: Bool) throws(JournalError) {
        guard try !self.find(stream, of: format) else { return }
        guard !isWhole else {
            throw JournalError(.corrupt, "the stream \(stream.name) is missing; restore it from a backup")
        }
        try self.add(stream, Self.description(format))
    }

    private func add(_ stream: Stream, _ description: String, messagesPerSubjectMax: Int = -1)
        throws(JournalError)
    {
        try self.broker.addStream(
            StreamSettings(
                name: stream.name,
                description: description,
                subjects: [stream.subject],
                numReplicas: self.configuration.replicas,
                maxBytes: self.configuration.streamBytesMax,
                maxMsgsPerSubject: messagesPerSubjectMax,
                firstSeq: stream.first
            )
        )
    }

    // MARK: A log that goes on where another one has ended

    /// Makes the streams, which no gateway opens before ``finish(_:behind:)``.
    ///
    /// - Returns: The note that ``finish(_:behind:)`` takes.
    func begin(_ format: JournalFormat, behind ends: [PartitionEnd]) throws(JournalError) -> UInt64 {
        let patience = Patience(milliseconds: self.configuration.patienceMilliseconds)
        let note = try patience.persist { () throws(JournalError) in try self.writeFormat(format) }
        let streams = self.all(format, behind: ends)
        for stream in streams where try self.find(stream, of: format) {
            throw JournalError(
                .formatMismatch,
                "the stream \(stream.name) exists, and no log that it belongs to; make sure that it is not needed, and remove it"
            )
        }
        for stream in streams {
            try patience.persist { () throws(JournalError) in
                if try !self.find(stream, of: format) { try self.add(stream, Self.description(format)) }
            }
        }
        return note
    }

    /// Notes that a log is to be made that goes on from another one; its sequence.
    private func writeFormat(_ format: JournalFormat) throws(JournalError) -> UInt64 {
        try self.addNotes()
        if let note = try self.write(format, .moving, .lastOfSubject(0)) { return note }
        // An earlier attempt may have been stored.
        guard let known = try self.known(), known.stage == .moving, known.format == format,
            let note = try self.broker.newest(in: self.names.notes, of: self.names.format)
        else {
            throw JournalError(.fenced, "the log of cluster \(self.names.cluster) was begun by another one meanwhile")
        }
        return note.sequence
    }

    /// - Parameter note: The note that ``begin(_:behind:)`` gave.
    func finish(_ format: JournalFormat, behind note: UInt64) throws(JournalError) {
        if try self.write(format, .whole, .lastOfSubject(note)) != nil { return }
        // An earlier attempt may have been stored.
        guard let known = try self.known(), known.stage == .whole, known.format == format else {
            throw JournalError(
                .fenced,
                "the log of cluster \(self.names.cluster) was begun anew by another one meanwhile"
            )
        }
    }

    /// Removes a log that was begun and not finished; the notes of it last, so that this can be done again.
    func remove(_ format: JournalFormat) throws(JournalError) {
        for stream in self.all(format) where try self.find(stream, of: format) {
            try self.broker.removeStream(stream.name)
        }
        // Its sequences go on: they tell a node that has begun that log before that it is gone.
        try self.broker.purge(self.names.notes)
    }

    // MARK: The format

    /// How far the making of a log is.
    enum Stage: UInt8 {
        /// Some of its streams may not be there yet.
        case begun = 0
        case whole = 1
        /// It is to go on where another one has ended, and has not all of it yet.
        case moving = 2
    }

    /// A log that any gateway may open; nil if there is none.
    func usable() throws(JournalError) -> (format: JournalFormat, stage: Stage)? {
        guard let known = try self.known() else { return nil }
        guard known.stage != .moving else {
            throw JournalError(
                .formatMismatch,
                "the move of a data directory into cluster \(self.names.cluster) is not finished; run freshet cluster adopt "
                    + "with that directory again, or with --discard to remove the unfinished log"
            )
        }
        return known
    }

    /// The format and stage of the log that is there; nil if there is none.
    func known() throws(JournalError) -> (format: JournalFormat, stage: Stage)? {
        // Brokers without that stream say so by an error.
        guard try self.broker.ends(of: self.names.notes) != nil,
            let note = try self.broker.newest(in: self.names.notes, of: self.names.format)
        else { return nil }
        do {
            var reader = try MessageFormat.reader(of: note.bytes, .note, "", in: self.names.format)
            guard let stage = Stage(rawValue: try reader.readByte()) else {
                throw MessageError(sentence: "it is from a newer program")
            }
            let format = JournalFormat(
                journalID: try reader.readString(),
                formatVersion: UInt32(truncatingIfNeeded: try reader.readVarint()),
                partitions: Int(truncatingIfNeeded: try reader.readVarint()),
                createdAt: try reader.readInstant()
            )
            guard format.formatVersion == JournalFormat.currentVersion else {
                throw JournalError(
                    .formatMismatch,
                    "the log of cluster \(self.names.cluster) has format version \(format.formatVersion), this program reads "
                        + "\(JournalFormat.currentVersion)"
                )
            }
            return (format, stage)
        } catch let error as JournalError {
            throw error
        } catch {
            throw JournalError(
                .corrupt,
                "the format of the log of cluster \(self.names.cluster) cannot be read: \(error)"
            )
        }
    }

    private func create(now: Instant) throws(JournalError) -> JournalFormat {
        let own = JournalFormat(
            journalID: PushID(version4: .random(in: 0 ... .max), .random(in: 0 ... .max)).description,
            partitions: self.configuration.partitions,
            createdAt: now
        )
        // The first one to name the log wins.
        _ = try self.write(own, .begun, .lastOfSubject(0))
        // Another may have been first.
        guard let format = try self.usable()?.format else {
            throw JournalError(.unavailable, "the log of cluster \(self.names.cluster) could not be created")
        }
        return format
    }

    /// - Returns: The note's sequence; nil if another one was written.
    private func write(_ format: JournalFormat, _ stage: Stage, _ expectation: Expectation) throws(JournalError)
        -> UInt64?
    {
        let bytes = MessageFormat.message(.note, "", in: self.names.format) { writer in
            writer.write(byte: stage.rawValue)
            writer.write(format.journalID)
            writer.write(varint: UInt64(format.formatVersion))
            writer.write(count: format.partitions)
            writer.write(format.createdAt)
        }
        switch self.broker.publish(bytes, to: self.names.format, expectation, waitMilliseconds: 5000) {
        case .stored(let sequence): return sequence
        case .otherEnd: return nil
        case .refused(let error): throw error
        case .notTaken(let text), .unknown(let text):
            throw JournalError(.unavailable, "creation of the log of cluster \(self.names.cluster): \(text)")
        }
    }
}
#endif
