import Testing
import Timelines
import WidgetModel

@Suite struct BudgetTermsTests {
    private func allowing(_ allowance: Int) -> BudgetTerms {
        BudgetTerms(policy: .widgetkit, window: today, allowance: allowance)
    }

    @Test func `the numbers of WidgetKit's budget`() {
        #expect(terms.allowance == 40)
        #expect(terms.burst == 8)
        #expect(terms.interval == .minutes(45))
        #expect(terms.tolerance == .hours(6))
        #expect(terms.limit == 40)
        #expect(terms.pushLimit == 30)
        #expect(terms.minimumInterval == .minutes(5))
        #expect(terms.exemptInterval == .seconds(15))
        #expect(!terms.isUnlimited)
        // 86,400,000 / 56, rounded up.
        #expect(self.allowing(70).interval == .milliseconds(1_542_858))
        #expect(self.allowing(10).interval == .hours(3))
    }

    @Test(arguments: BudgetPolicy.presets)
    func `terms moved to another window are those that are made for it`(policy: BudgetPolicy) {
        for hours in [Int64(1), 23, 24, 25] {
            for allowance in [0, 1, 10, 40, 60, 70] {
                let terms = BudgetTerms(
                    policy: policy,
                    window: BudgetWindow(start: noon, length: .hours(hours)),
                    allowance: allowance
                )
                let later = BudgetWindow(start: noon + .days(3), length: .hours(hours))
                #expect(terms.moved(to: later) == BudgetTerms(policy: policy, window: later, allowance: allowance))
                #expect(terms.isAlso(for: allowance, in: later) == (allowance > 0))
                #expect(!terms.isAlso(for: allowance + 1, in: later) || allowance == 0)
                #expect(!terms.isAlso(for: allowance, in: BudgetWindow(start: noon, length: .hours(hours + 1))))
            }
        }
    }

    @Test func `an allowance of one has no burst, any other at least one`() {
        #expect((1...5).map { self.allowing($0).burst } == [0, 1, 1, 1, 1])
        #expect(self.allowing(1).interval == .day)
        #expect(self.allowing(2).interval == .day)
        #expect(self.allowing(9).burst == 1)
        #expect(self.allowing(10).burst == 2)
        #expect(self.allowing(0) == self.allowing(1))
    }

    @Test func `pushes get their share rounded up`() {
        #expect((1...5).map { self.allowing($0).pushLimit } == [1, 2, 3, 3, 4])
    }

    @Test func `FCM's burst is twenty, one every three minutes`() {
        let terms = BudgetTerms(policy: .fcmCollapsible, window: today)
        #expect(terms.burst + 1 == 20)
        #expect(terms.interval == .minutes(3))
    }

    @Test func `the first window is pro rata, at least burst and one, at most all`() {
        #expect(terms.firstWindowLimit(joinedAt: today.start) == 40)
        #expect(terms.firstWindowLimit(joinedAt: noon) == 20)
        #expect(terms.firstWindowLimit(joinedAt: noon + .milliseconds(1)) == 19)
        #expect(terms.firstWindowLimit(joinedAt: today.end - .milliseconds(1)) == 9)
        #expect(terms.firstWindowLimit(joinedAt: today.end + .days(1)) == 9)
        #expect(terms.firstWindowLimit(joinedAt: today.start - .days(1)) == 40)
        #expect(self.allowing(1).firstWindowLimit(joinedAt: noon) == 1)
        let first = terms.limited(to: 9)
        #expect(first.limit == 9)
        #expect(first.pushLimit == 7)
        #expect(first.interval == terms.interval)
    }

    @Test func `a grant raises both counts and nothing else`() {
        let granted = terms.granting(3)
        #expect(granted.limit == 43)
        #expect(granted.pushLimit == 33)
        #expect(granted.interval == terms.interval)
        #expect(terms.granting(-1) == terms)
    }

    @Test func `the smaller of two policies is the stricter in each number`() {
        let smaller = self.allowing(40).smaller(with: self.allowing(10))
        #expect(smaller.limit == 10)
        #expect(smaller.pushLimit == 8)
        #expect(smaller.burst == 2)
        #expect(smaller.interval == .hours(3))
        #expect(smaller == self.allowing(10).smaller(with: self.allowing(40)))
        let unlimited = BudgetTerms(policy: .unlimited, window: today)
        #expect(unlimited.isUnlimited)
        #expect(unlimited.smaller(with: terms) == terms)
        #expect(terms.smaller(with: unlimited) == terms)
        #expect(unlimited.smaller(with: unlimited) == unlimited)
    }

    @Test func `the smaller share of pushes is that of an instance's first window, too`() {
        var lax = BudgetPolicy.widgetkit(allowing: 10)
        var strict = lax
        lax.pushShare = BudgetPolicy.Share(1, of: 1)
        strict.pushShare = BudgetPolicy.Share(1, of: 2)
        for (old, new) in [(lax, strict), (strict, lax)] {
            let smaller = BudgetTerms(policy: old, window: today).smaller(with: BudgetTerms(policy: new, window: today))
            #expect(smaller.pushLimit == 5)
            #expect(smaller.limited(to: 10).pushLimit == 5)
            #expect(smaller.limited(to: 7).pushLimit == 4)
        }
    }

    @Test func `the spread stays below the interval`() {
        #expect(terms.spread(0) == .zero)
        #expect(terms.spread(.max) == .minutes(45) - .milliseconds(1))
    }
}
