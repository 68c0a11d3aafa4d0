package import History
package import Journaling
import NIOPosix
import Synchronization
package import WidgetModel

/// Answers questions about the log's past, beside everything else: a thread for each question, a few at a time.
///
/// A question reads the log through connections of its own and replays it in an engine of its own, so that neither the
/// event loops nor the partitions' owners wait for it.
package final class HistoryQuestions: Sendable {
    /// Opens the log for one question.
    package typealias Opening = @Sendable () throws -> any LogHistory

    private let open: Opening
    private let start: HistoryStart
    private let state: Mutex<State>

    private struct State {
        var concurrentMax: Int
        var running = 0
        var isClosed = false
    }

    /// - Parameters:
    ///   - start: Where replays begin.
    ///   - concurrentMax: The most questions at once; one more is answered 503.
    ///   - open: Opens the log; called on the question's thread.
    package init(from start: HistoryStart = HistoryStart(), concurrentMax: Int, open: @escaping Opening) {
        self.open = open
        self.start = start
        self.state = Mutex(State(concurrentMax: concurrentMax))
    }

    /// Answers more or fewer at once from now on.
    package func setLimit(concurrentMax: Int) { self.state.withLock { $0.concurrentMax = concurrentMax } }

    /// How many questions are being answered.
    package var running: Int { self.state.withLock { $0.running } }

    /// The history of an instance since an instant, with reasons.
    ///
    /// - Parameter leavesOne: Whether it is only asked while there is room for one question more, as long as more than one may be
    ///   asked at once.
    /// - Throws: `.badRequest` if the log does not go back so far; `.unavailable` if as many questions as may be are being
    ///   answered, or if the log cannot be read.
    package func why(
        _ address: InstanceAddress,
        since: Instant,
        leavesOne: Bool = false
    ) async throws(Problem) -> InstanceTrace {
        try await self.ask(leavesOne: leavesOne) { log, start, isCancelled in
            try InstanceQuestion(address, since: since).answer(from: log, start, isCancelled: isCancelled)
        }
    }

    /// The answer that `question` finds in the log, on a thread of its own.
    ///
    /// - Parameter question: Reads the log, from where replays begin, until it is told that it is to end.
    /// - Throws: As for ``why(_:since:)``.
    package func ask<Answer: Sendable>(
        leavesOne: Bool = false,
        _ question: @escaping @Sendable (any LogHistory, HistoryStart, () -> Bool) throws -> Answer
    ) async throws(Problem) -> Answer {
        try self.enter(leavesOne)
        defer { self.state.withLock { $0.running -= 1 } }
        let thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
        do {
            let answer = try await thread.runIfActive {
                try question(try self.open(), self.start) { self.state.withLock { $0.isClosed } }
            }
            try await thread.shutdownGracefully()
            return answer
        } catch let error as HistoryError {
            thread.shutdownGracefully { _ in }
            guard case .tooLongAgo = error else { throw Problem(.unavailable, "\(error)") }
            throw Problem(.badRequest, "\(error)")
        } catch {
            thread.shutdownGracefully { _ in }
            throw Problem(.unavailable, "the log's history cannot be read: \(error)")
        }
    }

    private func enter(_ leavesOne: Bool) throws(Problem) {
        let full = self.state.withLock { state -> Int? in
            let most = leavesOne ? max(1, state.concurrentMax - 1) : state.concurrentMax
            if state.running >= most { return state.running }
            state.running += 1
            return nil
        }
        if let full {
            throw Problem(
                .unavailable,
                "\(full) questions about history are being answered, the limit; ask again in a second, read the data directory (freshet why --data), or raise limits.maxHistoryQuestions"
            )
        }
    }

    /// Ends the questions that are being answered: each gets the part of its answer that is there.
    package func close() {
        self.state.withLock { $0.isClosed = true }
    }
}
