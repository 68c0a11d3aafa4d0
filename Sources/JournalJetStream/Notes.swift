#if JetStream
import JournalStreams
package import Journaling
package import WidgetModel

extension Trimmed {
    /// Nil if everything is there.
    static func read(of partition: PartitionID, _ core: OpenLog) throws(JournalError) -> Trimmed? {
        try Self.readTrimmed(of: partition, core).trimmed
    }

    /// The note on trimming, nil for none; and its sequence, 0 if there is none.
    static func readTrimmed(of partition: PartitionID, _ core: OpenLog) throws(JournalError) -> (
        trimmed: Trimmed?, sequence: UInt64
    ) {
        let subject = core.names.trimmed(partition)
        guard let note = try core.broker.newest(in: core.names.notes, of: subject) else { return (nil, 0) }
        return (try Trimmed(note.bytes, core.journalID, in: subject), note.sequence)
    }
}

extension SnapshotNote {
    /// A partition's snapshots, the newest first.
    static func ids(of partition: PartitionID, _ core: OpenLog) throws(JournalError) -> [SnapshotID] {
        let subjects = try core.persist { () throws(JournalError) in
            try core.broker.subjects(of: core.names.notes, like: core.names.snapshots(partition) + ".>")
        }
        return Self.ids(of: partition, in: subjects, core.names)
    }

    /// Nil if there is no such snapshot.
    static func read(_ subject: String, _ core: OpenLog) throws(JournalError) -> SnapshotNote? {
        let note = try core.persist { () throws(JournalError) in
            try core.broker.newest(in: core.names.notes, of: subject)
        }
        guard let note else { return nil }
        return try SnapshotNote(note.bytes, core.journalID, in: subject)
    }

    /// - Returns: False if another one is there, which was not expected.
    func write(_ subject: String, _ core: OpenLog, _ expectation: Expectation) throws(JournalError) -> Bool {
        let bytes = self.bytes(core.journalID, in: subject)
        if try core.writeNote(bytes, to: subject, expectation) { return true }
        // An earlier attempt may have been stored, and its answer never came.
        return try SnapshotNote.read(subject, core) == self
    }
}

extension JetStreamJournal: PartitionNotes {
    package func readNote(_ note: PartitionNote, of partition: PartitionID) throws(JournalError) -> [UInt8]? {
        try JetStreamHistory(self.core, self.readers).readNote(note, of: partition)
    }

    package func writeNote(_ note: PartitionNote, _ bytes: [UInt8], of partition: PartitionID) throws(JournalError) {
        try JetStreamHistory(self.core, self.readers).writeNote(note, bytes, of: partition)
    }
}

extension JetStreamHistory: PartitionNotes {
    package func readNote(_ note: PartitionNote, of partition: PartitionID) throws(JournalError) -> [UInt8]? {
        try self.core.checkReadable(partition)
        let subject = self.core.names.note(note, of: partition)
        let message = try self.core.persist { () throws(JournalError) in
            try self.core.broker.newest(in: self.core.names.notes, of: subject)
        }
        guard let message else { return nil }
        do {
            var reader = try MessageFormat.reader(of: message.bytes, .note, self.core.journalID, in: subject)
            return try reader.readBytes()
        } catch {
            throw JournalError(.corrupt, "the note \(subject) is damaged")
        }
    }

    package func writeNote(_ note: PartitionNote, _ bytes: [UInt8], of partition: PartitionID) throws(JournalError) {
        try self.core.checkReadable(partition)
        let subject = self.core.names.note(note, of: partition)
        let message = MessageFormat.message(.note, self.core.journalID, in: subject) { $0.write(bytes) }
        _ = try self.core.writeNote(message, to: subject, .nothing)
    }
}

extension OpenLog {
    /// Has a note say something from now on.
    ///
    /// - Returns: False if the newest note is not as expected.
    func writeNote(_ bytes: [UInt8], to subject: String, _ expectation: Expectation) throws(JournalError) -> Bool {
        try self.persist { () throws(JournalError) in
            switch self.broker.publish(bytes, to: subject, expectation, waitMilliseconds: 2000) {
            case .stored: return true
            case .refused(let error): throw error
            case .otherEnd: return false
            // Written twice it says the same.
            case .notTaken(let text), .unknown(let text): throw JournalError(.unavailable, "note \(subject): \(text)")
            }
        }
    }
}
#endif
