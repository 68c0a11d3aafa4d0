/// How fast a partition works: units for each second that it was busy, over the last minute.
///
/// Pure: the caller says how many units were done, how long that took and when.
package struct WorkPace: Hashable, Sendable {
    /// Over how many seconds it is taken.
    package static let span = 60
    /// The assumed pace of a partition that has done nothing yet, in units a second.
    package static let assumed = 1_000_000
    /// It is never taken for slower than this: a machine that stood still for a moment refuses no ordinary push after.
    package static let min = 200_000
    /// The assumed pace counts as so many nanoseconds of work: little work says little.
    private static let assumedNanoseconds = 250_000_000

    private struct Second: Hashable, Sendable {
        var number = Int.min
        var units = 0
        var nanoseconds = 0
    }

    private var seconds = Array(repeating: Second(), count: Self.span)

    package init() {}

    /// - Parameters:
    ///   - units: The work that was done, at least 0.
    ///   - nanoseconds: How long that took.
    ///   - second: When, counted from any beginning.
    package mutating func add(units: Int, nanoseconds: Int, in second: Int) {
        let place = second % Self.span
        if self.seconds[place].number != second { self.seconds[place] = Second(number: second) }
        self.seconds[place].units += units
        self.seconds[place].nanoseconds += nanoseconds
    }

    /// Units a second. O(``span``).
    package func perSecond(at second: Int) -> Int {
        var units = Double(Self.assumed) * Double(Self.assumedNanoseconds) / 1e9
        var nanoseconds = Double(Self.assumedNanoseconds)
        for one in self.seconds where one.number > second - Self.span {
            units += Double(one.units)
            nanoseconds += Double(one.nanoseconds)
        }
        return max(Self.min, Int(units / nanoseconds * 1e9))
    }
}
