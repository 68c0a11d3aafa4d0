import Foundation
import JournalContract
import Journaling
import Testing
import WidgetModel

@testable import JournalSQLite

/// Files of builds before 0.2.0 are refused by name and left as they are.
@Suite struct EarlierBuildTests {
    private static let sentence = "was written by a build before 0.2.0; export with that build, import here"
    private let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    private func open() throws(JournalError) -> SQLiteJournal {
        try SQLiteJournal(
            configuration: SQLiteJournal.Configuration(directory: self.temporary.journal, partitions: 1),
            clock: { Instant(seconds: 1_000) }
        )
    }

    private func expectRefusal(_ body: () throws -> Void) {
        do {
            try body()
            Issue.record("it was taken")
        } catch let error as JournalError {
            #expect(error.code == .formatMismatch && error.message.contains(Self.sentence), "\(error)")
        } catch {
            Issue.record("\(error)")
        }
    }

    private static func database(_ path: String, applicationID: Int64) throws {
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let database = try Database(path: path, access: .readWrite)
        try database.execute("CREATE TABLE IF NOT EXISTS journal (id TEXT NOT NULL) STRICT")
        try database.execute("PRAGMA application_id = \(applicationID)")
        try database.execute("PRAGMA user_version = 1")
    }

    @Test(arguments: [["format"], ["log-000001.sqlite"], ["format", "log-000001.sqlite"]])
    func `a data directory`(names: [String]) throws {
        let path = self.temporary.journal
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let format = """
            freshet-journal 1
            id 0f8fad5b-d9cb-469f-a165-70867728950e
            partitions 1
            created-milliseconds 1793638800000
            checksum 1

            """
        for name in names {
            if name == "format" {
                try format.write(toFile: "\(path)/format", atomically: true, encoding: .utf8)
            } else {
                try Self.database("\(path)/\(name)", applicationID: 0x4672_7368)
            }
        }
        self.expectRefusal { _ = try self.open() }
        self.expectRefusal { _ = try LogDirectory.format(in: path) }
        let faults = LogSurvey(of: path).faults
        #expect(faults.map(\.code) == [.version])
        // Nothing was begun in it.
        let begun = try self.temporary.files("").filter {
            $0.hasPrefix("journal") || $0 == "begun" || $0 == "snapshots"
        }
        #expect(begun == [])
        if names.contains("format") {
            #expect(try String(contentsOfFile: "\(path)/format", encoding: .utf8) == format)
        }
    }

    @Test func `a log file`() throws {
        try self.open().close()
        try Self.database(self.temporary.journal + "/journal-000001.sqlite", applicationID: 0x4672_7368)
        self.expectRefusal { _ = try self.open() }
        #expect(LogSurvey(of: self.temporary.journal).faults.map(\.code) == [.version])
    }

    @Test func `a snapshot`() throws {
        let journal = try self.open()
        let id = SnapshotID(partition: PartitionID(0), position: LogPosition(7), logTime: Instant(seconds: 7))
        var frames: [[UInt8]] = [[1, 2, 3]]
        try journal.write(id) { frames.popLast() }
        let folder = self.temporary.journal + "/snapshots"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
        bytes.replaceSubrange(0..<8, with: Data("FrshSnap".utf8))
        try bytes.write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        self.expectRefusal { try journal.read(id) { _ in } }
        journal.close()
    }

    @Test func `an archive`() throws {
        let path = self.temporary.path + "/timelines.sqlite"
        try Self.database(path, applicationID: 0x4672_7361)
        self.expectRefusal { _ = try SQLiteArchive(path: path) }
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))
    }
}
