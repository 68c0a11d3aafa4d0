import Foundation
import JournalContract
import JournalSQLite
import Journaling
import TestSupport
import Testing
import WidgetModel

/// The rules of the journals of one machine beyond the contract: how they pack waiting submissions, and by which clock.
@Suite struct EmbeddedJournalTests {
    @Test(arguments: Store.allCases)
    func `all that waits is packed together, and every receipt names its records' place`(store: Store)
        throws
    {
        let harness = try Harness(store)
        let inbox = Inbox<AppendResult>()
        harness.whileHeld {
            harness.journal.append(Submission(partition: PartitionID(0), records: records("a b"))) {
                inbox.add($0)
            }
            harness.journal.appendToAll(
                SubmissionToAll(records("c")),
                whenDurable: { #expect($0.code == nil) },
                whenPlaced: { inbox.add(.success($0)) }
            )
            harness.journal.append(Submission(partition: PartitionID(1), records: records("d"))) {
                inbox.add($0)
            }
        }
        #expect(
            inbox.wait(for: 4) == [
                .success(receipt(0, 1, 0)),
                .success(receipt(0, 1, 2)),
                .success(receipt(1, 1, 0)),
                .success(receipt(1, 1, 1)),
            ]
        )
        #expect(try harness.journal.texts() == [["a", "b", "c"]])
        #expect(try harness.journal.texts(PartitionID(1)) == [["c", "d"]])
    }

    @Test(arguments: Store.allCases, [-1, 0, 1])
    func `an entry is filled to its limit, not beyond`(store: Store, excess: Int) throws {
        let harness = try Harness(store, limits: JournalLimits(entryBytesMax: 1_000))
        let inbox = Inbox<AppendResult>()
        harness.whileHeld {
            for size in [600, 400 + excess] {
                harness.journal.append(Submission(partition: PartitionID(0), records: record(bytes: size))) {
                    inbox.add($0)
                }
            }
        }
        let second = excess > 0 ? receipt(0, 2, 0) : receipt(0, 1, 1)
        #expect(inbox.wait(for: 2) == [.success(receipt(0, 1, 0)), .success(second)])
        try harness.reopen()
        #expect(try harness.journal.texts().map(\.count) == (excess > 0 ? [1, 1] : [2]))
    }

    @Test(arguments: Store.allCases)
    func `a batch may be as large as its limit, alone in its entry`(store: Store) throws {
        let harness = try Harness(
            store,
            limits: JournalLimits(entryBytesMax: 1_000, batchBytesMax: 5_000)
        )
        func append(_ size: Int) -> AppendResult {
            harness.journal.append(Submission(partition: PartitionID(0), records: record(bytes: size)))
        }
        #expect(append(4_999) == .success(receipt(0, 1, 0)))
        #expect(append(5_000) == .success(receipt(0, 2, 0)))
        #expect(append(5_001).code == .invalid)
        #expect(
            try harness.journal.history.read(PartitionID(0), from: .start, entriesMax: 9).map(\.bytes.count) == [
                4_999, 5_000,
            ]
        )
    }

    @Test(arguments: Store.allCases)
    func `what does not fit into the queue is refused at once, and fits later`(store: Store) throws {
        let harness = try Harness(store, limits: JournalLimits(appendBytesInFlightMax: 1_000))
        let inbox = Inbox<AppendResult>()
        let refused = Inbox<AppendResult>()
        harness.whileHeld {
            for size in [600, 400] {
                harness.journal.append(Submission(partition: PartitionID(0), records: record(bytes: size))) {
                    inbox.add($0)
                }
            }
            harness.journal.append(Submission(partition: PartitionID(0), records: records("a"))) {
                refused.add($0)
            }
            #expect(refused.all.map(\.code) == [.unavailable])
        }
        #expect(inbox.wait(for: 2).map(\.code) == [nil, nil])
        guard case .failure(let error) = refused.all[0] else { return }
        #expect(error.isRetriable)
        #expect(
            harness.journal.append(Submission(partition: PartitionID(0), records: record(bytes: 1_000)))
                .code == nil
        )
    }

    @Test(arguments: Store.allCases)
    func `a queue that may be longer takes more, a shorter one keeps what it has`(store: Store) throws {
        let harness = try Harness(store, limits: JournalLimits(appendBytesInFlightMax: 1_000))
        let inbox = Inbox<AppendResult>()
        func append(_ size: Int) {
            harness.journal.append(Submission(partition: PartitionID(0), records: record(bytes: size))) {
                inbox.add($0)
            }
        }
        harness.whileHeld {
            append(1_000)
            harness.journal.useLimits(JournalLimits(appendBytesInFlightMax: 1_500))
            append(500)
            harness.journal.useLimits(JournalLimits(appendBytesInFlightMax: 400))
            append(300)
        }
        // The one that is refused is told at once.
        #expect(inbox.wait(for: 3).map(\.code) == [.unavailable, nil, nil])
        append(401)
        append(400)
        #expect(inbox.wait(for: 2).suffix(2).map(\.code) == [.unavailable, nil])
    }

    @Test(arguments: Store.allCases)
    func `time never goes back, not even over a restart`(store: Store) throws {
        let harness = try Harness(store)
        harness.clock.set(Instant(seconds: 50))
        #expect(harness.journal.append("a") == .success(receipt(0, 1, 0)))
        harness.clock.set(Instant(seconds: 40))
        #expect(harness.journal.append("b") == .success(receipt(0, 2, 0)))
        #expect(
            harness.journal.append("c", to: PartitionID(1)) == .success(receipt(1, 1, 0))
        )
        try harness.reopen()
        #expect(harness.journal.append("d") == .success(receipt(0, 3, 0)))
        harness.clock.set(Instant(seconds: 60))
        #expect(harness.journal.append("e") == .success(receipt(0, 4, 0)))
        let times = try harness.journal.history.read(PartitionID(0), from: .start, entriesMax: 9).map(
            \.logTime.seconds
        )
        #expect(times == [50, 50, 50, 60])
    }

    @Test(arguments: Store.allCases)
    func `a hint names the newest position, after the receipts`(store: Store) throws {
        let harness = try Harness(store)
        let inbox = Inbox<String>()
        harness.journal.observeAppends(PartitionID(0)) { inbox.add("hint \($0)") }
        harness.journal.observeAppends(PartitionID(1)) { inbox.add("other hint \($0)") }
        let journal = harness.journal
        harness.whileHeld {
            for text in ["a", "b"] {
                journal.append(Submission(partition: PartitionID(0), records: records(text))) { _ in
                    // A durable entry can be read by the time the receipt comes.
                    let count = try? journal.history.read(PartitionID(0), from: .start, entriesMax: 9).count
                    inbox.add("\(text) \(count ?? -1)")
                }
            }
        }
        #expect(inbox.wait(for: 3) == ["a 1", "b 1", "hint 1"])
        _ = journal.append("c")
        #expect(inbox.wait(for: 1) == ["a 1", "b 1", "hint 1", "hint 2"])
    }

    @Test(arguments: [-1, 0, 1])
    func `outputs wait for a later commit where they make one too large, and what is appended does not`(
        excess: Int
    ) throws {
        let harness = try Harness(.sqlite, limits: JournalLimits(outputBytesPerCommit: 1_000))
        let inbox = Inbox<String>()
        harness.whileHeld {
            for (partition, size) in [(0, 600), (1, 400 + excess), (0, 1)] {
                let effects = Array(repeating: UInt8(7), count: size)
                let id = PartitionID(UInt16(partition))
                let before = partition == 0 && size == 1 ? OutputPosition.first : nil
                harness.journal.commitOutput(id, expected: before, output(through: 0, effects: effects)) {
                    inbox.add("\(partition) \(size): \($0.code.map { "\($0)" } ?? "written")")
                }
            }
            harness.journal.append(Submission(partition: PartitionID(0), records: records("a"))) { _ in
                inbox.add("appended")
            }
        }
        let first = "0 600: written"
        let others = ["1 \(400 + excess): written", "0 1: written"]
        // Behind the one that waits all wait, so that none overtakes another of its partition.
        let expected = excess > 0 ? [first, "appended"] + others : [first, others[0], "appended", others[1]]
        let below = [first, others[0], others[1], "appended"]
        #expect(inbox.wait(for: 4) == (excess < 0 ? below : expected))
    }

    @Test func `an output that is larger than a commit's worth goes alone`() throws {
        let harness = try Harness(.sqlite, limits: JournalLimits(outputBytesPerCommit: 1_000))
        let effects = Array(repeating: UInt8(7), count: 5_000)
        #expect(harness.journal.commit(output(through: 0, effects: effects), expected: nil) == .success(.first))
    }

    @Test(arguments: Store.allCases)
    func `of two owners that commit at once exactly one is fenced`(store: Store) throws {
        let harness = try Harness(store)
        let inbox = Inbox<OutputResult>()
        harness.whileHeld {
            for _ in 0..<2 {
                harness.journal.commitOutput(PartitionID(0), expected: nil, output(through: 0)) {
                    inbox.add($0)
                }
            }
            // One owner may have several outputs on their way.
            harness.journal.commitOutput(PartitionID(0), expected: .first, output(through: 0)) {
                inbox.add($0)
            }
        }
        #expect(inbox.wait(for: 3).map(\.code) == [nil, .fenced, nil])
    }

    @Test(arguments: Store.allCases)
    func `outputs have a limit, but a single one is always let in`(store: Store) throws {
        let harness = try Harness(store, limits: JournalLimits(outputBytesMax: 1_000, outputBytesInFlightMax: 1_000))
        let large = output(through: 0, effects: [UInt8](repeating: 1, count: 1_000))
        #expect(harness.journal.commit(large, expected: nil).code == nil)
        let larger = output(through: 0, effects: [UInt8](repeating: 1, count: 1_001))
        #expect(harness.journal.commit(larger, expected: .first).code == .invalid)
        let inbox = Inbox<OutputResult>()
        harness.whileHeld {
            for _ in 0..<2 {
                harness.journal.commitOutput(PartitionID(1), expected: nil, large) { inbox.add($0) }
            }
            #expect(inbox.all.map(\.code) == [.unavailable])
        }
        #expect(inbox.wait(for: 2).map(\.code) == [.unavailable, nil])
    }

    @Test(arguments: UInt64(0)..<6)
    func `both journals do the same, step by step`(seed: UInt64) throws {
        let limits = JournalLimits(entryBytesMax: 500, batchBytesMax: 1_000)
        let memory = try Harness(.memory, partitions: 3, limits: limits)
        let sqlite = try Harness(
            .sqlite,
            partitions: 3,
            limits: limits,
            fileBytesMax: 3_000,
            cacheBytesMax: 900
        )
        var dice = SplitMix64(seed: seed)
        var newest: [OutputPosition?] = [nil, nil, nil]
        for step in 0..<150 {
            let partition = PartitionID(UInt16(dice.next() % 3))
            let note: Comment = "seed \(seed), step \(step)"
            switch dice.next() % 10 {
            case 0..<5:
                let now = Instant(seconds: Int64(dice.next() % 5_000))
                let packed = record(bytes: 130 + Int(dice.next() % 900))
                for harness in [memory, sqlite] { harness.clock.set(now) }
                let submission = Submission(partition: partition, records: packed)
                #expect(memory.journal.append(submission) == sqlite.journal.append(submission), note)
            case 5, 6:
                let expected =
                    dice.chance(3, in: 4) ? newest[Int(partition.rawValue)] : OutputPosition(dice.next() % 4)
                let output = output(
                    through: dice.next() % 8,
                    effects: [UInt8](repeating: 1, count: Int(dice.next() % 300))
                )
                let result = memory.journal.commit(output, expected: expected, to: partition)
                let other = sqlite.journal.commit(output, expected: expected, to: partition)
                #expect(result == other, note)
                if case .success(let position) = result { newest[Int(partition.rawValue)] = position }
            case 7:
                if dice.chance(1, in: 3) { for harness in [memory, sqlite] { try harness.reopen() } }
            default:
                let from = dice.next() % 12
                let first = LogPosition(from)
                let entries = try memory.journal.history.read(partition, from: first, entriesMax: 5)
                #expect(try sqlite.journal.history.read(partition, from: first, entriesMax: 5) == entries, note)
                let position = OutputPosition(from)
                let outputs = try memory.journal.history.readOutputs(partition, from: position, outputsMax: 5)
                #expect(
                    try sqlite.journal.history.readOutputs(partition, from: position, outputsMax: 5) == outputs,
                    note
                )
                let last = try memory.journal.newestOutput(partition)
                #expect(try sqlite.journal.newestOutput(partition) == last, note)
            }
        }
    }
}
