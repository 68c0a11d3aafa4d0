import Journaling
import Testing
import WidgetModel

@Suite struct EntryAssemblerTests {
    /// Records of one byte, each two bytes long in an entry.
    private func records(_ values: UInt8...) -> PackedRecords {
        var packed = PackedRecords()
        for value in values { packed.append([value]) }
        return packed
    }

    private let first = PartitionID(0)
    private let second = PartitionID(1)

    @Test func `submissions share an entry, and receipts say where each begins`() {
        let tails = [
            EntryAssembler.Tail(position: LogPosition(4), logTime: Instant(seconds: 9)), EntryAssembler.Tail(),
        ]
        var assembler = EntryAssembler(tails: tails, now: Instant(seconds: 5), entryBytesMax: 100)
        let one = assembler.add(Submission(partition: self.first, records: self.records(1, 2)))
        let two = assembler.add(SubmissionToAll(each: [self.records(3), self.records(4)]))
        func receipt(_ partition: PartitionID, _ position: UInt64, _ index: Int) -> AppendReceipt {
            AppendReceipt(partition: partition, position: LogPosition(position), firstRecordIndex: index)
        }
        #expect(one == receipt(self.first, 5, 0))
        #expect(two == [receipt(self.first, 5, 2), receipt(self.second, 1, 0)])
        func entry(_ position: UInt64, _ seconds: Int64, _ packed: PackedRecords) -> LogEntry {
            LogEntry(position: LogPosition(position), logTime: Instant(seconds: seconds), packed: packed)
        }
        #expect(
            assembler.finish() == [
                EntryAssembler.Assembled(partition: self.first, entry: entry(5, 9, self.records(1, 2, 3))),
                EntryAssembler.Assembled(partition: self.second, entry: entry(1, 5, self.records(4))),
            ]
        )
        #expect(
            assembler.tails == [
                EntryAssembler.Tail(position: LogPosition(5), logTime: Instant(seconds: 9)),
                EntryAssembler.Tail(position: LogPosition(1), logTime: Instant(seconds: 5)),
            ]
        )
    }

    @Test(arguments: [(max: 4, entries: 1), (max: 3, entries: 2), (max: 1, entries: 2)])
    func `an entry takes submissions up to its limit, and one of any size`(example: (max: Int, entries: Int)) {
        var assembler = EntryAssembler(
            tails: [EntryAssembler.Tail()],
            now: .epoch,
            entryBytesMax: example.max
        )
        for value in UInt8(1)...2 {
            _ = assembler.add(Submission(partition: self.first, records: self.records(value)))
        }
        #expect(assembler.finish().count == example.entries)
    }

    @Test func `a checksum depends on the entry's place and time`() {
        let entry = LogEntry(position: LogPosition(1), logTime: .epoch, packed: self.records(1))
        let moved = LogEntry(position: LogPosition(2), logTime: .epoch, packed: self.records(1))
        let later = LogEntry(position: LogPosition(1), logTime: Instant(seconds: 1), packed: self.records(1))
        let sums = [
            entry.checksum(in: self.first), entry.checksum(in: self.second), moved.checksum(in: self.first),
            later.checksum(in: self.first),
        ]
        #expect(Set(sums).count == 4)
    }
}
