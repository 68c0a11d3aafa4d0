import JournalContract
import JournalSQLite
import Journaling
import Testing
import WidgetModel

/// With a spacing of an hour, a writer that waits for another commit waits for the end of the test.
@Suite struct CommitSpacingTests {
    private func harness(_ spacing: Interval) throws -> Harness { try Harness(.sqlite, commitSpacing: spacing) }

    private func submission(_ text: String) -> Submission {
        Submission(partition: PartitionID(0), records: records(text))
    }

    @Test func `a caller that is alone never waits for others`() throws {
        let harness = try self.harness(.hours(1))
        for number in 0..<20 { #expect(throws: Never.self) { try harness.journal.append("push \(number)").get() } }
    }

    @Test func `what comes soon after a commit of several is gathered, and committed when the journal closes`() throws {
        let harness = try self.harness(.hours(1))
        let inbox = Inbox<AppendResult>()
        harness.whileHeld {
            harness.journal.append(self.submission("one")) { inbox.add($0) }
            harness.journal.append(self.submission("two")) { inbox.add($0) }
        }
        #expect(inbox.wait(for: 2).count == 2)
        harness.journal.append(self.submission("three")) { inbox.add($0) }
        harness.journal.append(self.submission("four")) { inbox.add($0) }
        harness.journal.close()
        let results = try inbox.wait(for: 2).map { try $0.get() }
        // The first two are one entry, and so are the two that waited.
        #expect(results.map(\.position.rawValue) == [1, 1, 2, 2])
        #expect(results.map(\.firstRecordIndex) == [0, 1, 0, 1])
    }

    @Test func `without a spacing no writer waits`() throws {
        let harness = try self.harness(.zero)
        let inbox = Inbox<AppendResult>()
        harness.whileHeld {
            harness.journal.append(self.submission("one")) { inbox.add($0) }
            harness.journal.append(self.submission("two")) { inbox.add($0) }
        }
        #expect(inbox.wait(for: 2).count == 2)
        #expect(throws: Never.self) { try harness.journal.append("three").get() }
    }
}
