#if JetStream
import JournalStreams
import Journaling
import Synchronization
import WidgetModel

/// Follows one partition's entries as they come: keeps the newest in memory, and tells the observers.
final class Follower: Sendable {
    private struct State {
        /// The newest entries without a gap.
        var cached: [LogEntry] = []
        var cachedBytes = 0
        var observers: [@Sendable (LogPosition) -> Void] = []
    }

    private let core: OpenLog
    private let reader: Reader
    private let input: InputLane
    private let output: OutputLane
    private let fan: FanLane
    private let partition: PartitionID
    private let cacheBytesMax: Int
    private let first: LogPosition
    private let state = Mutex(State())

    /// - Parameters:
    ///   - first: The entry to begin with: the one behind the newest when the log was opened.
    init(
        _ core: OpenLog,
        _ reader: Reader,
        _ input: InputLane,
        _ output: OutputLane,
        _ fan: FanLane,
        from first: LogPosition
    ) {
        self.core = core
        self.reader = reader
        self.input = input
        self.output = output
        self.fan = fan
        self.partition = reader.partition
        self.cacheBytesMax = core.configuration.cacheBytesMax / core.format.partitions
        self.first = first
    }

    func observe(_ body: @escaping @Sendable (LogPosition) -> Void) {
        self.state.withLock { $0.observers.append(body) }
    }

    /// Entries from a position on; nil if the first is not in memory.
    func cached(from position: LogPosition, entriesMax: Int) -> [LogEntry]? {
        self.state.withLock { state in
            guard let first = state.cached.first?.position, let last = state.cached.last?.position,
                position >= first, position <= last, entriesMax > 0
            else { return nil }
            let start = Int(position.rawValue - first.rawValue)
            return Array(state.cached[start...].prefix(entriesMax))
        }
    }

    /// The thread's body: until the journal is closed.
    func run() {
        var next = self.first
        while !self.core.isClosed {
            do throws(JournalError) {
                try self.follow(&next)
            } catch {
                if error.code == .corrupt, self.hasLeft(&next) { continue }
                // A reader meets the error, too, and says so.
                Patience(milliseconds: 0).pause()
            }
        }
    }

    /// Whether the next entry was trimmed before it was read: then this goes on behind the trimmed part.
    private func hasLeft(_ next: inout LogPosition) -> Bool {
        guard let head = try? self.reader.head(), head > next else { return false }
        next = head
        self.state.withLock { state in
            state.cached = []
            state.cachedBytes = 0
        }
        return true
    }

    private func follow(_ next: inout LogPosition) throws(JournalError) {
        var walk = try self.reader.walk(from: next)
        let stream = self.core.names.input(self.partition)
        let subject = self.core.names.allInput(self.partition)
        _ = try self.core.follow(stream, subject, from: next.rawValue) { (message) throws(JournalError) in
            guard let message else { return true }
            let agreed = walk.last.time.disagreements
            let (entry, input) = try walk.takeMessage(message)
            // A copy of a submission for all has the time of the original, which may have waited for long.
            if input.fan == nil, walk.last.time.disagreements > agreed {
                self.core.noteClocks(of: self.partition, storedAt: message.stamp, writtenAt: input.writtenAt)
            }
            self.takeEntry(entry, input)
            next = walk.next
            return true
        }
    }

    private func takeEntry(_ entry: LogEntry, _ message: InputMessage) {
        self.output.noteTail(entry.position)
        let observers = self.state.withLock { state in
            state.cached.append(entry)
            state.cachedBytes += entry.bytes.count
            if state.cachedBytes > self.cacheBytesMax {
                // A quarter at once, so that each costs little; the newest stays.
                var dropped = 0
                while state.cachedBytes > self.cacheBytesMax / 4 * 3, dropped < state.cached.count - 1 {
                    state.cachedBytes -= state.cached[dropped].bytes.count
                    dropped += 1
                }
                state.cached.removeFirst(dropped)
            }
            return state.observers
        }
        // An append here gets its receipt before the hint.
        if message.fan == nil {
            self.input.publisher.waitUntilSettled(message.id)
        } else {
            self.fan.placed(message.id, self.partition, at: entry.position)
        }
        guard !self.core.isClosed else { return }
        for observer in observers { observer(entry.position) }
    }
}
#endif
