import TestSupport
import Timelines
import WidgetModel

/// A wheel of timers spread over 24 hours: armed one after the other, armed anew in no order, fired for a day.
struct TimerRows {
    private let count: Int
    private static let start = Instant(seconds: 1_793_638_800)

    init(_ count: Int) {
        self.count = count
    }

    func run() {
        var dice = SplitMix64(seed: 42)
        let first = (0..<self.count).map { _ in UInt32(dice.below(86_400)) }
        let before = Report.residentBytes()
        var wheel = TimingWheel(startingAt: Self.start)
        let arming = Stopwatch.seconds {
            for id in 0..<self.count { wheel.arm(UInt32(id), at: Self.start + .seconds(Int64(first[id]) + 1)) }
        }
        let bytes = Double(Report.residentBytes() - before) / Double(self.count)
        // Not given back before its memory was counted.
        withExtendedLifetime(first) {}
        let moves = min(self.count, 2_000_000)
        let moved = (0..<moves).map { _ in UInt32(dice.below(self.count)) }
        let second = (0..<moves).map { _ in UInt32(dice.below(86_400)) }
        let rearming = Stopwatch.seconds {
            // Looked at ahead, as one can where many are known beforehand.
            for from in stride(from: 0, to: moves, by: 64) {
                let group = from..<min(moves, from + 64)
                for index in group { wheel.prefetch(moved[index]) }
                for index in group {
                    wheel.arm(moved[index], at: Self.start + .seconds(Int64(second[index]) + 1))
                }
            }
        }
        var ticks = Stopwatch()
        var fired = 0
        let firing = Stopwatch.seconds {
            for tick in 1...86_400 {
                ticks.add { fired += wheel.takeDue(upTo: Self.start + .seconds(Int64(tick))).count }
            }
        }
        Report.line(
            "timers",
            [
                "arm": Double(self.count) / arming, "rearm": Double(moves) / rearming, "fire": Double(fired) / firing,
                "resident": bytes, "maxTick": ticks.quantile(1), "left": Double(wheel.count),
            ]
        )
    }
}
