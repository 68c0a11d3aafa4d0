#if JetStream
import Dispatch
import Synchronization

/// The work that waits for a thread.
final class WorkBox<Work: Sendable>: Sendable {
    private struct State {
        var waiting: [Work] = []
        var isClosed = false
    }

    private let max: Int
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameter max: How much may wait.
    init(max: Int = .max) { self.max = max }

    /// Lets work in, unless it is closed or full.
    ///
    /// - Returns: Whether it was let in.
    func add(_ work: Work) -> Bool {
        let isIn = self.state.withLock { state in
            guard !state.isClosed, state.waiting.count < self.max else { return false }
            state.waiting.append(work)
            return true
        }
        if isIn { self.wake.signal() }
        return isIn
    }

    /// All that waits; sleeps until there is something. Nil once closed and empty.
    func next() -> [Work]? {
        while true {
            let (work, isOver) = self.takeWaiting()
            if !work.isEmpty { return work }
            if isOver { return nil }
            self.wake.wait()
        }
    }

    /// All that waits; if that is nothing, sleeps for a while until there is something.
    func next(waitMilliseconds: Int) -> [Work] {
        let end = DispatchTime.now() + .milliseconds(waitMilliseconds)
        while true {
            let (work, isOver) = self.takeWaiting()
            if !work.isEmpty || isOver { return work }
            if self.wake.wait(timeout: end) == .timedOut { return [] }
        }
    }

    private func takeWaiting() -> (work: [Work], isOver: Bool) {
        self.state.withLock { state in
            var work: [Work] = []
            swap(&work, &state.waiting)
            return (work, work.isEmpty && state.isClosed)
        }
    }

    /// Lets nothing more in.
    func close() {
        self.state.withLock { $0.isClosed = true }
        self.wake.signal()
    }
}
#endif
