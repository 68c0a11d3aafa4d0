import TestSupport
import Testing
import Timelines
import WidgetModel

@Suite struct ViewRateTests {
    @Test(
        arguments: [(0, 10), (1, 17), (2, 25), (3, 32), (4, 40), (5, 41), (12, 55), (19, 68), (20, 70), (255, 70)]
            as [(UInt16, Int)]
    )
    func `the allowance follows the views a day, through typical at four`(views: UInt16, allowance: Int) {
        let rate = ViewRate(viewsPerDay: views)
        #expect(BudgetPolicy.widgetkit.allowance(for: rate, in: .day, isLearning: false) == allowance)
    }

    @Test func `tuned windows get as much of a day's allowance as they are long, fixed ones theirs whole`() {
        let policy = BudgetPolicy.widgetkit
        #expect(policy.allowance(for: .typical, in: .hours(23), isLearning: false) == 38)
        #expect(policy.allowance(for: .typical, in: .hours(25), isLearning: false) == 41)
        #expect(policy.allowance(for: .frequent, in: .hours(25), isLearning: false) == 72)
        #expect(BudgetPolicy.trmnl.allowance(for: .typical, in: .hours(1), isLearning: false) == 12)
    }

    @Test func `the first days' allowance is half as much again, rounded down`() {
        var policy = BudgetPolicy.widgetkit
        #expect(policy.allowance(for: .typical, in: .day, isLearning: true) == 60)
        policy.typical = 41
        #expect(policy.allowance(for: .typical, in: .day, isLearning: true) == 61)
        #expect(policy.isLearning(windowFrom: noon + .days(3) - .milliseconds(1), firstRegisteredAt: noon))
        #expect(!policy.isLearning(windowFrom: noon + .days(3), firstRegisteredAt: noon))
        #expect(!BudgetPolicy.trmnl.isLearning(windowFrom: noon, firstRegisteredAt: noon))
    }

    @Test(arguments: [0, 1, 4, 20, 60] as [UInt16])
    func `a steady habit is learned within weeks, from above and from below`(views: UInt16) {
        for start in [0, 4, 255] as [UInt16] {
            var rate = ViewRate(viewsPerDay: start)
            for _ in 0..<80 { rate.takeViews(views, in: .day) }
            let scaled = Int(rate.scaled)
            #expect((Int(views) * 256...Int(views) * 256 + 7).contains(scaled), "from \(start)")
        }
    }

    @Test func `a rate saturates, and what is not seen is forgotten`() {
        var rate = ViewRate.typical
        rate.takeViews(.max, in: .minutes(1))
        #expect(rate.scaled == .max)
        for _ in 0..<100 { rate = rate.unseen }
        #expect(rate < .seldom && rate == rate.unseen)
    }

    @Test(arguments: Seeds.from(0, count: 20))
    func `an allowance never leaves the policy's range and never falls as views rise`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var policy = BudgetPolicy.widgetkit
        policy.rare = Int.random(in: 1...50, using: &random)
        policy.typical = Int.random(in: policy.rare...100, using: &random)
        policy.frequent = Int.random(in: policy.typical...200, using: &random)
        var before = 0
        for scaled in stride(from: UInt16(0), through: 65_000, by: 37) {
            let allowance = policy.allowance(for: ViewRate(scaled: scaled), in: .day, isLearning: false)
            #expect(allowance >= before && allowance >= policy.rare && allowance <= policy.frequent, "seed \(seed)")
            before = allowance
        }
        #expect(before == policy.frequent, "seed \(seed)")
    }
}
