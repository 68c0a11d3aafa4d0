#if JetStream
import BrokerSupport
import JournalContract
import JournalJetStream
import Journaling
import Testing
import WidgetModel

/// A log on brokers keeps to what every journal must do: on one, and on three.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .serialized)
struct ContractTests {
    private static let rules = JournalContract.journal + JournalContract.snapshots + JournalContract.trimming

    @Test func `a log on one broker keeps to the contract`() throws {
        try Self.check(on: Brokers(1), replicas: 1)
    }

    @Test func `a log on three brokers keeps to the contract`() throws {
        try Self.check(on: Brokers(3), replicas: 3)
    }

    @Test(arguments: [7, 8, 16]) func `a log of many partitions opens again`(partitions: Int) throws {
        let harness = try Harness(try Brokers(), partitions: partitions)
        let id = harness.journal.format.journalID
        try harness.reopen()
        #expect(harness.journal.format.partitions == partitions && harness.journal.format.journalID == id)
    }

    private static func check(on brokers: Brokers, replicas: Int) throws {
        for rule in Self.rules {
            do {
                try rule.check { partitions, limits in
                    try Harness(brokers, partitions: partitions, replicas: replicas, limits: limits)
                }
            } catch {
                Issue.record(error, "\(rule.name)")
            }
        }
    }
}
#endif
