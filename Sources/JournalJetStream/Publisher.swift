#if JetStream
import Dispatch
import Journaling
import Synchronization
import WidgetModel

/// Sends one message after the other to a stream, each exactly once, for one thread.
///
/// A writer has a subject of its own, and each of its messages is stored only behind the one before it. So a message that is
/// sent again, since it is not known whether it was stored, is stored once however late the first one arrives: no window has to
/// remember it. And a broker that has lost a message is found out by the next one.
final class Publisher: Sendable {
    /// How long one attempt waits for its answer.
    private static let waitMilliseconds = 2000

    private struct Writer {
        var id = UInt64.random(in: 1...UInt64.max)
        var number: UInt64 = 0
        /// The sequence of its newest message, 0 if it has none.
        var last: UInt64 = 0
        /// The message that is under way, and who waits until it is settled.
        var underWay: (id: MessageID, isSettled: DispatchGroup)?
    }

    private let core: OpenLog
    private let stream: String
    private let subject: @Sendable (UInt64) -> String
    private let writer = Mutex(Writer())

    /// - Parameters:
    ///   - core: What all threads share.
    ///   - stream: Where to.
    ///   - subject: That of a writer.
    init(_ core: OpenLog, to stream: String, _ subject: @escaping @Sendable (UInt64) -> String) {
        self.core = core
        self.stream = stream
        self.subject = subject
    }

    /// Sends a message; `settled` is told what became of it before those who see it in the stream go on.
    ///
    /// - Parameter bytes: The message, with its id in it.
    func send(_ bytes: (MessageID) -> [UInt8], settled: (Result<UInt64, JournalError>) -> Void) {
        let isSettled = DispatchGroup()
        isSettled.enter()
        let (id, last) = self.writer.withLock { writer in
            let id = MessageID(writer: writer.id, number: writer.number + 1)
            writer.underWay = (id, isSettled)
            return (id, writer.last)
        }
        let (result, isOpen) = self.store(bytes(id), id, behind: last)
        settled(result)
        self.writer.withLock { writer in
            writer.underWay = nil
            switch result {
            case .success(let sequence): (writer.number, writer.last) = (id.number, sequence)
            // It may come yet: the next message must not wait for it, and goes by another subject.
            case .failure where isOpen: writer = Writer()
            case .failure: break
            }
        }
        isSettled.leave()
    }

    /// Whether a message is one that may or may not be stored yet.
    func isUnderWay(_ id: MessageID) -> Bool { self.writer.withLock { $0.underWay?.id == id } }

    /// Waits, if a message is one of this process that is not settled yet.
    func waitUntilSettled(_ id: MessageID) {
        let isSettled = self.writer.withLock { writer in
            writer.underWay.flatMap { $0.id == id ? $0.isSettled : nil }
        }
        isSettled?.wait()
    }

    /// - Returns: Where it is, or why it is not, and whether it may still come.
    private func store(_ bytes: [UInt8], _ id: MessageID, behind last: UInt64) -> (Result<UInt64, JournalError>, Bool) {
        let patience = Patience(milliseconds: self.core.configuration.patienceMilliseconds)
        var expected = last
        var isOpen = false
        var why = "no broker answers"
        repeat {
            let outcome = self.core.broker.publish(
                bytes,
                to: self.subject(id.writer),
                .lastOfSubject(expected),
                waitMilliseconds: Self.waitMilliseconds
            )
            switch outcome {
            case .stored(let sequence): return (.success(sequence), false)
            case .otherEnd:
                do throws(JournalError) {
                    switch try self.look(for: id, behind: expected) {
                    case .stored(let sequence): return (.success(sequence), false)
                    case .purged: expected = 0
                    case .notYet: break
                    }
                } catch {
                    if error.code == .corrupt { return (.failure(error), isOpen) }
                    why = error.message
                }
            case .refused(let error):
                // An earlier attempt may have been stored.
                guard isOpen else { return (.failure(error), false) }
                why = error.message
            case .notTaken(let text): why = text
            case .unknown(let text): (isOpen, why) = (true, text)
            }
            patience.pause()
        } while !patience.isOver && !self.core.isClosed
        let code: JournalError.Code = isOpen ? .unknownOutcome : .failing
        return (.failure(JournalError(code, "append to \(self.stream): \(why)")), isOpen)
    }

    private enum Place {
        case stored(UInt64)
        /// The writer's newest message was let go of.
        case purged
        case notYet
    }

    /// Where a message is whose writer's subject does not end as it knew.
    private func look(for id: MessageID, behind last: UInt64) throws(JournalError) -> Place {
        let newest = try self.core.broker.newest(in: self.stream, of: self.subject(id.writer))
        // The subject has no other writer, and nothing follows what is not settled.
        if let newest, newest.sequence > last { return .stored(newest.sequence) }
        guard let ends = try self.core.broker.ends(of: self.stream) else {
            throw JournalError(.corrupt, "the stream \(self.stream) is gone; restore it")
        }
        if newest == nil, last == 0 || ends.first > last { return .purged }
        if newest?.sequence == last { return .notYet }
        throw JournalError(
            .corrupt,
            "the brokers have lost message \(last) of \(self.stream), which they had stored; restore the log"
        )
    }
}
#endif
