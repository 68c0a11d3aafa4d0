import Dispatch
import Journaling
import Synchronization
import WidgetModel

/// What waits for the writer: submissions and outputs in the order they came, bounded in bytes.
///
/// Submissions are all taken at once. Outputs wait for a later commit where they would make one large: somebody waits for
/// the answer to a submission, and an output is only waited for by what comes behind it.
final class WorkQueue: Sendable {
    enum Work: Sendable {
        case append(Submission, @Sendable (Result<[AppendReceipt], JournalError>) -> Void)
        case output(
            PartitionID,
            expected: OutputPosition?,
            OutputRecord,
            @Sendable (Result<OutputPosition, JournalError>) -> Void
        )
    }

    private struct State {
        var limits: JournalLimits
        var waiting: [Work] = []
        /// Including what the writer has taken and not yet finished.
        var appendBytes = 0
        var outputBytes = 0
        /// Of the outputs in `waiting`.
        var waitingOutputBytes = 0
        var isClosed = false
        var isWriterAsleep = false
        /// The writer waits for more although there is work.
        var isGathering = false
    }

    private let partitions: Int
    private let state: Mutex<State>
    private let wake = DispatchSemaphore(value: 0)

    init(partitions: Int, limits: JournalLimits) {
        self.partitions = partitions
        self.state = Mutex(State(limits: limits))
    }

    /// Lets more or less in from now on.
    func use(appendBytesInFlightMax: Int, outputBytesPerCommit: Int) {
        self.state.withLock { state in
            state.limits.appendBytesInFlightMax = appendBytesInFlightMax
            state.limits.outputBytesPerCommit = outputBytesPerCommit
        }
    }

    /// Lets work in, or says why not; the callback is not called then.
    func submit(_ work: Work) -> JournalError? {
        let (refusal, mustWake) = self.state.withLock { state -> (JournalError?, Bool) in
            if state.isClosed { return (JournalError(.closed, "write to a closed journal"), false) }
            switch work {
            case .append(let submission, _):
                let waiting = state.appendBytes
                if let refusal = state.limits.refusal(
                    of: submission,
                    partitions: self.partitions,
                    waiting: waiting
                ) {
                    return (refusal, false)
                }
                state.appendBytes += submission.byteCount
            case .output(let partition, _, let output, _):
                let waiting = state.outputBytes
                if let refusal = state.limits.refusal(
                    of: output,
                    to: partition,
                    partitions: self.partitions,
                    waiting: waiting
                ) {
                    return (refusal, false)
                }
                state.outputBytes += output.effects.count
                state.waitingOutputBytes += output.effects.count
            }
            state.waiting.append(work)
            return (nil, Self.takeSleep(&state))
        }
        if mustWake { self.wake.signal() }
        return refusal
    }

    /// What waits and goes into one commit, for the writer; sleeps until there is something. Nil once closed and empty.
    ///
    /// - Parameter earliest: What comes until then is taken along, nil to take what there is. A closed queue does not wait.
    func next(notBefore earliest: DispatchTime? = nil) -> [Work]? {
        var earliest = earliest
        while true {
            let mayGather = earliest.map { $0 > .now() } ?? false
            let (work, isOver, gathers) = self.state.withLock { state -> ([Work], Bool, Bool) in
                if mayGather, !state.isClosed, !state.waiting.isEmpty {
                    // Only the end of the queue wakes the writer now.
                    state.isGathering = true
                    return ([], false, true)
                }
                let work = self.takeGroup(&state)
                state.isGathering = false
                state.isWriterAsleep = work.isEmpty && !state.isClosed
                return (work, work.isEmpty && state.isClosed, false)
            }
            if gathers, let until = earliest {
                _ = self.wake.wait(timeout: until)
                earliest = nil
                continue
            }
            if !work.isEmpty { return work }
            if isOver { return nil }
            self.wake.wait()
        }
    }

    /// All submissions that wait, and as many of the outputs as one commit may hold; a first one in any case.
    private func takeGroup(_ state: inout State) -> [Work] {
        guard state.waitingOutputBytes > state.limits.outputBytesPerCommit else {
            state.waitingOutputBytes = 0
            let group = state.waiting
            state.waiting = []
            return group
        }
        var group: [Work] = []
        var kept: [Work] = []
        var bytes = 0
        for work in state.waiting {
            if case .output(_, _, let output, _) = work {
                let size = output.effects.count
                // Behind one that is kept all are kept, so that those of a partition stay in order.
                guard kept.isEmpty, bytes == 0 || bytes + size <= state.limits.outputBytesPerCommit else {
                    kept.append(work)
                    continue
                }
                bytes += size
            }
            group.append(work)
        }
        state.waitingOutputBytes -= bytes
        state.waiting = kept
        return group
    }

    /// Gives the room of finished work back. The writer calls it before the callbacks, so that a caller that waited for
    /// one finds the room it leaves.
    func finish(_ work: [Work]) {
        var appendBytes = 0
        var outputBytes = 0
        for work in work {
            switch work {
            case .append(let submission, _): appendBytes += submission.byteCount
            case .output(_, _, let output, _): outputBytes += output.effects.count
            }
        }
        self.state.withLock { state in
            state.appendBytes -= appendBytes
            state.outputBytes -= outputBytes
        }
    }

    /// Lets nothing more in.
    func close() {
        let mustWake = self.state.withLock { state in
            state.isClosed = true
            return Self.takeSleep(&state) || state.isGathering
        }
        if mustWake { self.wake.signal() }
    }

    var isClosed: Bool { self.state.withLock { $0.isClosed } }

    private static func takeSleep(_ state: inout State) -> Bool {
        defer { state.isWriterAsleep = false }
        return state.isWriterAsleep
    }
}
