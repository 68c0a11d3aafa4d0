import Dispatch
import Journaling
import Synchronization
import WidgetModel

/// The work that waits for the writer: submissions and outputs in the order they came, bounded in bytes.
///
/// Work that would make a commit too large waits for a later one. One commit takes many bytes of submissions, as many
/// as the write-ahead log has room for, since callers wait for the answers. Only later outputs wait for an output.
final class WorkQueue: Sendable {
    enum Work: Sendable {
        case append(Submission, @Sendable (Result<AppendReceipt, JournalError>) -> Void)
        case appendToAll(
            SubmissionToAll,
            @Sendable (Result<Void, JournalError>) -> Void,
            whenPlaced: @Sendable (AppendReceipt) -> Void
        )
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
        /// Including the work that the writer has taken and not yet finished.
        var appendBytes = 0
        var outputBytes = 0
        /// Of the submissions in `waiting`, as often as they are written.
        var waitingAppendBytes = 0
        /// Of the outputs in `waiting`.
        var waitingOutputBytes = 0
        var isClosed = false
        var isWriterAsleep = false
        /// The writer waits for more although there is work.
        var isGathering = false
    }

    private let partitions: Int
    private let appendBytesPerCommit: Int
    private let state: Mutex<State>
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - partitions: Those of the log.
    ///   - limits: How much is let in, and the most bytes of outputs in one commit.
    ///   - appendBytesPerCommit: The most bytes of submissions in one commit; a single one is always let in.
    init(partitions: Int, limits: JournalLimits, appendBytesPerCommit: Int) {
        self.partitions = partitions
        self.appendBytesPerCommit = appendBytesPerCommit
        self.state = Mutex(State(limits: limits))
    }

    /// Lets more or less in from now on.
    func useLimits(_ limits: JournalLimits) { self.state.withLock { $0.limits = limits } }

    /// Lets work in, or says why not; the callback is not called then.
    func submit(_ work: Work) -> JournalError? {
        let (refusal, mustWake) = self.state.withLock { state -> (JournalError?, Bool) in
            if state.isClosed { return (JournalError(.closed, "the journal is closed"), false) }
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
                state.waitingAppendBytes += submission.byteCount
            case .appendToAll(let submission, _, _):
                let waiting = state.appendBytes
                if let refusal = state.limits.refusal(
                    of: submission,
                    partitions: self.partitions,
                    waiting: waiting
                ) {
                    return (refusal, false)
                }
                state.appendBytes += submission.byteCount
                state.waitingAppendBytes += submission.byteCount(among: self.partitions)
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

    /// The waiting work that goes into one commit, for the writer; sleeps until there is some. Nil once closed and
    /// empty.
    ///
    /// - Parameter earliest: Waits until then for more work; nil to take the work that there is. A closed queue does
    ///   not wait.
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

    /// As much of the waiting work as one commit may hold; a first submission and a first output in any case.
    private func takeGroup(_ state: inout State) -> [Work] {
        var group: [Work] = []
        var kept: [Work] = []
        var appends = Portion(waiting: state.waitingAppendBytes, max: self.appendBytesPerCommit)
        var outputs = Portion(waiting: state.waitingOutputBytes, max: state.limits.outputBytesPerCommit)
        if appends.isAll, outputs.isAll {
            swap(&group, &state.waiting)
        } else {
            for work in state.waiting {
                let isTaken =
                    switch work {
                    case .append(let submission, _): appends.takeWork(submission.byteCount)
                    case .appendToAll(let submission, _, _):
                        appends.takeWork(submission.byteCount(among: self.partitions))
                    case .output(_, _, let output, _): outputs.takeWork(output.effects.count)
                    }
                if isTaken { group.append(work) } else { kept.append(work) }
            }
            state.waiting = kept
        }
        state.waitingAppendBytes = appends.left
        state.waitingOutputBytes = outputs.left
        return group
    }

    /// The part of the work of one sort that is taken.
    private struct Portion {
        private let waiting: Int
        private let max: Int
        private var taken = 0
        private var isOver = false

        init(waiting: Int, max: Int) {
            self.waiting = waiting
            self.max = max
        }

        /// Whether one commit may hold all that waits.
        var isAll: Bool { self.waiting <= self.max }

        /// The bytes that wait on.
        var left: Int { self.isAll ? 0 : self.waiting - self.taken }

        /// Whether the next work of the sort is taken; behind one that is not, none is, so that they stay in order.
        mutating func takeWork(_ bytes: Int) -> Bool {
            self.isOver = self.isOver || (self.taken > 0 && self.taken + bytes > self.max)
            if !self.isOver { self.taken += bytes }
            return !self.isOver
        }
    }

    /// Gives the room of finished work back. The writer calls it before the callbacks, so that a caller that waited for
    /// one finds the room it leaves.
    func finish(_ work: [Work]) {
        var appendBytes = 0
        var outputBytes = 0
        for work in work {
            switch work {
            case .append(let submission, _): appendBytes += submission.byteCount
            case .appendToAll(let submission, _, _): appendBytes += submission.byteCount
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
