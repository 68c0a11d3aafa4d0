#if JetStream
import JournalStreams
import Journaling
import WidgetModel

/// Snapshots, in chunks.
extension OpenLog {
    /// The bytes of one chunk.
    private static let chunkBytes = 524_288

    func snapshots(_ partition: PartitionID) throws(JournalError) -> [SnapshotID] {
        try self.checkReadable(partition)
        return try SnapshotNote.ids(of: partition, self)
    }

    func readSnapshot(
        _ id: SnapshotID,
        wanting isWanted: (UInt8) -> Bool,
        _ body: ([UInt8]) throws -> Void
    ) throws {
        try self.checkReadable(id.partition)
        guard let note = try SnapshotNote.read(SnapshotNote.subject(of: id, self.names), self) else {
            throw JournalError(.corrupt, "there is no \(id)")
        }
        try SnapshotChunks.read(
            note,
            of: SnapshotFile.Head(journalID: self.journalID, partitions: self.format.partitions, id: id),
            size: Self.chunkBytes,
            wanting: isWanted,
            chunk: { (number) throws(JournalError) in try self.chunk(number, of: note, id) },
            body
        )
    }

    private func chunk(_ number: Int, of note: SnapshotNote, _ id: SnapshotID) throws(JournalError) -> [UInt8] {
        let subject = "\(self.names.chunks(id.partition, note.upload)).\(number)"
        let message = try self.persist { () throws(JournalError) in
            try self.broker.newest(in: self.names.chunks, of: subject)
        }
        if let message { return message.bytes }
        let newest = try SnapshotNote.read(SnapshotNote.subject(of: id, self.names), self)
        if let newest, newest != note {
            throw JournalError(.unavailable, "another node has replaced \(id) while it was read")
        }
        throw JournalError(.corrupt, "\(id) lacks chunk \(number)")
    }

    /// Writes a snapshot: it is there whole when this returns, and not at all if it throws.
    ///
    /// - Parameter expectation: The condition for its note to be stored; otherwise the snapshot that is there stays.
    /// - Returns: How many bytes it has.
    @discardableResult
    func writeSnapshot(
        _ id: SnapshotID,
        _ expectation: Expectation,
        _ next: () throws -> [UInt8]?
    ) throws -> Int {
        try self.checkReadable(id.partition)
        let upload = UInt64.random(in: 1...UInt64.max)
        let prefix = self.names.chunks(id.partition, upload)
        do {
            let head = SnapshotFile.Head(journalID: self.journalID, partitions: self.format.partitions, id: id)
            var chunks = SnapshotChunks(of: head, size: Self.chunkBytes)
            while let frame = try next() {
                chunks.add(frame)
                try self.writeChunks(&chunks, prefix)
            }
            chunks.finish()
            try self.writeChunks(&chunks, prefix)
            let number = chunks.number
            if let rest = chunks.rest() { try self.writeChunk(rest, "\(prefix).\(number)") }
            // Last: a snapshot without a note does not exist.
            let note = SnapshotNote(upload: upload, byteCount: chunks.byteCount)
            let isWritten = try note.write(SnapshotNote.subject(of: id, self.names), self, expectation)
            // Another node has written it meanwhile, and may have made more of it.
            if !isWritten { try self.broker.purge(self.names.chunks, subject: "\(prefix).>") }
            return chunks.byteCount
        } catch {
            try? self.broker.purge(self.names.chunks, subject: "\(prefix).>")
            throw error
        }
    }

    /// Writes as many whole chunks as there are.
    private func writeChunks(_ chunks: inout SnapshotChunks, _ prefix: String) throws(JournalError) {
        while true {
            let number = chunks.number
            guard let chunk = chunks.next() else { return }
            try self.writeChunk(chunk, "\(prefix).\(number)")
        }
    }

    private func writeChunk(_ bytes: [UInt8], _ subject: String) throws(JournalError) {
        try self.persist { () throws(JournalError) in
            switch self.broker.publish(bytes, to: subject, .nothing, waitMilliseconds: 5000) {
            case .stored: return
            case .refused(let error): throw error
            case .otherEnd: throw JournalError(.failing, "chunk \(subject) was refused")
            // Stored twice, the newest counts, and both are the same.
            case .notTaken(let text), .unknown(let text): throw JournalError(.unavailable, "chunk \(subject): \(text)")
            }
        }
    }
}
#endif
