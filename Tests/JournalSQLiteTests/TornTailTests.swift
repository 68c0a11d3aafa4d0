import Foundation
import JournalContract
import Journaling
import TestSupport
import Testing
import WidgetModel

@testable import JournalSQLite

/// The log's end is torn or damaged: it is cut at the last good commit, and said.
@Suite struct TornTailTests {
    /// A page of the log with its header, as it stands in the write-ahead log.
    private static let frameBytes = SQLiteJournal.pageBytes + 24

    private let temporary: TemporaryDirectory
    private let configuration: SQLiteJournal.Configuration

    init() throws {
        self.temporary = try TemporaryDirectory()
        self.configuration = SQLiteJournal.Configuration(directory: self.temporary.journal, partitions: 1)
    }

    private func open() throws(JournalError) -> SQLiteJournal {
        try SQLiteJournal(configuration: self.configuration, clock: { Instant(seconds: 1_000) })
    }

    /// A directory as a crash leaves it: the committed entries are in the write-ahead log.
    private func crashed(entries: Int) throws -> (directory: TemporaryDirectory, log: URL) {
        let journal = try self.open()
        for number in 0..<entries { _ = try journal.append("entry-\(number)").get() }
        let copy = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: self.temporary.journal, toPath: copy.journal)
        journal.close()
        return (copy, URL(fileURLWithPath: copy.journal + "/journal-000001.sqlite-wal"))
    }

    private static func reopened(_ directory: TemporaryDirectory) throws -> (texts: [[String]], cut: String?) {
        let journal = try SQLiteJournal(
            configuration: SQLiteJournal.Configuration(directory: directory.journal, partitions: 1),
            clock: { Instant(seconds: 1_000) }
        )
        defer { journal.close() }
        return (try journal.texts(), journal.cut)
    }

    @Test func `a log that ends well says nothing`() throws {
        let (directory, _) = try self.crashed(entries: 5)
        let (texts, cut) = try Self.reopened(directory)
        #expect(texts.count == 5)
        #expect(cut == nil)
        let again = try Self.reopened(directory)
        #expect(again.texts.count == 5)
        #expect(again.cut == nil)
    }

    @Test(arguments: Seeds.from(1, count: 12))
    func `a torn end is cut at the last good commit, and told`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let (directory, log) = try self.crashed(entries: 5)
        var bytes = try Data(contentsOf: log)
        // The last frame is the last entry's commit.
        bytes.removeLast(1 + Int(random.next() % UInt64(Self.frameBytes)))
        try bytes.write(to: log)
        let (texts, cut) = try Self.reopened(directory)
        #expect(texts == (0..<4).map { ["entry-\($0)"] }, "seed \(seed)")
        #expect(cut?.contains("are removed") == true, "seed \(seed): \(String(describing: cut))")
    }

    @Test(arguments: Seeds.from(21, count: 12))
    func `a bit that flips loses what comes behind it, and that is told as a loss`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let (directory, log) = try self.crashed(entries: 8)
        var bytes = try Data(contentsOf: log)
        // In one of the last frames, all of which hold entries.
        let place = bytes.count - 4 * Self.frameBytes + Int(random.next() % UInt64(3 * Self.frameBytes))
        bytes[place] ^= 1 << UInt8(random.next() % 8)
        try bytes.write(to: log)
        let (texts, cut) = try Self.reopened(directory)
        #expect(texts.count < 8, "seed \(seed)")
        #expect(texts == (0..<texts.count).map { ["entry-\($0)"] }, "seed \(seed)")
        #expect(cut?.contains("are removed") == true, "seed \(seed): \(String(describing: cut))")
    }
}
