import Glibc
import Journaling
import WidgetModel

/// The snapshots of a folder, which are only read: a file for each, `0003-<position>-<time>.snapshot`.
struct SnapshotFiles: Sendable {
    let path: String
    let format: JournalFormat

    /// A partition's snapshots, the newest first.
    func snapshots(_ partition: PartitionID) throws(JournalError) -> [SnapshotID] {
        let names = try DataDirectory.fileNames(in: self.path)
        return names.compactMap { Self.id(of: $0) }.filter { $0.partition == partition }.sorted {
            $0.position > $1.position
        }
    }

    /// Reads the frames of a snapshot whose first byte is wanted.
    func read(
        _ id: SnapshotID,
        wanting isWanted: (UInt8) -> Bool,
        _ body: ([UInt8]) throws -> Void
    ) throws {
        let name = Self.name(of: id)
        let file = try PosixFile(path: "\(self.path)/\(name)", flags: O_RDONLY)
        var offset = 0
        var reader = try SnapshotFileReader(name: name) { (count) throws(JournalError) in
            let bytes = try file.read(count, at: offset)
            offset += bytes.count
            return bytes
        }
        let head = SnapshotFile.Head(journalID: self.format.journalID, partitions: self.format.partitions, id: id)
        try reader.check(head)
        while let frame = try reader.next(wanting: isWanted, step: { offset += $0 }) { try body(frame) }
    }

    // MARK: Names

    static func name(of id: SnapshotID) -> String {
        "\(Self.digits(UInt64(id.partition.rawValue), 4))-\(Self.digits(id.position.rawValue, 20))-"
            + "\(Self.digits(UInt64(bitPattern: id.logTime.milliseconds), 20)).snapshot"
    }

    static func id(of name: String) -> SnapshotID? {
        guard name.hasSuffix(".snapshot") else { return nil }
        let parts = name.dropLast(9).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let partition = UInt16(parts[0]), let position = UInt64(parts[1]),
            let time = UInt64(parts[2]),
            // Entries are numbered as rows of a database are: there is always one behind.
            position < UInt64(Int64.max)
        else { return nil }
        let id = SnapshotID(
            partition: PartitionID(partition),
            position: LogPosition(position),
            logTime: Instant(milliseconds: Int64(bitPattern: time))
        )
        return Self.name(of: id) == name ? id : nil
    }

    private static func digits(_ number: UInt64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
