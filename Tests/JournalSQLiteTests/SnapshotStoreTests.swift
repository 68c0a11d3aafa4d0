import Foundation
import JournalContract
import JournalSQLite
import Journaling
import TestSupport
import Testing
import WidgetModel

/// Snapshots beside the log, and the log that they make needless.
@Suite struct SnapshotStoreTests {
    private let temporary: TemporaryDirectory
    private let configuration: SQLiteJournal.Configuration

    init() throws {
        self.temporary = try TemporaryDirectory()
        self.configuration = SQLiteJournal.Configuration(
            directory: self.temporary.journal,
            partitions: 2,
            fileBytesMax: 20_000,
            cacheBytesMax: 0
        )
    }

    private func open(at seconds: Int64 = 1_000) throws(JournalError) -> SQLiteJournal {
        try SQLiteJournal(configuration: self.configuration, clock: { Instant(seconds: seconds) })
    }

    private static func id(_ position: UInt64, partition: UInt16 = 0) -> SnapshotID {
        SnapshotID(
            partition: PartitionID(partition),
            position: LogPosition(position),
            logTime: Instant(seconds: Int64(position))
        )
    }

    private static func write(_ id: SnapshotID, _ frames: [[UInt8]], to store: some SnapshotStore) throws {
        var rest = frames[...]
        try store.write(id) { rest.popFirst() }
    }

    private static func read(_ id: SnapshotID, from store: some SnapshotStore) throws -> [[UInt8]] {
        var frames: [[UInt8]] = []
        try store.read(id) { frames.append($0) }
        return frames
    }

    private func path(of id: SnapshotID) throws -> String {
        let folder = self.temporary.journal + "/snapshots"
        let position = String(id.position.rawValue)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains("0\(position)-") }
        return folder + "/" + (try #require(names.first))
    }

    @Test func `snapshots are listed by partition, the newest first, also after a restart`() throws {
        let frames: [[UInt8]] = [[1, 2, 3], Array(repeating: 9, count: 600_000), [4]]
        let journal = try self.open()
        #expect(try journal.snapshots(PartitionID(0)) == [])
        for position in [3, 12, 7] as [UInt64] { try Self.write(Self.id(position), frames, to: journal) }
        try Self.write(Self.id(5, partition: 1), [[8]], to: journal)
        #expect(try journal.snapshots(PartitionID(0)) == [Self.id(12), Self.id(7), Self.id(3)])
        try journal.remove(Self.id(7))
        try journal.remove(Self.id(7))
        journal.close()
        let reopened = try self.open()
        defer { reopened.close() }
        #expect(try reopened.snapshots(PartitionID(0)) == [Self.id(12), Self.id(3)])
        #expect(try reopened.snapshots(PartitionID(1)) == [Self.id(5, partition: 1)])
        #expect(try Self.read(Self.id(12), from: reopened) == frames)
        #expect(throws: JournalError.self) { try Self.read(Self.id(7), from: reopened) }
        var wanted: [[UInt8]] = []
        try reopened.read(Self.id(12), wanting: { $0 != 9 }) { wanted.append($0) }
        #expect(wanted == [frames[0], frames[2]])
    }

    @Test func `one that could not be written to its end is not there`() throws {
        struct Stop: Error {}
        let journal = try self.open()
        defer { journal.close() }
        var count = 0
        #expect(throws: Stop.self) {
            try journal.write(Self.id(3)) {
                count += 1
                if count == 3 { throw Stop() }
                return Array(repeating: 1, count: 300_000)
            }
        }
        #expect(try journal.snapshots(PartitionID(0)) == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.temporary.journal + "/snapshots") == [])
    }

    @Test func `what a crash left behind is removed, and no snapshot`() throws {
        let journal = try self.open()
        try Self.write(Self.id(3), [[1]], to: journal)
        journal.close()
        let path = try self.path(of: Self.id(3))
        try FileManager.default.copyItem(atPath: path, toPath: path + ".new")
        let reopened = try self.open()
        defer { reopened.close() }
        #expect(try reopened.snapshots(PartitionID(0)) == [Self.id(3)])
        #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    }

    @Test(arguments: Seeds.from(1, count: 3))
    func `a damaged one is refused, set aside and kept`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let journal = try self.open()
        defer { journal.close() }
        let frames: [[UInt8]] = (0..<5).map { Array(repeating: $0, count: 2_000) }
        try Self.write(Self.id(3), frames, to: journal)
        let path = try self.path(of: Self.id(3))
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        for _ in 0..<60 {
            var damaged = whole
            if random.next() % 3 == 0 {
                // A torn write: the bytes behind some page were never written.
                damaged.removeLast(1 + Int(random.next() % UInt64(whole.count)))
            } else {
                damaged[Int(random.next() % UInt64(whole.count))] ^= 1 << UInt8(random.next() % 8)
            }
            try damaged.write(to: URL(fileURLWithPath: path))
            #expect(throws: JournalError.self, "seed \(seed)") { try Self.read(Self.id(3), from: journal) }
        }
        try journal.setAside(Self.id(3))
        #expect(try journal.snapshots(PartitionID(0)) == [])
        #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
    }

    // MARK: Trimming

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.temporary.journal).filter { $0.hasSuffix(".sqlite") }
            .sorted()
    }

    /// Entries of both partitions until there are some files, each with an output behind it.
    private func fill(_ journal: SQLiteJournal, entries: Int) throws {
        var outputs: [OutputPosition?] = try [0, 1].map { try journal.lastOutput(PartitionID($0))?.position }
        for _ in 0..<entries {
            for partition in [0, 1] as [UInt16] {
                let result = journal.append(String(repeating: "x", count: 2_000), to: PartitionID(partition))
                let through = try result.get().position
                let record = output(through: through.rawValue)
                outputs[Int(partition)] = try journal.commit(
                    record,
                    expected: outputs[Int(partition)],
                    to: PartitionID(partition)
                ).get()
            }
        }
    }

    @Test func `whole files go once everything in them is in a snapshot and older than the history`() throws {
        let journal = try self.open(at: 1_000)
        try self.fill(journal, entries: 40)
        let before = try self.files()
        #expect(before.count > 5)
        let all = LogPosition(40)
        // Not old enough, not far enough in one partition, nothing at all.
        #expect(try journal.trim(through: [all, all], loggedBefore: Instant(seconds: 1_000)) == 0)
        #expect(try journal.trim(through: [all, .start], loggedBefore: Instant(seconds: 2_000)) == 0)
        #expect(try self.files() == before)
        let removed = try journal.trim(through: [all, LogPosition(20)], loggedBefore: Instant(seconds: 2_000))
        #expect(removed > 0)
        #expect(try self.files() == Array(before.dropFirst(removed)))
        let first = [try journal.firstEntry(PartitionID(0)), try journal.firstEntry(PartitionID(1))]
        #expect(first.allSatisfy { $0 > LogPosition(1) && $0 <= LogPosition(21) }, "\(first)")
        #expect(try journal.read(PartitionID(1), from: first[1], entriesMax: 100).last?.position == all)
        #expect(throws: JournalError.self) { try journal.read(PartitionID(1), from: .start, entriesMax: 1) }

        // The newest two files stay whatever is asked, and with them every newest output.
        #expect(try journal.trim(through: [all, all], loggedBefore: Instant(seconds: 2_000)) > 0)
        #expect(try self.files().count == 2)
        #expect(try journal.lastOutput(PartitionID(0))?.record.through == all)
        journal.close()

        let reopened = try self.open(at: 2_000)
        defer { reopened.close() }
        try self.fill(reopened, entries: 3)
        let start = try reopened.firstEntry(PartitionID(0))
        #expect(try reopened.read(PartitionID(0), from: start, entriesMax: 100).last?.position == LogPosition(43))
    }

    @Test func `an idle partition's newest output holds the log until there is a newer one`() throws {
        let journal = try self.open(at: 1_000)
        defer { journal.close() }
        let first = try journal.append("a", to: PartitionID(1)).get().position
        let only = try journal.commit(output(through: first.rawValue), expected: nil, to: PartitionID(1))
            .get()
        for _ in 0..<30 { _ = try journal.append(String(repeating: "x", count: 2_000), to: PartitionID(0)).get() }
        let bounds = [LogPosition(30), LogPosition(1)]
        #expect(try journal.trim(through: bounds, loggedBefore: Instant(seconds: 2_000)) == 0)
        _ = try journal.commit(output(through: 1), expected: only, to: PartitionID(1)).get()
        // The writer may have begun another file for it.
        let count = try self.files().count
        #expect(try journal.trim(through: bounds, loggedBefore: Instant(seconds: 2_000)) == count - 2)
        #expect(try journal.lastOutput(PartitionID(1))?.record.through == LogPosition(1))
    }

    @Test func `what is trimmed takes nothing of the disk any more`() throws {
        let journal = try self.open()
        defer { journal.close() }
        try self.fill(journal, entries: 40)
        // Opened for reading as well.
        _ = try journal.read(PartitionID(0), from: .start, entriesMax: 100)
        #expect(try journal.trimAll(through: [LogPosition(40), LogPosition(40)]) > 0)
        // The thread that finishes files may still have the last of them.
        let end = ContinuousClock.now + .seconds(300)
        while !self.removedFilesHeld().isEmpty, ContinuousClock.now < end { _ = journal.append("a") }
        #expect(self.removedFilesHeld() == [])
    }

    /// The journal's files that are removed and that this process has open all the same.
    private func removedFilesHeld() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
            .filter { $0.hasPrefix(self.temporary.journal) && $0.hasSuffix("(deleted)") }
    }

    @Test func `what is trimmed is noted although the disk has no room for a second file`() throws {
        let journal = try self.open()
        try self.fill(journal, entries: 40)
        let files = try self.files().count
        // Nothing can be written where the new note would be.
        let obstacle = self.temporary.journal + "/trimmed.new"
        try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
        #expect(try journal.trimAll(through: [LogPosition(40), LogPosition(40)]) > 0)
        #expect(try self.files().count < files)
        journal.close()
        let reopened = try self.open()
        #expect(try reopened.firstEntry(PartitionID(0)) > LogPosition.start.next)
        reopened.close()
    }

    @Test func `a crash between the note and the removal leaves nothing in the way, a missing file does`() throws {
        let journal = try self.open(at: 1_000)
        try self.fill(journal, entries: 40)
        let kept = try self.files()
        let copies = kept.dropLast(2).map { (self.temporary.journal + "/" + $0, self.temporary.path + "/" + $0) }
        for (path, copy) in copies { try FileManager.default.copyItem(atPath: path, toPath: copy) }
        let all = LogPosition(40)
        #expect(try journal.trim(through: [all, all], loggedBefore: Instant(seconds: 2_000)) == copies.count)
        journal.close()
        // As if the files were still there: they are not needed, and go now.
        for (path, copy) in copies { try FileManager.default.copyItem(atPath: copy, toPath: path) }
        let reopened = try self.open(at: 2_000)
        #expect(try self.files() == Array(kept.suffix(2)))
        #expect(try reopened.read(PartitionID(0), from: all, entriesMax: 2).map(\.position) == [all])
        reopened.close()
        // One that is needed and gone is damage.
        try FileManager.default.removeItem(atPath: self.temporary.journal + "/" + kept[kept.count - 2])
        let error = #expect(throws: JournalError.self) { try self.open() }
        #expect(error?.code == .corrupt)
    }
}
