import Foundation
import JournalSQLite
import Journaling
import Testing
import WidgetModel

/// A data directory whose log is elsewhere belongs to that log, and to one process.
@Suite struct DirectoryBesideLogTests {
    private static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "freshet-beside-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private static func open(_ path: String, _ log: String = "log-1") throws(JournalError) -> DirectoryBesideLog {
        try DirectoryBesideLog(path: path, log: log, place: "brokers, cluster a")
    }

    private static func sqlite(_ path: String) throws(JournalError) {
        let configuration = SQLiteJournal.Configuration(directory: path, partitions: 1)
        try SQLiteJournal(configuration: configuration) { .epoch }.close()
    }

    @Test func `it is made, and taken again beside the same log`() throws {
        try Self.withFolder { folder in
            for _ in 0..<2 {
                let directory = try Self.open(folder)
                let error = #expect(throws: JournalError.self) { try Self.open(folder) }
                #expect(error?.code == .locked)
                withExtendedLifetime(directory) {}
            }
            let error = #expect(throws: JournalError.self) { try Self.open(folder, "log-2") }
            #expect(error?.code == .formatMismatch && error?.message.contains("belongs to log log-1") == true)
        }
    }

    @Test func `a log of its own is left alone`() throws {
        try Self.withFolder { folder in
            try Self.sqlite(folder)
            let error = #expect(throws: JournalError.self) { try Self.open(folder) }
            #expect(error?.message.contains("has a log of its own, and this one is on brokers, cluster a") == true)
            try Self.sqlite(folder)
        }
    }

    @Test func `no log is begun in it, and readers are told where the log is`() throws {
        try Self.withFolder { folder in
            _ = try Self.open(folder)
            let begun = #expect(throws: JournalError.self) { try Self.sqlite(folder) }
            #expect(begun?.message.contains("belongs to a log on brokers, cluster a") == true)
            let read = #expect(throws: JournalError.self) { try LogDirectory(path: folder) }
            #expect(read?.message.contains("has no log: the log is on brokers, cluster a") == true)
            #expect(try LogDirectory.sizes(of: folder).log == 0)
        }
    }
}
