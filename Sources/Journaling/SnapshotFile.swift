import WidgetModel

/// The bytes of a snapshot file: a head, frames with a checksum each, and an end that says how many there were.
///
/// ```
/// "FreshetS", version (4 bytes), length of the head (4), head, CRC-32C of all that (4)
/// for each frame: length (4), CRC-32C of its number (8 bytes) and its bytes (4), bytes
/// 0 (4), CRC-32C of the number of frames (4)
/// ```
///
/// Integers are little-endian. A frame that is damaged, missing, twice there or in another's place is found out, and so is
/// a file that ends early.
package enum SnapshotFile {
    package static let magic = Array("FreshetS".utf8)
    /// The first bytes of the files of builds before 0.2.0.
    fileprivate static let earlierMagic = Array("FrshSnap".utf8)
    /// The version that is written, and the only one that is read.
    package static let version: UInt32 = 1
    /// No frame is longer, so that a damaged length cannot ask for gigabytes.
    package static let frameBytesMax = 67_108_864

    /// The head of a file.
    package struct Head: Hashable, Sendable {
        /// The log that it belongs to, ``JournalFormat/journalID``.
        package let journalID: String
        package let partitions: Int
        package let id: SnapshotID

        package init(journalID: String, partitions: Int, id: SnapshotID) {
            self.journalID = journalID
            self.partitions = partitions
            self.id = id
        }
    }

    package static func bytes(of head: Head) -> [UInt8] {
        var body = ByteWriter()
        body.write(head.journalID)
        body.write(count: head.partitions)
        body.write(varint: UInt64(head.id.partition.rawValue))
        body.write(varint: head.id.position.rawValue)
        body.write(head.id.logTime)
        var writer = ByteWriter()
        writer.bytes = self.magic
        writer.write(fixed32: self.version)
        writer.write(fixed32: UInt32(body.bytes.count))
        writer.bytes += body.bytes
        writer.write(fixed32: CRC32C.of(writer.bytes.span))
        return writer.bytes
    }

    /// - Parameters:
    ///   - frame: Not empty.
    ///   - number: How many frames came before it.
    package static func bytes(of frame: [UInt8], number: UInt64) -> [UInt8] {
        precondition(!frame.isEmpty && frame.count <= self.frameBytesMax)
        var writer = ByteWriter(reserving: frame.count + 8)
        writer.write(fixed32: UInt32(frame.count))
        writer.write(fixed32: self.checksum(of: frame, number: number))
        writer.bytes += frame
        return writer.bytes
    }

    package static func end(frames: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(fixed32: 0)
        writer.write(fixed32: self.checksum(of: [], number: frames))
        return writer.bytes
    }

    fileprivate static func checksum(of frame: [UInt8], number: UInt64) -> UInt32 {
        var checksum = CRC32C()
        checksum.combine(number)
        checksum.combine(frame.span)
        return checksum.value
    }
}

/// Reads a snapshot file in its order.
package struct SnapshotFileReader {
    private let source: (Int) throws(JournalError) -> [UInt8]
    private let name: String
    private var frames: UInt64 = 0
    private var isAtEnd = false
    package let head: SnapshotFile.Head

    /// Reads the head.
    ///
    /// - Parameters:
    ///   - name: The file's, for messages.
    ///   - source: Gives the next bytes, fewer than requested only at the end of the file.
    /// - Throws: `.corrupt`, or `.formatMismatch` for a version that this program does not read.
    package init(
        name: String,
        source: @escaping (Int) throws(JournalError) -> [UInt8]
    ) throws(JournalError) {
        self.name = name
        self.source = source
        let start = try source(16)
        do {
            if start.starts(with: SnapshotFile.earlierMagic) { throw JournalError.earlierBuild(name) }
            var reader = ByteReader(start)
            for byte in SnapshotFile.magic where try reader.readByte() != byte { throw ByteError.invalid(offset: 0) }
            let version = try reader.readFixed32()
            guard version == SnapshotFile.version else {
                throw JournalError(
                    .formatMismatch,
                    "\(name) has format version \(version), this program reads \(SnapshotFile.version)"
                )
            }
            let length = Int(try reader.readFixed32())
            guard length <= 65_536 else { throw ByteError.invalid(offset: 12) }
            let body = try source(length + 4)
            guard body.count == length + 4 else { throw ByteError.truncated(offset: 16 + body.count) }
            var checked = ByteReader(body, in: length..<body.count)
            let signed = start + body[..<length]
            guard try checked.readFixed32() == CRC32C.of(signed.span) else {
                throw ByteError.invalid(offset: 16)
            }
            reader = ByteReader(body, in: 0..<length)
            self.head = SnapshotFile.Head(
                journalID: try reader.readString(),
                partitions: Int(truncatingIfNeeded: try reader.readVarint()),
                id: SnapshotID(
                    partition: PartitionID(UInt16(truncatingIfNeeded: try reader.readVarint())),
                    position: LogPosition(try reader.readVarint()),
                    logTime: try reader.readInstant()
                )
            )
        } catch let error as JournalError {
            throw error
        } catch {
            throw JournalError(.corrupt, "\(name) has a damaged head (\(error))")
        }
    }

    /// Checks that the file is the one that its name says.
    ///
    /// - Throws: `.corrupt` if it is another one.
    package func check(_ head: SnapshotFile.Head) throws(JournalError) {
        guard self.head == head else {
            throw JournalError(
                .corrupt,
                "\(self.name) says that it is \(self.head.id) of journal \(self.head.journalID)"
            )
        }
    }

    /// The next frame with a wanted first byte; nil after the last. The others are skipped: they count, but faults in
    /// their bytes go unnoticed.
    ///
    /// - Parameters:
    ///   - isWanted: Decides by a frame's first byte.
    ///   - step: Moves by a number of bytes in the source, forward or back.
    /// - Throws: `.corrupt` if it is damaged, or if the file ends without its end mark.
    package mutating func next(
        wanting isWanted: (UInt8) -> Bool,
        step: (Int) -> Void
    ) throws(JournalError) -> [UInt8]? {
        while !self.isAtEnd {
            let (length, checksum) = try self.frameHead()
            if length > 0 {
                guard let first = try self.source(1).first else { throw self.damage("ends") }
                step(-1)
                guard isWanted(first) else {
                    step(length)
                    self.frames += 1
                    continue
                }
            }
            return try self.frame(length, checksum)
        }
        return nil
    }

    private func frameHead() throws(JournalError) -> (length: Int, checksum: UInt32) {
        var reader = ByteReader(try self.source(8))
        guard let length = try? reader.readFixed32(), let checksum = try? reader.readFixed32() else {
            throw self.damage("ends")
        }
        guard Int(length) <= SnapshotFile.frameBytesMax else { throw self.damage("is damaged") }
        return (Int(length), checksum)
    }

    private mutating func frame(_ length: Int, _ checksum: UInt32) throws(JournalError) -> [UInt8]? {
        let frame = length == 0 ? [] : try self.source(length)
        guard frame.count == length else { throw self.damage("ends") }
        guard SnapshotFile.checksum(of: frame, number: self.frames) == checksum else { throw self.damage("is damaged") }
        guard length > 0 else {
            self.isAtEnd = true
            return nil
        }
        self.frames += 1
        return frame
    }

    private func damage(_ what: String) -> JournalError {
        JournalError(.corrupt, "\(self.name) \(what) in frame \(self.frames)")
    }
}
