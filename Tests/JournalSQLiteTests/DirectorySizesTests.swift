import Foundation
import JournalContract
import Journaling
import Testing
import WidgetModel

@testable import JournalSQLite

/// The bytes of a data directory, by the sorts of its files.
@Suite struct DirectorySizesTests {
    @Test func `every file is counted once, under what it is`() throws {
        let temporary = try TemporaryDirectory()
        let journal = try SQLiteJournal(
            configuration: SQLiteJournal.Configuration(directory: temporary.journal, partitions: 1),
            clock: { .epoch }
        )
        defer { journal.close() }
        #expect(journal.append("a").code == nil)
        let archives = try LogDirectory.archives.map { try SQLiteArchive(path: temporary.journal + "/" + $0) }
        defer { for archive in archives { archive.close() } }
        for (name, bytes) in [("snapshots/a.snapshot", 3_000), ("snapshots/b.snapshot.damaged", 5_000), ("notes", 7)] {
            try Data(repeating: 1, count: bytes).write(to: URL(filePath: temporary.journal + "/" + name))
        }
        let sizes = try LogDirectory.sizes(of: temporary.journal)
        func bytes(_ names: [String]) -> Int {
            names.reduce(0) { $0 + LogDirectory.size(of: temporary.journal + "/" + $1) }
        }
        #expect(sizes.log == bytes(["journal-000001.sqlite"]))
        #expect(sizes.writeAheadLog == bytes(["journal-000001.sqlite-wal", "journal-000001.sqlite-shm"]))
        #expect(sizes.writeAheadLog > 0)
        #expect(
            sizes.archives
                == bytes(try LogDirectory.archives.flatMap { try temporary.files(String($0.prefix { $0 != "." })) })
        )
        #expect(sizes.archives > 0)
        #expect(sizes.snapshots == 8_000)
        #expect(sizes.largestSnapshot == 5_000)
        #expect(sizes.other == bytes(["begun", "journal.format", "lock", "notes", "trimmed"]))
        #expect(sizes.free > 0)
        #expect(sizes.fileSystem >= sizes.free)
    }

    @Test func `a directory that is not there is told`() throws {
        let temporary = try TemporaryDirectory()
        #expect(throws: JournalError.self) { try LogDirectory.sizes(of: temporary.journal) }
    }
}
