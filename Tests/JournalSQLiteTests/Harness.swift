import Dispatch
import Foundation
import JournalContract
import JournalSQLite
import Journaling
import Synchronization
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
final class Harness: JournalBench {
    private(set) var journal: any Journal
    let clock: TestClock
    let store: Store
    private let memorySnapshots = MemorySnapshots()
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

    var snapshots: (any SnapshotStore)? {
        self.store == .memory ? self.memorySnapshots : self.journal as? SQLiteJournal
    }

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
