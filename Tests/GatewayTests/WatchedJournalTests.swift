import Journaling
import Logging
import Partitions
import Testing
import TransportSupport
import WidgetModel

@Suite struct WatchedJournalTests {
    private static let records = {
        var records = PackedRecords()
        records.append([8])
        return records
    }()
    private static let tick = Submission(partition: PartitionID(0), records: Self.records)

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

    @Test func `partitions that are stored apart fail apart, and each is tried until it can be written`() {
        let memory = MemoryJournal(partitions: 4, clock: { Instant(seconds: 1_795_262_400) })
        let readiness = Readiness()
        readiness.set(.replay, met: true)
        readiness.set(.listeners, met: true)
        let log = RecordedLog()
        let journal = WatchedJournal(memory, readiness: readiness, logger: log.logger, isApart: true)
        func append(_ partition: UInt16, _ error: JournalError.Code? = nil) {
            if let error { memory.failNextAppend(with: JournalError(error, "no quorum")) }
            journal.append(Submission(partition: PartitionID(partition), records: Self.records)) { _ in }
        }
        append(3, .unknownOutcome)
        append(1, .unknownOutcome)
        append(1, .unknownOutcome)
        append(0)
        #expect(readiness.sentences(readiness.missing) == ["the log cannot be written: partitions 1, 3"])
        append(1)
        #expect(readiness.sentences(readiness.missing) == ["the log cannot be written: partition 3"])
        journal.probe()
        #expect(readiness.isReady)
        #expect((0..<4).map { memory.tail(PartitionID($0)).rawValue } == [1, 1, 0, 1])
        let lost = "pushes are answered 503: \(JournalError(.unknownOutcome, "no quorum"))"
        #expect(
            log.lines == [
                "error the log cannot be written (partition 3); \(lost)",
                "error the log cannot be written (partition 1); \(lost)",
                "notice the log can be written again (partition 1)",
                "notice the log can be written again (partition 3)",
            ]
        )
    }

    @Test func `what is for all partitions is tried for all of them`() {
        let memory = MemoryJournal(partitions: 2, clock: { Instant(seconds: 1_795_262_400) })
        let readiness = Readiness()
        readiness.set(.replay, met: true)
        readiness.set(.listeners, met: true)
        let journal = WatchedJournal(memory, readiness: readiness, logger: Logger(label: "test"), isApart: true)
        memory.failNextAppend(with: JournalError(.unknownOutcome, "no quorum"))
        journal.appendToAll(SubmissionToAll(Self.records), whenDurable: { _ in }, whenPlaced: { _ in })
        journal.append(Self.tick) { _ in }
        #expect(
            readiness.sentences(readiness.missing) == ["the log cannot be written: records for all partitions"]
        )
        journal.probe()
        #expect(readiness.isReady)
        #expect(memory.tail(PartitionID(1)) == LogPosition(1))
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
    fileprivate var tail: LogPosition { self.tail(PartitionID(0)) }

    fileprivate func tail(_ partition: PartitionID) -> LogPosition {
        let entries = try? self.read(partition, from: .start, entriesMax: 100)
        return entries?.last?.position ?? .start
    }
}
