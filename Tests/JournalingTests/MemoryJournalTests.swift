import Journaling
import Synchronization
import Testing
import WidgetModel

@Suite struct MemoryJournalTests {
    private let partition = PartitionID(0)
    private let journal = MemoryJournal(partitions: 1, clock: { Instant(seconds: 1) })

    private func submission(_ value: UInt8) -> Submission {
        var packed = PackedRecords()
        packed.append([value])
        return Submission(partition: self.partition, records: packed)
    }

    /// The callbacks' lines, in their order.
    private final class Notes: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { self.lines.withLock { $0.append(line) } }
        var all: [String] { self.lines.withLock { $0 } }
    }

    private func append(_ value: UInt8, _ notes: Notes) {
        self.journal.append(self.submission(value)) { result in
            switch result {
            case .success(let receipt):
                notes.add("\(value) at \(receipt.position).\(receipt.firstRecordIndex)")
            case .failure(let error): notes.add("\(value) \(error.code)")
            }
        }
    }

    @Test func `what is held is committed together at the release`() throws {
        let notes = Notes()
        self.journal.observeAppends(self.partition) { notes.add("hint \($0)") }
        self.append(1, notes)
        self.journal.hold()
        self.append(2, notes)
        self.append(3, notes)
        #expect(self.journal.waiting == 2)
        #expect(notes.all == ["1 at 1.0", "hint 1"])
        self.journal.release()
        #expect(notes.all == ["1 at 1.0", "hint 1", "2 at 2.0", "3 at 2.1", "hint 2"])
    }

    @Test func `injected faults fail one append each, with or without its records`() throws {
        let notes = Notes()
        self.journal.failNextAppend(with: JournalError(.full, "no space"))
        self.journal.failNextAppend(with: JournalError(.unknownOutcome, "lost"), isStored: true)
        for value in UInt8(1)...3 { self.append(value, notes) }
        #expect(notes.all == ["1 full", "2 unknownOutcome", "3 at 2.0"])
        #expect(try self.journal.read(self.partition, from: .start, entriesMax: 9).map(\.bytes) == [[1, 2], [1, 3]])
    }

    @Test func `an output of unknown outcome can be found by looking`() throws {
        let output = OutputRecord(through: .start, ahead: 1, engineVersion: 1, runningHash: 2, effects: [3])
        self.journal.failNextOutput(with: JournalError(.unknownOutcome, "lost"), isStored: true)
        let notes = Notes()
        let note: @Sendable (Result<OutputPosition, JournalError>) -> Void = { result in
            switch result {
            case .success(let position): notes.add("at \(position)")
            case .failure(let error): notes.add("\(error.code)")
            }
        }
        self.journal.commitOutput(self.partition, expected: nil, output, whenDurable: note)
        self.journal.commitOutput(self.partition, expected: nil, output, whenDurable: note)
        #expect(notes.all == ["unknownOutcome", "fenced"])
        #expect(try self.journal.lastOutput(self.partition) == OutputEntry(position: .first, record: output))
    }

    @Test func `an append from a callback waits its turn`() {
        let notes = Notes()
        let journal = self.journal
        let second = self.submission(2)
        journal.append(self.submission(1)) { _ in
            journal.append(second) { _ in notes.add("second") }
            notes.add("first")
        }
        #expect(notes.all == ["first", "second"])
    }
}
