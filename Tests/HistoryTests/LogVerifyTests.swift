import Engine
import Foundation
import History
import JournalSQLite
import Journaling
import TestSupport
import Testing
import WidgetModel

/// The work of `freshet log verify`: it checks every row, then replays the good ones.
func verify(_ directory: String) throws -> [LogError] {
    let survey = LogSurvey(of: directory)
    var faults = survey.faults
    guard let log = try? LogDirectory(path: directory) else { return faults }
    for index in 0..<log.format.partitions {
        guard
            let check = try? ReplayCheck(
                log,
                PartitionID(UInt16(index)),
                snapshots: log,
                before: survey.partitions[index].firstFault
            )
        else { continue }
        faults += check.faults
    }
    return faults
}

/// Damage of one sort, and the fault that must be reported.
struct PlantedFault: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let expected: LogError.Code
    var table: LogError.Table?
    var partition: UInt16?
    var position: UInt64?
    let plant: @Sendable (LogSurgeon, LogDirectory) throws -> Void

    init(
        _ description: String,
        _ expected: LogError.Code,
        _ table: LogError.Table? = nil,
        partition: UInt16? = nil,
        _ position: UInt64? = nil,
        _ plant: @escaping @Sendable (LogSurgeon, LogDirectory) throws -> Void
    ) {
        self.testDescription = description
        self.expected = expected
        self.table = table
        self.partition = partition
        self.position = position
        self.plant = plant
    }

    func isFound(in faults: [LogError]) -> Bool {
        faults.contains { fault in
            fault.code == self.expected && (self.table == nil || fault.table == self.table)
                && (self.partition == nil || fault.partition?.rawValue == self.partition)
                && (self.position == nil || fault.position == self.position)
        }
    }
}

private let zero = PartitionID(0)

extension LogDirectory {
    fileprivate func entry(_ position: UInt64) throws -> LogEntry {
        try self.read(zero, from: LogPosition(position), entriesMax: 1)[0]
    }

    fileprivate func output(_ position: UInt64) throws -> OutputEntry {
        try self.readOutputs(zero, from: OutputPosition(position), outputsMax: 1)[0]
    }
}

extension LogEntry {
    fileprivate func with(_ records: [[UInt8]], time: Instant? = nil) -> LogEntry {
        var packed = PackedRecords()
        for record in records { packed.append(record) }
        return LogEntry(position: self.position, logTime: time ?? self.logTime, packed: packed)
    }
}

extension OutputEntry {
    fileprivate func with(
        through: UInt64? = nil,
        version: UInt32? = nil,
        hash: UInt64? = nil,
        effects: [UInt8]? = nil
    ) -> OutputEntry {
        OutputEntry(
            position: self.position,
            record: OutputRecord(
                through: through.map { LogPosition($0) } ?? self.record.through,
                ahead: self.record.ahead,
                engineVersion: version ?? self.record.engineVersion,
                runningHash: hash ?? self.record.runningHash,
                effects: effects ?? self.record.effects
            )
        )
    }
}

/// Positions below 40 are in the first file.
private let planted: [PlantedFault] = [
    PlantedFault("a bit of a record", .checksum, .entries, partition: 0, 17) { surgeon, log in
        let bytes = try log.entry(17).bytes
        let hex = String(bytes[6] ^ 1, radix: 16)
        try surgeon.sql(
            """
            UPDATE entries_0 SET bytes = CAST(substr(bytes, 1, 6) || x'\(hex.count == 1 ? "0" : "")\(hex)'
            || substr(bytes, 8) AS BLOB) WHERE position = 17
            """,
            file: 0
        )
    },
    PlantedFault("the time in a row's head", .checksum, .entries, partition: 0, 18) { surgeon, _ in
        try surgeon.sql("UPDATE entries_0 SET log_time = log_time + 1 WHERE position = 18", file: 0)
    },
    PlantedFault("the number of records in a row's head", .framing, .entries, partition: 0, 19) { surgeon, _ in
        try surgeon.sql("UPDATE entries_0 SET records = records + 1 WHERE position = 19", file: 0)
    },
    PlantedFault("a bit of a checksum", .checksum, .entries, partition: 0, 20) { surgeon, _ in
        try surgeon.sql("UPDATE entries_0 SET checksum = checksum + 1 WHERE position = 20", file: 0)
    },
    PlantedFault("a row cut short", .framing, .entries, partition: 0, 21) { surgeon, _ in
        try surgeon.sql(
            "UPDATE entries_0 SET bytes = CAST(substr(bytes, 1, length(bytes) - 2) AS BLOB) WHERE position = 21",
            file: 0
        )
    },
    PlantedFault("an entry that is missing", .missing, .entries, partition: 0, 9) { surgeon, _ in
        try surgeon.sql("DELETE FROM entries_0 WHERE position = 9", file: 0)
    },
    PlantedFault("the end of a partition's entries", .output, .entries, partition: 0) { surgeon, log in
        let last = try log.tail(zero)
        try surgeon.sql(
            "DELETE FROM entries_0 WHERE position > \(last.rawValue - 4)",
            file: try surgeon.files().count - 1
        )
    },
    PlantedFault("two entries that changed places", .place, .entries, partition: 0, 12) { surgeon, _ in
        try surgeon.sql(
            """
            UPDATE entries_0 SET position = -1 WHERE position = 12;
            UPDATE entries_0 SET position = 12 WHERE position = 13;
            UPDATE entries_0 SET position = 13 WHERE position = -1
            """,
            file: 0
        )
    },
    PlantedFault("an entry twice", .place, .entries, partition: 0, 15) { surgeon, _ in
        try surgeon.sql(
            """
            DELETE FROM entries_0 WHERE position = 15;
            INSERT INTO entries_0 SELECT 15, log_time, records, checksum, bytes FROM entries_0 WHERE position = 14
            """,
            file: 0
        )
    },
    PlantedFault("an entry of another partition", .place, .entries, partition: 0, 11) { surgeon, _ in
        try surgeon.sql(
            """
            DELETE FROM entries_0 WHERE position = 11;
            INSERT INTO entries_0 SELECT * FROM entries_1 WHERE position = 11
            """,
            file: 0
        )
    },
    PlantedFault("time that goes back", .time, .entries, partition: 0, 22) { surgeon, log in
        let entry = try log.entry(22)
        let earlier = entry.logTime - .hours(1)
        try surgeon.replace(
            0,
            file: 0,
            with: LogEntry(position: entry.position, logTime: earlier, packed: entry.packed)
        )
    },
    PlantedFault("a record that is none", .record, .entries, partition: 0, 23) { surgeon, log in
        try surgeon.replace(0, file: 0, with: try log.entry(23).with([[200, 1, 2]]))
    },
    PlantedFault("decision rules of the future", .version, .entries, partition: 0, 24) { surgeon, log in
        var settings = LoggedTraffic.settings()
        settings.engineVersion = Engine.version + 7
        try surgeon.replace(0, file: 0, with: try log.entry(24).with([Record.settings(settings).bytes]))
    },
    PlantedFault("a host of another partition", .partition, .entries, partition: 0, 25) { surgeon, log in
        let stranger = try #require((0..<99).first { LoggedTraffic.partition(of: HostKey("host-\($0)")) == 1 })
        let registration = HostRegistration(
            host: HostKey("host-\(stranger)"),
            token: DeviceToken(bytes: [1]),
            revision: 1,
            instances: []
        )
        try surgeon.replace(0, file: 0, with: try log.entry(25).with([Record.register(registration).bytes]))
    },
    PlantedFault("another record, well made", .state, .outputs, partition: 0) { surgeon, log in
        try surgeon.replace(0, file: 0, with: try log.entry(26).with([Record.tick.bytes, Record.tick.bytes]))
    },
    PlantedFault("a state that no replay comes to", .state, .outputs, partition: 0, 5) { surgeon, log in
        try surgeon.replace(0, file: 0, with: try log.output(5).with(hash: 1))
    },
    PlantedFault("effects that no replay gives", .effects, .outputs, partition: 0, 6) { surgeon, log in
        try surgeon.replace(0, file: 0, with: try log.output(6).with(effects: [0]))
    },
    PlantedFault("a bit of an output", .checksum, .outputs, partition: 0, 7) { surgeon, _ in
        try surgeon.sql("UPDATE outputs_0 SET running_hash = running_hash + 1 WHERE position = 7", file: 0)
    },
    PlantedFault("an output that is missing", .missing, .outputs, partition: 0, 8) { surgeon, _ in
        try surgeon.sql("DELETE FROM outputs_0 WHERE position = 8", file: 0)
    },
    PlantedFault("an output of the future", .version, .outputs, partition: 0, 9) { surgeon, log in
        try surgeon.replace(0, file: 0, with: try log.output(9).with(version: UInt32(Engine.version) + 1))
    },
    PlantedFault("an output that goes back", .output, .outputs, partition: 0, 10) { surgeon, log in
        try surgeon.replace(0, file: 0, with: try log.output(10).with(through: 1))
    },
    PlantedFault("a file that is missing", .file) { surgeon, _ in
        let name = try surgeon.files()[1]
        for suffix in ["", "-wal", "-shm"] { try? surgeon.remove(name + suffix) }
    },
    PlantedFault("a note of more files than there can be", .file) { surgeon, _ in
        try surgeon.edit("begun") { $0 = Data("9223372036854775807\n".utf8) }
    },
    PlantedFault("a note of far more files than there are", .file) { surgeon, _ in
        try surgeon.edit("begun") { $0 = Data("1000000000000\n".utf8) }
    },
    PlantedFault("the file's format version", .version) { surgeon, _ in
        try surgeon.sql("PRAGMA user_version = 77", file: 0)
    },
    PlantedFault("the format file", .file) { surgeon, _ in
        try surgeon.edit("journal.format") { $0[$0.count / 2] ^= 1 }
    },
    PlantedFault("the head of a file", .file) { surgeon, _ in
        try surgeon.edit(try surgeon.files()[0]) { $0.replaceSubrange(0..<16, with: Data(repeating: 0, count: 16)) }
    },
    PlantedFault("half of a file", .page) { surgeon, _ in
        try surgeon.edit(try surgeon.files()[0]) { $0 = $0.prefix($0.count / 2) }
    },
]

@Suite("what log verify finds")
struct LogVerifyTests {
    /// Several files, all written and checkpointed.
    private static let traffic = Result {
        let traffic = try LoggedTraffic()
        try traffic.run()
        traffic.close()
        return try traffic.copy()
    }

    @Test func `a log that is good is good, whatever the number of its files`() throws {
        let directory = try Self.traffic.get()
        #expect(try LogSurgeon(directory: directory).files().count > 1)
        #expect(try verify(directory) == [])
    }

    @Test(arguments: planted) func `it finds`(_ fault: PlantedFault) throws {
        let original = try Self.traffic.get()
        let copy = "\(original)-\(UUID().uuidString)"
        try FileManager.default.copyItem(atPath: original, toPath: copy)
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try fault.plant(LogSurgeon(directory: copy), try LogDirectory(path: original))
        let faults = try verify(copy)
        #expect(fault.isFound(in: faults), "\(fault.testDescription): found \(faults)")
    }

    @Test(arguments: ["cut short", "damaged"]) func `it finds a write-ahead log that is`(_ damage: String) throws {
        let traffic = try LoggedTraffic(fileBytesMax: 1 << 28)
        try traffic.run(hosts: 1, pushes: 2)
        // The journal is still open, as after a crash, and so little is copied nowhere: all is in the write-ahead log alone.
        let copy = try traffic.copy()
        defer { try? FileManager.default.removeItem(atPath: copy) }
        #expect(try verify(copy) == [])
        let surgeon = LogSurgeon(directory: copy)
        try surgeon.edit(try surgeon.files()[0] + "-wal") { data in
            if damage == "damaged" { data[data.count - 1000] ^= 1 } else { data = data.dropLast(1000) }
        }
        let faults = try verify(copy).filter { $0.code == .tail }
        #expect(faults.count == 1)
        #expect(faults[0].sentence.contains(damage), "\(faults)")
        #expect(faults[0].sentence.contains("partitions end now: 0 at "))
    }
}
