import Dispatch
import Glibc
import JournalSQLite
import Journaling
import Synchronization
import WidgetModel

/// The embedded journal as the gateway uses it, for `make bench`'s rows of durable appends; `deploy/bench` runs it beside a file.
///
///     BenchmarkJournal DIRECTORY
///
/// Then a line on standard input for each measurement, `append RECORDS CALLERS WAITING MILLISECONDS`: so many callers, each of
/// which keeps so many submissions of so many records on their way. Each measurement leaves as one JSON object on a line.
@main enum BenchmarkJournal {
    /// Words of eight bytes in a record: 200 bytes, as a plain push has about.
    private static let recordWords: UInt64 = 25

    static func main() throws {
        guard CommandLine.arguments.count == 2 else { return print("usage: BenchmarkJournal DIRECTORY") }
        let journal = try SQLiteJournal(
            configuration: SQLiteJournal.Configuration(directory: CommandLine.arguments[1], partitions: 1),
            clock: { Instant(seconds: Int64(time(nil))) }
        )
        Self.say("{\"row\": \"open\"}")
        while let line = readLine() {
            let words = line.split(separator: " ").dropFirst().compactMap { Int($0) }
            guard words.count == 4 else { return print("append RECORDS CALLERS WAITING MILLISECONDS") }
            Self.append(to: journal, records: words[0], callers: words[1], waiting: words[2], milliseconds: words[3])
        }
        journal.close()
    }

    /// The callers' results.
    private struct Tally {
        var records = 0
        /// The entries that hold them: each commit makes one.
        var entries: Set<LogPosition> = []
        var failure: JournalError?
    }

    private static func append(
        to journal: SQLiteJournal,
        records: Int,
        callers: Int,
        waiting: Int,
        milliseconds: Int
    ) {
        let tally = Tallies()
        let start = ContinuousClock.now
        let end = start + .milliseconds(milliseconds)
        let callersAreDone = DispatchGroup()
        for caller in 0..<callers {
            DispatchQueue(label: "caller-\(caller)").async(group: callersAreDone) {
                let room = DispatchSemaphore(value: waiting)
                while ContinuousClock.now < end {
                    room.wait()
                    journal.append(Submission(partition: PartitionID(0), records: Self.packed(records))) { result in
                        tally.add(result, records: records)
                        room.signal()
                    }
                }
                // Accepted submissions count, and so does the time that they took.
                for _ in 0..<waiting { room.wait() }
                for _ in 0..<waiting { room.signal() }
            }
        }
        callersAreDone.wait()
        let elapsed = ContinuousClock.now - start
        let found = tally.all
        if let failure = found.failure { fatalError("an append failed: \(failure)") }
        let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
        let batch = found.records / max(1, found.entries.count)
        Self.say("{\"row\": \"append\", \"perSecond\": \(Double(found.records) / seconds), \"batch\": \(batch)}")
    }

    private final class Tallies: Sendable {
        private let tally = Mutex(Tally())

        var all: Tally { self.tally.withLock { $0 } }

        func add(_ result: Result<AppendReceipt, JournalError>, records: Int) {
            self.tally.withLock { tally in
                switch result {
                case .success(let receipt):
                    tally.records += records
                    tally.entries.insert(receipt.position)
                case .failure(let error): tally.failure = error
                }
            }
        }
    }

    /// Records as an event loop fills them in, anew each time.
    private static func packed(_ records: Int) -> PackedRecords {
        var packed = PackedRecords()
        for record in 0..<UInt64(records) {
            packed.append { writer in
                for word in 0..<Self.recordWords { writer.write(fixed64: record &* 0x9E37_79B9_7F4A_7C15 &+ word) }
            }
        }
        return packed
    }

    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}
