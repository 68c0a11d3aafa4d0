import Foundation
import JournalContract
import Journaling
import Testing

@testable import JournalSQLite

@Suite struct SQLiteArchiveTests {
    private static func record(_ number: UInt64, _ text: String) -> ArchivedRecord {
        ArchivedRecord(number: number, bytes: Array(text.utf8))
    }

    private static func all(_ archive: some RecordArchive) throws -> [ArchivedRecord] {
        var records: [ArchivedRecord] = []
        try archive.readAll { records.append($0) }
        return records
    }

    @Test func `what was written is there after the next opening, in the order of numbers, without what was removed`()
        throws
    {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/timelines.sqlite"
        let first = try SQLiteArchive(path: path)
        try first.write([Self.record(2, "b"), Self.record(1, "a"), Self.record(3, "")], removing: [])
        try first.write([Self.record(9, "i")], removing: [2, 77])
        #expect(try Self.all(first) == [Self.record(1, "a"), Self.record(3, ""), Self.record(9, "i")])
        first.close()
        #expect(throws: JournalError.self) { try first.write([], removing: []) }
        let second = try SQLiteArchive(path: path)
        #expect(try Self.all(second) == [Self.record(1, "a"), Self.record(3, ""), Self.record(9, "i")])
        second.close()
    }

    @Test func `one record is read by its number, and of all that is removed no byte is left`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/decisions.sqlite"
        let archive = try SQLiteArchive(path: path, isSynced: false)
        let text = String(repeating: "wanderers", count: 2000)
        try archive.write([Self.record(1, text), Self.record(2, "b"), Self.record(3, text)], removing: [])
        try archive.write([], removing: [3])
        #expect(try archive.read(1) == Array(text.utf8) && archive.read(2) == Array("b".utf8))
        #expect(try archive.read(3) == nil)
        try "wanderers".write(toFile: path + ".damaged", atomically: true, encoding: .utf8)
        try archive.removeAll()
        #expect(try Self.all(archive) == [] && archive.read(1) == nil)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let content = FileManager.default.contents(atPath: "\(folder.path)/\(name)") ?? Data()
            #expect(content.range(of: Data("wanderers".utf8)) == nil, "\(name)")
        }
        try archive.write([Self.record(1, "a")], removing: [])
        #expect(try Self.all(archive) == [Self.record(1, "a")])
        archive.close()
    }

    @Test func `a row that the archive cannot have written is passed over`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/timelines.sqlite"
        let first = try SQLiteArchive(path: path)
        try first.write([Self.record(1, "a"), Self.record(.max, "z")], removing: [])
        first.close()
        let database = try Database(path: path, access: .readWrite)
        for number in [Int64.min, -1] { try database.execute("INSERT INTO records VALUES (\(number), x'00')") }
        let second = try SQLiteArchive(path: path)
        #expect(try Self.all(second) == [Self.record(1, "a"), Self.record(UInt64(Int64.max), "z")])
        second.close()
    }

    @Test func `a file that is no archive is put aside`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/timelines.sqlite"
        try String(repeating: "no database ", count: 100).write(toFile: path, atomically: true, encoding: .utf8)
        let archive = try SQLiteArchive(path: path)
        #expect(try Self.all(archive) == [])
        try archive.write([Self.record(1, "a")], removing: [])
        #expect(try Self.all(archive) == [Self.record(1, "a")])
        archive.close()
        #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
    }

    @Test func `a file that cannot be opened since the disk is full stays where it is`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/audit.sqlite"
        let archive = try SQLiteArchive(path: path)
        try archive.write([Self.record(1, "a")], removing: [])
        archive.close()
        DiskFaults.arm(folder.path, error: ENOSPC)
        let failure = #expect(throws: JournalError.self) { try SQLiteArchive(path: path) }
        DiskFaults.disarm(folder.path)
        #expect(failure?.code == .full)
        #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))
        #expect(try Self.all(try SQLiteArchive(path: path)) == [Self.record(1, "a")])
    }

    @Test func `its write-ahead log stays small, and gives back what a large write took`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/timelines.sqlite"
        let archive = try SQLiteArchive(path: path)
        var largest = 0
        for number in UInt64(1)...2_000 {
            try archive.write([Self.record(number, String(repeating: "x", count: 2_000))], removing: [])
            largest = max(largest, LogDirectory.size(of: path + "-wal"))
        }
        #expect(largest <= 4_194_304)
        let many = (UInt64(10_000)..<15_000).map { Self.record($0, String(repeating: "x", count: 2_000)) }
        try archive.write(many, removing: [])
        #expect(LogDirectory.size(of: path + "-wal") > 8_388_608)
        try archive.write([Self.record(1, "a")], removing: [])
        #expect(LogDirectory.size(of: path + "-wal") <= 4_194_304)
        archive.close()
    }

    @Test func `the archive in memory keeps the same promises, but for the process's end`() throws {
        let archive = MemoryArchive()
        try archive.write([Self.record(2, "b"), Self.record(1, "a")], removing: [])
        try archive.write([Self.record(3, "c")], removing: [2, 77])
        #expect(try Self.all(archive) == [Self.record(1, "a"), Self.record(3, "c")])
    }
}
