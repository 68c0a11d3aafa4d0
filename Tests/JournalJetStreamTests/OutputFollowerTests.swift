#if JetStream
import BrokerSupport
import JournalContract
import JournalJetStream
import Journaling
import Synchronization
import Testing
import WidgetModel

/// Outputs that another process has written, read as they come, on real brokers.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .serialized)
struct OutputFollowerTests {
    private static let partition = PartitionID(0)

    private static func commit(_ range: ClosedRange<UInt64>, to journal: any Journal) {
        for number in range {
            #expect(journal.append("e\(number)").code == nil)
            let expected = number == 1 ? nil : OutputPosition(number - 1)
            let result = journal.commit(output(through: number), expected: expected)
            #expect((try? result.get()) == OutputPosition(number))
        }
    }

    /// Follows outputs, and returns the told positions; those where reading begins are negative numbers.
    private static func follow(_ journal: JetStreamJournal, from position: OutputPosition?, until last: UInt64)
        -> Inbox<Int64>
    {
        let inbox = Inbox<Int64>()
        journal.followOutputs(Self.partition, from: position) { news in
            switch news {
            case .quiet: return true
            case .begins(let position): inbox.add(-Int64(position.rawValue))
            case .output(let output):
                inbox.add(Int64(output.position.rawValue))
                return output.position.rawValue < last
            }
            return true
        }
        return inbox
    }

    @Test func `outputs come in order, from the newest ones or from a place on, and until that is enough`() throws {
        let harness = try Harness(try Brokers())
        let other = try Harness.open(harness.configuration)
        Self.commit(1...3, to: other)
        let all = Self.follow(harness.own, from: nil, until: 5)
        #expect(all.wait(for: 4) == [-1, 1, 2, 3])
        Self.commit(4...5, to: other)
        #expect(all.wait(for: 2).suffix(2) == [4, 5])
        // The thread is free again.
        let some = Self.follow(harness.own, from: OutputPosition(4), until: 6)
        #expect(some.wait(for: 3) == [-4, 4, 5])
        harness.brokers.kill(0)
        try harness.brokers.start(0)
        Self.commit(6...6, to: other)
        while !some.wait(for: 1).contains(6) {}
        // Where it goes on is told each time that it is asked again.
        #expect(Set(some.all.dropFirst(3)).subtracting([-6]) == [6])
        other.close()
    }

    @Test func `what was let go of is told as missing`() throws {
        let harness = try Harness(try Brokers())
        Self.commit(1...4, to: harness.journal)
        #expect(try harness.own.trimAll(through: [LogPosition(3)]) == 1)
        let inbox = Self.follow(harness.own, from: .first, until: 4)
        let told = inbox.wait(for: 2)
        #expect((told.first ?? 0) < -1 && told.dropFirst().first == -(told.first ?? 0))
    }

    @Test func `a note is what was written last, for every process that has the log open`() throws {
        let harness = try Harness(try Brokers(), partitions: 2)
        let other = try Harness.open(harness.configuration)
        #expect(try other.readNote(.receipts, of: Self.partition) == nil)
        for bytes in [[UInt8](), [1, 2, 3]] { try harness.own.writeNote(.receipts, bytes, of: Self.partition) }
        #expect(try other.readNote(.receipts, of: Self.partition) == [1, 2, 3])
        #expect(try other.readNote(.receipts, of: PartitionID(1)) == nil)
        other.close()
    }
}
#endif
