import Dispatch
import Foundation
import JournalSQLite
import Journaling
import Synchronization
import Testing
import WidgetModel

/// The journals that must all behave alike.
enum Store: String, CaseIterable, Sendable {
    case memory
    case sqlite
}

/// A directory that goes away with its last reference.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        let parent = FileManager.default.temporaryDirectory
        self.path = parent.appendingPathComponent("freshet-journal-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    var journal: String { self.path + "/journal" }

    /// The journal's files with this beginning, sorted.
    func files(_ prefix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.journal).filter {
            $0.hasPrefix(prefix)
        }.sorted()
    }
}

/// A clock that a test sets.
final class TestClock: Sendable {
    private let instant = Mutex(Instant(seconds: 1_000))
    var now: Instant { self.instant.withLock { $0 } }
    func set(_ instant: Instant) { self.instant.withLock { $0 = instant } }
}

/// One log, the journal that has it open, and the means to open it again.
final class Harness {
    private(set) var journal: any Journal
    let clock: TestClock
    let store: Store
    private let directory: TemporaryDirectory?
    private let configuration: SQLiteJournal.Configuration

    init(
        _ store: Store,
        partitions: Int = 2,
        limits: JournalLimits = JournalLimits(),
        fileBytesMax: Int = 1 << 28,
        cacheBytesMax: Int = 1 << 20,
        commitSpacing: Interval = .zero
    ) throws {
        let clock = TestClock()
        self.clock = clock
        self.store = store
        self.directory = store == .memory ? nil : try TemporaryDirectory()
        self.configuration = SQLiteJournal.Configuration(
            directory: self.directory?.journal ?? "",
            partitions: partitions,
            limits: limits,
            fileBytesMax: fileBytesMax,
            cacheBytesMax: cacheBytesMax,
            walBytesMax: 524_288,
            commitSpacing: commitSpacing
        )
        switch store {
        case .memory:
            self.journal = MemoryJournal(partitions: partitions, limits: limits, clock: { clock.now })
        case .sqlite:
            self.journal = try SQLiteJournal(configuration: self.configuration, clock: { clock.now })
        }
    }

    deinit { self.journal.close() }

    /// Closes the journal and opens the same log again.
    func reopen() throws {
        self.journal.close()
        let clock = self.clock
        if let memory = self.journal as? MemoryJournal {
            self.journal = memory.reopened()
        } else {
            self.journal = try SQLiteJournal(configuration: self.configuration, clock: { clock.now })
        }
    }

    /// Runs `body` while nothing is committed; what it submits is committed as one group afterwards.
    func whileHeld(_ body: () -> Void) {
        if let memory = self.journal as? MemoryJournal {
            memory.hold()
            body()
            memory.release()
            return
        }
        // The writer is stopped in a callback: the one for an output that is fenced changes nothing.
        let isHeld = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        let fenced = OutputRecord(
            through: .start,
            engineVersion: 0,
            runningHash: 0,
            effects: []
        )
        self.journal.commitOutput(PartitionID(0), expected: OutputPosition(.max), fenced) { _ in
            isHeld.signal()
            release.wait()
        }
        isHeld.wait()
        body()
        release.signal()
    }
}

/// Collects what callbacks say, in their order, and waits for a number of them.
final class Inbox<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    private let arrived = DispatchSemaphore(value: 0)

    func add(_ value: Value) {
        self.values.withLock { $0.append(value) }
        self.arrived.signal()
    }

    /// The values so far once there are at least `count` more than the last call waited for.
    func wait(for count: Int) -> [Value] {
        for _ in 0..<count { self.arrived.wait() }
        return self.values.withLock { $0 }
    }

    var all: [Value] { self.values.withLock { $0 } }
}

typealias AppendResult = Result<[AppendReceipt], JournalError>
typealias OutputResult = Result<OutputPosition, JournalError>

extension Journal {
    func append(_ submission: Submission) -> AppendResult {
        let inbox = Inbox<AppendResult>()
        self.append(submission) { inbox.add($0) }
        return inbox.wait(for: 1)[0]
    }

    func append(_ text: String, to partition: PartitionID = PartitionID(0)) -> AppendResult {
        self.append(Submission(partition: partition, records: records(text)))
    }

    func commit(
        _ output: OutputRecord,
        expected: OutputPosition?,
        to partition: PartitionID = PartitionID(0)
    )
        -> OutputResult
    {
        let inbox = Inbox<OutputResult>()
        self.commitOutput(partition, expected: expected, output) { inbox.add($0) }
        return inbox.wait(for: 1)[0]
    }

    /// The records of a partition's entries as texts, entry by entry.
    func texts(_ partition: PartitionID = PartitionID(0), from position: LogPosition = .start) throws
        -> [[String]]
    {
        var texts: [[String]] = []
        var next = max(position, LogPosition.start.next)
        while true {
            let entries = try self.read(partition, from: next, entriesMax: 7)
            if entries.isEmpty { return texts }
            for entry in entries {
                #expect(entry.position == next)
                texts.append(entry.records.map { String(decoding: entry.bytes[$0], as: UTF8.self) })
                next = next.next
            }
        }
    }
}

/// One record for each word.
func records(_ text: String) -> PackedRecords {
    var packed = PackedRecords()
    for word in text.split(separator: " ") { packed.append(Array(word.utf8)) }
    return packed
}

/// One record whose frame has exactly `bytes` bytes; at least 130, so that its length takes two of them.
func record(bytes: Int) -> PackedRecords {
    var packed = PackedRecords()
    let length = bytes - (bytes - 3 >= 16_384 ? 3 : 2)
    packed.append([UInt8](repeating: 0x41, count: length))
    precondition(packed.bytes.count == bytes)
    return packed
}

func output(through: UInt64, effects: [UInt8] = [1, 2, 3]) -> OutputRecord {
    OutputRecord(
        through: LogPosition(through),
        ahead: 7,
        engineVersion: 1,
        runningHash: .max - through,
        effects: effects
    )
}

func receipt(_ partition: UInt16, _ position: UInt64, _ index: Int, seconds: Int64 = 1_000)
    -> AppendReceipt
{
    AppendReceipt(
        partition: PartitionID(partition),
        position: LogPosition(position),
        firstRecordIndex: index,
        logTime: Instant(seconds: seconds)
    )
}

extension Result where Failure == JournalError {
    /// The error's code, nil for success.
    var code: JournalError.Code? {
        if case .failure(let error) = self { return error.code }
        return nil
    }
}
