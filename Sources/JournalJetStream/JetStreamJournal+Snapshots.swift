#if JetStream
import JournalStreams
package import Journaling
import Synchronization
package import WidgetModel

extension JetStreamJournal: SnapshotStore {
    /// The bytes of one chunk.
    private static let chunkBytes = 524_288

    package func snapshots(_ partition: PartitionID) throws(JournalError) -> [SnapshotID] {
        try self.core.checkReadable(partition)
        return try SnapshotNote.ids(of: partition, self.core)
    }

    package func read(
        _ id: SnapshotID,
        wanting isWanted: (UInt8) -> Bool,
        _ body: ([UInt8]) throws -> Void
    ) throws {
        try self.core.checkReadable(id.partition)
        guard let note = try SnapshotNote.read(SnapshotNote.subject(of: id, self.core.names), self.core) else {
            throw JournalError(.corrupt, "there is no \(id)")
        }
        let core = self.core
        try SnapshotChunks.read(
            note,
            of: SnapshotFile.Head(journalID: core.journalID, partitions: self.format.partitions, id: id),
            size: Self.chunkBytes,
            wanting: isWanted,
            chunk: { (number) throws(JournalError) in try Self.chunk(number, of: note, id, core) },
            body
        )
    }

    private static func chunk(
        _ number: Int,
        of note: SnapshotNote,
        _ id: SnapshotID,
        _ core: OpenLog
    ) throws(JournalError) -> [UInt8] {
        let subject = "\(core.names.chunks(id.partition, note.upload)).\(number)"
        let message = try core.persist { () throws(JournalError) in
            try core.broker.newest(in: core.names.chunks, of: subject)
        }
        guard let message else { throw JournalError(.corrupt, "\(id) lacks chunk \(number)") }
        return message.bytes
    }

    package func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws {
        try self.write(id, .lastOfSubject(0), next)
    }

    package func replace(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws { try self.write(id, .nothing, next) }

    private func write(_ id: SnapshotID, _ expectation: Expectation, _ next: () throws -> [UInt8]?) throws {
        try self.core.checkReadable(id.partition)
        let upload = UInt64.random(in: 1...UInt64.max)
        let prefix = self.core.names.chunks(id.partition, upload)
        do {
            let head = SnapshotFile.Head(journalID: self.core.journalID, partitions: self.format.partitions, id: id)
            var chunks = SnapshotChunks(of: head, size: Self.chunkBytes)
            while let frame = try next() {
                chunks.add(frame)
                try self.writeChunks(&chunks, prefix)
            }
            chunks.finish()
            try self.writeChunks(&chunks, prefix)
            let number = chunks.number
            if let rest = chunks.rest() { try self.writeChunk(rest, "\(prefix).\(number)") }
            // Last: what has no note is not there.
            let note = SnapshotNote(upload: upload, byteCount: chunks.byteCount)
            let isWritten = try note.write(SnapshotNote.subject(of: id, self.core.names), self.core, expectation)
            // Another node has written it meanwhile, and may have made more of it.
            if !isWritten { try self.core.broker.purge(self.core.names.chunks, subject: "\(prefix).>") }
        } catch {
            try? self.core.broker.purge(self.core.names.chunks, subject: "\(prefix).>")
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
        try self.core.persist { () throws(JournalError) in
            switch self.core.broker.publish(bytes, to: subject, .nothing, waitMilliseconds: 5000) {
            case .stored: return
            case .refused(let error): throw error
            case .otherEnd: throw JournalError(.failing, "chunk \(subject) was refused")
            // Stored twice, the newest counts, and both are the same.
            case .notTaken(let text), .unknown(let text): throw JournalError(.unavailable, "chunk \(subject): \(text)")
            }
        }
    }

    package func remove(_ id: SnapshotID) throws(JournalError) {
        try self.core.checkReadable(id.partition)
        try self.remove(SnapshotNote.subject(of: id, self.core.names), id.partition)
    }

    /// Removes a note, then the chunks that it names.
    private func remove(_ subject: String, _ partition: PartitionID) throws(JournalError) {
        guard let note = try? SnapshotNote.read(subject, self.core) else {
            return try self.core.broker.purge(self.core.names.notes, subject: subject)
        }
        try self.core.broker.purge(self.core.names.notes, subject: subject)
        let chunks = "\(self.core.names.chunks(partition, note.upload)).>"
        try self.core.broker.purge(self.core.names.chunks, subject: chunks)
    }

    package func setAside(_ id: SnapshotID) throws(JournalError) {
        try self.core.checkReadable(id.partition)
        let subject = SnapshotNote.subject(of: id, self.core.names)
        if let note = try? SnapshotNote.read(subject, self.core) {
            let aside = "\(self.core.names.damaged(id.partition)).\(SnapshotNote.place(of: id))"
            _ = try note.write(aside, self.core, .nothing)
        }
        try self.core.broker.purge(self.core.names.notes, subject: subject)
    }

    package func removeDamaged() throws(JournalError) {
        try self.core.checkReadable(PartitionID(0))
        for partition in self.core.partitions {
            let filter = self.core.names.damaged(partition) + ".>"
            for subject in try self.core.broker.subjects(of: self.core.names.notes, like: filter) {
                try self.remove(subject, partition)
            }
        }
    }
}

// MARK: - What is let go of the log

extension JetStreamJournal {
    package func firstEntry(_ partition: PartitionID) throws(JournalError) -> LogPosition {
        try self.history.head(partition)
    }

    package var newestFile: Int { self.files.load(ordering: .relaxed) }

    /// Any entry can go, so that there is no file to end.
    package func endFile() { self.files.wrappingAdd(1, ordering: .relaxed) }

    package func trim(through positions: [LogPosition], loggedBefore instant: Instant) throws(JournalError) -> Int {
        try self.core.checkReadable(PartitionID(0))
        guard positions.count == self.format.partitions else {
            throw JournalError(
                .invalid,
                "trim with \(positions.count) positions of \(self.format.partitions) partitions"
            )
        }
        var trimmed = 0
        var fans: [UInt64] = []
        for (reader, position) in zip(self.readers, positions) {
            if try self.trim(reader, through: position, loggedBefore: instant) { trimmed += 1 }
            fans.append(try Trimmed.read(of: reader.partition, self.core)?.fan ?? 0)
        }
        if let all = fans.min(), all > 0 { try self.core.broker.purge(self.core.names.fan, before: all + 1) }
        return trimmed
    }

    package func trimAll(through positions: [LogPosition]) throws(JournalError) -> Int {
        try self.trim(through: positions, loggedBefore: Instant(milliseconds: .max))
    }

    /// - Returns: Whether anything went.
    private func trim(
        _ reader: Reader,
        through position: LogPosition,
        loggedBefore instant: Instant
    ) throws(JournalError) -> Bool {
        let partition = reader.partition
        let (core, names) = (self.core, self.core.names)
        var trimming = Trimming(through: position, loggedBefore: instant)
        while true {
            switch trimming.step {
            case .done(let isAny): return isAny
            case .look:
                trimming.looked(entries: try core.ends(of: names.input(partition)), newest: try reader.newestOutput())
            case .readEntries(let first): trimming.read(try reader.entries(from: first, entriesMax: 256))
            case .findOutputs: trimming.outputs(from: try core.ends(of: names.output(partition)).first)
            case .readOutput(let position): trimming.read(output: try reader.output(at: position))
            case .purgeOutputs(let position):
                try core.broker.purge(names.output(partition), before: position.rawValue)
                trimming.purgedOutputs()
            case .findCopies(let position):
                trimming.found(
                    newestCopy: try self.newestCopy(in: partition),
                    behind: try self.firstCopy(in: partition, behind: position)
                )
            case .readNote:
                let (known, sequence) = try Trimmed.note(of: partition, core)
                trimming.found(note: known, sequence: sequence)
            case .writeNote(let trimmed, let expectation):
                trimming.noted(try self.note(trimmed, of: partition, expectation))
            case .purgeEntries(let position):
                try core.broker.purge(names.input(partition), before: position.rawValue)
                trimming.purged()
            }
        }
    }

    private func note(_ trimmed: Trimmed, of partition: PartitionID, _ expectation: Expectation) throws(JournalError)
        -> PublishOutcome
    {
        let subject = self.core.names.trimmed(partition)
        let bytes = trimmed.bytes(self.core.journalID, in: subject)
        let outcome = self.core.broker.publish(bytes, to: subject, expectation, waitMilliseconds: 2000)
        switch outcome {
        case .stored, .otherEnd: return outcome
        case .refused(let error): throw error
        case .notTaken(let text), .unknown(let text): throw JournalError(.unavailable, "note \(subject): \(text)")
        }
    }

    private func newestCopy(in partition: PartitionID) throws(JournalError) -> InputMessage? {
        let (stream, subject) = (self.core.names.input(partition), self.core.names.copies(partition))
        return try self.copy(self.core.broker.newest(in: stream, of: subject), in: stream)
    }

    private func firstCopy(in partition: PartitionID, behind position: LogPosition) throws(JournalError)
        -> InputMessage?
    {
        let (stream, subject) = (self.core.names.input(partition), self.core.names.copies(partition))
        guard let newest = try self.core.broker.newest(in: stream, of: subject), newest.sequence > position.rawValue
        else {
            return nil
        }
        let following = try self.core.broker.follow(stream, subject, from: position.rawValue + 1)
        guard case .message(let message) = following.next(waitMilliseconds: 2000) else {
            throw JournalError(.unavailable, "read of \(stream): the brokers do not answer")
        }
        return try self.copy(message, in: stream)
    }

    private func copy(_ message: StoredMessage?, in stream: String) throws(JournalError) -> InputMessage? {
        guard let message else { return nil }
        do throws(MessageFault) {
            return try InputMessage(message.bytes, self.core.journalID, in: stream)
        } catch {
            throw JournalError(.corrupt, "message \(message.sequence) of \(stream): \(error.sentence)")
        }
    }
}
#endif
