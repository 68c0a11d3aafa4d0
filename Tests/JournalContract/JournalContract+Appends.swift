import Dispatch
import Journaling
import TestSupport
import Testing
import WidgetModel

extension JournalContract {
    private static let first = PartitionID(0)
    private static let second = PartitionID(1)

    /// Appending and reading.
    static let appends: [JournalContract] = [
        JournalContract("entries come back in order, from position 1 on, without a gap") { make in
            let bench = try make(2, JournalLimits())
            #expect(try bench.journal.readNow(first, from: .start, entriesMax: 9).isEmpty)
            #expect(bench.journal.append("a b") == .success(receipt(0, 1, 0)))
            #expect(bench.journal.append("c") == .success(receipt(0, 2, 0)))
            #expect(bench.journal.append("d", to: second) == .success(receipt(1, 1, 0)))
            #expect(bench.journal.append("e") == .success(receipt(0, 3, 0)))
            #expect(try bench.journal.texts() == [["a", "b"], ["c"], ["e"]])
            #expect(try bench.journal.texts(second) == [["d"]])
            try bench.reopen()
            #expect(try bench.journal.texts() == [["a", "b"], ["c"], ["e"]])
            #expect(bench.journal.append("f") == .success(receipt(0, 4, 0)))
            #expect(try bench.journal.texts() == [["a", "b"], ["c"], ["e"], ["f"]])
        },
        JournalContract("reading begins where it is told and ends at the end") { make in
            let bench = try make(2, JournalLimits())
            #expect(try bench.journal.history.head(first) == LogPosition(1))
            for text in ["a", "b", "c"] { #expect(bench.journal.append(text).code == nil) }
            for isReopened in [false, true] {
                if isReopened { try bench.reopen() }
                let reads: [(UInt64, Int) throws -> [LogEntry]] = [
                    { try bench.journal.readNow(first, from: LogPosition($0), entriesMax: $1) },
                    { try bench.journal.history.read(first, from: LogPosition($0), entriesMax: $1) },
                ]
                for read in reads {
                    func positions(_ from: UInt64, _ max: Int) throws -> [UInt64] {
                        try read(from, max).map(\.position.rawValue)
                    }
                    #expect(try positions(0, 2) == [1, 2])
                    #expect(try positions(1, 9) == [1, 2, 3])
                    #expect(try positions(2, 1) == [2])
                    #expect(try positions(3, 9) == [3])
                    #expect(try positions(4, 9) == [])
                    #expect(try positions(.max, 9) == [])
                    #expect(try positions(1, 0) == [])
                }
                #expect(try bench.journal.history.head(first) == LogPosition(1))
            }
        },
        JournalContract("many threads append at once, and every record is where its receipt says") { make in
            let bench = try make(3, JournalLimits(entryBytesMax: 2_000))
            let all = Self.appendFromThreads(bench.journal, threads: 4, each: 50)
            for isReopened in [false, true] {
                if isReopened { try bench.reopen() }
                let texts = try (UInt16(0)..<3).map { try bench.journal.texts(PartitionID($0)) }
                #expect(texts.joined().joined().count == all.reduce(0) { $0 + $1.count * $1.receipts.count })
                for item in all {
                    #expect(item.receipts.count == (item.isForAll ? 3 : 1))
                    for receipt in item.receipts {
                        let entry = texts[Int(receipt.partition.rawValue)][Int(receipt.position.rawValue) - 1]
                        let own = entry.dropFirst(receipt.firstRecordIndex).prefix(item.count)
                        #expect(own == ArraySlice(repeating: item.name, count: item.count))
                    }
                }
                // A thread's submissions to one partition keep their order.
                for partition in texts {
                    let names = partition.joined().filter { $0.hasPrefix("3-") && !$0.hasSuffix("all") }
                    let numbers = names.compactMap { Int($0.dropFirst(2)) }
                    #expect(numbers == numbers.sorted())
                }
                // Submissions to all come to each partition in the same order.
                let orders = texts.map { $0.joined().filter { $0.hasSuffix("all") } }
                #expect(orders[0] == orders[1] && orders[1] == orders[2])
            }
        },
        JournalContract("what is for all partitions is told as durable once, then once for each partition") { make in
            let bench = try make(3, JournalLimits())
            let inbox = Inbox<String>()
            bench.journal.appendToAll(
                SubmissionToAll(records("a b")),
                whenDurable: { inbox.add($0.code.map { "\($0)" } ?? "durable") },
                whenPlaced: { inbox.add("in \($0.partition)") }
            )
            let told = inbox.wait(for: 4)
            #expect(told.first == "durable" && told.dropFirst().sorted() == ["in 0", "in 1", "in 2"])
            // Whatever came behind it would be here now.
            for partition in [0, 1, 2] as [UInt16] {
                #expect(bench.journal.append("c", to: PartitionID(partition)).code == nil)
                #expect(try bench.journal.texts(PartitionID(partition)) == [["a", "b"], ["c"]])
            }
            #expect(inbox.all.count == 4)
        },
        JournalContract("of many for all partitions at once each is told its own place") { make in
            let bench = try make(2, JournalLimits())
            let (durable, placed) = (Inbox<Int>(), Inbox<(Int, AppendReceipt)>())
            let count = 200
            for number in 0..<count {
                // Every seventh has other records for each partition.
                let same = SubmissionToAll(records("n\(number) m\(number)"))
                let each = SubmissionToAll(each: [records("n\(number)"), records("n\(number) m\(number)")])
                bench.journal.appendToAll(
                    number % 7 == 0 ? each : same,
                    whenDurable: { if $0.code == nil { durable.add(number) } },
                    whenPlaced: { placed.add((number, $0)) }
                )
            }
            #expect(durable.wait(for: count).sorted() == Array(0..<count))
            let receipts = placed.wait(for: 2 * count)
            let texts = try [bench.journal.texts(first), bench.journal.texts(second)]
            for (number, receipt) in receipts {
                let entry = texts[Int(receipt.partition.rawValue)][Int(receipt.position.rawValue) - 1]
                #expect(entry[receipt.firstRecordIndex] == "n\(number)")
            }
            for partition in texts {
                #expect(partition.joined().filter { $0.hasPrefix("n") } == (0..<count).map { "n\($0)" })
            }
        },
        JournalContract("each partition may get records of its own") { make in
            let bench = try make(2, JournalLimits())
            let each = SubmissionToAll(each: [records("a"), records("b c")])
            #expect(bench.journal.appendToAll(each) == .success([receipt(0, 1, 0), receipt(1, 1, 0)]))
            for isReopened in [false, true] {
                if isReopened { try bench.reopen() }
                #expect(try bench.journal.texts(first) == [["a"]])
                #expect(try bench.journal.texts(second) == [["b", "c"]])
            }
        },
        JournalContract("a submission has at most 900,000 bytes") { make in
            let bench = try make(2, JournalLimits())
            let limit = JournalLimits().batchBytesMax
            #expect(limit == 900_000)
            func append(_ bytes: Int) -> AppendResult {
                bench.journal.append(Submission(partition: first, records: record(bytes: bytes)))
            }
            #expect(append(limit - 1).code == nil)
            #expect(append(limit).code == nil)
            let refusal = append(limit + 1)
            #expect(refusal.code == .invalid)
            if case .failure(let error) = refusal {
                #expect(error.message == "append of 900001 bytes to partition 0, the limit is 900000")
            }
            // Records that are the same for all partitions count once; others count for each partition.
            #expect(bench.journal.appendToAll(SubmissionToAll(record(bytes: limit))).code == nil)
            #expect(bench.journal.appendToAll(SubmissionToAll(record(bytes: limit + 1))).code == .invalid)
            for excess in [-1, 0, 1] {
                let each = SubmissionToAll(each: [record(bytes: limit / 2), record(bytes: limit / 2 + excess)])
                #expect(bench.journal.appendToAll(each).code == (excess > 0 ? .invalid : nil))
            }
            for partition in [first, second] {
                let sizes = try Self.sizes(bench.journal, partition)
                #expect(sizes.filter { $0 == limit }.count == (partition == first ? 2 : 1))
                #expect(sizes.count == (partition == first ? 5 : 3))
            }
        },
        JournalContract("more than may wait is refused at once, and nothing of it is in the log") { make in
            let bench = try make(2, JournalLimits())
            bench.journal.useLimits(JournalLimits(appendBytesInFlightMax: 1_000))
            func append(_ bytes: Int) -> AppendResult {
                bench.journal.append(Submission(partition: first, records: record(bytes: bytes)))
            }
            #expect(append(999).code == nil)
            #expect(append(1_000).code == nil)
            let refusal = append(1_001)
            #expect(refusal.code == .unavailable)
            if case .failure(let error) = refusal { #expect(error.isRetriable) }
            #expect(bench.journal.appendToAll(SubmissionToAll(record(bytes: 1_001))).code == .unavailable)
            #expect(bench.journal.appendToAll(SubmissionToAll(record(bytes: 1_000))).code == nil)
            #expect(try Self.sizes(bench.journal, first) == [999, 1_000, 1_000])
        },
        JournalContract("impossible submissions are refused and change nothing") { make in
            let bench = try make(2, JournalLimits())
            for submission in [
                Submission(partition: PartitionID(2), records: records("a")),
                Submission(partition: first, records: records("")),
            ] {
                #expect(bench.journal.append(submission).code == .invalid)
            }
            for submission in [
                SubmissionToAll(records("")), SubmissionToAll(each: [records("a"), records("")]),
                SubmissionToAll(each: [records("a"), records("b"), records("c")]),
            ] {
                #expect(bench.journal.appendToAll(submission).code == .invalid)
            }
            #expect(throws: JournalError.self) {
                try bench.journal.readNow(PartitionID(2), from: .start, entriesMax: 1)
            }
            #expect(throws: JournalError.self) { try bench.journal.newestOutput(PartitionID(2)) }
            #expect(throws: JournalError.self) {
                try bench.journal.history.read(PartitionID(2), from: .start, entriesMax: 1)
            }
            #expect(bench.journal.append("a") == .success(receipt(0, 1, 0)))
            #expect(bench.journal.append("b", to: second) == .success(receipt(1, 1, 0)))
        },
        JournalContract("time never goes back, not even over a restart") { make in
            let bench = try make(1, JournalLimits())
            for round in 0..<2 {
                if round > 0 { try bench.reopen() }
                for text in ["a", "b", "c"] { #expect(bench.journal.append(text).code == nil) }
            }
            let times = try bench.journal.readNow(first, from: .start, entriesMax: 9).map(\.logTime)
            #expect(times.count == 6 && times == times.sorted())
        },
        JournalContract("a hint comes behind the receipt, and what it names can be read") { make in
            let bench = try make(2, JournalLimits())
            let inbox = Inbox<String>()
            bench.journal.observeAppends(first) { inbox.add("hint \($0)") }
            bench.journal.observeAppends(second) { inbox.add("other hint \($0)") }
            bench.journal.append(Submission(partition: first, records: records("a"))) {
                inbox.add($0.code.map { "\($0)" } ?? "receipt")
            }
            #expect(inbox.wait(for: 2) == ["receipt", "hint 1"])
            #expect(try bench.journal.readNow(first, from: LogPosition(1), entriesMax: 1).count == 1)
            #expect(bench.journal.append("b").code == nil)
            #expect(inbox.wait(for: 1).last == "hint 2")
        },
    ]

    private static func sizes(_ journal: any Journal, _ partition: PartitionID) throws -> [Int] {
        var sizes: [Int] = []
        while true {
            let next = LogPosition(UInt64(sizes.count) + 1)
            let entries = try journal.readNow(partition, from: next, entriesMax: 9)
            if entries.isEmpty { return sizes }
            sizes += entries.map(\.bytes.count)
        }
    }

    /// One append of one thread.
    private struct Item {
        let name: String
        /// How many records, all with that name.
        let count: Int
        let isForAll: Bool
        let receipts: [AppendReceipt]
    }

    private static func appendFromThreads(_ journal: any Journal, threads: Int, each: Int) -> [Item] {
        let inbox = Inbox<(key: String, receipt: AppendReceipt?)>()
        var expected: [String: (count: Int, isForAll: Bool)] = [:]
        var calls: [[(text: String, partition: PartitionID?)]] = []
        var answers = 0
        for thread in 0..<threads {
            var dice = SplitMix64(seed: UInt64(thread))
            var own: [(text: String, partition: PartitionID?)] = []
            for number in 0..<each {
                let isForAll = dice.chance(1, in: 5)
                let name = "\(thread)-\(number)" + (isForAll ? "all" : "")
                let count = 1 + Int(dice.next() % 3)
                expected[name] = (count, isForAll)
                answers += isForAll ? journal.format.partitions : 1
                let partition = PartitionID(UInt16(dice.next() % UInt64(journal.format.partitions)))
                own.append((String(repeating: name + " ", count: count), isForAll ? nil : partition))
            }
            calls.append(own)
        }
        let all = calls
        DispatchQueue.concurrentPerform(iterations: threads) { thread in
            for (text, partition) in all[thread] {
                let name = String(text.split(separator: " ")[0])
                if let partition {
                    journal.append(Submission(partition: partition, records: records(text))) { result in
                        inbox.add((name, try? result.get()))
                    }
                } else {
                    journal.appendToAll(
                        SubmissionToAll(records(text)),
                        whenDurable: { #expect($0.code == nil) },
                        whenPlaced: { inbox.add((name, $0)) }
                    )
                }
            }
        }
        let found = Dictionary(grouping: inbox.wait(for: answers), by: \.key)
        return expected.map { name, what in
            let receipts = (found[name] ?? []).compactMap(\.receipt)
            return Item(name: name, count: what.count, isForAll: what.isForAll, receipts: receipts)
        }
    }
}
