import Glibc
package import Journaling
import Synchronization

/// A thread of a journal's own: its work blocks on a disk or on brokers, which neither an event loop nor a shared pool may.
///
/// The system keeps a thread's memory until that is joined or detached: one that is dropped unjoined is detached.
@safe
package final class WorkerThread: Sendable {
    private let thread: pthread_t
    private let isJoined = Mutex(false)

    private final class Start {
        var body: (() -> Void)?
        let afterwards: @Sendable () -> Void

        init(body: sending @escaping () -> Void, afterwards: @escaping @Sendable () -> Void) {
            self.body = body
            self.afterwards = afterwards
        }
    }

    /// - Parameters:
    ///   - name: The thread's purpose, for the error.
    ///   - body: The thread's work.
    ///   - afterwards: The work at its end, when all that only `body` held is gone.
    package init(
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
            // Sound: no thread was made, so nothing else releases it.
            unsafe start.release()
            throw JournalError(.unavailable, "cannot start the thread \(name): \(systemErrorText(code))")
        }
        self.thread = thread
    }

    /// Whether the caller is on this thread.
    package var isCurrent: Bool { pthread_equal(pthread_self(), self.thread) != 0 }

    deinit {
        if !self.isJoined.withLock({ $0 }) { pthread_detach(self.thread) }
    }

    /// Waits for the thread's end. For any number of other threads: the thread itself would wait for ever.
    package func join() {
        self.isJoined.withLock { isJoined in
            guard !isJoined else { return }
            // The thread has no result.
            _ = pthread_join(self.thread, nil)
            isJoined = true
        }
    }
}
