import Dispatch
import Engine
import Journaling
import Logging
import NIOCore
import NIOPosix
import Ownership
import Partitions
import Synchronization
import TestSupport
import Testing
import WidgetModel

/// An owner whose journal reads for a while, as one does that other machines keep.
@Suite struct LateReadTests {
    private static let partition = PartitionID(0)

    /// A journal that calls back about reads later, and on a thread of its own.
    final class LateJournal: Journal {
        let memory: MemoryJournal
        /// How many reads are refused that come next, as by brokers that elect a leader.
        let refusals = Atomic<Int>(0)
        private let thread = DispatchQueue(label: "late reads")

        init(_ memory: MemoryJournal) { self.memory = memory }

        var format: JournalFormat { self.memory.format }
        var history: any LogHistory { self.memory }

        func append(
            _ submission: Submission,
            whenDurable: @escaping @Sendable (Result<AppendReceipt, JournalError>) -> Void
        ) { self.memory.append(submission, whenDurable: whenDurable) }

        func appendToAll(
            _ submission: SubmissionToAll,
            whenDurable: @escaping @Sendable (Result<Void, JournalError>) -> Void,
            whenPlaced: @escaping @Sendable (AppendReceipt) -> Void
        ) { self.memory.appendToAll(submission, whenDurable: whenDurable, whenPlaced: whenPlaced) }

        func commitOutput(
            _ partition: PartitionID,
            expected: OutputPosition?,
            _ output: OutputRecord,
            whenDurable: @escaping @Sendable (Result<OutputPosition, JournalError>) -> Void
        ) { self.memory.commitOutput(partition, expected: expected, output, whenDurable: whenDurable) }

        func read(
            _ partition: PartitionID,
            from position: LogPosition,
            entriesMax: Int,
            whenRead: @escaping @Sendable (Result<[LogEntry], JournalError>) -> Void
        ) {
            self.thread.async {
                guard self.refusals.load(ordering: .relaxed) > 0 else {
                    return self.memory.read(partition, from: position, entriesMax: entriesMax, whenRead: whenRead)
                }
                self.refusals.wrappingSubtract(1, ordering: .relaxed)
                whenRead(.failure(JournalError(.unavailable, "no broker answers")))
            }
        }

        func readNewestOutput(
            _ partition: PartitionID,
            whenRead: @escaping @Sendable (Result<OutputEntry?, JournalError>) -> Void
        ) {
            let memory = self.memory
            self.thread.async { memory.readNewestOutput(partition, whenRead: whenRead) }
        }

        func observeAppends(_ partition: PartitionID, _ body: @escaping @Sendable (LogPosition) -> Void) {
            self.memory.observeAppends(partition, body)
        }

        func useLimits(_: JournalLimits) {}

        func close() { self.memory.close() }
    }

    private static func owner(_ journal: LateJournal, _ time: FakeTime) -> PartitionOwner {
        PartitionOwner(
            engine: Engine(partition: Self.partition, partitions: 1),
            partition: Self.partition,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            services: PartitionOwner.Services(
                journal: journal,
                clock: time.makeClock(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ),
            sinks: PartitionOwner.Sinks(
                hosts: { _, _ in },
                directory: { _, _ in },
                audit: { _, _, _, _ in },
                usage: { _, _ in },
                applied: {},
                failed: { _, _ in }
            )
        )
    }

    @Test func `it follows the log, and replays it`() async throws {
        let time = FakeTime()
        let journal = LateJournal(MemoryJournal(partitions: 1, clock: { time.wall }))
        let owner = Self.owner(journal, time)
        #expect(try await owner.start { _, _ in } == 0)
        let log = CommandLog(journal: journal, owners: [owner])
        _ = try await log.appendToAll(.settings(Sports.settings))
        // More entries than one read gives.
        for number in 0..<200 {
            let registration = Sports.registration("host-\(number)", [Sports.instance("a")])
            let answer = try await log.append(.register(registration), for: HostKey("host-\(number)"))
            #expect(answer == .registered(RegistrationCounts(added: 1)))
        }
        #expect(try await owner.progress().applied == LogPosition(201))

        let again = LateJournal(journal.memory.reopened())
        let restarted = Self.owner(again, time)
        #expect(try await restarted.start { _, _ in } == 201)
        let counts = try await CommandLog(journal: again, owners: [restarted])
            .append(.register(Sports.registration("one-more", [Sports.instance("a")])), for: HostKey("one-more"))
        #expect(counts == .registered(RegistrationCounts(added: 1)))

        let stopped = Self.owner(LateJournal(journal.memory.reopened()), time)
        stopped.stop()
        await #expect(throws: OwnerError.shutDown(partition: Self.partition)) { try await stopped.start { _, _ in } }
    }

    @Test func `a store that is away for a while stops no partition`() async throws {
        let time = FakeTime()
        let journal = LateJournal(MemoryJournal(partitions: 1, clock: { time.wall }))
        let owner = Self.owner(journal, time)
        #expect(try await owner.start { _, _ in } == 0)
        let log = CommandLog(journal: journal, owners: [owner])
        _ = try await log.appendToAll(.settings(Sports.settings))
        journal.refusals.store(3, ordering: .relaxed)
        let answer = try await log.append(
            .register(Sports.registration("host-1", [Sports.instance("a")])),
            for: HostKey("host-1")
        )
        #expect(answer == .registered(RegistrationCounts(added: 1)))
        #expect(journal.refusals.load(ordering: .relaxed) == 0)

        let again = LateJournal(journal.memory.reopened())
        again.refusals.store(3, ordering: .relaxed)
        #expect(try await Self.owner(again, time).start { _, _ in } == 2)
        #expect(again.refusals.load(ordering: .relaxed) == 0)
    }

    @Test func `a start ends with the gateway, also while the store is away`() async throws {
        let time = FakeTime()
        let journal = LateJournal(MemoryJournal(partitions: 1, clock: { time.wall }))
        journal.refusals.store(.max, ordering: .relaxed)
        let owner = Self.owner(journal, time)
        let start = Task { try await owner.start { _, _ in } }
        while journal.refusals.load(ordering: .relaxed) == .max { await Task.yield() }
        owner.stop()
        await #expect(throws: OwnerError.shutDown(partition: Self.partition)) { try await start.value }
    }

    @Test func `a log that cannot be read keeps it from starting`() async throws {
        let time = FakeTime()
        let journal = LateJournal(MemoryJournal(partitions: 1, clock: { time.wall }))
        journal.memory.close()
        await #expect(throws: JournalError.self) { try await Self.owner(journal, time).start { _, _ in } }
    }
}
