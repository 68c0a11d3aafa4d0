#if JetStream
import Journaling
import WidgetModel

/// Where a snapshot's chunks are.
struct SnapshotNotes: Hashable, Sendable {
    /// What the chunks of one attempt to write it have in their subject.
    let upload: UInt64
    let byteCount: Int

    static func subject(of id: SnapshotID, _ names: StreamNames) -> String {
        "\(names.snapshots(id.partition)).\(Self.place(of: id))"
    }

    static func place(of id: SnapshotID) -> String {
        "\(id.position.rawValue).\(UInt64(bitPattern: id.logTime.milliseconds))"
    }

    /// A partition's snapshots, the newest first.
    static func ids(of partition: PartitionID, _ core: OpenLog) throws(JournalError) -> [SnapshotID] {
        let prefix = core.names.snapshots(partition) + "."
        let subjects = try core.persist { () throws(JournalError) in
            try core.broker.subjects(of: core.names.notes, like: prefix + ">")
        }
        return subjects.compactMap { subject -> SnapshotID? in
            let parts = subject.dropFirst(prefix.count).split(separator: ".")
            guard parts.count == 2, let position = UInt64(parts[0]), let time = UInt64(parts[1]) else { return nil }
            return SnapshotID(
                partition: partition,
                position: LogPosition(position),
                logTime: Instant(milliseconds: Int64(bitPattern: time))
            )
        }.sorted { $0.position > $1.position }
    }

    /// Nil if there is no such snapshot.
    static func read(_ subject: String, _ core: OpenLog) throws(JournalError) -> SnapshotNotes? {
        let note = try core.persist { () throws(JournalError) in
            try core.broker.newest(in: core.names.notes, of: subject)
        }
        guard let note else { return nil }
        do {
            var reader = try MessageFormat.reader(of: note.bytes, .note, core.journalID, in: subject)
            return SnapshotNotes(
                upload: try reader.readFixed64(),
                byteCount: Int(truncatingIfNeeded: try reader.readVarint())
            )
        } catch {
            throw JournalError(.corrupt, "the note \(subject) is damaged")
        }
    }

    func write(_ subject: String, _ core: OpenLog) throws(JournalError) {
        let bytes = MessageFormat.message(.note, core.journalID, in: subject) { writer in
            writer.write(fixed64: self.upload)
            writer.write(varint: UInt64(self.byteCount))
        }
        try core.writeNote(bytes, to: subject)
    }
}
#endif
