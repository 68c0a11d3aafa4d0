#if JetStream
import BrokerSupport
import Dispatch
import Foundation
import JournalContract
import JournalStreams
import Journaling
import Synchronization
import Testing
import WidgetModel

@testable import JournalJetStream

/// Faults of brokers, by name.
@Suite(.enabled(if: Brokers.isThere, "make setup installs nats-server"), .serialized)
struct BadDayTests {
    private static let partition = PartitionID(0)

    private func append(_ text: String, to journal: any Journal, _ inbox: Inbox<AppendResult>) {
        journal.append(Submission(partition: Self.partition, records: records(text))) { inbox.add($0) }
    }

    @Test func `an append that no broker answers is unknown, never failed, and what comes later is stored once`() throws
    {
        let harness = try Harness(try Brokers())
        var impatient = harness.configuration
        impatient.patienceMilliseconds = 1_000
        let other = try Harness.open(impatient)
        defer { other.close() }
        let journal: any Journal = other
        // By one that is patient, as the machine may be busy.
        #expect(harness.journal.append("a").code == nil)
        let end = ContinuousClock.now + .seconds(600)
        var result: AppendResult
        repeat {
            harness.brokers.pause(0)
            result = journal.append("b")
            harness.brokers.resume(0)
            // The answer to this one is known again; the submission of unknown outcome may be in the log, once.
            while journal.append("c").code != nil { try #require(ContinuousClock.now < end) }
            // Its thread came too late, as on a busy machine: it was not sent.
        } while result.code == .failing && ContinuousClock.now < end
        #expect(result.code == .unknownOutcome)
        let texts = try harness.journal.texts().joined()
        #expect(texts.filter { $0 == "b" }.count <= 1)
        #expect(texts.filter { $0 == "a" } == ["a"])
        #expect(texts.contains("c"))
    }

    @Test func `an append that waited in line for longer than its patience is given up unsent`() throws {
        // Less than the first attempt of the message before waits.
        let harness = try Harness(try Brokers(), patienceMilliseconds: 300)
        // Each too long to share a message.
        let records = record(bytes: JournalLimits().entryBytesMax * 2 / 3)
        let unsent: [JournalError.Code?] = [.failing, .failing]
        let end = ContinuousClock.now + .seconds(600)
        var (rounds, codes, codesOfAll): (Int, [JournalError.Code?], [JournalError.Code?]) = (0, [], [])
        // Of a thread that stands still for longer than the patience, the later ones have not waited in line.
        while codes != unsent || codesOfAll != unsent, ContinuousClock.now < end {
            let (told, toldOfAll) = (Inbox<AppendResult>(), Inbox<Result<Void, JournalError>>())
            harness.brokers.pause(0)
            for _ in 0..<3 {
                harness.journal.append(Submission(partition: Self.partition, records: records)) { told.add($0) }
                harness.journal.appendToAll(
                    SubmissionToAll(records),
                    whenDurable: { toldOfAll.add($0) },
                    whenPlaced: { _ in }
                )
            }
            // The first one, too, if its thread came too late.
            codes = told.wait(for: 3).dropFirst().map(\.code)
            codesOfAll = toldOfAll.wait(for: 3).dropFirst().map(\.code)
            harness.brokers.resume(0)
            rounds += 1
        }
        #expect(codes == unsent && codesOfAll == unsent)
        #expect(try harness.journal.texts().joined().count <= 6 * rounds - 4)
    }

    @Test func `of appends that shared a message which is not stored, those that came later are sent again`() throws {
        let harness = try Harness(try Brokers())
        let core = harness.own.core
        let patiences = [0, 600_000, 600_000].map { Patience(milliseconds: $0) }
        #expect(core.answered(of: patiences, by: .failure(JournalError(.failing, "no leader"))) == 1)
        // It may be stored.
        #expect(core.answered(of: patiences, by: .failure(JournalError(.unknownOutcome, "no answer"))) == 3)
        #expect(core.answered(of: patiences, by: .failure(JournalError(.full, "no room"))) == 3)
        #expect(core.answered(of: patiences, by: .success(7)) == 3)
        harness.own.close()
        #expect(core.answered(of: patiences, by: .failure(JournalError(.failing, "closed"))) == 3)
    }

    @Test func `a broker that stalls for less than the patience costs nothing but time`() throws {
        let harness = try Harness(try Brokers())
        #expect(harness.journal.append("a").code == nil)
        harness.brokers.pause(0)
        let inbox = Inbox<AppendResult>()
        for text in ["b", "c", "d"] { self.append(text, to: harness.journal, inbox) }
        let brokers = harness.brokers
        // Longer than one attempt waits: it is sent again, and may be there twice.
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(2_500)) { brokers.resume(0) }
        #expect(inbox.wait(for: 3).map(\.code) == [nil, nil, nil])
        #expect(try Array(harness.journal.texts().joined()) == ["a", "b", "c", "d"])
        #expect(harness.journal.append("e").code == nil)
        #expect(try Array(harness.journal.texts().joined()) == ["a", "b", "c", "d", "e"])
    }

    @Test func `a broker that is killed and comes back has all that was acknowledged, once`() throws {
        let harness = try Harness(try Brokers())
        let inbox = Inbox<(Int, AppendResult)>()
        let journal = harness.journal
        let count = 200
        for number in 0..<count {
            journal.append(Submission(partition: Self.partition, records: records("n\(number)"))) {
                inbox.add((number, $0))
            }
            if number == 20 {
                _ = inbox.wait(for: 10)
                harness.brokers.kill(0)
                try harness.brokers.start(0)
            }
        }
        let answers = inbox.wait(for: count - 10)
        #expect(answers.count == count && answers.allSatisfy { $0.1.code == nil })
        #expect(try Array(journal.texts().joined()) == (0..<count).map { "n\($0)" })
        let output = output(through: 1)
        #expect(journal.commit(output, expected: nil) == .success(.first))
    }

    @Test func `of three brokers one may be killed at any time`() throws {
        let harness = try Harness(try Brokers(3), partitions: 2, replicas: 3)
        let journal = harness.journal
        var newest: OutputPosition?
        for victim in 0..<3 {
            #expect(journal.append("before-\(victim)").code == nil)
            harness.brokers.kill(victim)
            let all = journal.appendToAll(SubmissionToAll(records("all-\(victim)")))
            #expect(all.code == nil)
            let result = journal.commit(output(through: 1, effects: [UInt8(victim)]), expected: newest)
            #expect(result.code == nil)
            newest = try? result.get()
            try harness.brokers.start(victim)
            // The next one is killed when this one has caught up: two of three have to be there.
            #expect(journal.append("after-\(victim)").code == nil)
            #expect(journal.append("b-\(victim)", to: PartitionID(1)).code == nil)
        }
        try harness.reopen()
        let texts = try Array(harness.journal.texts().joined())
        #expect(texts.sorted() == (0..<3).flatMap { ["after-\($0)", "all-\($0)", "before-\($0)"] }.sorted())
        #expect(texts.filter { $0.hasPrefix("all") } == ["all-0", "all-1", "all-2"])
        let others = try harness.journal.texts(PartitionID(1)).joined().filter { $0.hasPrefix("all") }
        #expect(others == ["all-0", "all-1", "all-2"])
        #expect(try harness.journal.newestOutput(Self.partition)?.record.effects == [2])
    }

    @Test func `a full stream refuses what comes, and takes it again when there is room`() throws {
        let harness = try Harness(try Brokers(), streamBytesMax: 1_000_000)
        var stored = 0
        while true {
            let result = harness.journal.append(Submission(partition: Self.partition, records: record(bytes: 100_000)))
            guard result.code == nil else {
                #expect(result.code == .full)
                break
            }
            stored += 1
            try #require(stored < 20)
        }
        #expect(stored > 5)
        #expect(harness.journal.commit(output(through: UInt64(stored)), expected: nil).code == nil)
        #expect(try harness.own.trimAll(through: [LogPosition(UInt64(stored))]) > 0)
        #expect(harness.journal.append("a") == .success(receipt(0, UInt64(stored) + 1, 0)))
    }

    /// Appends records of these sizes, each until the partition's stream is full.
    private static func fill(_ harness: Harness) throws -> UInt64 {
        var stored: UInt64 = 0
        for bytes in [100_000, 1_000, 130] {
            while case let result = harness.journal.append(
                Submission(partition: Self.partition, records: record(bytes: bytes))
            ), result.code != .full {
                try #require(result.code == nil)
                stored += 1
            }
        }
        return stored
    }

    @Test func `what is for all reaches others at once and a full partition when it has room, in order`() throws {
        let harness = try Harness(try Brokers(), partitions: 2, streamBytesMax: 1_000_000)
        let stored = try Self.fill(harness)
        let (told, placed) = (Inbox<Result<Void, JournalError>>(), Inbox<AppendReceipt>())
        // Longer than what was stored last.
        let texts = ["a", "b", "c"].map { String(repeating: $0, count: 500) }
        for text in texts {
            harness.journal.appendToAll(
                SubmissionToAll(records(text)),
                whenDurable: { told.add($0) },
                whenPlaced: { placed.add($0) }
            )
        }
        #expect(told.wait(for: 3).allSatisfy { $0.code == nil })
        #expect(placed.wait(for: 3).allSatisfy { $0.partition == PartitionID(1) })
        // No copy of the log is made before the partition has them.
        var impatient = harness.configuration
        impatient.patienceMilliseconds = 1
        let fault = #expect(throws: JournalError.self) { try JetStreamHistory(impatient).cut() }
        #expect(fault?.code == .unavailable)
        #expect(fault?.message.hasPrefix("partition 0 does not have its copies of all submissions yet") == true)
        #expect(harness.journal.commit(output(through: stored), expected: nil).code == nil)
        #expect(try harness.own.trimAll(through: [LogPosition(stored), .start]) > 0)
        let later = placed.wait(for: 3).suffix(3)
        #expect(later.allSatisfy { $0.partition == Self.partition })
        let read = try harness.journal.history.read(Self.partition, from: LogPosition(stored + 1), entriesMax: 10)
        #expect(read.flatMap(\.bytes) == records(texts.joined(separator: " ")).bytes)
        let cut = try JetStreamHistory(harness.configuration).cut()
        #expect(cut[0] == read.last?.position && cut[1] > .start)
    }

    @Test func `what is purged under a slow reader is an error, never a gap`() throws {
        let harness = try Harness(try Brokers())
        for number in 0..<300 { #expect(harness.journal.append("n\(number)").code == nil) }
        #expect(harness.journal.commit(output(through: 300), expected: nil).code == nil)
        let history = harness.journal.history
        #expect(try history.read(Self.partition, from: .start, entriesMax: 10).count == 10)
        #expect(try harness.own.trimAll(through: [LogPosition(200)]) > 0)
        let error = #expect(throws: JournalError.self) {
            try history.read(Self.partition, from: LogPosition(11), entriesMax: 10)
        }
        #expect(error?.code == .corrupt)
        let rest = try history.read(Self.partition, from: LogPosition(201), entriesMax: 500)
        #expect(rest.map(\.position.rawValue) == Array(201...300))
        #expect(rest.map(\.logTime) == rest.map(\.logTime).sorted())
    }

    @Test func `a snapshot whose writer died is not there, and what it left does not matter`() throws {
        let harness = try Harness(try Brokers())
        let core = harness.own.core
        let id = SnapshotID(partition: Self.partition, position: LogPosition(3), logTime: Instant(seconds: 3))
        // As a writer leaves it that dies before the note.
        let subject = core.names.chunks(Self.partition, 77) + ".0"
        let outcome = core.broker.publish([1, 2, 3], to: subject, .nothing, waitMilliseconds: 5_000)
        guard case .stored = outcome else {
            Issue.record("the chunk was not stored: \(outcome)")
            return
        }
        #expect(try harness.own.snapshots(Self.partition) == [])
        var frames: [[UInt8]] = [[1], Array(repeating: 2, count: 1_500_000)]
        let expected = frames
        try harness.own.write(id) { frames.isEmpty ? nil : frames.removeFirst() }
        var found: [[UInt8]] = []
        try harness.own.read(id) { found.append($0) }
        #expect(found == expected)
        // One that is replaced while it is read is no damage, and nothing of the one before stays.
        var isReplaced = false
        let replaced = #expect(throws: JournalError.self) {
            try harness.own.read(id) { _ in
                if isReplaced { return }
                isReplaced = true
                var rest = expected[...]
                try harness.own.replace(id) { rest.popFirst() }
            }
        }
        #expect(replaced?.code == .unavailable)
        let uploads = try core.broker.subjects(of: core.names.chunks, like: core.names.allChunks)
        #expect(uploads.filter { $0.hasSuffix(".1") }.count == 1)
        // And one that lacks a chunk is refused.
        let note = try #require(try SnapshotNote.read(SnapshotNote.subject(of: id, core.names), core))
        try core.broker.purge(core.names.chunks, subject: core.names.chunks(Self.partition, note.upload) + ".1")
        let error = #expect(throws: JournalError.self) { try harness.own.read(id) { _ in } }
        #expect(error?.code == .corrupt)
    }

    @Test func `a message that is sent again long after is stored once, also behind a trim`() throws {
        let harness = try Harness(try Brokers())
        let core = harness.own.core
        let stream = core.names.input(Self.partition)
        let subject = core.names.input(Self.partition, of: 7)
        func send(_ expectation: JournalStreams.Expectation) -> PublishOutcome {
            let message = InputMessage(
                id: MessageID(writer: 7, number: 1),
                writtenAt: Harness.now(),
                records: records("a")
            ).bytes(core.journalID, in: stream)
            return core.broker.publish(message, to: subject, expectation, waitMilliseconds: 5_000)
        }
        // As writers send it: the first one behind the stream's end, the others each behind the one before.
        for (expectation, sequence) in [
            (JournalStreams.Expectation.lastOfStream(0), UInt64(1)), (.lastOfSubject(1), 2),
        ] {
            guard case .stored(sequence) = send(expectation) else {
                Issue.record("not stored")
                return
            }
        }
        func isRefused() -> Bool {
            [JournalStreams.Expectation.lastOfStream(0), .lastOfSubject(1)].allSatisfy { expectation in
                if case .otherEnd = send(expectation) { true } else { false }
            }
        }
        #expect(isRefused())
        #expect(try harness.journal.texts() == [["a"], ["a"]])
        #expect(harness.journal.commit(output(through: 2), expected: nil).code == nil)
        #expect(try harness.own.trimAll(through: [LogPosition(2)]) > 0)
        #expect(isRefused())
        #expect(try core.ends(of: stream).last == 2)
    }

    @Test func `streams of another log under the same name are refused`() throws {
        let brokers = try Brokers()
        let harness = try Harness(brokers)
        #expect(harness.journal.append("a").code == nil)
        let core = harness.own.core
        harness.journal.close()
        // The log was created anew elsewhere, and these streams were left.
        try core.broker.purge(core.names.notes, subject: core.names.format)
        let error = #expect(throws: JournalError.self) {
            try JetStreamJournal(configuration: harness.configuration, clock: Harness.now)
        }
        #expect(error?.code == .formatMismatch)
        #expect(error?.message.contains("another cluster's; give this one another name") == true)
    }

    @Test func `another number of partitions is refused`() throws {
        let harness = try Harness(try Brokers(), partitions: 2)
        var other = harness.configuration
        other.partitions = 3
        let error = #expect(throws: JournalError.self) {
            try JetStreamJournal(configuration: other, clock: Harness.now)
        }
        #expect(error?.code == .formatMismatch)
        #expect(error?.message.hasSuffix("has 2 partitions, not 3: set partitions to 2") == true)
    }

    @Test func `two processes have one log, and one owner stops the other`() throws {
        let harness = try Harness(try Brokers(), partitions: 2)
        let other = try Harness.open(harness.configuration)
        defer { other.close() }
        let hints = Inbox<LogPosition>()
        other.observeAppends(Self.partition) { hints.add($0) }
        #expect(harness.journal.append("a") == .success(receipt(0, 1, 0)))
        #expect(hints.wait(for: 1) == [LogPosition(1)])
        #expect((other as any Journal).append("b") == .success(receipt(0, 2, 0)))
        #expect(try harness.journal.texts() == [["a"], ["b"]])
        #expect(harness.journal.appendToAll(SubmissionToAll(records("c"))).code == nil)
        #expect((other as any Journal).appendToAll(SubmissionToAll(records("d"))).code == nil)
        for partition in [Self.partition, PartitionID(1)] {
            let texts = try Array(harness.journal.texts(partition).joined())
            #expect(texts.suffix(2) == ["c", "d"])
        }
        #expect(harness.journal.commit(output(through: 1), expected: nil) == .success(.first))
        #expect((other as any Journal).commit(output(through: 2), expected: nil).code == .fenced)
    }

    @Test func `ten thousand pushes to many by two gateways are in every partition once, in one order`() throws {
        let harness = try Harness(try Brokers(), partitions: 3)
        let other = try Harness.open(harness.configuration)
        defer { other.close() }
        let journals: [(name: String, journal: any Journal)] = [("a", harness.journal), ("b", other)]
        let (told, placed) = (Inbox<Result<Void, JournalError>>(), Inbox<PartitionID>())
        for number in 0..<5_000 {
            for (name, journal) in journals {
                journal.appendToAll(
                    SubmissionToAll(records("\(name)\(number)")),
                    whenDurable: { told.add($0) },
                    whenPlaced: { placed.add($0.partition) }
                )
            }
        }
        #expect(told.wait(for: 10_000).allSatisfy { $0.code == nil })
        _ = placed.wait(for: 30_000)
        let texts = try (0..<3).map { try Array(harness.journal.texts(PartitionID($0)).joined()) }
        #expect(texts[0].count == 10_000 && texts[1] == texts[0] && texts[2] == texts[0])
        for (name, _) in journals {
            #expect(texts[0].filter { $0.hasPrefix(name) } == (0..<5_000).map { "\(name)\($0)" })
        }
    }

    @Test func `one damaged byte is found`() throws {
        let message = InputMessage(
            id: MessageID(writer: 7, number: 1),
            writtenAt: Instant(seconds: 1),
            records: records("a b")
        )
        let bytes = message.bytes("log", in: "stream")
        #expect(try InputMessage(bytes, "log", in: "stream").records == message.records)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 4
            #expect(throws: MessageError.self) { try InputMessage(damaged, "log", in: "stream") }
        }
        #expect(throws: MessageError.self) { try InputMessage(bytes, "log", in: "other") }
        #expect(throws: MessageError.self) { try InputMessage(bytes, "other", in: "stream") }
        #expect(throws: MessageError.self) { try InputMessage([], "log", in: "stream") }
    }
}
#endif
