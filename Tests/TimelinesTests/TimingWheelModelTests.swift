import TestSupport
import Testing
import Timelines
import WidgetModel

@Suite struct TimingWheelModelTests {
    /// Random arming, moving, disarming and jumps of time against a dictionary that is sorted on demand.
    @Test(arguments: Seeds.from(0, count: 60))
    func `the wheel does what a sorted map does`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let ids: UInt32 = [4, 40, 300][Int(seed % 3)]
        var now = seed % 2 == 0 ? noon : .epoch
        var wheel = TimingWheel(startingAt: now)
        var model: [UInt32: Int64] = [:]
        for step in 0..<1_500 {
            let id = UInt32.random(in: 0..<ids, using: &random)
            switch random.next() % 16 {
            case 0..<9:
                let instant = now + self.distance(using: &random)
                wheel.arm(id, at: instant)
                model[id] = max(0, (instant.milliseconds + 999) / 1000)
            case 9..<13:
                wheel.disarm(id)
                model[id] = nil
            default:
                now = now + self.jump(using: &random)
                let seconds = now.seconds
                let expected = model.filter { $0.value <= seconds }
                    .sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
                for id in expected { model[id] = nil }
                #expect(wheel.takeDue(upTo: now) == expected, "seed \(seed), step \(step)")
            }
            #expect(wheel.nextDue == model.values.min().map { Instant(seconds: $0) }, "seed \(seed), step \(step)")
            #expect(wheel.dueTime(of: id) == model[id].map { Instant(seconds: $0) }, "seed \(seed), step \(step)")
            if step % 100 == 0 { #expect(wheel.checkInvariants() == [], "seed \(seed), step \(step)") }
        }
        #expect(wheel.count == model.count, "seed \(seed)")
        #expect(wheel.checkInvariants() == [], "seed \(seed)")
        let armed = (0..<ids).filter { wheel.dueTime(of: $0)?.seconds == model[$0] }
        #expect(armed.count == Int(ids), "seed \(seed)")
    }

    /// Distances of every level, and some into the past.
    private func distance(using random: inout SplitMix64) -> Interval {
        let scale: Int64 = [3_000, 100_000, 5_000_000, 400_000_000, 9_000_000_000, 40_000_000_000].randomElement(
            using: &random
        )!
        let milliseconds = Int64.random(in: 0...scale, using: &random)
        return .milliseconds(random.chance(1, in: 10) ? -milliseconds : milliseconds)
    }

    private func jump(using random: inout SplitMix64) -> Interval {
        let scale: Int64 = [0, 900, 20_000, 5_000_000, 90_000_000, 10_000_000_000].randomElement(using: &random)!
        return .milliseconds(Int64.random(in: 0...scale, using: &random))
    }

    /// Time that comes second by second and time that jumps see the same order.
    @Test(arguments: Seeds.from(100, count: 10))
    func `a jump drains in the order of single steps`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var stepping = TimingWheel(startingAt: noon)
        var jumping = TimingWheel(startingAt: noon)
        for id in UInt32(0)..<2_000 {
            let due = noon + .milliseconds(Int64.random(in: -5_000...10_000_000, using: &random))
            stepping.arm(id, at: due)
            jumping.arm(id, at: due)
        }
        var steps: [UInt32] = []
        for second in Int64(0)...20_000 { steps += stepping.takeDue(upTo: noon + .seconds(second)) }
        #expect(jumping.takeDue(upTo: noon + .seconds(10_000)) == steps, "seed \(seed)")
        #expect(steps.count == 2_000)
    }
}
