import Dispatch
import Foundation
import JournalContract
import Journaling
import Synchronization
import Testing
import WidgetModel

@testable import JournalSQLite

/// The size of the write-ahead log on the disk.
@Suite struct WriteAheadLogSizeTests {
    private static let walBytesMax = 1_048_576
    private let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    private func open(partitions: Int = 8) throws(JournalError) -> SQLiteJournal {
        try SQLiteJournal(
            configuration: SQLiteJournal.Configuration(
                directory: self.temporary.journal,
                partitions: partitions,
                cacheBytesMax: 0,
                walBytesMax: Self.walBytesMax,
                commitSpacing: .zero
            ),
            clock: { .epoch }
        )
    }

    /// The bytes of the write-ahead logs of all files.
    private var walBytes: Int {
        get throws { try self.temporary.bytes("-wal") }
    }

    private func append(_ number: Int, bytes: Int, to journal: SQLiteJournal) -> AppendResult {
        journal.append(Submission(partition: PartitionID(UInt16(number % 8)), records: record(bytes: bytes)))
    }

    @Test func `pushes one after the other leave files in proportion to what they hold`() throws {
        let journal = try self.open()
        defer { journal.close() }
        var content = 0
        // How soon pages are copied is a matter of how busy the disk is, but at some time they are.
        for number in 0..<100_000 {
            #expect(self.append(number, bytes: 130, to: journal).code == nil)
            content += 130
            #expect(try self.walBytes <= Self.walBytesMax)
            let isDone = try number >= 3_000 && self.temporary.bytes("") <= 3 * content
            if isDone { return }
        }
        Issue.record("\(try self.temporary.bytes("")) bytes of files for \(content) of pushes")
    }

    @Test func `commits that come faster than they are copied do not make it large`() throws {
        let journal = try self.open()
        defer { journal.close() }
        let room = DispatchSemaphore(value: 16)
        let largest = Mutex(0)
        for number in 0..<400 {
            room.wait()
            let submission = Submission(partition: PartitionID(UInt16(number % 8)), records: record(bytes: 60_000))
            journal.append(submission) { result in
                let bytes = (try? self.walBytes) ?? .max
                largest.withLock { $0 = max($0, result.code == nil ? bytes : .max) }
                room.signal()
            }
        }
        for _ in 0..<16 { room.wait() }
        for _ in 0..<16 { room.signal() }
        #expect(largest.withLock { $0 } <= Self.walBytesMax)
    }

    @Test func `what waits for a commit is taken in portions that it has room for`() throws {
        let journal = try self.open()
        defer { journal.close() }
        let commits = Mutex(0)
        journal.observeAppends(PartitionID(0)) { _ in commits.withLock { $0 += 1 } }
        let (isHeld, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        journal.append(Submission(partition: PartitionID(1), records: records("first"))) { _ in
            isHeld.signal()
            release.wait()
        }
        isHeld.wait()
        let inbox = Inbox<AppendResult>()
        // A quarter of the bound is what one commit takes: three of these, but not four.
        for _ in 0..<9 {
            let submission = Submission(partition: PartitionID(0), records: record(bytes: 80_000))
            journal.append(submission) { inbox.add($0) }
        }
        release.signal()
        let positions = try inbox.wait(for: 9).map { try $0.get().position.rawValue }
        #expect(positions == Array(1...9))
        // The journal's thread tells of the last commit behind its answers.
        #expect(self.append(1, bytes: 130, to: journal).code == nil)
        #expect(commits.withLock { $0 } == 3)
    }

    @Test func `a submission that is larger than a portion is taken alone`() throws {
        let journal = try self.open()
        defer { journal.close() }
        #expect(self.append(0, bytes: Self.walBytesMax / 2, to: journal).code == nil)
        #expect(self.append(0, bytes: Self.walBytesMax / 2, to: journal).code == nil)
        #expect(try journal.read(PartitionID(0), from: .start, entriesMax: 9).count == 2)
    }
}

// MARK: - Readers

extension WriteAheadLogSizeTests {
    /// A reader of another process, as an operator's shell: it goes on seeing the entries of its beginning.
    private func reader(of file: String) throws -> Database {
        let reader = try Database(path: self.temporary.journal + "/" + file, access: .readOnly)
        try reader.execute("BEGIN")
        _ = try reader.integer("SELECT count(*) FROM entries_0")
        return reader
    }

    @Test func `a reader that stays does not hold on to more than one file's`() throws {
        let journal = try self.open()
        #expect(self.append(0, bytes: 130, to: journal).code == nil)
        let reader = try self.reader(of: "journal-000001.sqlite")
        for number in 1..<200 {
            #expect(self.append(number, bytes: 20_000, to: journal).code == nil)
            #expect(try self.walBytes <= 2 * Self.walBytesMax)
        }
        // Once there was no room left, a new file was begun.
        #expect(try self.temporary.files("journal-").contains("journal-000002.sqlite"))
        #expect(try reader.integer("SELECT count(*) FROM entries_0") == 1)
        for partition in UInt16(0)..<8 {
            #expect(try journal.read(PartitionID(partition), from: .start, entriesMax: 100).count == 25)
        }
        // Once it is gone, nothing is left of what it held on to.
        let old = self.temporary.journal + "/journal-000001.sqlite-wal"
        #expect(LogDirectory.size(of: old) > 0)
        try reader.execute("COMMIT")
        journal.close()
        #expect(LogDirectory.size(of: old) == 0)
    }

    @Test func `what a reader kept from being finished is finished when the log is opened again`() throws {
        let journal = try self.open()
        #expect(self.append(0, bytes: 130, to: journal).code == nil)
        let reader = try self.reader(of: "journal-000001.sqlite")
        journal.endFile()
        for number in 1..<10 { #expect(self.append(number, bytes: 20_000, to: journal).code == nil) }
        journal.close()
        let old = self.temporary.journal + "/journal-000001.sqlite-wal"
        #expect(LogDirectory.size(of: old) > 0)
        try reader.execute("COMMIT")
        let again = try self.open()
        #expect(try again.read(PartitionID(0), from: .start, entriesMax: 100).count == 2)
        again.close()
        #expect(LogDirectory.size(of: old) == 0)
    }

    @Test func `readers of the gateway's own that read all the time are no bar`() throws {
        let journal = try self.open()
        let isOver = Atomic<Bool>(false)
        let readers = DispatchGroup()
        for _ in 0..<2 {
            DispatchQueue(label: "reader").async(group: readers) {
                while !isOver.load(ordering: .relaxed) {
                    _ = try? journal.read(PartitionID(0), from: .start, entriesMax: 10)
                }
            }
        }
        for number in 0..<300 {
            #expect(self.append(number, bytes: 20_000, to: journal).code == nil)
            #expect(try self.walBytes <= 2 * Self.walBytesMax)
        }
        isOver.store(true, ordering: .relaxed)
        readers.wait()
        journal.close()
    }
}

// MARK: - Crashes and results

extension WriteAheadLogSizeTests {
    @Test func `a process that is killed leaves a small one, and what it had not finished is finished`() throws {
        // The crasher's bound is 2 MiB, and the file before may still be on its way.
        let bytesMax = 2 * 2_097_152
        let child = try Child("append", self.temporary.journal)
        for _ in 0..<5_000 { #expect(child.line() != nil) }
        child.kill()
        while child.line() != nil {}
        child.waitForEnd()
        #expect(try self.walBytes <= bytesMax)
        #expect(try self.temporary.files("journal-").filter { $0.hasSuffix(".sqlite") }.count > 2)
        try self.open(partitions: 4).close()
        #expect(try self.walBytes == 0)
    }

    @Test func `a checkpoint that did nothing is no progress`() throws {
        let journal = try self.open()
        #expect(self.append(0, bytes: 130, to: journal).code == nil)
        let path = self.temporary.journal + "/journal-000001.sqlite"
        let database = try Database(path: path, access: .readWrite)
        // It has read nothing yet, and SQLite says OK.
        #expect(throws: SQLiteError.self) { try database.checkpoint() }
        _ = try database.integer("PRAGMA user_version")
        #expect(try database.checkpoint().pages > 0)
        journal.close()
    }
}

extension TemporaryDirectory {
    /// The bytes of the journal's files with this ending.
    func bytes(_ ending: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: self.journal).filter { $0.hasSuffix(ending) }.reduce(0) {
            $0 + LogDirectory.size(of: "\(self.journal)/\($1)")
        }
    }
}
