package import Journaling
package import WidgetModel

/// The fault of a message.
package struct MessageError: Error {
    package let sentence: String

    package init(sentence: String) { self.sentence = sentence }
}

/// The writer and the number of a message: a writer is one lane of one start of one process, and counts its messages
/// from 1.
package struct MessageID: Hashable, Sendable {
    package let writer: UInt64
    package let number: UInt64

    package init(writer: UInt64, number: UInt64) {
        self.writer = writer
        self.number = number
    }
}

/// The bytes of messages: version, kind, the log's id, the content, and a checksum over all that and the place.
package enum MessageFormat {
    package static let version: UInt8 = 1

    package enum Kind: UInt8 {
        case batch = 1
        case copy = 2
        case fan = 3
        case output = 4
        case note = 5
        case beat = 6
        case claim = 7
        case wishes = 8
        case question = 9
        case answer = 10
        case announcement = 11
    }

    package static func message(_ kind: Kind, _ journalID: String, in place: String, _ body: (inout ByteWriter) -> Void)
        -> [UInt8]
    {
        var writer = ByteWriter(reserving: 1024)
        writer.write(byte: Self.version)
        writer.write(byte: kind.rawValue)
        writer.write(journalID)
        body(&writer)
        writer.write(fixed32: Self.checksum(writer.bytes, place))
        return writer.bytes
    }

    /// A reader at the beginning of a message's content, once the message is known to be whole and of this log.
    package static func reader(of bytes: [UInt8], _ kind: Kind, _ journalID: String, in place: String)
        throws(MessageError)
        -> ByteReader
    {
        do {
            guard bytes.count > 4 else { throw MessageError(sentence: "it is too short") }
            var end = ByteReader(bytes, in: (bytes.count - 4)..<bytes.count)
            let body = Array(bytes[..<(bytes.count - 4)])
            var reader = ByteReader(body)
            let version = try reader.readByte()
            guard version == Self.version else {
                throw MessageError(sentence: "it has version \(version), this program reads \(Self.version)")
            }
            guard try end.readFixed32() == Self.checksum(body, place) else {
                throw MessageError(sentence: "its checksum is wrong")
            }
            guard try reader.readByte() == kind.rawValue else { throw MessageError(sentence: "it is of another kind") }
            let log = try reader.readString()
            guard log == journalID else {
                throw MessageError(sentence: "it is of the log \(log), this is \(journalID)")
            }
            return reader
        } catch {
            throw error as? MessageError ?? MessageError(sentence: "\(error)")
        }
    }

    private static func checksum(_ bytes: [UInt8], _ place: String) -> UInt32 {
        var checksum = CRC32C()
        checksum.combine(bytes.span)
        checksum.combine(Array(place.utf8).span)
        return checksum.value
    }
}

/// One entry of a partition as its message has it.
package struct InputMessage: Sendable {
    /// Its writer and number; in a copy, those of the original.
    package let id: MessageID
    /// The writer's clock.
    package let writtenAt: Instant
    /// The original's sequence, in a copy of a submission to all partitions; else nil.
    package let fan: UInt64?
    package let records: PackedRecords

    package func bytes(_ journalID: String, in stream: String) -> [UInt8] {
        MessageFormat.message(self.fan == nil ? .batch : .copy, journalID, in: stream) { writer in
            writer.write(fixed64: self.id.writer)
            writer.write(varint: self.id.number)
            writer.write(self.writtenAt)
            if let fan = self.fan { writer.write(varint: fan) }
            writer.write(self.records.bytes)
        }
    }

    package init(id: MessageID, writtenAt: Instant, fan: UInt64? = nil, records: PackedRecords) {
        self.id = id
        self.writtenAt = writtenAt
        self.fan = fan
        self.records = records
    }

    package init(_ bytes: [UInt8], _ journalID: String, in stream: String) throws(MessageError) {
        let isCopy = bytes.count > 1 && bytes[1] == MessageFormat.Kind.copy.rawValue
        var reader = try MessageFormat.reader(of: bytes, isCopy ? .copy : .batch, journalID, in: stream)
        do {
            self.id = MessageID(writer: try reader.readFixed64(), number: try reader.readVarint())
            self.writtenAt = try reader.readInstant()
            self.fan = isCopy ? try reader.readVarint() : nil
            self.records = try PackedRecords(validating: try reader.readBytes())
        } catch {
            throw MessageError(sentence: "\(error)")
        }
    }
}

/// A submission to all partitions as its message has it.
package struct FanMessage: Sendable {
    package let id: MessageID
    package let writtenAt: Instant
    package let submission: SubmissionToAll

    package func bytes(_ journalID: String, in stream: String) -> [UInt8] {
        MessageFormat.message(.fan, journalID, in: stream) { writer in
            writer.write(fixed64: self.id.writer)
            writer.write(varint: self.id.number)
            writer.write(self.writtenAt)
            writer.write(each: self.submission.distinctRecords) { $0.write($1.bytes) }
        }
    }

    package init(id: MessageID, writtenAt: Instant, submission: SubmissionToAll) {
        self.id = id
        self.writtenAt = writtenAt
        self.submission = submission
    }

    package init(_ bytes: [UInt8], _ journalID: String, in stream: String) throws(MessageError) {
        var reader = try MessageFormat.reader(of: bytes, .fan, journalID, in: stream)
        do {
            self.id = MessageID(writer: try reader.readFixed64(), number: try reader.readVarint())
            self.writtenAt = try reader.readInstant()
            let parts = try reader.readEach { (reader) throws(ByteError) in
                try PackedRecords(validating: try reader.readBytes())
            }
            self.submission = SubmissionToAll(each: parts)
        } catch {
            throw MessageError(sentence: "\(error)")
        }
    }
}

/// An output as its message has it.
package enum OutputMessage {
    package static func bytes(_ record: OutputRecord, _ journalID: String, in stream: String) -> [UInt8] {
        MessageFormat.message(.output, journalID, in: stream) { writer in
            writer.write(varint: record.through.rawValue)
            writer.write(varint: record.ahead)
            writer.write(varint: UInt64(record.engineVersion))
            writer.write(fixed64: record.runningHash)
            writer.write(record.effects)
        }
    }

    package static func record(_ bytes: [UInt8], _ journalID: String, in stream: String) throws(MessageError)
        -> OutputRecord
    {
        var reader = try MessageFormat.reader(of: bytes, .output, journalID, in: stream)
        do {
            return OutputRecord(
                through: LogPosition(try reader.readVarint()),
                ahead: try reader.readVarint(),
                engineVersion: UInt32(truncatingIfNeeded: try reader.readVarint()),
                runningHash: try reader.readFixed64(),
                effects: try reader.readBytes()
            )
        } catch {
            throw MessageError(sentence: "\(error)")
        }
    }
}
