import Foundation
import Glibc
import JournalContract
import JournalSQLite
import Journaling
import Testing
import WidgetModel

/// The disk fails, and comes back.
@Suite struct DiskFaultTests {
    private let temporary: TemporaryDirectory
    private let configuration: SQLiteJournal.Configuration
    private let journal: SQLiteJournal

    init() throws {
        SyncFaults.install()
        let temporary = try TemporaryDirectory()
        let configuration = SQLiteJournal.Configuration(
            directory: temporary.journal,
            partitions: 1,
            fileBytesMax: 20_000,
            cacheBytesMax: 0
        )
        self.temporary = temporary
        self.configuration = configuration
        self.journal = try SQLiteJournal(
            configuration: configuration,
            clock: { Instant(seconds: 1_000) }
        )
    }

    /// Closes and opens again, and returns the log's texts.
    private func reopened() throws -> [[String]] {
        self.journal.close()
        let journal = try self.open()
        defer { journal.close() }
        return try journal.texts()
    }

    private func open() throws(JournalError) -> SQLiteJournal {
        try SQLiteJournal(configuration: self.configuration, clock: { Instant(seconds: 1_000) })
    }

    @Test(arguments: [
        (error: ENOSPC, code: JournalError.Code.full),
        (error: EDQUOT, code: .full),
        (error: EFBIG, code: .full),
        (error: EROFS, code: .readOnly),
    ])
    func `a disk that takes nothing fails the append, and the next one works when it is mended`(
        example: (error: Int32, code: JournalError.Code)
    ) throws {
        #expect(self.journal.append("a").code == nil)
        DiskFaults.arm(self.temporary.path, error: example.error)
        let results = [self.journal.append("b"), self.journal.append("c")]
        let commit = self.journal.commit(output(through: 1), expected: nil)
        DiskFaults.disarm(self.temporary.path)
        #expect(results.map(\.code) == [example.code, example.code], "\(results)")
        #expect(commit.code == example.code)
        #expect(try self.journal.texts() == [["a"]])
        #expect(self.journal.append("d") == .success(receipt(0, 2, 0)))
        #expect(self.journal.commit(output(through: 2), expected: nil) == .success(.first))
        #expect(try self.reopened() == [["a"], ["d"]])
    }

    @Test(arguments: 0..<4)
    func `after a passing error it is known that nothing was written`(spared: Int) throws {
        #expect(self.journal.append("a").code == nil)
        DiskFaults.arm(self.temporary.path, error: EIO, sparing: spared, count: 1)
        let result = self.journal.append("b")
        DiskFaults.disarm(self.temporary.path)
        guard result.code != nil else {
            // The transaction took fewer writes than were spared.
            #expect(try self.reopened() == [["a"], ["b"]])
            return
        }
        #expect(result.code == .failing)
        #expect(self.journal.append("c") == .success(receipt(0, 2, 0)))
        #expect(try self.reopened() == [["a"], ["c"]])
    }

    @Test func `a sync that fails once is followed by one that settles the outcome`() throws {
        #expect(self.journal.append("a").code == nil)
        DiskFaults.armSync(self.temporary.path, error: EIO, count: 1)
        let result = self.journal.append("b")
        DiskFaults.disarm(self.temporary.path)
        #expect(result.code == .failing)
        #expect(try self.journal.texts() == [["a"]])
        #expect(try self.reopened() == [["a"]])
    }

    @Test func `syncs that keep failing leave the outcome unknown, and the next commit settles it`()
        throws
    {
        #expect(self.journal.append("a").code == nil)
        DiskFaults.armSync(self.temporary.path, error: EIO)
        let result = self.journal.append("b")
        let commit = self.journal.commit(output(through: 1), expected: nil)
        DiskFaults.disarm(self.temporary.path)
        #expect(result.code == .unknownOutcome)
        #expect(commit.code == .unknownOutcome)
        #expect(try self.journal.texts() == [["a"]])
        #expect(try self.journal.lastOutput(PartitionID(0)) == nil)
        #expect(self.journal.append("c") == .success(receipt(0, 2, 0)))
        #expect(try self.reopened() == [["a"], ["c"]])
    }

    @Test func `a file that cannot be begun leaves the old one in use, and is begun later`() throws {
        func append(_ count: Int, to journal: SQLiteJournal) {
            for number in 0..<count {
                let result = journal.append(
                    Submission(partition: PartitionID(0), records: record(bytes: 2_000))
                )
                #expect(result.code == nil, "append \(number)")
            }
        }
        let second = self.temporary.journal + "/journal-000002"
        DiskFaults.arm(second, error: ENOSPC)
        append(30, to: self.journal)
        self.journal.close()
        #expect(try self.temporary.files("journal-") == ["journal-000001.sqlite"])
        DiskFaults.disarm(second)
        let again = try self.open()
        append(10, to: again)
        #expect(try again.texts().count == 40)
        again.close()
        #expect(try self.temporary.files("journal-").count > 1)
        #expect(try self.reopened().count == 40)
    }
}
