import Engine
import History
import Journaling
import Partitions
import Synchronization
import TestSupport
import Testing
import WidgetModel

/// Questions about history in a gateway: how many at a time, and that nothing else waits for them.
@Suite struct HistoryQuestionsTests {
    private static let address = InstanceAddress(host: HostKey("phone"), instance: InstanceID("w1"))

    /// A log whose reading waits until it is let go.
    private final class HeldLog: LogHistory {
        let format = JournalFormat(journalID: "test", partitions: 1, createdAt: .epoch)
        private let entered: AsyncStream<Void>.Continuation
        private let release: Mutex<Bool>

        init(entered: AsyncStream<Void>.Continuation) {
            self.entered = entered
            self.release = Mutex(false)
        }

        func letGo() { self.release.withLock { $0 = true } }

        func head(_ partition: PartitionID) -> LogPosition { LogPosition.start.next }

        func read(
            _ partition: PartitionID,
            from position: LogPosition,
            entriesMax: Int
        ) throws(JournalError) -> [LogEntry] {
            self.entered.yield()
            while !self.release.withLock({ $0 }) {}
            return []
        }

        func readOutputs(
            _ partition: PartitionID,
            from position: OutputPosition,
            outputsMax: Int
        ) throws(JournalError) -> [OutputEntry] { [] }
    }

    @Test func `at the limit questions are answered, above it refused, below it again answered`() async throws {
        let (entered, continuation) = AsyncStream.makeStream(of: Void.self)
        let log = HeldLog(entered: continuation)
        let questions = HistoryQuestions(concurrentMax: 2) { log }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<2 {
                group.addTask { try await questions.why(Self.address, since: .epoch).last == nil }
            }
            var arrivals = entered.makeAsyncIterator()
            for _ in 0..<2 { await arrivals.next() }
            #expect(questions.running == 2)
            do throws(Problem) {
                _ = try await questions.why(Self.address, since: .epoch)
                Issue.record("a third question was answered")
            } catch {
                #expect(error.code == .unavailable)
                #expect(error.detail.contains("limits.maxHistoryQuestions"))
            }
            log.letGo()
            for try await isEmpty in group { #expect(isEmpty) }
        }
        #expect(questions.running == 0)
        #expect(try await questions.why(Self.address, since: .epoch).steps.isEmpty)
    }

    @Test(arguments: [(1, 1), (2, 1), (3, 2)])
    func `who leaves one is answered while there is room for another, or for one at all`(most: Int, room: Int)
        async throws
    {
        let (entered, continuation) = AsyncStream.makeStream(of: Void.self)
        let log = HeldLog(entered: continuation)
        let questions = HistoryQuestions(concurrentMax: most) { log }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<room {
                group.addTask {
                    try await questions.why(Self.address, since: .epoch, leavesOne: true).last == nil
                }
            }
            var arrivals = entered.makeAsyncIterator()
            for _ in 0..<room { await arrivals.next() }
            do throws(Problem) {
                _ = try await questions.why(Self.address, since: .epoch, leavesOne: true)
                Issue.record("one more was answered")
            } catch {
                #expect(error.code == .unavailable)
            }
            if most > room {
                group.addTask { try await questions.why(Self.address, since: .epoch).last == nil }
                await arrivals.next()
                #expect(questions.running == most)
            }
            log.letGo()
            for try await isEmpty in group { #expect(isEmpty) }
        }
    }

    @Test func `a log that cannot be read is a problem, and gives its place back`() async throws {
        let questions = HistoryQuestions(concurrentMax: 1) { throw JournalError(.corrupt, "it is damaged") }
        for _ in 0..<2 {
            do throws(Problem) {
                _ = try await questions.why(Self.address, since: .epoch)
                Issue.record("a damaged log was read")
            } catch {
                #expect(error.code == .unavailable)
                #expect(error.detail.contains("it is damaged"))
            }
        }
        #expect(questions.running == 0)
    }
}
