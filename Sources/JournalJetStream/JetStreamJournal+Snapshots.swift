#if JetStream
import JournalStreams
package import Journaling
import Synchronization
package import WidgetModel

extension JetStreamJournal: SnapshotStore {
    package func snapshots(_ partition: PartitionID) throws(JournalError) -> [SnapshotID] {
        try self.core.snapshots(partition)
    }

    package func read(
        _ id: SnapshotID,
        wanting isWanted: (UInt8) -> Bool,
        _ body: ([UInt8]) throws -> Void
    ) throws {
        try self.core.readSnapshot(id, wanting: isWanted, body)
    }

    package func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws {
        try self.core.writeSnapshot(id, .lastOfSubject(0), next)
    }

    package func replace(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws {
        let before = try? SnapshotNote.read(SnapshotNote.subject(of: id, self.core.names), self.core)
        try self.core.writeSnapshot(id, .nothing, next)
        if let before { try self.removeChunks(of: before, id.partition) }
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
        try self.removeChunks(of: note, partition)
    }

    private func removeChunks(of note: SnapshotNote, _ partition: PartitionID) throws(JournalError) {
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

// MARK: - Trimming the log

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
                let (known, sequence) = try Trimmed.readTrimmed(of: partition, core)
                trimming.found(note: known, sequence: sequence)
            case .writeNote(let trimmed, let expectation):
                trimming.noted(try self.writeTrimmed(trimmed, of: partition, expectation))
            case .purgeEntries(let position):
                try core.broker.purge(names.input(partition), before: position.rawValue)
                trimming.purged()
            }
        }
    }

    private func writeTrimmed(_ trimmed: Trimmed, of partition: PartitionID, _ expectation: Expectation)
        throws(JournalError)
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
        guard let newest = try self.core.broker.newest(in: stream, of: subject) else { return nil }
        return try self.core.copy(newest, in: stream)
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
        return try self.core.copy(message, in: stream)
    }
}
#endif
