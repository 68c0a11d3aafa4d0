import Dispatch
import Foundation
import Journaling
import Testing
import WidgetModel

extension JournalContract {
    private static let partition = PartitionID(0)

    /// Committing outputs and reading them.
    static let outputs: [JournalContract] = [
        JournalContract("outputs follow each other, and only behind the newest") { make in
            let bench = try make(2, JournalLimits())
            for text in ["a", "b"] { #expect(bench.journal.append(text).code == nil) }
            #expect(try bench.journal.newestOutput(partition) == nil)
            #expect(bench.journal.commit(output(through: 1), expected: .first).code == .fenced)
            #expect(bench.journal.commit(output(through: 1), expected: nil) == .success(.first))
            #expect(bench.journal.commit(output(through: 1), expected: nil).code == .fenced)
            let second = bench.journal.commit(output(through: 2, effects: []), expected: .first)
            #expect(second == .success(OutputPosition(2)))
            #expect(bench.journal.commit(output(through: 2), expected: .first).code == .fenced)
            let all = [
                OutputEntry(position: .first, record: output(through: 1)),
                OutputEntry(position: OutputPosition(2), record: output(through: 2, effects: [])),
            ]
            for isReopened in [false, true] {
                if isReopened { try bench.reopen() }
                let history = bench.journal.history
                #expect(try bench.journal.newestOutput(partition) == all[1])
                #expect(try bench.journal.newestOutput(PartitionID(1)) == nil)
                #expect(try history.readOutputs(partition, from: .first, outputsMax: 9) == all)
                #expect(try history.readOutputs(partition, from: .first, outputsMax: 1) == [all[0]])
                #expect(try history.readOutputs(partition, from: OutputPosition(3), outputsMax: 9) == [])
                #expect(try history.readOutputs(partition, from: .first, outputsMax: 0) == [])
                #expect(try history.readOutputs(PartitionID(1), from: .first, outputsMax: 9) == [])
            }
            let third = bench.journal.commit(output(through: 2), expected: OutputPosition(2))
            #expect(third == .success(OutputPosition(3)))
        },
        JournalContract("of two owners that commit at once exactly one is fenced") { make in
            let bench = try make(1, JournalLimits())
            let journal = bench.journal
            var expected: OutputPosition?
            for _ in 0..<20 {
                let inbox = Inbox<OutputResult>()
                let known = expected
                DispatchQueue.concurrentPerform(iterations: 2) { owner in
                    let own = output(through: 0, effects: [UInt8(owner)])
                    journal.commitOutput(partition, expected: known, own) { inbox.add($0) }
                }
                let codes = inbox.wait(for: 2).map(\.code)
                #expect(codes == [nil, .fenced] || codes == [.fenced, nil])
                expected = expected?.next ?? .first
            }
            #expect(try journal.newestOutput(partition)?.position == OutputPosition(20))
        },
        JournalContract("one owner may have several outputs on their way") { make in
            let bench = try make(1, JournalLimits())
            let inbox = Inbox<OutputResult>()
            var expected: OutputPosition?
            for number in 0..<10 as Range<UInt8> {
                bench.journal.commitOutput(partition, expected: expected, output(through: 0, effects: [number])) {
                    inbox.add($0)
                }
                expected = expected?.next ?? .first
            }
            #expect(inbox.wait(for: 10) == (1...10).map { .success(OutputPosition($0)) })
            let all = try bench.journal.history.readOutputs(partition, from: .first, outputsMax: 99)
            #expect(all.map(\.record.effects) == (0..<10).map { [$0] })
        },
        JournalContract("an output cannot speak of entries that there are none of") { make in
            let bench = try make(2, JournalLimits())
            #expect(bench.journal.append("a").code == nil)
            #expect(bench.journal.commit(output(through: 2), expected: nil).code == .invalid)
            #expect(bench.journal.commit(output(through: 1), expected: nil).code == nil)
            let elsewhere = bench.journal.commit(output(through: 0), expected: nil, to: PartitionID(2))
            #expect(elsewhere.code == .invalid)
        },
        JournalContract("an output holds an effect of 900,000 bytes, and not more") { make in
            let bench = try make(1, JournalLimits())
            let limit = JournalLimits().outputBytesMax
            #expect(JournalLimits.effectBytesMax == 900_000 && limit == JournalLimits.effectBytesMax + 9)
            var expected: OutputPosition?
            for size in [limit - 1, limit] {
                let whole = output(through: 0, effects: [UInt8](repeating: 7, count: size))
                let result = bench.journal.commit(whole, expected: expected)
                #expect(result.code == nil)
                expected = try? result.get()
                #expect(try bench.journal.newestOutput(partition)?.record == whole)
            }
            let larger = output(through: 0, effects: [UInt8](repeating: 7, count: limit + 1))
            #expect(bench.journal.commit(larger, expected: expected).code == .invalid)
            try bench.reopen()
            #expect(try bench.journal.newestOutput(partition)?.record.effects.count == limit)
        },
    ]

    /// Opening and closing.
    static let life: [JournalContract] = [
        JournalContract("closing finishes what was accepted and refuses what comes after, any number of times") {
            make in
            let bench = try make(1, JournalLimits())
            let inbox = Inbox<AppendResult>()
            for _ in 0..<100 {
                bench.journal.append(Submission(partition: partition, records: records("a"))) { inbox.add($0) }
            }
            bench.journal.close()
            #expect(inbox.all.map(\.code) == Array(repeating: nil, count: 100))
            bench.journal.close()
            #expect(bench.journal.append("b").code == .closed)
            #expect(bench.journal.appendToAll(SubmissionToAll(records("b"))).code == .closed)
            #expect(bench.journal.commit(output(through: 0), expected: nil).code == .closed)
            #expect(throws: JournalError(.closed, "the journal is closed")) {
                try bench.journal.readNow(partition, from: .start, entriesMax: 1)
            }
            try bench.reopen()
            #expect(try bench.journal.texts().joined().count == 100)
        },
        JournalContract("a callback may close the journal") { make in
            let bench = try make(1, JournalLimits())
            let inbox = Inbox<AppendResult>()
            let journal = bench.journal
            journal.append(Submission(partition: partition, records: records("a"))) {
                journal.close()
                inbox.add($0)
            }
            #expect(inbox.wait(for: 1).map(\.code) == [nil])
            try bench.reopen()
            #expect(try bench.journal.texts() == [["a"]])
        },
        JournalContract("the format is the same after a restart") { make in
            let bench = try make(3, JournalLimits())
            let format = bench.journal.format
            #expect(format.partitions == 3)
            #expect(format.formatVersion == JournalFormat.currentVersion)
            #expect(UUID(uuidString: format.journalID) != nil)
            #expect(bench.journal.history.format == format)
            try bench.reopen()
            #expect(bench.journal.format == format)
        },
    ]
}
