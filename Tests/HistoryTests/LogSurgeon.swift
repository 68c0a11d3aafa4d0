import CSQLite
import Foundation
import Journaling
import WidgetModel

/// Changes a log on the disk behind its journal's back.
struct LogSurgeon {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let directory: String

    /// The log files, the oldest first.
    func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.directory)
            .filter { $0.hasPrefix("journal-") && $0.hasSuffix(".sqlite") }.sorted()
    }

    /// Runs SQL on the file that holds an entry of a partition.
    func sql(_ statements: String, file: Int) throws {
        var database: OpaquePointer?
        let path = "\(self.directory)/\(try self.files()[file])"
        // Sound: the handle is a local, closed below; the texts are copied by SQLite.
        guard unsafe sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
            throw Failure(description: "cannot open \(path)")
        }
        defer { _ = unsafe sqlite3_close_v2(database) }
        guard unsafe sqlite3_exec(database, statements, nil, nil, nil) == SQLITE_OK else {
            throw Failure(description: unsafe String(cString: sqlite3_errmsg(database)))
        }
    }

    /// Puts an entry with a checksum that fits in the place of the one at its position.
    func replace(_ partition: Int, file: Int, with entry: LogEntry) throws {
        let checksum = entry.checksum(in: PartitionID(UInt16(partition)))
        try self.sql(
            """
            UPDATE entries_\(partition) SET log_time = \(entry.logTime.milliseconds), records = \(entry.recordCount),
            checksum = \(checksum), bytes = x'\(Self.hex(entry.bytes))' WHERE position = \(entry.position)
            """,
            file: file
        )
    }

    func replace(_ partition: Int, file: Int, with output: OutputEntry) throws {
        let checksum = output.checksum(in: PartitionID(UInt16(partition)))
        let record = output.record
        try self.sql(
            """
            UPDATE outputs_\(partition) SET through = \(record.through), epoch = \(record.ahead), engine_version = \(record.engineVersion),
            running_hash = \(Int64(bitPattern: record.runningHash)), checksum = \(checksum),
            effects = x'\(Self.hex(record.effects))' WHERE position = \(output.position)
            """,
            file: file
        )
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Changes bytes of a file in place.
    func edit(_ name: String, _ body: (inout Data) -> Void) throws {
        let url = URL(filePath: "\(self.directory)/\(name)")
        var data = try Data(contentsOf: url)
        body(&data)
        try data.write(to: url)
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: "\(self.directory)/\(name)")
    }
}
