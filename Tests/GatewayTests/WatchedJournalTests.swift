import Journaling
import Logging
import Partitions
import Testing
import WidgetModel

@Suite struct WatchedJournalTests {
    private static let tick = {
        var records = PackedRecords()
        records.append([8])
        return Submission(partition: PartitionID(0), records: records)
    }()

    @Test(arguments: [JournalError.Code.full, .readOnly, .failing, .unknownOutcome])
    func `a log that cannot be written is not ready until it can`(code: JournalError.Code) {
        let memory = MemoryJournal(partitions: 1, clock: { Instant(seconds: 1_795_262_400) })
        let readiness = Readiness()
        let journal = WatchedJournal(memory, readiness: readiness, logger: Logger(label: "test"))
        memory.failNextAppend(with: JournalError(code, "the disk"))
        journal.append(Self.tick) { _ in }
        #expect(readiness.missing.contains(.journal))
        journal.append(Self.tick) { _ in }
        #expect(!readiness.missing.contains(.journal))
    }

    @Test func `a gateway without senders finds out by itself that the disk is back`() {
        let memory = MemoryJournal(partitions: 1, clock: { Instant(seconds: 1_795_262_400) })
        let readiness = Readiness()
        let journal = WatchedJournal(memory, readiness: readiness, logger: Logger(label: "test"))
        // Nothing is written while nothing is wrong.
        journal.probe()
        #expect(memory.reopened().tail == .start)
        memory.failNextAppend(with: JournalError(.failing, "the disk"))
        memory.failNextAppend(with: JournalError(.failing, "the disk, still"))
        journal.append(Self.tick) { _ in }
        journal.probe()
        #expect(readiness.missing.contains(.journal))
        journal.probe()
        #expect(!readiness.missing.contains(.journal))
        journal.probe()
        #expect(memory.reopened().tail == LogPosition(1))
    }

    @Test func `a full queue says nothing of the disk`() {
        let memory = MemoryJournal(partitions: 1, clock: { Instant(seconds: 1_795_262_400) })
        let readiness = Readiness()
        let journal = WatchedJournal(memory, readiness: readiness, logger: Logger(label: "test"))
        memory.failNextAppend(with: JournalError(.unavailable, "too much waits"))
        journal.append(Self.tick) { _ in }
        #expect(!readiness.missing.contains(.journal))
    }
}

extension MemoryJournal {
    /// The position of the newest entry of the first partition.
    fileprivate var tail: LogPosition {
        let entries = try? self.read(PartitionID(0), from: .start, entriesMax: 100)
        return entries?.last?.position ?? .start
    }
}
