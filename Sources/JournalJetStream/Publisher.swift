#if JetStream
import Dispatch
import JournalStreams
import Journaling
import Synchronization

/// Sends one message after the other to a stream, each at most once, for one thread: see ``MessageWriter``.
final class Publisher: Sendable {
    /// How long one attempt waits for its answer.
    private static let waitMilliseconds = 2000

    private struct State {
        var writer: MessageWriter
        /// The message that is under way, and the group that waits until it is settled.
        var underWay: (id: MessageID, isSettled: DispatchGroup)?
    }

    private let core: OpenLog
    private let stream: String
    private let subject: @Sendable (UInt64) -> String
    private let state: Mutex<State>

    /// - Parameters:
    ///   - core: The state that all threads share.
    ///   - stream: Where to.
    ///   - subject: That of a writer.
    init(_ core: OpenLog, to stream: String, _ subject: @escaping @Sendable (UInt64) -> String) {
        self.core = core
        self.stream = stream
        self.subject = subject
        self.state = Mutex(State(writer: MessageWriter(to: stream) { UInt64.random(in: 1...UInt64.max) }))
    }

    /// Sends a message; `settled` is told the result before readers that see the message in the stream go on.
    ///
    /// - Parameters:
    ///   - bytes: The message, with its id in it.
    ///   - patience: For how long it is tried; once in any case.
    func send(
        _ bytes: (MessageID) -> [UInt8],
        _ patience: Patience,
        settled: (Result<UInt64, JournalError>) -> Void
    ) {
        let isSettled = DispatchGroup()
        isSettled.enter()
        let (id, first) = self.state.withLock { state in
            let (id, first) = state.writer.begin()
            state.underWay = (id, isSettled)
            return (id, first)
        }
        settled(self.store(bytes(id), to: self.subject(id.writer), first, patience))
        self.state.withLock { $0.underWay = nil }
        isSettled.leave()
    }

    /// Whether a message is one that may or may not be stored yet.
    func isUnderWay(_ id: MessageID) -> Bool { self.state.withLock { $0.underWay?.id == id } }

    /// Waits, if a message is one of this process that is not settled yet.
    func waitUntilSettled(_ id: MessageID) {
        let isSettled = self.state.withLock { state in
            state.underWay.flatMap { $0.id == id ? $0.isSettled : nil }
        }
        isSettled?.wait()
    }

    private func store(
        _ bytes: [UInt8],
        to subject: String,
        _ first: MessageWriter.Step,
        _ patience: Patience
    ) -> Result<UInt64, JournalError> {
        var (step, isTried) = (first, false)
        while true {
            switch step {
            case .settled(let result): return result
            case .publish(let expectation):
                let outcome = self.core.broker.publish(
                    bytes,
                    to: subject,
                    expectation,
                    waitMilliseconds: Self.waitMilliseconds
                )
                step = self.state.withLock { $0.writer.published(outcome) }
                isTried = true
            case .look:
                step = self.look(at: subject)
                // No answer is an attempt, too.
                if case .pause = step { isTried = true }
            case .pause:
                patience.pause()
                step = self.state.withLock { $0.writer.goOn() }
            }
            if case .settled = step { continue }
            if isTried, patience.isOver || self.core.isClosed { step = self.state.withLock { $0.writer.giveUp() } }
        }
    }

    private func look(at subject: String) -> MessageWriter.Step {
        let found: Result<(newest: UInt64?, ends: StreamEnds), JournalError>
        do throws(JournalError) {
            let newest = try self.core.broker.newest(in: self.stream, of: subject)
            guard let ends = try self.core.broker.ends(of: self.stream) else {
                throw JournalError(.corrupt, "the stream is gone; restore it")
            }
            found = .success((newest?.sequence, ends))
        } catch {
            found = .failure(error)
        }
        let step = self.state.withLock { state in
            switch found {
            case .success(let found): state.writer.found(newest: found.newest, ends: found.ends)
            case .failure(let error): state.writer.failed(error)
            }
        }
        // The brokers do not have any more what they had stored.
        if case .settled(.failure(let error)) = step, error.code == .corrupt { self.core.noteLoss() }
        return step
    }
}
#endif
