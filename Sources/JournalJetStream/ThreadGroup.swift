#if JetStream
import Journaling
import Synchronization
import WorkerThreads

/// Threads that are started one by one, and waited for together.
final class ThreadGroup: Sendable {
    private let threads = Mutex<[WorkerThread]>([])

    func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(JournalError) {
        let thread = try WorkerThread(name: name, body)
        self.threads.withLock { $0.append(thread) }
    }

    /// Waits until all have ended, but for the one that waits.
    func join() {
        let threads = self.threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in threads where !thread.isCurrent { thread.join() }
    }
}
#endif
