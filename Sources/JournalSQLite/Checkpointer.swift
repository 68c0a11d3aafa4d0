import Dispatch
import Journaling
import Synchronization

/// Copies pages from the write-ahead log into the database file, on its own thread and connection, so that no commit
/// waits for it; and finishes files that are no longer written.
final class Checkpointer: Sendable {
    private enum Job {
        /// Copy the pages that are there. No caller waits for it.
        case copy(path: String)
        /// A file is no longer written: copy everything, empty the write-ahead log, close.
        case finish(Unfinished)
        case stop
    }

    /// A file that is no longer written.
    ///
    /// Sound: the writer, who had the open file, does not touch it any more.
    private struct Unfinished: @unchecked Sendable {
        let path: String
        /// Nil if the writer never had it.
        let file: LogFile?

        /// Copies all of the write-ahead log and empties it; false if that has to be tried again.
        func finish() -> Bool {
            // Nothing to do, or trimmed since.
            guard LogDirectory.size(of: self.path + "-wal") > 0 else { return true }
            do throws(SQLiteError) {
                let database = if let file = self.file { file.database } else { try Checkpointer.open(self.path) }
                // A reader may take long, and the copies of the file that is written do not wait for it.
                database.waitForOthers(milliseconds: 0)
                try database.checkpointAndTruncate()
                return true
            } catch {
                return false
            }
        }
    }

    /// How long to wait before a file that could not be finished is tried again.
    private static let finishRetryDelay = DispatchTimeInterval.seconds(1)

    private struct State {
        var jobs: [Job] = []
        /// The result of the last copy, until the writer has looked.
        var copied: (path: String, checkpoint: Database.Checkpoint)?
        var isCopying = false
        var isWriterWaiting = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let isCopied = DispatchSemaphore(value: 0)

    /// Asks for a copy, unless one is under way.
    func requestCopy(of path: String) {
        let isNew = self.state.withLock { state in
            guard !state.isCopying else { return false }
            state.isCopying = true
            state.copied = nil
            state.jobs.append(.copy(path: path))
            return true
        }
        if isNew { self.wake.signal() }
    }

    /// How far the last copy came, once; nil if one is under way, or if it was another file's.
    func takeCopied(of path: String) -> Database.Checkpoint? {
        self.state.withLock { state in
            guard let copied = state.copied, copied.path == path else { return nil }
            state.copied = nil
            return copied.checkpoint
        }
    }

    /// Waits until no copy is under way. For the writer alone, who is the only one to ask for one.
    func waitForCopy() {
        let mustWait = self.state.withLock { state in
            state.isWriterWaiting = state.isCopying
            return state.isCopying
        }
        if mustWait { self.isCopied.wait() }
    }

    /// Finishes a file that is no longer written, as soon as no reader uses its write-ahead log any more.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - file: The writer's open file, which the writer must not touch again.
    func finish(path: String, _ file: LogFile? = nil) {
        let unfinished = Unfinished(path: path, file: file)
        self.state.withLock { $0.jobs.append(.finish(unfinished)) }
        self.wake.signal()
    }

    /// Lets the thread end after its remaining work.
    func stop() {
        self.state.withLock { $0.jobs.append(.stop) }
        self.wake.signal()
    }

    /// The thread's body.
    func run() {
        var open: (path: String, database: Database)?
        var unfinished: [Unfinished] = []
        var retryAt = DispatchTime.distantFuture
        while true {
            _ = self.wake.wait(timeout: retryAt)
            if retryAt <= .now() {
                unfinished.removeAll { $0.finish() }
                retryAt = unfinished.isEmpty ? .distantFuture : .now() + Self.finishRetryDelay
            }
            let job = self.state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
            switch job {
            case .copy(let path):
                if open?.path != path { open = (try? Self.open(path)).map { (path, $0) } }
                // A copy that fails (a full disk, say) takes nothing away: the pages stay in the write-ahead log, and
                // the writer asks again after its next commit.
                let copied = try? open?.database.checkpoint()
                if copied == nil { open = nil }
                self.endCopy(copied.map { (path, $0) })
            case .finish(let file):
                if open?.path == file.path { open = nil }
                guard !file.finish() else { continue }
                unfinished.append(file)
                retryAt = min(retryAt, .now() + Self.finishRetryDelay)
            case .stop:
                // Files that are not finished then are finished when the log is opened again.
                for file in unfinished { _ = file.finish() }
                return
            case nil:
                continue
            }
        }
    }

    private func endCopy(_ copied: (path: String, checkpoint: Database.Checkpoint)?) {
        let isWaitedFor = self.state.withLock { state in
            defer { state.isWriterWaiting = false }
            state.isCopying = false
            state.copied = copied
            return state.isWriterWaiting
        }
        if isWaitedFor { self.isCopied.signal() }
    }

    fileprivate static func open(_ path: String) throws(SQLiteError) -> Database {
        let database = try Database(path: path, access: .readWrite)
        // A connection that has read nothing has not seen that there is a write-ahead log.
        _ = try database.integer("PRAGMA user_version")
        return database
    }
}
