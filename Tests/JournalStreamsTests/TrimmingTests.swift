import JournalStreams
import Journaling
import Testing
import WidgetModel

@Suite struct TrimmingTests {
    private static let far = Instant(milliseconds: .max)

    private static func entry(_ position: UInt64) -> LogEntry {
        LogEntry(position: LogPosition(position), logTime: Instant(seconds: Int64(position)), packed: PackedRecords())
    }

    private static func output(_ position: UInt64, through: UInt64) -> OutputEntry {
        let record = OutputRecord(through: LogPosition(through), engineVersion: 1, runningHash: 0, effects: [])
        return OutputEntry(position: OutputPosition(position), record: record)
    }

    /// One that has come to its note: entries 1 to 10, one output for each two of them.
    private static func atNote(through position: UInt64) -> Trimming {
        var trimming = Trimming(through: LogPosition(position), loggedBefore: Self.far)
        trimming.looked(entries: StreamEnds(first: 1, last: 10), newest: Self.output(4, through: 8))
        trimming.read((1...10).map(Self.entry))
        trimming.outputs(from: 1)
        while case .readOutput(let position) = trimming.step {
            trimming.read(output: Self.output(position.rawValue, through: position.rawValue * 2))
        }
        trimming.purgedOutputs()
        trimming.found(newestCopy: nil, behind: nil)
        return trimming
    }

    @Test func `nothing goes that is not decided`() {
        var trimming = Self.atNote(through: 10)
        trimming.found(note: nil, sequence: 0)
        guard case .writeNote(let trimmed, .lastOfSubject(0)) = trimming.step else {
            Issue.record("\(trimming.step)")
            return
        }
        #expect(trimmed == Trimmed(through: LogPosition(8), logTime: Instant(seconds: 8), fan: 0))
        trimming.noted(.stored(1))
        guard case .purgeEntries(let position) = trimming.step, position == LogPosition(9) else {
            Issue.record("\(trimming.step)")
            return
        }
    }

    @Test func `a note never goes back`() {
        var trimming = Self.atNote(through: 4)
        trimming.found(note: Trimmed(through: LogPosition(6), logTime: Instant(seconds: 6), fan: 3), sequence: 9)
        guard case .purgeEntries(let position) = trimming.step, position == LogPosition(5) else {
            Issue.record("\(trimming.step)")
            return
        }
    }

    @Test func `a note that another wrote meanwhile is read again`() {
        var trimming = Self.atNote(through: 4)
        trimming.found(note: nil, sequence: 0)
        trimming.noted(.otherEnd)
        guard case .readNote = trimming.step else {
            Issue.record("\(trimming.step)")
            return
        }
    }

    @Test func `the newest output stays`() {
        var trimming = Trimming(through: LogPosition(8), loggedBefore: Self.far)
        trimming.looked(entries: StreamEnds(first: 1, last: 8), newest: Self.output(4, through: 8))
        trimming.read((1...8).map(Self.entry))
        trimming.outputs(from: 1)
        while case .readOutput(let position) = trimming.step {
            trimming.read(output: Self.output(position.rawValue, through: position.rawValue * 2))
        }
        guard case .purgeOutputs(let position) = trimming.step, position == OutputPosition(4) else {
            Issue.record("\(trimming.step)")
            return
        }
    }

    @Test(arguments: [(3, 2), (4, 3), (100, 8)] as [(Int64, UInt64)])
    func `only what was logged before goes`(seconds: Int64, through: UInt64) {
        var trimming = Trimming(through: LogPosition(8), loggedBefore: Instant(seconds: seconds))
        trimming.looked(entries: StreamEnds(first: 1, last: 10), newest: Self.output(1, through: 8))
        trimming.read((1...10).map(Self.entry))
        trimming.outputs(from: 1)
        guard case .findCopies(let position) = trimming.step else {
            Issue.record("\(trimming.step)")
            return
        }
        #expect(position == LogPosition(through))
    }
}
