import Engine
import Foundation
import JournalSQLite
import Journaling
import Testing
import WidgetModel

/// Copies of a data directory, made while it is written and after.
@Suite struct LogBackupTests {
    private static func check(_ directory: String) throws(JournalError) {
        let faults = LogSurvey(of: directory).faults
        if let fault = faults.first { throw JournalError(.corrupt, fault.description) }
    }

    /// Every entry of a partition.
    private static func entries(_ directory: String, _ partition: UInt16) throws -> [LogEntry] {
        let log = try LogDirectory(path: directory)
        var entries: [LogEntry] = []
        while case let next = entries.last?.position.next ?? LogPosition.start.next,
            case let more = try log.read(PartitionID(partition), from: next, entriesMax: 100), !more.isEmpty
        {
            entries += more
        }
        return entries
    }

    @Test func `a copy made while the log is open holds what was acknowledged, and its journal goes on from there`()
        throws
    {
        let traffic = try LoggedTraffic(fileBytesMax: 40 * 1024)
        defer { try? FileManager.default.removeItem(atPath: traffic.directory + "-backup") }
        try traffic.run(hosts: 12, pushes: 150)
        let target = traffic.directory + "-backup"
        let summary = try LogBackup(from: traffic.directory, to: target).copy(check: Self.check)
        #expect(summary.files >= 1)
        for partition in 0..<UInt16(LoggedTraffic.partitions) {
            #expect(try Self.entries(target, partition) == Self.entries(traffic.directory, partition))
        }
        #expect(try verify(target) == [])
        #expect(!FileManager.default.fileExists(atPath: target + ".partial"))

        // Records that are accepted afterwards are in the original alone.
        try traffic.run(hosts: 2, pushes: 1, seed: 9)
        let now = traffic.now
        let journal = try SQLiteJournal(
            configuration: SQLiteJournal.Configuration(directory: target, partitions: LoggedTraffic.partitions)
        ) { now }
        #expect(journal.format == traffic.journal.format)
        let before = try Self.entries(target, 0).count
        journal.close()
        #expect(try Self.entries(traffic.directory, 0).count > before)
    }

    @Test func `a backup can be copied again, which is how it is restored`() throws {
        let traffic = try LoggedTraffic()
        let paths = ["-first", "-second"].map { traffic.directory + $0 }
        defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
        try traffic.run(hosts: 4, pushes: 20)
        _ = try LogBackup(from: traffic.directory, to: paths[0]).copy(check: Self.check)
        // An empty directory may be there already, and what an attempt before has left.
        try FileManager.default.createDirectory(atPath: paths[1], withIntermediateDirectories: false)
        try FileManager.default.createDirectory(atPath: paths[1] + ".partial", withIntermediateDirectories: false)
        try "half".write(toFile: paths[1] + ".partial/journal-000001.sqlite", atomically: true, encoding: .utf8)
        _ = try LogBackup(from: paths[0], to: paths[1]).copy(check: Self.check)
        #expect(try verify(paths[1]) == [])
        #expect(try Self.entries(paths[1], 1) == Self.entries(traffic.directory, 1))
    }

    @Test func `nothing is put over what is there, and a bad copy never gets its name`() throws {
        let traffic = try LoggedTraffic()
        let target = traffic.directory + "-taken"
        defer {
            for path in [target, target + ".partial"] { try? FileManager.default.removeItem(atPath: path) }
        }
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
        try "mine".write(toFile: target + "/notes", atomically: true, encoding: .utf8)
        #expect(throws: JournalError.self) {
            _ = try LogBackup(from: traffic.directory, to: target).copy(check: Self.check)
        }
        #expect(try String(contentsOfFile: target + "/notes", encoding: .utf8) == "mine")
        try FileManager.default.removeItem(atPath: target)
        #expect(throws: JournalError.self) {
            _ = try LogBackup(from: traffic.directory, to: target).copy { (_) throws(JournalError) in
                throw JournalError(.corrupt, "it does not please")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: target))
    }
}
