import Journaling
package import WidgetModel

/// When the next snapshot of a partition is due.
package struct SnapshotTiming: Sendable {
    /// The step that is due.
    package enum Step: Hashable, Sendable {
        case wait
        case write
        /// Log a tick, which decides nothing, so that there is something to make a snapshot of.
        case stir
    }

    /// When the last one was made or tried, or the owner began, and how many bytes had been applied at the last one.
    private var last: (at: Instant, bytes: Int)
    /// Since when there have been entries that no snapshot holds.
    package private(set) var unsavedSince: Instant?

    package init(from start: Instant) { self.last = (start, 0) }

    /// The step that is due now.
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the entries that the owner has applied since the process started.
    ///   - interval: After so long a partition with new entries gets another snapshot, and after `logBytesMax` of them.
    ///   - history: How much of the log is kept.
    package mutating func step(
        applied bytes: Int,
        at now: Instant,
        every interval: Interval,
        orAfter logBytesMax: Int,
        history: Interval
    ) -> Step {
        let age = now - self.last.at
        guard bytes > self.last.bytes else {
            self.unsavedSince = nil
            // The last snapshot and output of an idle partition hold the log of all of them.
            let part = Interval.milliseconds(history.milliseconds / SnapshotRetention.historyParts)
            return age >= max(interval, part) ? .stir : .wait
        }
        self.unsavedSince = self.unsavedSince ?? now
        return age >= interval || bytes - self.last.bytes >= logBytesMax ? .write : .wait
    }

    /// There is a snapshot of the state after so many bytes.
    package mutating func written(applied bytes: Int, at now: Instant) {
        self.last = (now, bytes)
        self.unsavedSince = nil
    }

    /// The next attempt comes in its turn; until then the log is kept.
    package mutating func failed(at now: Instant) { self.last.at = now }

    /// The partition is another node's, or its owner has stopped, which has an alert of its own.
    package mutating func suspend() { self.unsavedSince = nil }
}
