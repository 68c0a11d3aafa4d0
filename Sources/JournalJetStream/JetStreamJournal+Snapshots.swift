#if JetStream
package import Journaling
import Synchronization
package import WidgetModel

extension JetStreamJournal: SnapshotStore {
    /// The bytes of one chunk.
    private static let chunkBytes = 524_288

    package func snapshots(_ partition: PartitionID) throws(JournalError) -> [SnapshotID] {
        try self.core.checkReadable(partition)
        return try SnapshotNotes.ids(of: partition, self.core)
    }

    package func read(
        _ id: SnapshotID,
        wanting isWanted: (UInt8) -> Bool,
        _ body: ([UInt8]) throws -> Void
    ) throws {
        try self.core.checkReadable(id.partition)
        guard let note = try SnapshotNotes.read(SnapshotNotes.subject(of: id, self.core.names), self.core) else {
            throw JournalError(.corrupt, "there is no \(id)")
        }
        let name = "\(id) in \(self.core.names.chunks)"
        var offset = 0
        var chunk: (number: Int, bytes: [UInt8]) = (-1, [])
        let core = self.core
        var reader = try SnapshotFileReader(name: name) { (count) throws(JournalError) in
            var taken: [UInt8] = []
            while taken.count < count, offset < note.byteCount {
                let number = offset / Self.chunkBytes
                if chunk.number != number {
                    chunk = (number, try Self.chunk(number, of: note, id.partition, core, name))
                }
                let start = offset - number * Self.chunkBytes
                guard start < chunk.bytes.count else { break }
                let part = chunk.bytes[start...].prefix(count - taken.count)
                taken += part
                offset += part.count
            }
            return taken
        }
        let head = SnapshotFile.Head(journalID: self.core.journalID, partitions: self.format.partitions, id: id)
        try reader.check(head)
        while let frame = try reader.next(wanting: isWanted, step: { offset += $0 }) { try body(frame) }
    }

    private static func chunk(
        _ number: Int,
        of note: SnapshotNotes,
        _ partition: PartitionID,
        _ core: OpenLog,
        _ name: String
    ) throws(JournalError) -> [UInt8] {
        let subject = "\(core.names.chunks(partition, note.upload)).\(number)"
        let message = try core.persist { () throws(JournalError) in
            try core.broker.newest(in: core.names.chunks, of: subject)
        }
        guard let message else { throw JournalError(.corrupt, "\(name) lacks chunk \(number)") }
        return message.bytes
    }

    package func write(_ id: SnapshotID, _ next: () throws -> [UInt8]?) throws {
        try self.core.checkReadable(id.partition)
        let upload = UInt64.random(in: 1...UInt64.max)
        let prefix = self.core.names.chunks(id.partition, upload)
        do {
            var bytes = SnapshotFile.bytes(
                of: SnapshotFile.Head(journalID: self.core.journalID, partitions: self.format.partitions, id: id)
            )
            var written = 0
            var frames: UInt64 = 0
            while let frame = try next() {
                bytes += SnapshotFile.bytes(of: frame, number: frames)
                frames += 1
                try self.writeChunks(&bytes, &written, prefix)
            }
            bytes += SnapshotFile.end(frames: frames)
            try self.writeChunks(&bytes, &written, prefix)
            if !bytes.isEmpty {
                try self.writeChunk(bytes, "\(prefix).\(written / Self.chunkBytes)")
                written += bytes.count
            }
            // Last: what has no note is not there.
            let note = SnapshotNotes(upload: upload, byteCount: written)
            try note.write(SnapshotNotes.subject(of: id, self.core.names), self.core)
        } catch {
            try? self.core.broker.purge(self.core.names.chunks, subject: "\(prefix).>")
            throw error
        }
    }

    /// Writes as many whole chunks as there are.
    private func writeChunks(_ bytes: inout [UInt8], _ written: inout Int, _ prefix: String) throws(JournalError) {
        var start = 0
        while bytes.count - start >= Self.chunkBytes {
            let chunk = Array(bytes[start..<(start + Self.chunkBytes)])
            try self.writeChunk(chunk, "\(prefix).\(written / Self.chunkBytes)")
            written += Self.chunkBytes
            start += Self.chunkBytes
        }
        if start > 0 { bytes.removeFirst(start) }
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
        try self.remove(SnapshotNotes.subject(of: id, self.core.names), id.partition)
    }

    /// Removes a note, then the chunks that it names.
    private func remove(_ subject: String, _ partition: PartitionID) throws(JournalError) {
        guard let note = try? SnapshotNotes.read(subject, self.core) else {
            return try self.core.broker.purge(self.core.names.notes, subject: subject)
        }
        try self.core.broker.purge(self.core.names.notes, subject: subject)
        let chunks = "\(self.core.names.chunks(partition, note.upload)).>"
        try self.core.broker.purge(self.core.names.chunks, subject: chunks)
    }

    package func setAside(_ id: SnapshotID) throws(JournalError) {
        try self.core.checkReadable(id.partition)
        let subject = SnapshotNotes.subject(of: id, self.core.names)
        if let note = try? SnapshotNotes.read(subject, self.core) {
            let aside = "\(self.core.names.damaged(id.partition)).\(SnapshotNotes.place(of: id))"
            try note.write(aside, self.core)
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
        let names = self.core.names
        guard let ends = try self.core.broker.ends(of: names.input(reader.partition)),
            let newest = try reader.newestOutput()
        else { return false }
        // Nothing that is not decided, whatever is asked.
        let last = min(position, LogPosition(ends.last), newest.record.through)
        guard let through = try self.last(reader, through: last, from: ends.first, loggedBefore: instant) else {
            return false
        }
        try self.trimOutputs(reader, through: through.position, newest.position)
        let fan = try self.fan(reader.partition, through: through.position)
        try Trimmed(through: through.position, logTime: through.logTime, fan: fan).write(
            of: reader.partition,
            self.core
        )
        try self.core.broker.purge(names.input(reader.partition), before: through.position.rawValue + 1)
        return true
    }

    /// The last entry up to a position that was logged before; nil if there is none. Time never goes back.
    private func last(
        _ reader: Reader,
        through last: LogPosition,
        from first: UInt64,
        loggedBefore instant: Instant
    ) throws(JournalError) -> LogEntry? {
        var next = LogPosition(first)
        var found: LogEntry?
        while next <= last {
            let entries = try reader.entries(from: next, entriesMax: 256)
            let old = entries.prefix { $0.position <= last && $0.logTime < instant }
            if let newest = old.last { found = newest }
            guard let end = entries.last, old.count == entries.count else { break }
            next = end.position.next
        }
        return found
    }

    /// Removes outputs of entries that go, never the newest.
    private func trimOutputs(_ reader: Reader, through position: LogPosition, _ newest: OutputPosition)
        throws(JournalError)
    {
        let stream = self.core.names.output(reader.partition)
        guard let ends = try self.core.broker.ends(of: stream) else { return }
        // The first that stays: the one after which nothing needs those before it.
        var (low, high) = (ends.first, newest.rawValue)
        while low < high {
            let middle = low + (high - low) / 2
            guard let output = try reader.output(at: OutputPosition(middle)) else { return }
            if output.record.through <= position { low = middle + 1 } else { high = middle }
        }
        if low > ends.first { try self.core.broker.purge(stream, before: min(low, newest.rawValue)) }
    }

    /// The sequence of the newest original of which a partition has a copy up to a position.
    private func fan(_ partition: PartitionID, through position: LogPosition) throws(JournalError) -> UInt64 {
        let names = self.core.names
        let known = try Trimmed.read(of: partition, self.core)?.fan ?? 0
        let stream = names.input(partition)
        guard let newest = try self.core.broker.newest(in: stream, of: names.copies(partition)) else { return known }
        var message = newest
        if newest.sequence > position.rawValue {
            // The first one behind the position is the one after it: they are copied in order.
            let following = try self.core.broker.follow(stream, names.copies(partition), from: position.rawValue + 1)
            guard case .message(let next) = following.next(waitMilliseconds: 2000) else { return known }
            message = next
        }
        do throws(MessageFault) {
            let fan = try InputMessage(message.bytes, self.core.journalID, in: stream).fan ?? 0
            return newest.sequence > position.rawValue ? max(known, fan - 1) : fan
        } catch {
            throw JournalError(.corrupt, "message \(message.sequence) of \(stream): \(error.sentence)")
        }
    }
}
#endif
