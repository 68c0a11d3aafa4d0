import Journaling
import Logging
import Partitions
import Synchronization
import Testing
import WidgetModel

/// The bytes that are counted between two looks at the disk, and the messages.
@Suite struct StorageWatchTests {
    private static let mebibyte = FakeDisk.mebibyte

    @Test func `before the first look everything is admitted`() {
        let watch = FakeDisk(usedMebibytes: 5000).watch(isMeasured: false)
        #expect(StorageBudget.Demand.allCases.allSatisfy { watch.admits($0) })
        watch.measure()
        #expect(!watch.admits(.traffic))
        #expect(!watch.admits(.report))
        #expect(watch.admits(.upkeep))
    }

    @Test func `what is written between two looks is counted, and what is on its way`() {
        let disk = FakeDisk(usedMebibytes: 990)
        let watch = disk.watch()
        watch.begin(bytes: 9 * Self.mebibyte)
        #expect(watch.admits(.traffic))
        watch.begin(bytes: Self.mebibyte)
        #expect(!watch.admits(.traffic))
        #expect(watch.admits(.report))
        // One was refused by the journal, the other is in the log.
        watch.end(bytes: Self.mebibyte, isWritten: false)
        #expect(watch.admits(.traffic))
        watch.end(bytes: 9 * Self.mebibyte, isWritten: true)
        #expect(watch.admits(.traffic))
        #expect(watch.budget.used == 999 * Self.mebibyte)
        watch.begin(bytes: Self.mebibyte)
        watch.end(bytes: Self.mebibyte, isWritten: true)
        #expect(!watch.admits(.traffic))
        #expect(watch.budget.level == .full)
        // The next look finds what it is; it is not counted twice.
        disk.use(mebibytes: 999)
        watch.measure()
        #expect(watch.admits(.traffic))
        #expect(watch.budget.used == 999 * Self.mebibyte)
    }

    @Test func `traffic is admitted again as soon as there is room, or a larger bound`() {
        let disk = FakeDisk(usedMebibytes: 1000)
        let watch = disk.watch()
        #expect(!watch.admits(.traffic))
        disk.use(mebibytes: 999)
        watch.measure()
        #expect(watch.admits(.traffic))
        watch.applySettings(StorageBudget.Settings(bytesMax: 900 * Self.mebibyte))
        #expect(!watch.admits(.report))
        watch.applySettings(StorageBudget.Settings())
        #expect(watch.admits(.traffic))
    }

    @Test func `a disk that cannot be measured is what it was, told once`() {
        let disk = FakeDisk(usedMebibytes: 1000)
        let lines = StorageLog()
        let watch = disk.watch(logger: lines.logger)
        disk.use(mebibytes: 0)
        disk.failMeasuring(with: JournalError(.failing, "the disk"))
        for _ in 0..<3 { watch.measure() }
        #expect(!watch.admits(.traffic))
        #expect(lines.levels == [.error, .error])
        disk.failMeasuring(with: nil)
        watch.measure()
        #expect(watch.admits(.traffic))
        #expect(lines.levels == [.error, .error, .notice, .notice])
    }

    @Test func `each change is told once`() {
        let disk = FakeDisk()
        let lines = StorageLog()
        let watch = disk.watch(logger: lines.logger)
        for mebibytes in [799, 800, 850, 950, 999, 1000, 1050, 1064, 1010, 999, 998, 900, 799, 100] {
            disk.use(mebibytes: mebibytes)
            watch.measure()
            watch.measure()
        }
        #expect(lines.levels == [.warning, .error, .notice, .notice])
    }

    @Test func `growth is a day's at the pace of the last one`() {
        let disk = FakeDisk()
        let watch = disk.watch()
        func write(_ mebibytes: Int) {
            watch.begin(bytes: mebibytes * Self.mebibyte)
            watch.end(bytes: mebibytes * Self.mebibyte, isWritten: true)
            watch.measure()
        }
        #expect(watch.growthPerDay == nil)
        disk.time.pass(.seconds(59))
        #expect(watch.growthPerDay == nil)
        disk.time.pass(.seconds(1))
        write(1)
        #expect(watch.growthPerDay == 1440 * Self.mebibyte)
        // Twice a day of one MiB in ten minutes, then a day without: only the last one counts.
        for _ in 0..<288 {
            disk.time.pass(.minutes(10))
            write(1)
        }
        #expect(watch.growthPerDay == 144 * Self.mebibyte)
        for _ in 0..<144 {
            disk.time.pass(.minutes(10))
            write(0)
        }
        #expect(watch.growthPerDay == 0)
    }

    @Test func `a journal counts what it takes`() async throws {
        let disk = FakeDisk(usedMebibytes: 999)
        let watch = disk.watch()
        let memory = MemoryJournal(partitions: 1, clock: { Sports.start })
        let journal = WatchedJournal(memory, readiness: Readiness(), logger: Logger(label: "test"), storage: watch)
        var records = PackedRecords()
        records.append([UInt8](repeating: 1, count: 100_000))
        let submission = Submission(partition: PartitionID(0), records: records)
        memory.failNextAppend(with: JournalError(.full, "the disk"))
        journal.append(submission) { _ in }
        #expect(watch.writtenBytes == 0)
        journal.append(submission) { _ in }
        #expect(watch.writtenBytes == submission.byteCount)
        let effects = [UInt8](repeating: 1, count: 50_000)
        let output = OutputRecord(through: LogPosition(1), engineVersion: 1, runningHash: 0, effects: effects)
        journal.commitOutput(PartitionID(0), expected: nil, output) { _ in }
        #expect(watch.writtenBytes == submission.byteCount + 50_000)
        for _ in 0..<8 { journal.append(submission) { _ in } }
        #expect(watch.admits(.traffic))
        for _ in 0..<3 { journal.append(submission) { _ in } }
        #expect(!watch.admits(.traffic))
    }
}

/// Collects the levels of the logged messages.
private final class StorageLog: Sendable {
    private let lines = Mutex<[Logger.Level]>([])

    var levels: [Logger.Level] { self.lines.withLock { $0 } }
    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private func add(_ level: Logger.Level) { self.lines.withLock { $0.append(level) } }

    private struct Handler: LogHandler {
        let log: StorageLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) { self.log.add(event.level) }
    }
}
