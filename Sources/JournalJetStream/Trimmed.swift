#if JetStream
import Journaling
import WidgetModel

/// What has to be known of the part of a partition's log that was let go of. Written before it is.
struct Trimmed: Hashable, Sendable {
    /// The last entry that is gone, or may be.
    let through: LogPosition
    /// Its time.
    let logTime: Instant
    /// The sequence of the newest original, of what is for all partitions, of which a copy is gone; 0 for none.
    let fan: UInt64

    /// Nil if everything is there.
    static func read(of partition: PartitionID, _ core: OpenLog) throws(JournalError) -> Trimmed? {
        guard let note = try core.broker.newest(in: core.names.notes, of: core.names.trimmed(partition)) else {
            return nil
        }
        do {
            var reader = try MessageFormat.reader(
                of: note.bytes,
                .note,
                core.journalID,
                in: core.names.trimmed(partition)
            )
            return Trimmed(
                through: LogPosition(try reader.readVarint()),
                logTime: try reader.readInstant(),
                fan: try reader.readVarint()
            )
        } catch {
            throw JournalError(.corrupt, "the note on the trimming of partition \(partition) is damaged")
        }
    }

    func write(of partition: PartitionID, _ core: OpenLog) throws(JournalError) {
        let subject = core.names.trimmed(partition)
        let bytes = MessageFormat.message(.note, core.journalID, in: subject) { writer in
            writer.write(varint: self.through.rawValue)
            writer.write(self.logTime)
            writer.write(varint: self.fan)
        }
        try core.writeNote(bytes, to: subject)
    }
}

extension OpenLog {
    /// Has a note say something from now on.
    func writeNote(_ bytes: [UInt8], to subject: String) throws(JournalError) {
        try self.persist { () throws(JournalError) in
            switch self.broker.publish(bytes, to: subject, .nothing, waitMilliseconds: 2000) {
            case .stored: return
            case .refused(let error): throw error
            case .otherEnd: throw JournalError(.failing, "note \(subject) was refused")
            // Written twice it says the same.
            case .notTaken(let text), .unknown(let text): throw JournalError(.unavailable, "note \(subject): \(text)")
            }
        }
    }
}
#endif
