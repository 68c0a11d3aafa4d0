/// A listener's answers since it started: how many, by their status, and how long requests waited for them.
package struct HTTPAnswers: Hashable, Sendable {
    /// The bounds of ``cumulated``, in seconds.
    package static let bounds: [Double] = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    private static let nanosecondBounds = Self.bounds.map { UInt64($0 * 1_000_000_000) }

    /// Answers with a status below 200, 300, 400, 500, and the rest.
    private var statuses = Array(repeating: 0, count: 5)
    /// Answers that took at most as long as each bound and longer than the one before, and those that took longer than all.
    private var durations = Array(repeating: 0, count: Self.bounds.count + 1)
    private var nanoseconds: UInt64 = 0

    package init() {}

    /// How many there were.
    package var count: Int { self.statuses.reduce(0, +) }
    /// How long all of them took together.
    package var seconds: Double { Double(self.nanoseconds) / 1_000_000_000 }

    /// How many there were of each class of statuses, by its name.
    package var byStatus: [(name: String, count: Int)] {
        self.statuses.enumerated().dropFirst().map { (name: "\($0.offset + 1)xx", count: $0.element) }
    }

    /// How many took at most as long as each bound.
    package var cumulated: [(bound: Double, count: Int)] {
        var sum = 0
        return zip(Self.bounds, self.durations).map { bound, count in
            sum += count
            return (bound, sum)
        }
    }

    /// Counts an answer.
    package mutating func add(status: Int, nanoseconds: UInt64) {
        self.statuses[min(max(status / 100, 1), self.statuses.count) - 1] += 1
        // Most are short.
        let bucket = Self.nanosecondBounds.firstIndex { nanoseconds <= $0 } ?? Self.nanosecondBounds.count
        self.durations[bucket] += 1
        self.nanoseconds &+= nanoseconds
    }

    package static func += (sum: inout Self, other: Self) {
        for index in sum.statuses.indices { sum.statuses[index] += other.statuses[index] }
        for index in sum.durations.indices { sum.durations[index] += other.durations[index] }
        sum.nanoseconds &+= other.nanoseconds
    }
}
