import Engine
import Journaling
import Logging
import NIOCore
import NIOPosix
import Ownership
import Synchronization
import TestSupport
import Testing
import WidgetModel
@testable import Partitions
@testable import Settings

/// The engine is lent to one caller at a time, so nothing outside may be called while it is lent: every sink and every answer may ask the
/// owner on the spot. An owner that did not keep to this would trap.
@Suite(.timeLimit(.minutes(60))) struct OwnerCallbackTests {
    private static let partition = PartitionID(0)

    /// Asks the owner from within its callbacks, and keeps the answers.
    private final class Caller: Sendable {
        private let owner = Mutex<PartitionOwner?>(nil)
        private let asking = Mutex<Set<String>>([])
        private let (stream, answers) = AsyncStream.makeStream(of: String.self)

        func follow(_ owner: PartitionOwner) { self.owner.withLock { $0 = owner } }

        /// Asks everything that there is to ask, in the caller's turn of the loop. Once for each place.
        func ask(from place: String) {
            guard let owner = self.owner.withLock({ $0 }), self.asking.withLock({ $0.insert(place).inserted }) else {
                return
            }
            let expected = owner.loop.makePromise(of: RecordAnswer.Result.self)
            let record = RecordPlace(position: LogPosition(1 << 40), index: self.asking.withLock(\.count))
            owner.expectAnswer(at: record, expected)
            expected.futureResult.whenComplete { [weak self] _ in self?.ask(from: "an answer that fails") }
            owner.setOutputBytesPerCommit(JournalLimits().outputBytesPerCommit)
            // Runs here and now up to where it waits for the loop.
            Task.immediate {
                _ = try? await owner.ask(TotalsQuestion())
                // A question that does not wait for the end of an entry may be told that the partition has stopped.
                _ = try? await owner.ask(ProgressQuestion())
                _ = try? await owner.progress()
                self.answers.yield(place)
            }
        }

        /// Waits until the owner has answered the questions from these places.
        func answered(_ places: Set<String>) async {
            var left = places
            for await place in self.stream {
                left.remove(place)
                if left.isEmpty { return }
            }
        }
    }

    private static func sinks(_ caller: Caller) -> PartitionOwner.Sinks {
        PartitionOwner.Sinks(
            hosts: { _, _ in caller.ask(from: "hosts") },
            directory: { _, _ in caller.ask(from: "directory") },
            audit: { _, _, _, _ in caller.ask(from: "audit") },
            usage: { _, _ in caller.ask(from: "usage") },
            applied: { caller.ask(from: "applied") },
            failed: { _, _ in caller.ask(from: "failed") }
        )
    }

    private static func owner(
        _ journal: MemoryJournal,
        _ time: FakeTime,
        _ caller: Caller,
        snapshots: MemorySnapshots? = nil
    ) -> PartitionOwner {
        let owner = PartitionOwner(
            engine: Engine(partition: Self.partition, partitions: 1),
            partition: Self.partition,
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            services: PartitionOwner.Services(
                journal: journal,
                snapshots: snapshots,
                clock: time.makeClock(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ),
            sinks: Self.sinks(caller)
        )
        caller.follow(owner)
        return owner
    }

    @Test func `a callback may ask the owner, from each sink and each answer`() async throws {
        let time = FakeTime()
        let journal = MemoryJournal(partitions: 1, clock: { time.wall })
        let caller = Caller()
        let owner = Self.owner(journal, time, caller)
        try await owner.serve { if case .committed = $0 { caller.ask(from: "effects") } }
        _ = try await owner.start { _, _ in caller.ask(from: "the progress of a replay") }
        let log = CommandLog(journal: journal, owners: [owner], submissionBytesMax: JournalLimits().batchBytesMax)
        _ = try await log.appendToAll(.settings(Sports.settings))
        _ = try await log.append(.register(Sports.registration("a", [Sports.instance("a")])), for: HostKey("a"))
        // The log expects the answers to what it appends itself.
        var builder = SubmissionBuilder(partitions: 1)
        _ = builder.append(.register(Sports.registration("b", [Sports.instance("a")])), for: HostKey("b"))
        let answer = owner.loop.makePromise(of: RecordAnswer.Result.self)
        answer.futureResult.whenComplete { _ in caller.ask(from: "an answer") }
        journal.append(builder.takeSubmissions()[0]) { result in
            guard case .success(let receipt) = result else {
                return answer.fail(JournalError(.failing, "not appended"))
            }
            let place = RecordPlace(position: receipt.position, index: receipt.firstRecordIndex)
            owner.expectAnswer(at: place, answer)
        }
        let request = AuditedRequest(
            number: 1,
            source: OperatorSource(caller: "me", address: "127.0.0.1", request: "1"),
            method: "POST",
            path: "/v1/orders",
            body: []
        )
        _ = try await log.appendToAll(.audit(.request(request)))
        let question = owner.loop.makePromise(of: DryRunView.self)
        question.futureResult.whenComplete { _ in caller.ask(from: "a question") }
        owner.loop.execute { owner.beginSearch(MatchQuestion(Sports.push(1, to: "a")), question) }
        await caller.answered(["effects", "directory", "audit", "usage", "applied", "an answer", "a question"])

        var records = PackedRecords()
        records.append([0xFF, 0xFF])
        journal.append(Submission(partition: Self.partition, records: records)) { _ in }
        await caller.answered(["failed", "an answer that fails"])
    }

    @Test func `so may a callback with the hosts of a snapshot or of a replay`() async throws {
        let store = MemorySnapshots()
        let scene = try await OwnerScene.started(snapshots: store)
        let snapshotter = Snapshotter(
            owners: scene.owners,
            journal: scene.journal,
            store: store,
            settings: GatewayConfiguration.Snapshots(history: .zero),
            clock: scene.time.makeClock(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        try await scene.register("a")
        #expect(await snapshotter.makeSnapshot(of: scene.owners[0]) != nil)
        try await scene.register("b")
        try await scene.settle()
        await snapshotter.stop()
        let caller = Caller()
        let again = Self.owner(scene.journal.reopened(), scene.time, caller, snapshots: store)
        try await again.serve { if case .committed = $0 { caller.ask(from: "effects") } }
        _ = try await again.start { _, _ in caller.ask(from: "the progress of a replay") }
        await caller.answered(["hosts", "the progress of a replay"])
    }
}
