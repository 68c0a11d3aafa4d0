package import Settings
package import WidgetModel

/// Which log messages are written and which are only counted, since the same was written a moment ago.
///
/// A message that is written opens a window of fixed length. The same message within it is counted. When the window ends, the count is told
/// in a ``Summary``, and the next such message is written again. Nothing is lost without being counted: each message that ``takeMessage(_:at:)``
/// did not let through is in exactly one summary's ``Summary/times``.
///
/// A value without a clock: time comes as an argument and must not go back.
package struct LogRepetition: Sendable {
    /// The fields by which two messages are the same.
    package struct Message: Hashable, Sendable {
        package let subsystem: LogSubsystem
        package let level: GatewayConfiguration.Log.Level
        package let text: String
        package let details: [String: String]

        package init(
            _ subsystem: LogSubsystem,
            _ level: GatewayConfiguration.Log.Level,
            _ text: String,
            _ details: [String: String] = [:]
        ) {
            self.subsystem = subsystem
            self.level = level
            self.text = text
            self.details = details
        }
    }

    /// A message that came again, and how often it was not written.
    package struct Summary: Hashable, Sendable {
        package let message: Message
        package let times: Int

        package init(_ message: Message, times: Int) {
            self.message = message
            self.times = times
        }
    }

    /// The treatment of a message, after the summaries have been written.
    package struct Verdict: Hashable, Sendable {
        package let isWritten: Bool
        package let summaries: [Summary]

        package init(isWritten: Bool, summaries: [Summary] = []) {
            self.isWritten = isWritten
            self.summaries = summaries
        }
    }

    private struct Window: Sendable {
        let message: Message
        let end: Instant
    }

    /// How long a window is; zero lets every message through.
    package let length: Interval
    /// Windows that are open at a time. One more ends the oldest before its time.
    package let windowsMax: Int
    /// Windows that ended before their time.
    package private(set) var cut = 0
    /// How often each message with an open window was not written.
    private var repeats: [Message: Int] = [:]
    /// The open windows, the oldest first, from `head` on. They are equally long, so the oldest ends first.
    private var windows: [Window] = []
    private var head = 0

    package init(length: Interval, windowsMax: Int) {
        self.length = length
        self.windowsMax = windowsMax
    }

    /// Takes a message. O(1) on average, beside the windows that end.
    package mutating func takeMessage(_ message: Message, at now: Instant) -> Verdict {
        guard self.length > .zero else { return Verdict(isWritten: true) }
        var summaries = self.end(at: now)
        if let repeats = self.repeats[message] {
            self.repeats[message] = repeats + 1
            return Verdict(isWritten: false, summaries: summaries)
        }
        if self.repeats.count >= self.windowsMax {
            self.cut += 1
            if let summary = self.endOldest() { summaries.append(summary) }
        }
        self.repeats[message] = 0
        self.windows.append(Window(message: message, end: now + self.length))
        return Verdict(isWritten: true, summaries: summaries)
    }

    /// Ends the windows that are over; the summaries of the messages that were repeated in them, the oldest first.
    package mutating func end(at now: Instant) -> [Summary] {
        var summaries: [Summary] = []
        while self.head < self.windows.count, self.windows[self.head].end <= now {
            if let summary = self.endOldest() { summaries.append(summary) }
        }
        return summaries
    }

    /// Ends all windows, over or not.
    package mutating func endAll() -> [Summary] {
        self.end(at: .distantFuture)
    }

    private mutating func endOldest() -> Summary? {
        let message = self.windows[self.head].message
        self.head += 1
        // In slices, so that not every end moves all others.
        if self.head * 2 >= self.windows.count {
            self.windows.removeFirst(self.head)
            self.head = 0
        }
        let times = self.repeats.removeValue(forKey: message) ?? 0
        return times > 0 ? Summary(message, times: times) : nil
    }
}
