package import Journaling
package import WidgetModel

/// Where a snapshot's chunks are.
package struct SnapshotNote: Hashable, Sendable {
    /// The number that the chunks of one attempt to write it have in their subject.
    package let upload: UInt64
    package let byteCount: Int

    package init(upload: UInt64, byteCount: Int) {
        self.upload = upload
        self.byteCount = byteCount
    }

    /// - Throws: `.corrupt` if the note is damaged.
    package init(_ bytes: [UInt8], _ journalID: String, in subject: String) throws(JournalError) {
        do {
            var reader = try MessageFormat.reader(of: bytes, .note, journalID, in: subject)
            self.upload = try reader.readFixed64()
            self.byteCount = Int(truncatingIfNeeded: try reader.readVarint())
        } catch {
            throw JournalError(.corrupt, "the note \(subject) is damaged")
        }
    }

    package func bytes(_ journalID: String, in subject: String) -> [UInt8] {
        MessageFormat.message(.note, journalID, in: subject) { writer in
            writer.write(fixed64: self.upload)
            writer.write(varint: UInt64(self.byteCount))
        }
    }

    package static func subject(of id: SnapshotID, _ names: StreamNames) -> String {
        "\(names.snapshots(id.partition)).\(Self.place(of: id))"
    }

    /// The end of a subject that says which snapshot it is of.
    package static func place(of id: SnapshotID) -> String {
        "\(id.position.rawValue).\(UInt64(bitPattern: id.logTime.milliseconds))"
    }

    /// The snapshots that subjects of notes name, the newest first.
    package static func ids(of partition: PartitionID, in subjects: [String], _ names: StreamNames) -> [SnapshotID] {
        let prefix = names.snapshots(partition) + "."
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
}

/// Cuts a snapshot into chunks.
package struct SnapshotChunks: Sendable {
    private let size: Int
    private var bytes: [UInt8]
    private var frames: UInt64 = 0
    /// How many bytes went out.
    package private(set) var byteCount = 0

    /// - Parameter size: The bytes of each chunk but the last.
    package init(of head: SnapshotFile.Head, size: Int) {
        self.size = size
        self.bytes = SnapshotFile.bytes(of: head)
    }

    /// The number of the chunk that comes next.
    package var number: Int { self.byteCount / self.size }

    package mutating func add(_ frame: [UInt8]) {
        self.bytes += SnapshotFile.bytes(of: frame, number: self.frames)
        self.frames += 1
    }

    /// Behind the last frame.
    package mutating func finish() { self.bytes += SnapshotFile.end(frames: self.frames) }

    /// The next whole chunk; nil if more has to be added first.
    package mutating func next() -> [UInt8]? { self.bytes.count < self.size ? nil : self.takeBytes(self.size) }

    /// The last bytes, when all whole chunks have been taken; nil if there are none.
    package mutating func rest() -> [UInt8]? { self.bytes.isEmpty ? nil : self.takeBytes(self.bytes.count) }

    private mutating func takeBytes(_ count: Int) -> [UInt8] {
        let chunk = Array(self.bytes.prefix(count))
        self.bytes.removeFirst(count)
        self.byteCount += count
        return chunk
    }

    /// Reads the frames of a snapshot whose first byte is wanted.
    ///
    /// - Parameters:
    ///   - note: Where its chunks are.
    ///   - head: The head that it has to have.
    ///   - size: The bytes of each chunk but the last.
    ///   - chunk: Reads the chunk with a number.
    /// - Throws: `.corrupt` if it is damaged; the errors of `chunk` and `body`.
    package static func read(
        _ note: SnapshotNote,
        of head: SnapshotFile.Head,
        size: Int,
        wanting isWanted: (UInt8) -> Bool,
        chunk: @escaping (Int) throws(JournalError) -> [UInt8],
        _ body: ([UInt8]) throws -> Void
    ) throws {
        var offset = 0
        var last: (number: Int, bytes: [UInt8]) = (-1, [])
        var reader = try SnapshotFileReader(name: "\(head.id)") { (count) throws(JournalError) in
            var taken: [UInt8] = []
            while taken.count < count, offset < note.byteCount {
                let number = offset / size
                if last.number != number { last = (number, try chunk(number)) }
                let start = offset - number * size
                guard start < last.bytes.count else { break }
                let part = last.bytes[start...].prefix(count - taken.count)
                taken += part
                offset += part.count
            }
            return taken
        }
        try reader.check(head)
        while let frame = try reader.next(wanting: isWanted, step: { offset += $0 }) { try body(frame) }
    }
}
