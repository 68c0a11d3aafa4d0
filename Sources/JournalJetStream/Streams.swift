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
        if try self.broker.ends(of: self.names.notes) == nil {
            try self.add(self.names.notes, self.names.allNotes, Self.notesDescription, messagesPerSubjectMax: 1)
        }
        let known = try self.format()
        let format = if let known { known.format } else { try self.create(now: now) }
        let isWhole = known?.isWhole ?? false
        guard format.partitions == self.configuration.partitions else {
            throw JournalError(
                .formatMismatch,
                "the log of cluster \(self.names.cluster) has \(format.partitions) partitions, not "
                    + "\(self.configuration.partitions)"
            )
        }
        for stream in self.all(format) { try self.open(stream, of: format, isWhole: isWhole) }
        if !isWhole { try self.write(format, isWhole: true) }
        return format
    }

    private struct Stream {
        let name: String
        let subject: String
    }

    private func all(_ format: JournalFormat) -> [Stream] {
        let partitions = (0..<format.partitions).map { PartitionID(UInt16($0)) }
        return partitions.map { Stream(name: self.names.input($0), subject: self.names.allInput($0)) }
            + partitions.map { Stream(name: self.names.output($0), subject: self.names.outputs($0)) }
            + [
                Stream(name: self.names.fan, subject: self.names.allFan),
                Stream(name: self.names.chunks, subject: self.names.allChunks),
            ]
    }

    private func open(_ stream: Stream, of format: JournalFormat, isWhole: Bool) throws(JournalError) {
        let description = "Freshet: log \(format.journalID)"
        if let found = try self.broker.ends(of: stream.name) {
            guard found.description == description else {
                throw JournalError(
                    .formatMismatch,
                    "the stream \(stream.name) says \"\(found.description)\", and this is log \(format.journalID): it is "
                        + "another cluster's; give this one another name"
                )
            }
            return
        }
        guard !isWhole else {
            throw JournalError(.corrupt, "the stream \(stream.name) is missing; restore it from a backup")
        }
        try self.add(stream.name, stream.subject, description)
    }

    private func add(_ name: String, _ subject: String, _ description: String, messagesPerSubjectMax: Int = -1)
        throws(JournalError)
    {
        try self.broker.addStream(
            name,
            subject: subject,
            description: description,
            replicas: self.configuration.replicas,
            bytesMax: self.configuration.streamBytesMax,
            messagesPerSubjectMax: messagesPerSubjectMax
        )
    }

    // MARK: The format

    /// The log's format, and whether all its streams were made; nil if there is no log.
    func format() throws(JournalError) -> (format: JournalFormat, isWhole: Bool)? {
        guard let note = try self.broker.newest(in: self.names.notes, of: self.names.format) else { return nil }
        do {
            var reader = try MessageFormat.reader(of: note.bytes, .note, "", in: self.names.format)
            let isWhole = try reader.readBool()
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
            return (format, isWhole)
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
            journalID: Self.randomID(),
            partitions: self.configuration.partitions,
            createdAt: now
        )
        try self.write(own, isWhole: false)
        // Another may have been first.
        guard let format = try self.format()?.format else {
            throw JournalError(.unavailable, "the log of cluster \(self.names.cluster) could not be created")
        }
        return format
    }

    private func write(_ format: JournalFormat, isWhole: Bool) throws(JournalError) {
        let bytes = MessageFormat.message(.note, "", in: self.names.format) { writer in
            writer.write(isWhole)
            writer.write(format.journalID)
            writer.write(varint: UInt64(format.formatVersion))
            writer.write(count: format.partitions)
            writer.write(format.createdAt)
        }
        // The first one to name the log wins.
        let expectation: Expectation = isWhole ? .nothing : .lastOfSubject(0)
        switch self.broker.publish(bytes, to: self.names.format, expectation, waitMilliseconds: 5000) {
        case .stored, .otherEnd: return
        case .refused(let error): throw error
        case .notTaken(let text), .unknown(let text):
            throw JournalError(.unavailable, "creation of the log of cluster \(self.names.cluster): \(text)")
        }
    }

    /// A random UUID.
    private static func randomID() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let hex = bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
        let parts = [(0, 8), (8, 4), (12, 4), (16, 4), (20, 12)].map { start, count in
            String(hex.dropFirst(start).prefix(count))
        }
        return parts.joined(separator: "-")
    }
}
#endif
