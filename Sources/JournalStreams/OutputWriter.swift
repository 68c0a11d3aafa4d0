package import Journaling
package import WidgetModel

/// Appends one output behind the one that its owner knows as the newest, as a value.
///
/// An owner can do nothing before it knows the result of its output, and writing the same one again does no harm: it is
/// tried until the result is known.
package struct OutputWriter: Sendable {
    /// The next step.
    package enum Step: Sendable {
        /// Send the output: ``published(_:)``.
        case publish(Expectation)
        /// Ask for the newest output: ``found(newest:)``.
        case look
        /// Wait a little, then ``goOn()`` or ``giveUp()``.
        case pause
        case settled(Result<OutputPosition, JournalError>)
    }

    private let partition: PartitionID
    private let expected: OutputPosition?
    /// The message.
    package let bytes: [UInt8]
    /// Whether an attempt may have been stored.
    private var isOpen = false
    private var why = "no broker answers"

    /// - Parameters:
    ///   - partition: The output's partition.
    ///   - expected: The newest one that its owner knows; nil if it knows of none.
    ///   - bytes: The message.
    package init(of partition: PartitionID, behind expected: OutputPosition?, _ bytes: [UInt8]) {
        self.partition = partition
        self.expected = expected
        self.bytes = bytes
    }

    /// Tries, or tries again.
    package func goOn() -> Step { .publish(.lastOfStream(self.expected?.rawValue ?? 0)) }

    /// The journal is closed.
    package func giveUp() -> Step {
        let code: JournalError.Code = self.isOpen ? .unknownOutcome : .closed
        return .settled(.failure(JournalError(code, "output for partition \(self.partition): \(self.why)")))
    }

    /// Takes the outcome of an attempt.
    package mutating func published(_ outcome: PublishOutcome) -> Step {
        switch outcome {
        case .stored(let sequence): return .settled(.success(OutputPosition(sequence)))
        case .otherEnd: return .look
        case .refused(let error):
            guard self.isOpen else { return .settled(.failure(error)) }
            self.why = error.message
        case .notTaken(let text): self.why = text
        case .unknown(let text): (self.isOpen, self.why) = (true, text)
        }
        return .pause
    }

    /// The newest output could not be read.
    package mutating func failed(_ error: JournalError) -> Step {
        self.why = error.message
        return .pause
    }

    /// Takes the newest output, which is not the expected one.
    package func found(newest: StoredMessage?) -> Step {
        let own = (self.expected?.rawValue ?? 0) + 1
        // An earlier attempt was stored, and the answer never came.
        if self.isOpen, newest?.sequence == own, newest?.bytes == self.bytes {
            return .settled(.success(OutputPosition(own)))
        }
        let known = self.expected.map(\.description) ?? "none"
        let found = newest.map { String($0.sequence) } ?? "none"
        return .settled(
            .failure(
                JournalError(
                    .fenced,
                    "output for partition \(self.partition) expected \(known) as the newest one, but it is \(found): "
                        + "another gateway decides it"
                )
            )
        )
    }
}
