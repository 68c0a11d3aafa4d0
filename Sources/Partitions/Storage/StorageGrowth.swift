package import WidgetModel

/// How fast something grows that is counted: by how much in a day, at the pace of the last one.
package struct StorageGrowth: Hashable, Sendable {
    private struct Mark: Hashable, Sendable {
        let at: Instant
        let bytes: Int
    }

    /// Over how long the pace is taken at most.
    private static let span = Interval.hours(24)
    /// How far apart marks are.
    private static let spacing = Interval.minutes(10)
    /// Over how long it is taken at least.
    private static let spanMin = Interval.minutes(1)

    /// In order; the first one is the oldest that counts.
    private var marks: [Mark] = []

    package init() {}

    /// Notes how many bytes there have been up to now.
    package mutating func add(bytes: Int, at now: Instant) {
        if let last = self.marks.last, now - last.at < Self.spacing { return }
        self.marks.append(Mark(at: now, bytes: bytes))
        while self.marks.count > 1, now - self.marks[1].at >= Self.span { self.marks.removeFirst() }
    }

    /// Bytes a day; nil before there has been a minute.
    package func perDay(bytes: Int, at now: Instant) -> Int? {
        guard let first = self.marks.first, now - first.at >= Self.spanMin else { return nil }
        // Exact enough, and beyond the range of an integer only if no disk could hold it.
        let perMillisecond = Double(bytes - first.bytes) / Double((now - first.at).milliseconds)
        return Int(exactly: (perMillisecond * Double(Interval.day.milliseconds)).rounded()) ?? .max
    }
}
