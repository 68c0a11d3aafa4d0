#if JetStream
import Dispatch
import Synchronization

/// What waits for a thread.
final class WorkBox<Work: Sendable>: Sendable {
    private struct State {
        var waiting: [Work] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    /// Lets work in, unless it is closed.
    ///
    /// - Returns: Whether it was let in.
    func add(_ work: Work) -> Bool {
        let isIn = self.state.withLock { state in
            if !state.isClosed { state.waiting.append(work) }
            return !state.isClosed
        }
        if isIn { self.wake.signal() }
        return isIn
    }

    /// All that waits; sleeps until there is something. Nil once closed and empty.
    func next() -> [Work]? {
        while true {
            let (work, isOver) = self.state.withLock { state in
                var work: [Work] = []
                swap(&work, &state.waiting)
                return (work, work.isEmpty && state.isClosed)
            }
            if !work.isEmpty { return work }
            if isOver { return nil }
            self.wake.wait()
        }
    }

    /// Lets nothing more in.
    func close() {
        self.state.withLock { $0.isClosed = true }
        self.wake.signal()
    }
}
#endif
