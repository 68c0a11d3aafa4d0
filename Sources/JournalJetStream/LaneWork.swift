#if JetStream
import Journaling

/// An append that waits for its turn, and shares a message with others.
protocol LaneWork: Sendable {
    /// How long its caller waits.
    var patience: Patience { get }
    /// The bytes of its records, as they were admitted.
    var byteCount: Int { get }
    /// Tells the caller why it is not stored, or that this is not known.
    func fail(_ error: JournalError)
}

extension OpenLog {
    /// Has some sent in one message after the other, until each is answered. Tells a caller that has waited for too long, while others'
    /// messages were sent, that its own was not.
    ///
    /// - Parameter send: Sends some in one message, which is tried for as long as the first one's caller waits. Returns those to send again:
    ///   the message is not stored, and their callers came later and wait.
    func sendInTurn<Work: LaneWork>(
        _ works: ArraySlice<Work>,
        to stream: String,
        _ send: ([Work], Patience) -> [Work]
    ) {
        var left = Array(works)
        while true {
            left.removeAll { work in
                guard work.patience.isOver else { return false }
                self.fail(work, .notSent(to: stream))
                return true
            }
            guard let patience = left.first?.patience else { return }
            left = send(left, patience)
        }
    }

    /// Answers an append with an error.
    func fail(_ work: some LaneWork, _ error: JournalError) {
        self.finish(appendBytes: work.byteCount)
        work.fail(error)
    }
}
#endif
