#if JetStream
import BrokerSupport
import Dispatch
import JournalContract
import JournalStreams
import Journaling
import Synchronization
import Testing
import WidgetModel

@testable import JournalJetStream

/// Where a copy of a log on brokers may end.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .timeLimit(.minutes(60)))
struct CutTests {
    /// Shared with the thread that writes.
    private final class Writing: Sendable {
        let isOver = Atomic(false)
        /// How many submissions to all partitions were.
        let acknowledged = Atomic(0)
    }

    private static let partitions = (0..<3).map { PartitionID(UInt16($0)) }

    /// The records of a partition's entries up to one.
    private static func texts(_ history: JetStreamHistory, _ partition: PartitionID, through end: LogPosition) throws
        -> [String]
    {
        var texts: [String] = []
        var next = LogPosition.start.next
        while next <= end {
            for entry in try history.read(partition, from: next, entriesMax: 256) where entry.position <= end {
                texts += entry.records.map { String(decoding: entry.bytes[$0], as: UTF8.self) }
                next = entry.position.next
            }
        }
        return texts
    }

    @Test func `a cut has what was acknowledged, and of what is for all the same in every partition`() throws {
        let harness = try Harness(try Brokers(), partitions: Self.partitions.count)
        let journal = harness.own
        let history = try JetStreamHistory(harness.configuration)
        // Nothing was ever appended.
        #expect(try history.cut() == [.start, .start, .start])
        let (writing, group) = (Writing(), DispatchGroup())
        // So many at once that the copies of some are on their way at any time.
        for writer in 0..<8 {
            DispatchQueue.global().async(group: group) {
                var number = 0
                while !writing.isOver.load(ordering: .acquiring) {
                    let inbox = Inbox<Bool>()
                    journal.appendToAll(
                        SubmissionToAll(records("all-\(writer)-\(number)")),
                        whenDurable: { inbox.add($0.code == nil) },
                        whenPlaced: { _ in }
                    )
                    number += 1
                    if inbox.wait(for: 1) == [true] { writing.acknowledged.wrappingAdd(1, ordering: .releasing) }
                    if number % 3 == 0 { _ = journal.append("own-\(number)", to: Self.partitions[writer % 3]) }
                }
            }
        }
        defer {
            writing.isOver.store(true, ordering: .releasing)
            group.wait()
        }
        var before = 0
        while before < 1000 {
            before = writing.acknowledged.load(ordering: .acquiring)
            let cut = try history.cut()
            let texts = try zip(Self.partitions, cut).map { partition, end in
                try Self.texts(history, partition, through: end).filter { $0.hasPrefix("all") }
            }
            #expect(texts[0].count >= before)
            #expect(texts[1] == texts[0] && texts[2] == texts[0])
        }
    }

    @Test func `a copy of what came during the call is behind the cut, with all that follows it`() throws {
        let harness = try Harness(try Brokers(), partitions: 2)
        let journal = harness.own
        for text in ["a", "b"] {
            _ = try journal.appendToAll(SubmissionToAll(records("all-\(text)"))).get()
            #expect(journal.append("own-\(text)", to: PartitionID(1)).code == nil)
        }
        let core = harness.own.core
        func last(_ partition: UInt16, _ fan: UInt64, notBefore end: UInt64 = 0) throws -> LogPosition {
            try core.lastEntry(of: PartitionID(partition), withCopiesThrough: fan, notBefore: end)
        }
        #expect(try journal.texts(PartitionID(1)) == [["all-a"], ["own-a"], ["all-b"], ["own-b"]])
        #expect(try (last(0, 0), last(1, 0)) == (.start, .start))
        #expect(try (last(0, 1), last(1, 1)) == (LogPosition(1), LogPosition(2)))
        #expect(try (last(0, 2), last(1, 2)) == (LogPosition(2), LogPosition(4)))
        #expect(try last(1, 1, notBefore: 2) == LogPosition(2))

        // Trimmed meanwhile: the copy of the first one that came during the call may be gone, though a later one is there.
        try core.broker.purge(core.names.input(PartitionID(1)), before: 3)
        let error = #expect(throws: JournalError.self) { try last(1, 0) }
        #expect(error?.code == .corrupt && error?.message.contains("message 1 is gone") == true)
    }
}
#endif
