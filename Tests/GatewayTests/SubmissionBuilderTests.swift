import Engine
import Gateway
import Journaling
import TestSupport
import Testing
import WidgetModel

@Suite struct SubmissionBuilderTests {
    private static func record(_ number: UInt64) -> Record { .push(Sports.push(number, to: "host-\(number)")) }

    /// The records of a submission by partition.
    private static func unpack(_ submission: Submission) -> [PartitionID: [[UInt8]]] {
        var all: [PartitionID: [[UInt8]]] = [:]
        for batch in submission.batches {
            all[batch.partition] = batch.records.ranges.map { Array(batch.records.bytes[$0]) }
        }
        return all
    }

    @Test(arguments: [1, 2, 7] as [Int])
    func `a ticket points at its record`(partitions: Int) {
        var builder = SubmissionBuilder(partitions: partitions)
        var random = SplitMix64(seed: UInt64(partitions))
        var expected: [(ticket: SubmissionBuilder.Ticket, bytes: [UInt8])] = []
        for number in 0..<200 as Range<UInt64> {
            let record = Self.record(number)
            if random.chance(1, in: 5) {
                let tickets = builder.appendToAll(record)
                #expect(tickets.map(\.partition) == (0..<partitions).map { PartitionID(UInt16($0)) })
                expected += tickets.map { ($0, record.bytes) }
            } else {
                let host = HostKey("host-\(number)")
                let ticket = builder.append(record, for: host)
                #expect(ticket.partition == PartitionID(of: host, among: partitions))
                expected.append((ticket, record.bytes))
            }
        }
        #expect(builder.recordCount == expected.count)
        let packed = Self.unpack(builder.take())
        #expect(packed.values.reduce(0) { $0 + $1.count } == expected.count)
        for item in expected { #expect(packed[item.ticket.partition]?[item.ticket.index] == item.bytes) }
    }

    @Test func `a builder that was emptied begins anew`() {
        var builder = SubmissionBuilder(partitions: 3)
        #expect(builder.isEmpty)
        _ = builder.append(Self.record(1), to: PartitionID(1))
        #expect(!builder.isEmpty)
        let first = builder.take()
        #expect(builder.isEmpty)
        let ticket = builder.append(Self.record(2), to: PartitionID(1))
        #expect(ticket.index == 0)
        #expect(Self.unpack(first) == [PartitionID(1): [Self.record(1).bytes]])
        #expect(Self.unpack(builder.take()) == [PartitionID(1): [Self.record(2).bytes]])
    }

    @Test func `batches are in the order of the partitions and none is empty`() {
        var builder = SubmissionBuilder(partitions: 4)
        for partition in [3, 0, 3] as [UInt16] { _ = builder.append(Self.record(1), to: PartitionID(partition)) }
        #expect(builder.take().batches.map { [Int($0.partition.rawValue), $0.records.count] } == [[0, 1], [3, 2]])
    }
}
