package import Journaling
package import WidgetModel

/// An entry whose time is known: the times of those behind it follow from it, one from the other.
package struct TimeAnchor: Hashable, Sendable {
    package let position: LogPosition
    package let time: EntryTime

    package init(_ position: LogPosition, _ time: EntryTime) {
        self.position = position
        self.time = time
    }

    /// The beginning of the log.
    package static let start = TimeAnchor(.start, EntryTime())

    /// The last one not behind a position.
    ///
    /// - Parameters:
    ///   - known: The last one that was read.
    ///   - trimmed: The note on the trimmed part.
    ///   - snapshots: Those that there are.
    package static func last(
        notBehind position: LogPosition,
        known: TimeAnchor?,
        trimmed: Trimmed?,
        snapshots: [SnapshotID]
    ) -> TimeAnchor {
        var best = known ?? .start
        if let trimmed, trimmed.through <= position, trimmed.through > best.position {
            best = TimeAnchor(trimmed.through, EntryTime(after: trimmed.logTime))
        }
        for id in snapshots where id.position <= position && id.position > best.position {
            best = TimeAnchor(id.position, EntryTime(after: id.logTime))
        }
        return best
    }
}

/// Reads a partition's entries one after the other: none is left out, and each gets its time.
package struct EntryWalk: Sendable {
    /// The entry that was read last, and its time.
    package private(set) var last: TimeAnchor
    private let journalID: String
    private let stream: String

    /// - Parameters:
    ///   - anchor: The anchor before the first entry.
    ///   - journalID: The log's.
    ///   - stream: The partition's.
    package init(behind anchor: TimeAnchor, _ journalID: String, in stream: String) {
        self.last = anchor
        self.journalID = journalID
        self.stream = stream
    }

    /// The entry that comes next.
    package var next: LogPosition { self.last.position.next }

    /// Takes the message that comes next.
    ///
    /// - Throws: `.corrupt` if it is another one, or damaged.
    package mutating func takeMessage(_ message: StoredMessage) throws(JournalError) -> (
        entry: LogEntry, message: InputMessage
    ) {
        guard message.sequence == self.next.rawValue else {
            throw JournalError(
                .corrupt,
                "position \(self.next) is missing in \(self.stream), behind it is \(message.sequence)"
            )
        }
        do throws(MessageError) {
            let input = try InputMessage(message.bytes, self.journalID, in: self.stream)
            var time = self.last.time
            let logTime = time.next(stamp: message.stamp, writtenAt: input.writtenAt)
            self.last = TimeAnchor(self.next, time)
            return (LogEntry(position: self.last.position, logTime: logTime, packed: input.records), input)
        } catch {
            throw JournalError(.corrupt, "position \(message.sequence) in \(self.stream) is damaged: \(error.sentence)")
        }
    }
}
