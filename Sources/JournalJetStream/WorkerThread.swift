import Glibc
import Journaling

/// A thread of our own: what it does blocks on the disk, which neither an event loop nor the shared pool may.
@safe
final class WorkerThread: Sendable {
    private let thread: pthread_t

    private final class Start {
        var body: (() -> Void)?
        let afterwards: @Sendable () -> Void

        init(body: sending @escaping () -> Void, afterwards: @escaping @Sendable () -> Void) {
            self.body = body
            self.afterwards = afterwards
        }
    }

    /// - Parameters:
    ///   - name: What it is for, for the error.
    ///   - body: What the thread does.
    ///   - afterwards: What it does at its end, when all that only `body` held is gone.
    init(
        name: String,
        _ body: sending @escaping () -> Void,
        afterwards: @escaping @Sendable () -> Void = {}
    ) throws(JournalError) {
        let start = unsafe Unmanaged.passRetained(Start(body: body, afterwards: afterwards))
        var thread = pthread_t()
        // Sound: the retain of `start` goes over to the thread, which takes it exactly once.
        let code = unsafe pthread_create(
            &thread,
            nil,
            { context in
                guard let context = unsafe context else { return nil }
                let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                start.body?()
                start.body = nil
                start.afterwards()
                return nil
            },
            unsafe start.toOpaque()
        )
        guard code == 0 else {
            // Sound: no thread was made that would release it.
            unsafe start.release()
            throw JournalError(.unavailable, "start of thread \(name): error \(code)")
        }
        self.thread = thread
    }

    /// Whether the caller is on this thread.
    var isCurrent: Bool { pthread_equal(pthread_self(), self.thread) != 0 }

    /// Waits for the thread's end. To be called exactly once, from another thread.
    func join() {
        // The thread has no result.
        _ = pthread_join(self.thread, nil)
    }
}
