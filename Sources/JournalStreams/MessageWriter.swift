package import Journaling

/// Appends one message after the other to a stream, each at most once, as a value: which message to send behind which, and the meaning of
/// an answer.
///
/// A writer has a subject of its own, and each of its messages is stored only behind the one before it. So a message that is
/// sent again, since it is not known whether it was stored, is stored once however late the first one arrives: no window has to
/// remember it. And a broker that has lost a message is found out by the next one.
///
/// A message with none of its writer's before it, since it is the first or since those were trimmed, is stored only behind the
/// stream's end. "The subject is empty" would be true again once it was stored and trimmed, and an attempt that comes then
/// would be stored once more; a stream's end never goes back.
package struct MessageWriter: Sendable {
    /// The next step.
    package enum Step: Sendable {
        /// Ask for the newest message of the writer's subject, and behind that for the ends of the stream: ``found(newest:ends:)``.
        case look
        /// Send the message: ``published(_:)``.
        case publish(Expectation)
        /// Wait a little, then ``goOn()`` or ``giveUp()``.
        case pause
        /// It is known where the message is, or that this cannot be known. Nothing is under way any more. `corrupt`: the brokers
        /// do not have any more what they had stored.
        case settled(Result<UInt64, JournalError>)
    }

    private struct Attempt {
        /// The condition for it to be stored; nil until the stream's end is known.
        var expected: Expectation?
        /// Whether it may be stored, or may be yet.
        var isOpen = false
        /// Whether the stream ends otherwise, perhaps because of this message: the network may bring it twice, and lose the first answer.
        var mustLook = false
        var why = "no broker answers"

        var mayBeStored: Bool { self.isOpen || self.mustLook }
    }

    /// Names its subject.
    package private(set) var id: UInt64
    private let stream: String
    private let makeID: @Sendable () -> UInt64
    private var number: UInt64 = 0
    /// The sequence of its newest message, 0 if it has none.
    private var last: UInt64 = 0
    private var attempt: Attempt?

    /// - Parameters:
    ///   - stream: Where to; for messages of errors.
    ///   - makeID: Makes an id that no writer ever had.
    package init(to stream: String, makeID: @escaping @Sendable () -> UInt64) {
        self.stream = stream
        self.makeID = makeID
        self.id = makeID()
    }

    /// Begins with the next message. Precondition: the one before is settled.
    ///
    /// - Returns: The id that it has to have in it, and the first step.
    package mutating func begin() -> (MessageID, Step) {
        precondition(self.attempt == nil, "a message is under way")
        self.attempt = Attempt(expected: self.last > 0 ? .lastOfSubject(self.last) : nil)
        return (MessageID(writer: self.id, number: self.number + 1), self.goOn())
    }

    /// Tries again.
    package func goOn() -> Step {
        guard let expected = self.attempt?.expected else { return .look }
        return .publish(expected)
    }

    /// No caller waits any longer.
    package mutating func giveUp() -> Step {
        let code: JournalError.Code = self.attempt?.mayBeStored ?? false ? .unknownOutcome : .failing
        return self.fail(code, self.attempt?.why ?? "")
    }

    /// Takes the outcome of an attempt.
    package mutating func published(_ outcome: PublishOutcome) -> Step {
        guard var attempt = self.attempt else { return .pause }
        switch outcome {
        case .stored(let sequence): return self.store(at: sequence)
        case .otherEnd:
            attempt.mustLook = true
            self.attempt = attempt
            return .look
        case .refused(let error):
            // An earlier attempt may have been stored.
            guard attempt.mayBeStored else { return self.settle(.failure(error)) }
            attempt.why = error.message
        case .notTaken(let text): attempt.why = text
        case .unknown(let text): (attempt.isOpen, attempt.why) = (true, text)
        }
        self.attempt = attempt
        return .pause
    }

    /// It could not be found out how the stream ends.
    package mutating func failed(_ error: JournalError) -> Step {
        if error.code == .corrupt { return self.fail(.corrupt, error.message) }
        self.attempt?.why = error.message
        return .pause
    }

    /// Takes how the stream ends.
    ///
    /// - Parameters:
    ///   - newest: The sequence of the newest message of the writer's subject; nil if there is none.
    ///   - ends: Those of the stream, asked for later.
    package mutating func found(newest: UInt64?, ends: StreamEnds) -> Step {
        guard var attempt = self.attempt else { return .pause }
        // The subject has no other writer, and no message follows one that is not settled.
        if let newest, newest > self.last { return self.store(at: newest) }
        guard newest == nil, self.last == 0 || ends.first > self.last else {
            if newest == self.last { return .pause }
            return self.fail(
                .corrupt,
                "the brokers have lost message \(self.last), which they had stored; restore the log"
            )
        }
        // The leader refused it because of one that it is still storing, perhaps an earlier attempt.
        if attempt.expected == .lastOfStream(ends.last) { return .pause }
        switch attempt.expected {
        // A message that was stored behind that end would be there still: it is not, and cannot come any more.
        case .lastOfSubject(let end), .lastOfStream(let end):
            if attempt.isOpen, ends.first > end + 1 {
                return self.fail(
                    .unknownOutcome,
                    "the messages behind message \(end) were trimmed meanwhile, perhaps this one among them"
                )
            }
            attempt.isOpen = false
        case .nothing, nil: break
        }
        attempt.mustLook = false
        attempt.expected = .lastOfStream(ends.last)
        self.attempt = attempt
        return self.goOn()
    }

    private mutating func store(at sequence: UInt64) -> Step {
        self.number += 1
        self.last = sequence
        return self.settle(.success(sequence))
    }

    private mutating func fail(_ code: JournalError.Code, _ why: String) -> Step {
        // It may come yet: the next message must not wait for it, and goes by another subject.
        if self.attempt?.mayBeStored ?? false { (self.id, self.number, self.last) = (self.makeID(), 0, 0) }
        return self.settle(.failure(JournalError(code, "append to \(self.stream): \(why)")))
    }

    private mutating func settle(_ result: Result<UInt64, JournalError>) -> Step {
        self.attempt = nil
        return .settled(result)
    }
}
