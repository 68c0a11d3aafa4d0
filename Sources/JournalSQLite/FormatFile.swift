import Journaling
import WidgetModel

/// The text of the format file: a line per field, the last one a checksum of the lines before it.
enum FormatFile {
    static let name = "journal.format"
    /// How its first line begins.
    private static let title = "freshet journal format "

    static func bytes(of format: JournalFormat) -> [UInt8] {
        let lines = """
            \(Self.title)\(format.formatVersion)
            id \(format.journalID)
            partitions \(format.partitions)
            created-milliseconds \(format.createdAt.milliseconds)

            """
        return Array((lines + "checksum \(CRC32C.of(lines.utf8.span))\n").utf8)
    }

    /// - Parameters:
    ///   - bytes: The file's content.
    ///   - path: The file, for messages.
    static func format(from bytes: [UInt8], path: String) throws(JournalError) -> JournalFormat {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        var fields: [Substring] = []
        for (line, name) in zip(
            lines,
            [Self.title, "id ", "partitions ", "created-milliseconds "]
        )
        where line.hasPrefix(name) { fields.append(line.dropFirst(name.count)) }
        guard let version = fields.first.flatMap({ UInt32($0) }) else {
            throw JournalError(.formatMismatch, "\(path) is not the format file of a journal")
        }
        // The lines that a later version writes behind the first are not ours to judge.
        guard version == JournalFormat.currentVersion else {
            return JournalFormat(journalID: "", formatVersion: version, partitions: 1, createdAt: .epoch)
        }
        guard fields.count == 4, let partitions = Int(fields[2]), let created = Int64(fields[3]) else {
            throw JournalError(.corrupt, "\(path) is damaged: a line is missing")
        }
        let format = JournalFormat(
            journalID: String(fields[1]),
            formatVersion: version,
            partitions: partitions,
            createdAt: Instant(milliseconds: created)
        )
        guard Self.bytes(of: format) == bytes else {
            throw JournalError(.corrupt, "\(path) is damaged: its checksum is wrong")
        }
        return format
    }
}
