import Dispatch
import Journaling
import Synchronization

/// Copies pages from the write-ahead log into the database file, on its own thread and connection, so that no commit
/// waits for it; and finishes files that are no longer written.
final class Checkpointer: Sendable {
    private enum Job {
        /// Copy what is there. Nobody waits for it.
        case copy(path: String)
        /// The writer is done with a file: copy everything, empty the write-ahead log, close.
        case finish(path: String, Handoff)
        case stop
    }

    /// A file on its way from the writer's thread to this one. Sound: the writer does not touch it any more.
    private struct Handoff: @unchecked Sendable {
        let file: LogFile
    }

    private struct State {
        var jobs: [Job] = []
        /// What the last copy found and did, until the writer has looked.
        var copied: (path: String, checkpoint: Database.Checkpoint)?
        var isCopying = false
    }

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

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

    /// Hands over a file that is no longer written; the caller must not touch it again.
    func finish(_ file: LogFile, path: String) {
        let handoff = Handoff(file: file)
        self.state.withLock { $0.jobs.append(.finish(path: path, handoff)) }
        self.wake.signal()
    }

    /// Lets the thread end after what it has to do.
    func stop() {
        self.state.withLock { $0.jobs.append(.stop) }
        self.wake.signal()
    }

    /// The thread's body.
    func run() {
        var open: (path: String, database: Database)?
        while true {
            self.wake.wait()
            let job = self.state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
            switch job {
            case .copy(let path):
                if open?.path != path {
                    open = (try? Database(path: path, access: .readWrite)).map { (path, $0) }
                }
                // A copy that fails (a full disk, say) takes nothing away: the pages stay in the write-ahead log, and
                // the writer asks again after its next commit.
                let copied = try? open?.database.checkpoint()
                if copied == nil { open = nil }
                self.state.withLock { state in
                    state.isCopying = false
                    state.copied = copied.map { (path, $0) }
                }
            case .finish(let path, let handoff):
                if open?.path == path { open = nil }
                // The same: whoever opens the file next copies what was left.
                _ = try? handoff.file.database.checkpointAndTruncate()
            case .stop:
                return
            case nil:
                continue
            }
        }
    }
}
