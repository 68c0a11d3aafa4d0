import Foundation
import JournalContract
import Journaling
import Testing
import WidgetModel

@testable import JournalSQLite

/// The SQLite journal's promises about the disk.
@Suite struct DurabilityTests {
    private func open(
        _ directory: TemporaryDirectory,
        partitions: Int = 1,
        fileBytesMax: Int = 1 << 28
    ) throws(JournalError) -> SQLiteJournal {
        try SQLiteJournal(
            configuration: SQLiteJournal.Configuration(
                directory: directory.journal,
                partitions: partitions,
                fileBytesMax: fileBytesMax,
                cacheBytesMax: 0,
                walBytesMax: 524_288
            ),
            clock: { Instant(seconds: 1_000) }
        )
    }

    private func code(of body: () throws -> Void) -> JournalError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? JournalError)?.code
        }
    }

    @Test func `the writer's connection syncs every commit to a write-ahead log`() throws {
        let temporary = try TemporaryDirectory()
        let directory = try DataDirectory(path: temporary.journal)
        let format = try directory.openFormat(partitions: 1, now: .epoch)
        let created = try LogFile(
            creating: 1,
            in: directory,
            format: format,
            starts: [PartitionStart()]
        )
        let opened = try LogFile(opening: 1, in: directory, format: format)
        for file in [created, opened] {
            #expect(try file?.database.integer("PRAGMA synchronous") == 2)
            #expect(try file?.database.text("PRAGMA journal_mode") == "wal")
            #expect(try file?.database.integer("PRAGMA wal_autocheckpoint") == 0)
        }
    }

    @Test func `a store that cannot keep a write-ahead log is refused`() throws {
        let database = try Database(path: ":memory:", access: .readWrite)
        let failure = #expect(throws: SQLiteError.self) { try LogFile.makeDurable(database) }
        #expect(failure?.message == "journal_mode is memory after it was set to wal")
    }

    @Test func `directory and files are for their owner alone`() throws {
        let temporary = try TemporaryDirectory()
        let journal = try self.open(temporary)
        _ = journal.append("a")
        let names = try temporary.files("")
        #expect(
            names == [
                "begun", "journal-000001.sqlite", "journal-000001.sqlite-shm", "journal-000001.sqlite-wal",
                "journal.format",
                "lock", "snapshots", "trimmed",
            ]
        )
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(temporary.journal) == 0o700)
        for name in names {
            #expect(try mode(temporary.journal + "/" + name) == (name == "snapshots" ? 0o700 : 0o600), "\(name)")
        }
        journal.close()
        #expect(
            try temporary.files("") == [
                "begun", "journal-000001.sqlite", "journal.format", "lock", "snapshots", "trimmed",
            ]
        )
    }

    @Test func `a second journal is kept out until the first is closed`() throws {
        let temporary = try TemporaryDirectory()
        let journal = try self.open(temporary)
        let message =
            "data directory \(temporary.journal) is in use by process \(ProcessInfo.processInfo.processIdentifier)"
        #expect(throws: JournalError(.locked, message)) { _ = try self.open(temporary) }
        journal.close()
        try self.open(temporary).close()
    }

    @Test func `another process is kept out, and named`() throws {
        let temporary = try TemporaryDirectory()
        let child = try Child("hold", temporary.journal)
        #expect(child.line() == "open")
        let message =
            "data directory \(temporary.journal) is in use by process \(child.processIdentifier)"
        #expect(throws: JournalError(.locked, message)) { _ = try self.open(temporary, partitions: 4) }
        child.endInput()
        child.waitForEnd()
        try self.open(temporary, partitions: 4).close()
    }

    @Test func `another process is kept out although somebody removed the file that is locked`() throws {
        let temporary = try TemporaryDirectory()
        let child = try Child("hold", temporary.journal)
        #expect(child.line() == "open")
        try FileManager.default.removeItem(atPath: temporary.journal + "/lock")
        #expect(self.code { _ = try self.open(temporary, partitions: 4) } == .locked)
        #expect(DataDirectoryLock.isHeld(in: temporary.journal))
        // The first process has left nothing behind that the next one could lock instead.
        #expect(self.code { _ = try self.open(temporary, partitions: 4) } == .locked)
        child.endInput()
        child.waitForEnd()
        #expect(!DataDirectoryLock.isHeld(in: temporary.journal))
        try self.open(temporary, partitions: 4).close()
    }

    @Test func `a directory has one lock, whatever it is called`() throws {
        let temporary = try TemporaryDirectory()
        let journal = try self.open(temporary)
        let link = try TemporaryDirectory()
        try FileManager.default.createSymbolicLink(
            atPath: link.journal,
            withDestinationPath: temporary.journal
        )
        #expect(self.code { _ = try self.open(link) } == .locked)
        try FileManager.default.moveItem(atPath: temporary.journal, toPath: temporary.path + "/moved")
        try FileManager.default.createSymbolicLink(
            atPath: temporary.journal,
            withDestinationPath: temporary.path + "/moved"
        )
        #expect(self.code { _ = try self.open(temporary) } == .locked)
        journal.close()
        try self.open(temporary).close()
    }

    @Test func `a directory that cannot be written is refused as such`() throws {
        let temporary = try TemporaryDirectory()
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: temporary.path)
        let child = try Child("open", temporary.journal)
        #expect(child.line() == "error readOnly")
        child.waitForEnd()
    }

    @Test func `other partitions, other versions and other journals' files are refused`() throws {
        let temporary = try TemporaryDirectory()
        try self.open(temporary).close()
        #expect(self.code { _ = try self.open(temporary, partitions: 2) } == .formatMismatch)
        let format = temporary.journal + "/journal.format"
        let text = try String(contentsOfFile: format, encoding: .utf8)
        try text.replacing("freshet journal format 1", with: "freshet journal format 2").write(
            toFile: format,
            atomically: true,
            encoding: .utf8
        )
        #expect(self.code { _ = try self.open(temporary) } == .formatMismatch)
        try text.replacing("partitions 1", with: "partitions 2").write(
            toFile: format,
            atomically: true,
            encoding: .utf8
        )
        #expect(self.code { _ = try self.open(temporary) } == .corrupt)
        try FileManager.default.removeItem(atPath: format)
        #expect(self.code { _ = try self.open(temporary) } == .corrupt)
        try text.write(toFile: format, atomically: true, encoding: .utf8)
        try self.open(temporary).close()

        let other = try TemporaryDirectory()
        try self.open(other).close()
        let file = "/journal-000001.sqlite"
        try FileManager.default.removeItem(atPath: temporary.journal + file)
        try FileManager.default.copyItem(atPath: other.journal + file, toPath: temporary.journal + file)
        #expect(self.code { _ = try self.open(temporary) } == .corrupt)
    }

    @Test func `reading crosses files, and files of any number`() throws {
        let temporary = try TemporaryDirectory()
        let journal = try self.open(temporary, fileBytesMax: 2_000)
        for number in 0..<100 {
            var packed = PackedRecords()
            packed.append(Array("\(number) \(String(repeating: "x", count: 300))".utf8))
            let result = journal.append(Submission(partition: PartitionID(0), records: packed))
            #expect(result == .success(receipt(0, UInt64(number) + 1, 0)))
            if number.isMultiple(of: 10) {
                let expected = number == 0 ? nil : OutputPosition(UInt64(number / 10))
                #expect(journal.commit(output(through: UInt64(number) + 1), expected: expected).code == nil)
            }
        }
        journal.close()
        #expect(try temporary.files("journal-").count > 10)
        #expect(try temporary.files("journal-").allSatisfy { $0.hasSuffix(".sqlite") })
        let again = try self.open(temporary, fileBytesMax: 2_000)
        let numbers = try again.texts().map { $0[0].prefix { $0 != " " } }
        #expect(numbers == (0..<100).map { "\($0)"[...] })
        #expect(try again.texts(from: LogPosition(37)).count == 64)
        let outputs = try again.readOutputs(PartitionID(0), from: .first, outputsMax: 99)
        #expect(outputs.map(\.record.through.rawValue) == (0..<10).map { $0 * 10 + 1 })
        #expect(try again.lastOutput(PartitionID(0)) == outputs.last)
        again.close()
        try FileManager.default.removeItem(atPath: temporary.journal + "/journal-000004.sqlite")
        #expect(self.code { _ = try self.open(temporary) } == .corrupt)
    }

    @Test func `a log whose only file is gone is refused, not begun anew`() throws {
        let temporary = try TemporaryDirectory()
        let journal = try self.open(temporary)
        _ = journal.append("a")
        journal.close()
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: temporary.journal + "/journal-000001.sqlite" + suffix)
        }
        self.expectRefusal(of: temporary, naming: "journal-000001.sqlite")
        #expect(try temporary.files("journal-").isEmpty)
    }

    /// Opening must say which file is missing and what to do, and change nothing.
    private func expectRefusal(of temporary: TemporaryDirectory, naming file: String, fileBytesMax: Int = 1 << 28) {
        let message = "\(file) is missing in \(temporary.journal); restore the directory from a backup"
        for _ in 0..<2 {
            #expect(throws: JournalError(.corrupt, message)) {
                _ = try self.open(temporary, fileBytesMax: fileBytesMax)
            }
        }
    }

    /// A closed log with at least four files.
    private func several() throws -> (directory: TemporaryDirectory, files: [String]) {
        let temporary = try TemporaryDirectory()
        let journal = try self.open(temporary, fileBytesMax: 2_000)
        for _ in 0..<40 {
            #expect(journal.append(String(repeating: "x", count: 300)).code == nil)
        }
        journal.close()
        let files = try temporary.files("journal-")
        #expect(files.count >= 4)
        return (temporary, files)
    }

    @Test func `a log whose newest files are gone is refused, not continued before them`() throws {
        let (temporary, files) = try self.several()
        for file in files.suffix(2).reversed() {
            try FileManager.default.removeItem(atPath: temporary.journal + "/" + file)
            self.expectRefusal(of: temporary, naming: file, fileBytesMax: 2_000)
        }
        #expect(try temporary.files("journal-") == Array(files.dropLast(2)))
    }

    @Test func `a log whose first or middle file is gone is refused by its name`() throws {
        for index in [0, 2] {
            let (temporary, files) = try self.several()
            try FileManager.default.removeItem(atPath: temporary.journal + "/" + files[index])
            self.expectRefusal(of: temporary, naming: files[index], fileBytesMax: 2_000)
        }
    }

    @Test func `a begun file that was emptied is refused, and left as it is`() throws {
        let (temporary, files) = try self.several()
        let newest = try #require(files.last)
        try Data().write(to: URL(fileURLWithPath: temporary.journal + "/" + newest))
        let message = "\(newest) in \(temporary.journal) is empty; restore the directory from a backup"
        #expect(throws: JournalError(.corrupt, message)) { _ = try self.open(temporary, fileBytesMax: 2_000) }
        #expect(try temporary.files("journal-").contains(newest))
    }

    @Test func `a crash before the newest file was noted leaves a directory that opens`() throws {
        let (temporary, files) = try self.several()
        try "\(files.count - 1)\n".write(toFile: temporary.journal + "/begun", atomically: true, encoding: .utf8)
        try self.open(temporary, fileBytesMax: 2_000).close()
        #expect(try String(contentsOfFile: temporary.journal + "/begun", encoding: .utf8) == "\(files.count)\n")
    }

    @Test func `a note of the newest file that is damaged is refused`() throws {
        let (temporary, _) = try self.several()
        for note in ["", "many\n"] {
            try note.write(toFile: temporary.journal + "/begun", atomically: true, encoding: .utf8)
            #expect(self.code { _ = try self.open(temporary, fileBytesMax: 2_000) } == .corrupt)
        }
    }

    @Test func `a crash before the first file is there leaves a directory that opens`() throws {
        let temporary = try TemporaryDirectory()
        let journal = try self.open(temporary)
        journal.close()
        for name in ["begun", "journal-000001.sqlite", "journal-000001.sqlite-wal", "journal-000001.sqlite-shm"] {
            try? FileManager.default.removeItem(atPath: temporary.journal + "/" + name)
        }
        let again = try self.open(temporary)
        #expect(again.append("a").code == nil)
        again.close()
    }

    @Test func `a file that a crash left unbegun is begun again`() throws {
        let temporary = try TemporaryDirectory()
        let journal = try self.open(temporary)
        _ = journal.append("a")
        journal.close()
        _ = FileManager.default.createFile(
            atPath: temporary.journal + "/journal-000002.sqlite",
            contents: nil
        )
        let again = try self.open(temporary)
        #expect(try again.texts() == [["a"]])
        #expect(again.append("b").code == nil)
        #expect(try temporary.files("journal-").contains("journal-000002.sqlite") == false)
        again.close()
    }
}

// MARK: - Damage

extension DurabilityTests {
    /// Writes five entries and an output, then lets `damage` at the file.
    private func damaged(_ damage: (Database) throws -> Void) throws -> TemporaryDirectory {
        let temporary = try TemporaryDirectory()
        let journal = try self.open(temporary)
        for text in ["a", "b", "c", "d", "e"] { _ = journal.append(text) }
        #expect(journal.commit(output(through: 5), expected: nil).code == nil)
        journal.close()
        try damage(try Database(path: temporary.journal + "/journal-000001.sqlite", access: .readWrite))
        return temporary
    }

    @Test(arguments: [
        "UPDATE entries_0 SET bytes = x'0162' WHERE position = 3",
        "UPDATE entries_0 SET log_time = log_time + 1 WHERE position = 3",
        "UPDATE entries_0 SET bytes = x'02' WHERE position = 3",
        "UPDATE entries_0 SET bytes = (SELECT bytes FROM entries_0 WHERE position = 2) WHERE position = 3",
        "DELETE FROM entries_0 WHERE position = 3",
    ])
    func `damage in the middle is reported with file and position, not skipped`(sql: String) throws {
        let temporary = try self.damaged { try $0.execute(sql) }
        let journal = try self.open(temporary)
        #expect(
            try journal.read(PartitionID(0), from: .start, entriesMax: 2).map(\.position.rawValue) == [
                1, 2,
            ]
        )
        let error = #expect(throws: JournalError.self) {
            try journal.read(PartitionID(0), from: .start, entriesMax: 5)
        }
        #expect(error?.code == .corrupt)
        #expect(
            error?.message.contains("position 3 in entries of partition 0 in journal-000001.sqlite") == true
        )
        #expect(
            try journal.read(PartitionID(0), from: LogPosition(4), entriesMax: 5).map(\.position.rawValue)
                == [4, 5]
        )
        journal.close()
    }

    @Test(arguments: [
        "UPDATE entries_0 SET bytes = x'0162' WHERE position = 5",
        "UPDATE outputs_0 SET effects = x'00'",
        "UPDATE outputs_0 SET engine_version = -1",
        "DELETE FROM entries_0 WHERE position = 5",
        "UPDATE starts SET position = 1",
        "DELETE FROM starts",
        "PRAGMA application_id = 1",
    ])
    func `damage at the ends keeps the log from being opened`(sql: String) throws {
        let temporary = try self.damaged { try $0.execute(sql) }
        #expect(self.code { _ = try self.open(temporary) } == .corrupt)
    }

    @Test func `one wrong byte in the file is found`() throws {
        let temporary = try TemporaryDirectory()
        let journal = try self.open(temporary)
        let marker = [UInt8](repeating: 0x5A, count: 64)
        for text in ["a", "b"] { _ = journal.append(text) }
        var packed = PackedRecords()
        packed.append(marker)
        _ = journal.append(Submission(partition: PartitionID(0), records: packed))
        _ = journal.append("c")
        journal.close()
        let path = temporary.journal + "/journal-000001.sqlite"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let place = try #require(bytes.firstRange(of: Data(marker)))
        bytes[place.lowerBound + 30] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        let again = try self.open(temporary)
        #expect(
            self.code { _ = try again.read(PartitionID(0), from: .start, entriesMax: 9) } == .corrupt
        )
        again.close()
        bytes = Data(bytes.prefix(100))
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(self.code { _ = try self.open(temporary) } != nil)
    }
}
