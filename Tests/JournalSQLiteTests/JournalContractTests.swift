import Foundation
import JournalSQLite
import Journaling
import TestSupport
import Testing
import WidgetModel

/// What every journal must do.
@Suite struct JournalContractTests {
    @Test(arguments: Store.allCases)
    func `entries come back in order, from position 1 on, without a gap`(store: Store) throws {
        let harness = try Harness(store)
        #expect(try harness.journal.read(PartitionID(0), from: .start, entriesMax: 9).isEmpty)
        #expect(harness.journal.append("a b") == .success([receipt(0, 1, 0)]))
        #expect(harness.journal.append("c") == .success([receipt(0, 2, 0)]))
        #expect(harness.journal.append("d", to: PartitionID(1)) == .success([receipt(1, 1, 0)]))
        #expect(harness.journal.append("e") == .success([receipt(0, 3, 0)]))
        #expect(try harness.journal.texts() == [["a", "b"], ["c"], ["e"]])
        #expect(try harness.journal.texts(PartitionID(1)) == [["d"]])
        try harness.reopen()
        #expect(try harness.journal.texts() == [["a", "b"], ["c"], ["e"]])
        #expect(harness.journal.append("f") == .success([receipt(0, 4, 0)]))
        #expect(try harness.journal.texts() == [["a", "b"], ["c"], ["e"], ["f"]])
    }

    @Test(arguments: Store.allCases)
    func `reading begins where it is told and ends at the end`(store: Store) throws {
        let harness = try Harness(store)
        for text in ["a", "b", "c"] { _ = harness.journal.append(text) }
        func positions(_ from: UInt64, _ max: Int) throws -> [UInt64] {
            try harness.journal.read(PartitionID(0), from: LogPosition(from), entriesMax: max).map(
                \.position.rawValue
            )
        }
        for isReopened in [false, true] {
            if isReopened { try harness.reopen() }
            #expect(try positions(0, 2) == [1, 2])
            #expect(try positions(1, 9) == [1, 2, 3])
            #expect(try positions(2, 1) == [2])
            #expect(try positions(3, 9) == [3])
            #expect(try positions(4, 9) == [])
            #expect(try positions(.max, 9) == [])
            #expect(try positions(1, 0) == [])
        }
    }

    @Test(arguments: Store.allCases)
    func `all that waits is packed together, and every receipt names its records' place`(store: Store)
        throws
    {
        let harness = try Harness(store)
        let inbox = Inbox<AppendResult>()
        let both = Submission([
            Submission.Batch(partition: PartitionID(0), records: records("c")),
            Submission.Batch(partition: PartitionID(1), records: records("c")),
        ])
        harness.whileHeld {
            harness.journal.append(Submission(partition: PartitionID(0), records: records("a b"))) {
                inbox.add($0)
            }
            harness.journal.append(both) { inbox.add($0) }
            harness.journal.append(Submission(partition: PartitionID(1), records: records("d"))) {
                inbox.add($0)
            }
        }
        #expect(
            inbox.wait(for: 3) == [
                .success([receipt(0, 1, 0)]),
                .success([receipt(0, 1, 2), receipt(1, 1, 0)]),
                .success([receipt(1, 1, 1)]),
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
        #expect(inbox.wait(for: 2) == [.success([receipt(0, 1, 0)]), .success([second])])
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
        #expect(append(4_999) == .success([receipt(0, 1, 0)]))
        #expect(append(5_000) == .success([receipt(0, 2, 0)]))
        #expect(append(5_001).code == .invalid)
        #expect(
            try harness.journal.read(PartitionID(0), from: .start, entriesMax: 9).map(\.bytes.count) == [
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
            harness.journal.use(appendBytesInFlightMax: 1_500, outputBytesPerCommit: 1_000)
            append(500)
            harness.journal.use(appendBytesInFlightMax: 400, outputBytesPerCommit: 1_000)
            append(300)
        }
        // The one that is refused is told at once.
        #expect(inbox.wait(for: 3).map(\.code) == [.unavailable, nil, nil])
        append(401)
        append(400)
        #expect(inbox.wait(for: 2).suffix(2).map(\.code) == [.unavailable, nil])
    }

    @Test(arguments: Store.allCases)
    func `impossible submissions are refused and change nothing`(store: Store) throws {
        let harness = try Harness(store)
        func batch(_ partition: UInt16, _ text: String) -> Submission.Batch {
            Submission.Batch(partition: PartitionID(partition), records: records(text))
        }
        for submission in [
            Submission([]), Submission([batch(2, "a")]), Submission([batch(0, "")]),
            Submission([batch(0, "a"), batch(0, "b")]), Submission([batch(1, "a"), batch(0, "b")]),
        ] {
            #expect(harness.journal.append(submission).code == .invalid)
        }
        #expect(try harness.journal.texts().isEmpty)
        #expect(throws: JournalError.self) {
            try harness.journal.read(PartitionID(2), from: .start, entriesMax: 1)
        }
        #expect(throws: JournalError.self) { try harness.journal.lastOutput(PartitionID(2)) }
        #expect(
            harness.journal.commit(output(through: 0), expected: nil, to: PartitionID(2)).code == .invalid
        )
    }

    @Test(arguments: Store.allCases)
    func `time never goes back, not even over a restart`(store: Store) throws {
        let harness = try Harness(store)
        harness.clock.set(Instant(seconds: 50))
        #expect(harness.journal.append("a") == .success([receipt(0, 1, 0, seconds: 50)]))
        harness.clock.set(Instant(seconds: 40))
        #expect(harness.journal.append("b") == .success([receipt(0, 2, 0, seconds: 50)]))
        #expect(
            harness.journal.append("c", to: PartitionID(1)) == .success([receipt(1, 1, 0, seconds: 40)])
        )
        try harness.reopen()
        #expect(harness.journal.append("d") == .success([receipt(0, 3, 0, seconds: 50)]))
        harness.clock.set(Instant(seconds: 60))
        #expect(harness.journal.append("e") == .success([receipt(0, 4, 0, seconds: 60)]))
        let times = try harness.journal.read(PartitionID(0), from: .start, entriesMax: 9).map(
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
                    // What is durable can be read by the time the receipt comes.
                    let count = try? journal.read(PartitionID(0), from: .start, entriesMax: 9).count
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
    func `outputs follow each other, and only behind the newest`(store: Store) throws {
        let harness = try Harness(store)
        for text in ["a", "b"] { _ = harness.journal.append(text) }
        #expect(try harness.journal.lastOutput(PartitionID(0)) == nil)
        #expect(harness.journal.commit(output(through: 1), expected: .first).code == .fenced)
        #expect(harness.journal.commit(output(through: 1), expected: nil) == .success(.first))
        #expect(harness.journal.commit(output(through: 1), expected: nil).code == .fenced)
        #expect(
            harness.journal.commit(output(through: 2, effects: []), expected: .first)
                == .success(OutputPosition(2))
        )
        #expect(harness.journal.commit(output(through: 2), expected: .first).code == .fenced)
        let all = [
            OutputEntry(position: .first, record: output(through: 1)),
            OutputEntry(position: OutputPosition(2), record: output(through: 2, effects: [])),
        ]
        for isReopened in [false, true] {
            if isReopened { try harness.reopen() }
            #expect(try harness.journal.lastOutput(PartitionID(0)) == all[1])
            #expect(try harness.journal.lastOutput(PartitionID(1)) == nil)
            #expect(try harness.journal.readOutputs(PartitionID(0), from: .first, outputsMax: 9) == all)
            #expect(
                try harness.journal.readOutputs(PartitionID(0), from: .first, outputsMax: 1) == [all[0]]
            )
            #expect(
                try harness.journal.readOutputs(PartitionID(0), from: OutputPosition(3), outputsMax: 9)
                    == []
            )
            #expect(try harness.journal.readOutputs(PartitionID(1), from: .first, outputsMax: 9) == [])
        }
        #expect(
            harness.journal.commit(output(through: 2), expected: OutputPosition(2))
                == .success(OutputPosition(3))
        )
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
    func `an output cannot speak of entries that are not durable`(store: Store) throws {
        let harness = try Harness(store)
        _ = harness.journal.append("a")
        #expect(harness.journal.commit(output(through: 2), expected: nil).code == .invalid)
        #expect(harness.journal.commit(output(through: 1), expected: nil).code == nil)
    }

    @Test(arguments: Store.allCases)
    func `outputs have a limit, but a single one is always let in`(store: Store) throws {
        let harness = try Harness(store, limits: JournalLimits(outputBytesMax: 1_000))
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

    @Test(arguments: Store.allCases)
    func `closing finishes what was accepted and refuses what comes after, any number of times`(
        store: Store
    ) throws {
        let harness = try Harness(store)
        let inbox = Inbox<AppendResult>()
        for _ in 0..<100 {
            harness.journal.append(Submission(partition: PartitionID(0), records: records("a"))) {
                inbox.add($0)
            }
        }
        harness.journal.close()
        #expect(inbox.all.map(\.code) == Array(repeating: nil, count: 100))
        harness.journal.close()
        #expect(harness.journal.append("b").code == .closed)
        #expect(harness.journal.commit(output(through: 0), expected: nil).code == .closed)
        #expect(throws: JournalError(.closed, "read of a closed journal")) {
            try harness.journal.read(PartitionID(0), from: .start, entriesMax: 1)
        }
        try harness.reopen()
        #expect(try harness.journal.texts().joined().count == 100)
    }

    @Test(arguments: Store.allCases)
    func `a callback may close the journal`(store: Store) throws {
        let harness = try Harness(store)
        let inbox = Inbox<AppendResult>()
        let journal = harness.journal
        journal.append(Submission(partition: PartitionID(0), records: records("a"))) {
            journal.close()
            inbox.add($0)
        }
        #expect(inbox.wait(for: 1).map(\.code) == [nil])
        try harness.reopen()
        #expect(try harness.journal.texts() == [["a"]])
    }

    @Test(arguments: Store.allCases)
    func `the format is the same after a restart`(store: Store) throws {
        let harness = try Harness(store, partitions: 3)
        let format = harness.journal.format
        #expect(format.partitions == 3)
        #expect(format.formatVersion == 1)
        #expect(format.createdAt == Instant(seconds: 1_000))
        #expect(UUID(uuidString: format.journalID) != nil)
        harness.clock.set(Instant(seconds: 2_000))
        try harness.reopen()
        #expect(harness.journal.format == format)
    }

    @Test(arguments: Store.allCases)
    func `many threads append at once, and every record is where its receipt says`(store: Store)
        throws
    {
        let harness = try Harness(
            store,
            partitions: 3,
            limits: JournalLimits(entryBytesMax: 2_000),
            fileBytesMax: 50_000
        )
        let threads = 8
        let each = 100
        let inbox = Inbox<(name: String, receipts: [AppendReceipt])>()
        let journal = harness.journal
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            var dice = SplitMix64(seed: UInt64(thread))
            for number in 0..<each {
                let name = "\(thread)-\(number)"
                let chosen = dice.chance(1, in: 5) ? [0, 1, 2] : [UInt16(dice.next() % 3)]
                let text = String(repeating: name + " ", count: 1 + Int(dice.next() % 3))
                let batches = chosen.map {
                    Submission.Batch(partition: PartitionID($0), records: records(text))
                }
                journal.append(Submission(batches)) { result in
                    inbox.add((name, (try? result.get()) ?? []))
                }
            }
        }
        let all = inbox.wait(for: threads * each)
        for isReopened in [false, true] {
            if isReopened { try harness.reopen() }
            let texts = try (UInt16(0)..<3).map { try harness.journal.texts(PartitionID($0)) }
            for item in all {
                #expect(!item.receipts.isEmpty)
                for receipt in item.receipts {
                    let entry = texts[Int(receipt.partition.rawValue)][Int(receipt.position.rawValue) - 1]
                    #expect(entry[receipt.firstRecordIndex] == item.name)
                }
            }
            // A thread's submissions keep their order.
            let numbers = all.filter { $0.name.hasPrefix("3-") }.compactMap { Int($0.name.dropFirst(2)) }
            #expect(numbers == Array(0..<each))
        }
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
                let entries = try memory.journal.read(partition, from: first, entriesMax: 5)
                #expect(try sqlite.journal.read(partition, from: first, entriesMax: 5) == entries, note)
                let position = OutputPosition(from)
                let outputs = try memory.journal.readOutputs(partition, from: position, outputsMax: 5)
                #expect(
                    try sqlite.journal.readOutputs(partition, from: position, outputsMax: 5) == outputs,
                    note
                )
                let last = try memory.journal.lastOutput(partition)
                #expect(try sqlite.journal.lastOutput(partition) == last, note)
            }
        }
    }
}
