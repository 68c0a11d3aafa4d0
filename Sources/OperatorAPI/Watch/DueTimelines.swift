package import WidgetModel

/// How many timelines have asked for the next one since the start: by the dates that they asked for, and by those that smoothing
/// made of them.
///
/// Surveys know both for the coming hour; this adds up the seconds that have passed. Each second is counted once, by the newest survey at
/// that time; a timeline that came after that survey and fell due before the next is in neither sum.
package struct DueTimelines: Sendable {
    /// By the second, from a survey's beginning on: how many timelines ask for the next one.
    package typealias Seconds = (from: Instant, asked: [UInt32], smoothed: [UInt32])

    package private(set) var asked = 0
    package private(set) var smoothed = 0
    /// All seconds before this one are counted; nil before the first.
    private var next: Int64?

    package init() {}

    /// Counts the whole seconds that have passed since the last call.
    ///
    /// - Parameter seconds: The newest survey's counts; it begins with a whole second.
    package mutating func count(until now: Instant, by seconds: Seconds) {
        let begin = self.next ?? now.seconds
        guard now.seconds > begin else {
            self.next = begin
            return
        }
        self.next = now.seconds
        let start = max(0, begin - seconds.from.seconds)
        let end = min(Int64(seconds.asked.count), now.seconds - seconds.from.seconds)
        guard start < end else { return }
        for second in Int(start)..<Int(end) {
            self.asked += Int(seconds.asked[second])
            self.smoothed += Int(seconds.smoothed[second])
        }
    }
}
