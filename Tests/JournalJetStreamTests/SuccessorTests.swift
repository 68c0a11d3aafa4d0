#if JetStream
import BrokerSupport
import JournalContract
import JournalJetStream
import Journaling
import Testing
import WidgetModel

/// A log on brokers that goes on where another one has ended.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server")) struct SuccessorTests {
    private static let format = JournalFormat(
        journalID: "7d444840-9dc0-41d1-b245-5ffdce74fad2",
        partitions: 2,
        createdAt: Instant(seconds: 1_700_000_000)
    )
    private static let state = SnapshotID(
        partition: PartitionID(0),
        position: LogPosition(1000),
        logTime: Instant(seconds: 1_750_000_000)
    )
    private static let frames: [[UInt8]] = [[1, 2, 3], Array(repeating: 7, count: 1_000_000), [4]]
    private static let ends = [
        PartitionEnd(
            partition: PartitionID(0),
            snapshot: state,
            outputs: [
                OutputEntry(position: OutputPosition(76), record: output(through: 998)),
                OutputEntry(position: OutputPosition(77), record: output(through: 1000)),
            ]
        ),
        PartitionEnd(partition: PartitionID(1), snapshot: nil, outputs: []),
    ]

    /// A cluster of its own, on brokers that may be starting.
    private static func configuration(_ brokers: Brokers, replicas: Int = 1) throws -> JetStreamJournal.Configuration {
        var configuration = try Harness.configuration(brokers, cluster: "moved", partitions: 2)
        configuration.patienceMilliseconds = 600_000
        configuration.replicas = replicas
        return configuration
    }

    private static func begin(_ configuration: JetStreamJournal.Configuration) throws -> JetStreamSuccessor {
        let successor = try JetStreamSuccessor(configuration)
        try successor.begin(Self.format, behind: Self.ends)
        var rest = Self.frames[...]
        try successor.write(Self.state) { rest.popFirst() }
        return successor
    }

    @Test(arguments: [1, 3]) func `it has the other one's id, and goes on behind its positions, on so many brokers`(
        count: Int
    ) throws {
        let brokers = try Brokers(count)
        let configuration = try Self.configuration(brokers, replicas: count)
        let successor = try Self.begin(configuration)
        try successor.notes?.writeNote(.receipts, [9, 9], of: PartitionID(1))
        let early = #expect(throws: JournalError.self) { try Harness.open(configuration) }
        #expect(early?.code == .formatMismatch && early?.message.contains("freshet cluster adopt") == true)
        try successor.finish()

        // Where a stream begins is kept by the brokers, also where nothing was ever in it.
        for number in 0..<count { brokers.kill(number) }
        for number in 0..<count { try brokers.start(number) }
        let harness = try Harness(brokers, configuration)
        let journal = harness.journal
        #expect(journal.format == Self.format)
        #expect(try journal.history.head(PartitionID(0)) == LogPosition(1001))
        #expect(try harness.own.snapshots(PartitionID(0)) == [Self.state])
        var read: [[UInt8]] = []
        try harness.own.read(Self.state) { read.append($0) }
        #expect(read == Self.frames)
        #expect(try harness.own.readNote(.receipts, of: PartitionID(1)) == [9, 9])
        #expect(try harness.own.readNote(.receipts, of: PartitionID(0)) == nil)

        #expect(journal.append("a") == .success(receipt(0, 1001, 0)))
        #expect(journal.append("b", to: PartitionID(1)) == .success(receipt(1, 1, 0)))
        let all = try journal.appendToAll(SubmissionToAll(records("c"))).get()
        #expect(all == [receipt(0, 1002, 0), receipt(1, 2, 0)])
        try harness.own.waitUntilPlaced()
        let entries = try journal.readNow(PartitionID(0), from: LogPosition(1001), entriesMax: 9)
        #expect(entries.map(\.position) == [LogPosition(1001), LogPosition(1002)])
        #expect(entries.allSatisfy { $0.logTime > Self.state.logTime })

        #expect(try journal.newestOutput(PartitionID(0)) == Self.ends[0].outputs[1])
        #expect(journal.commit(output(through: 1001), expected: nil).code == .fenced)
        #expect(journal.commit(output(through: 1001), expected: OutputPosition(77)) == .success(OutputPosition(78)))
        #expect(journal.commit(output(through: 1), expected: nil, to: PartitionID(1)) == .success(.first))
        let history = try JetStreamHistory(configuration)
        #expect(
            try history.newestOutputs(PartitionID(0), max: 2).map(\.position) == [
                OutputPosition(77), OutputPosition(78),
            ]
        )
        #expect(try history.newestOutputs(PartitionID(0), max: 9).count == 3)
        // Trimmed entries are counted from where the log begins.
        #expect(try harness.own.trimAll(through: [LogPosition(1001), .start]) == 1)
        #expect(try journal.history.head(PartitionID(0)) == LogPosition(1002))
        #expect(throws: JournalError.self) { try successor.check(Self.format) }
        #expect(throws: JournalError.self) { _ = try successor.discard() }
        #expect(try journal.texts(PartitionID(1)) == [["b"], ["c"]])
    }

    @Test func `what was begun and not finished is begun anew, or removed; that of another log is left alone`() throws {
        let brokers = try Brokers()
        let configuration = try Self.configuration(brokers)
        let first = try Self.begin(configuration)
        let second = try Self.begin(configuration)
        let other = JournalFormat(journalID: "another", partitions: 2, createdAt: Instant(seconds: 1))
        let fault = #expect(throws: JournalError.self) { try second.begin(other, behind: Self.ends) }
        #expect(fault?.message.contains("--discard") == true)
        // The first one has lost what it made.
        #expect(throws: JournalError.self) { try first.finish() }
        #expect(try second.discard())
        #expect(try !second.discard())
        let third = try Self.begin(configuration)
        try third.finish()
        let harness = try Harness(brokers, configuration)
        #expect(try harness.own.snapshots(PartitionID(0)) == [Self.state])
    }

    @Test func `states that the brokers cannot keep twice are refused, with what to set`() throws {
        let brokers = try Brokers()
        var configuration = try Self.configuration(brokers)
        configuration.streamBytesMax = 2_500_000
        let fault = #expect(throws: JournalError.self) { try Self.begin(configuration).finish() }
        #expect(fault?.code == .full && fault?.message.contains("maxStreamBytes") == true)
        configuration.streamBytesMax = 4_000_000
        try Self.begin(configuration).finish()
    }
}
#endif
