#if JetStream
import JournalStreams
package import Journaling
import WidgetModel

/// A log on brokers that goes on where another one has ended.
package final class JetStreamSuccessor: LogSuccessor {
    private struct Begun {
        let core: OpenLog
        /// The sequence of the note behind which it is finished.
        let note: UInt64
        /// The bytes of each state.
        var stateBytes: [Int] = []
    }

    /// States that the brokers have at once: two of every partition, and one while it is written.
    private static let statesKept = 2

    private let configuration: JetStreamJournal.Configuration
    private let names: StreamNames
    private let broker: Broker
    private var begun: Begun?

    /// - Throws: As ``JetStreamJournal/init(configuration:clock:)`` does of brokers that it refuses.
    package init(_ configuration: JetStreamJournal.Configuration) throws(JournalError) {
        self.configuration = configuration
        self.names = try StreamNames(of: configuration)
        let patience = Patience(milliseconds: configuration.patienceMilliseconds)
        self.broker = try patience.persist { () throws(JournalError) in
            try BrokerCheck.check(configuration.systemAccess)
            return try Broker(configuration.access)
        }
    }

    private var streams: Streams { Streams(self.broker, self.names, self.configuration) }

    package func check(_ format: JournalFormat) throws(JournalError) {
        guard let known = try self.persist({ () throws(JournalError) in try self.streams.known() }) else { return }
        guard known.stage == .moving else {
            throw JournalError(
                .formatMismatch,
                "the brokers have a log of cluster \(self.names.cluster) already; set another name in journal.jetstream.cluster"
            )
        }
        guard known.format.journalID == format.journalID else {
            throw JournalError(
                .formatMismatch,
                "the move of another data directory, with log \(known.format.journalID), into cluster \(self.names.cluster) is not "
                    + "finished; finish it, or remove it with --discard"
            )
        }
    }

    /// Removes the rest of an attempt that was not finished.
    ///
    /// - Returns: Whether there was any.
    /// - Throws: `.formatMismatch` if the log is a whole one.
    package func discard() throws(JournalError) -> Bool {
        guard let known = try self.persist({ () throws(JournalError) in try self.streams.known() }) else {
            return false
        }
        guard known.stage == .moving else {
            throw JournalError(
                .formatMismatch,
                "the log of cluster \(self.names.cluster) is whole, and nothing of it is removed"
            )
        }
        try self.persist { () throws(JournalError) in try self.streams.remove(known.format) }
        return true
    }

    package func begin(_ format: JournalFormat, behind ends: [PartitionEnd]) throws(JournalError) {
        try self.check(format)
        _ = try self.discard()
        let note = try self.streams.begin(format, behind: ends)
        let core = OpenLog(
            broker: self.broker,
            names: self.names,
            format: format,
            configuration: self.configuration,
            clock: { .epoch }
        )
        for end in ends {
            if let snapshot = end.snapshot {
                let subject = self.names.trimmed(end.partition)
                let trimmed = Trimmed(through: snapshot.position, logTime: snapshot.logTime, fan: 0)
                _ = try core.writeNote(trimmed.bytes(format.journalID, in: subject), to: subject, .nothing)
            }
            for output in end.outputs { try self.store(output, of: end.partition, core) }
        }
        self.begun = Begun(core: core, note: note)
    }

    private func persist<Value>(_ body: () throws(JournalError) -> Value) throws(JournalError) -> Value {
        try Patience(milliseconds: self.configuration.patienceMilliseconds).persist(body)
    }

    /// Stores an output at its own position.
    private func store(_ output: OutputEntry, of partition: PartitionID, _ core: OpenLog) throws(JournalError) {
        let (stream, position) = (self.names.output(partition), output.position.rawValue)
        let bytes = OutputMessage.bytes(output.record, core.journalID, in: stream)
        try self.persist { () throws(JournalError) in
            let outcome = self.broker.publish(
                bytes,
                to: self.names.outputs(partition),
                .lastOfStream(position - 1),
                waitMilliseconds: 5000
            )
            switch outcome {
            case .stored: return
            case .otherEnd:
                // An earlier attempt may have been stored, and the answer never came.
                guard try self.broker.message(position, in: stream)?.bytes != bytes else { return }
                throw JournalError(.corrupt, "the stream \(stream) does not end with output \(position - 1)")
            case .refused(let error): throw error
            case .notTaken(let text), .unknown(let text):
                throw JournalError(.unavailable, "output \(position) to \(stream): \(text)")
            }
        }
    }

    package func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws {
        let bytes = try self.begun?.core.writeSnapshot(id, .nothing, next)
        self.begun?.stateBytes.append(bytes ?? 0)
    }

    /// How far senders were told goes here.
    package var notes: JetStreamHistory? { self.begun.map { JetStreamHistory($0.core) } }

    /// - Throws: Also `.full`, if the brokers keep too little for the next states.
    package func finish() throws(JournalError) {
        guard let begun = self.begun else {
            throw JournalError(.invalid, "the log of cluster \(self.names.cluster) was not begun")
        }
        let needed = begun.stateBytes.reduce(0, +) * Self.statesKept + (begun.stateBytes.max() ?? 0)
        if let bytesMax = try begun.core.ends(of: self.names.chunks).bytesMax, bytesMax < needed {
            throw JournalError(
                .full,
                "two states of every partition need \(needed) bytes in the stream \(self.names.chunks), which takes \(bytesMax); "
                    + "set journal.jetstream.maxStreamBytes to more, and run this again"
            )
        }
        try self.persist { () throws(JournalError) in
            try self.streams.finish(begun.core.format, behind: begun.note)
        }
    }
}
#endif
