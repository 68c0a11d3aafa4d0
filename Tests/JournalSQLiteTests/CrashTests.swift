import Foundation
import JournalContract
import JournalSQLite
import Journaling
import Testing
import WidgetModel

/// A process is killed in the middle of appends, and the log is opened again.
@Suite struct CrashTests {
    @Test(arguments: [1, 300, 2_000])
    func `every acknowledged submission survives kill -9`(acknowledged: Int) throws {
        let temporary = try TemporaryDirectory()
        // The second round appends to what the first left behind.
        for round in 0..<2 {
            let child = try Child("append", temporary.journal)
            #expect(child.line() == "open")
            var lines: [[UInt64]] = []
            while lines.count < acknowledged, let line = child.line() {
                lines.append(line.split(separator: " ").compactMap { UInt64($0) })
            }
            child.kill()
            while let line = child.line() {
                lines.append(line.split(separator: " ").compactMap { UInt64($0) })
            }
            child.waitForEnd()
            #expect(lines.count >= acknowledged)

            let journal = try SQLiteJournal(
                configuration: SQLiteJournal.Configuration(directory: temporary.journal, partitions: 4),
                clock: { .epoch }
            )
            var entries: [[LogEntry]] = []
            for partition in UInt16(0)..<4 {
                var all: [LogEntry] = []
                while true {
                    let next = LogPosition(UInt64(all.count) + 1)
                    let more = try journal.read(PartitionID(partition), from: next, entriesMax: 100)
                    if more.isEmpty { break }
                    all += more
                }
                entries.append(all)
            }
            for line in lines {
                try #require(line.count == 4)
                let entry = try #require(entries[Int(line[1])].dropFirst(Int(line[2]) - 1).first)
                let ranges = Array(entry.records)
                // A submission has one to three records with its number, one behind the other.
                for index in 0..<(1 + Int(line[0] % 3)) {
                    var reader = ByteReader(entry.bytes, in: ranges[Int(line[3]) + index])
                    #expect(try reader.readFixed64() == line[0], "round \(round)")
                }
            }
            journal.close()
        }
    }
}
