import Engine
import Journaling
import Partitions
import TestSupport
import Testing
import WidgetModel

@Suite struct SubmissionBuilderTests {
    private static func record(_ number: UInt64) -> Record { .push(Sports.push(number, to: "host-\(number)")) }

    private static func unpack(_ records: PackedRecords) -> [[UInt8]] {
        records.ranges.map { Array(records.bytes[$0]) }
    }

    /// The records of submissions by partition.
    private static func unpack(_ submissions: [Submission]) -> [PartitionID: [[UInt8]]] {
        Dictionary(uniqueKeysWithValues: submissions.map { ($0.partition, Self.unpack($0.records)) })
    }

    @Test(arguments: [1, 2, 7] as [Int])
    func `a ticket points at its record`(partitions: Int) throws {
        var builder = SubmissionBuilder(partitions: partitions)
        var random = SplitMix64(seed: UInt64(partitions))
        var expected: [(ticket: SubmissionBuilder.Ticket, bytes: [UInt8])] = []
        var forAll: [[UInt8]] = []
        for number in 0..<200 as Range<UInt64> {
            let record = Self.record(number)
            if random.chance(1, in: 5) {
                let number = builder.appendToAll(record)
                #expect(number == forAll.count)
                forAll.append(record.bytes)
            } else {
                let host = HostKey("host-\(number)")
                let ticket = builder.append(record, for: host)
                #expect(ticket.partition == PartitionID(of: host, among: partitions))
                expected.append((ticket, record.bytes))
            }
        }
        let packed = Self.unpack(builder.takeSubmissions())
        #expect(packed.values.reduce(0) { $0 + $1.count } == expected.count)
        for item in expected { #expect(packed[item.ticket.partition]?[item.ticket.index] == item.bytes) }
        #expect(!builder.isEmpty)
        let taken = builder.takeToAll()
        let submission = try #require(taken)
        #expect(submission.isSame && Self.unpack(submission.records(for: PartitionID(0))) == forAll)
        #expect(builder.isEmpty)
    }

    @Test func `what is not the same for all is kept for each`() throws {
        var builder = SubmissionBuilder(partitions: 3)
        builder.appendToAll(Self.record(1))
        builder.appendToAll(Sports.push(2, to: "host-2"), limits: [5, 0, 7])
        let taken = builder.takeToAll()
        let submission = try #require(taken)
        #expect(!submission.isSame && submission.distinctRecords.count == 3)
        for (partition, limit) in [5, 0, 7].enumerated() {
            var push = Sports.push(2, to: "host-2")
            push.matchedMax = limit
            let records = submission.records(for: PartitionID(UInt16(partition)))
            #expect(Self.unpack(records) == [Self.record(1).bytes, Record.push(push).bytes])
        }
        builder.appendToAll(Self.record(3))
        let next = builder.takeToAll()
        #expect(next?.isSame == true)
    }

    @Test func `a builder that was emptied begins anew`() {
        var builder = SubmissionBuilder(partitions: 3)
        #expect(builder.isEmpty)
        _ = builder.append(Self.record(1), to: PartitionID(1))
        #expect(!builder.isEmpty)
        let first = builder.takeSubmissions()
        #expect(builder.isEmpty)
        let ticket = builder.append(Self.record(2), to: PartitionID(1))
        #expect(ticket.index == 0)
        #expect(Self.unpack(first) == [PartitionID(1): [Self.record(1).bytes]])
        #expect(Self.unpack(builder.takeSubmissions()) == [PartitionID(1): [Self.record(2).bytes]])
    }

    @Test func `submissions are in the order of the partitions and none is empty`() {
        var builder = SubmissionBuilder(partitions: 4)
        for partition in [3, 0, 3] as [UInt16] { _ = builder.append(Self.record(1), to: PartitionID(partition)) }
        #expect(
            builder.takeSubmissions().map { [Int($0.partition.rawValue), $0.records.count] } == [[0, 1], [3, 2]]
        )
    }
}
