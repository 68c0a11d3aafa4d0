import TestSupport
import Testing
import Timelines
import WidgetModel

/// The budget by its definition: the whole history, and every rule read off it.
private struct BudgetModel {
    struct Charge {
        var at: Instant
        var isPush: Bool
        var window: BudgetWindow
        var isRefunded = false
    }

    var charges: [Charge] = []
    var arrival: Instant?
    var exempt: [Instant] = []

    func count(in window: BudgetWindow, pushesOnly: Bool = false) -> Int {
        self.charges.count { !$0.isRefunded && $0.window == window && (!pushesOnly || $0.isPush) }
    }

    func conforms(_ reloadClass: ReloadClass, isPush: Bool, at now: Instant, terms: BudgetTerms) -> Bool {
        if let last = self.charges.last, now < last.at + terms.minimumInterval { return false }
        if let arrival = self.arrival {
            if reloadClass == .urgent, now < arrival - terms.interval * Int64(terms.burst) { return false }
            if reloadClass == .paced, now < arrival { return false }
        }
        if self.count(in: terms.window) >= terms.limit { return false }
        return !isPush || self.count(in: terms.window, pushesOnly: true) < terms.pushLimit
    }

    mutating func charge(at now: Instant, isPush: Bool, terms: BudgetTerms) {
        self.charges.append(Charge(at: now, isPush: isPush, window: terms.window))
        self.arrival = max(self.arrival ?? now, now) + terms.interval
    }
}

@Suite struct ReloadBudgetModelTests {
    private static let allowances = [1, 2, 3, 4, 5, 9, 10, 11, 14, 40, 70]

    /// Random requests over eight days against the model. Every answer of `earliest` is checked at its own instant, one
    /// millisecond before it, and at many instants up to it.
    @Test(arguments: Seeds.from(0, count: 44))
    func `the first conforming instant is just that, and the counts are the model's`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let policy = BudgetPolicy.widgetkit(allowing: Self.allowances[Int(seed) % Self.allowances.count])
        let anchor = Int.random(in: 0..<1440, using: &random)
        var budget = ReloadBudget()
        var model = BudgetModel()
        var now = noon
        func termsInForce(at instant: Instant) -> BudgetTerms {
            BudgetTerms(policy: policy, window: policy.window(containing: instant, anchoredAt: anchor))
        }
        while now < noon + .days(8) {
            now =
                now
                + .milliseconds(
                    Int64.random(in: 0...(random.chance(1, in: 20) ? 40_000_000 : 2_000_000), using: &random)
                )
            let terms = termsInForce(at: now)
            let isPush = random.chance(1, in: 2)
            let hash = random.next()
            for reloadClass in [ReloadClass.urgent, .paced] {
                for isPush in [true, false] {
                    let instant = budget.earliest(reloadClass, isPush: isPush, now: now, terms: terms, spreadHash: hash)
                    let conforms = model.conforms(reloadClass, isPush: isPush, at: now, terms: terms)
                    #expect((instant == now) == conforms, "seed \(seed)")
                    #expect(
                        budget.conforms(reloadClass, isPush: isPush, at: now, terms: terms) == conforms,
                        "seed \(seed)"
                    )
                    self.check(instant, after: now, seed: seed, terms: terms, hash: hash) { probe in
                        model.conforms(reloadClass, isPush: isPush, at: probe, terms: termsInForce(at: probe))
                    }
                }
            }
            switch random.next() % 10 {
            case 0:
                budget.noteExempt(at: now)
            case 1:
                if let index = model.charges.indices.last, !model.charges[index].isRefunded {
                    let charge = model.charges[index]
                    #expect(budget.refund(in: charge.window, isPush: charge.isPush) == true, "seed \(seed)")
                    model.charges[index].isRefunded = true
                }
            default:
                let reloadClass: ReloadClass = random.chance(2, in: 3) ? .urgent : .paced
                guard budget.conforms(reloadClass, isPush: isPush, at: now, terms: terms) else { break }
                budget.charge(at: now, isPush: isPush, terms: terms)
                model.charge(at: now, isPush: isPush, terms: terms)
                #expect(budget.theoreticalArrival == model.arrival, "seed \(seed)")
                #expect(model.arrival! <= now + terms.interval * Int64(terms.burst + 1), "seed \(seed)")
            }
            #expect(budget.charged(in: terms.window) == model.count(in: terms.window), "seed \(seed)")
            #expect(
                budget.pushesCharged(in: terms.window) == model.count(in: terms.window, pushesOnly: true),
                "seed \(seed)"
            )
        }
        #expect(model.charges.count >= 4)
        Self.checkSpans(
            model.charges.map(\.at),
            burst: termsInForce(at: now).burst,
            interval: termsInForce(at: now).interval,
            seed: seed
        )
    }

    /// Holds an answer of `earliest` against the definition.
    private func check(
        _ instant: Instant,
        after now: Instant,
        seed: UInt64,
        terms: BudgetTerms,
        hash: UInt64,
        conforms: (Instant) -> Bool
    ) {
        guard instant > now else { return }
        #expect(conforms(instant), "seed \(seed): \(instant) does not conform")
        // The spread lies between the window's start and the answer; nothing else conforms in front of it.
        let isSpread = instant == terms.window.end + terms.spread(hash)
        let last = isSpread ? terms.window.end - .milliseconds(1) : instant - .milliseconds(1)
        var probes = [now, last]
        let step = max(1, (last - now).milliseconds / 60)
        for number in 0..<60 { probes.append(now + .milliseconds(step * Int64(number))) }
        for probe in probes where probe >= now && probe <= last {
            #expect(!conforms(probe), "seed \(seed): \(probe) conforms before \(instant)")
        }
    }

    /// Any span t holds at most B + t / T + 1 charges, and neighbours keep their distance.
    private static func checkSpans(_ charges: [Instant], burst: Int, interval: Interval, seed: UInt64) {
        for first in charges.indices {
            for last in charges.indices[first...] {
                let beyond = Int64(last - first - burst) * interval.milliseconds
                #expect((charges[last] - charges[first]).milliseconds >= beyond, "seed \(seed): \(first)...\(last)")
            }
            if first > 0 { #expect(charges[first] - charges[first - 1] >= .minutes(5), "seed \(seed)") }
        }
    }

    /// The same bounds for an instance that always wants to reload, whose policy changes at random windows.
    @Test(arguments: Seeds.from(0, count: 40))
    func `no change of policy mints a burst, and no window pays more than its limit`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let used = (0..<3).map { _ in Self.allowances.randomElement(using: &random)! }
        var budget = ReloadBudget()
        var charges: [Instant] = []
        var bursts: [Int] = []
        var intervals: [Interval] = []
        var window = today
        var terms = BudgetTerms(policy: .widgetkit(allowing: used[0]), window: window)
        var now = noon
        for _ in 0..<12 {
            bursts.append(terms.burst)
            intervals.append(terms.interval)
            var limit = terms.limit
            var charged = 0
            var refunded = 0
            while now < window.end {
                let hash = random.next()
                if random.chance(1, in: 30), charged > refunded, budget.refund(in: window, isPush: false) {
                    refunded += 1
                }
                if random.chance(1, in: 50) {
                    terms = terms.granting(1)
                    limit += 1
                }
                if budget.conforms(.urgent, isPush: false, at: now, terms: terms) {
                    budget.charge(at: now, isPush: false, terms: terms)
                    charges.append(now)
                    charged += 1
                }
                #expect(charged - refunded <= limit, "seed \(seed)")
                #expect(budget.charged(in: window) == charged - refunded, "seed \(seed)")
                let next = budget.earliest(.urgent, isPush: false, now: now, terms: terms, spreadHash: hash)
                #expect(next > now, "seed \(seed): nothing conforms right after a charge")
                now =
                    next
                    + (random.chance(1, in: 4)
                        ? .milliseconds(Int64.random(in: 0...30_000_000, using: &random)) : .zero)
            }
            window = .containing(now, anchoredAt: 0)
            let allowance = used.randomElement(using: &random)!
            let next = BudgetTerms(policy: .widgetkit(allowing: allowance), window: window)
            budget.carryOver(from: terms, to: next, at: now)
            terms = next
        }
        Self.checkSpans(charges, burst: bursts.max()!, interval: intervals.min()!, seed: seed)
    }

    /// Collateral may break the rules; what conforms beside it may not.
    @Test(arguments: Seeds.from(0, count: 20))
    func `booking what does not conform never lets more conform`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var budget = ReloadBudget()
        var charges: [Instant] = []
        var counts: [BudgetWindow: Int] = [:]
        var now = noon
        while now < noon + .days(5) {
            now = now + .milliseconds(Int64.random(in: 0...1_500_000, using: &random))
            let window = BudgetWindow.containing(now, anchoredAt: 0)
            let terms = BudgetTerms(policy: .widgetkit, window: window)
            if budget.conforms(.urgent, isPush: true, at: now, terms: terms) {
                budget.charge(at: now, isPush: true, terms: terms)
                charges.append(now)
                counts[window, default: 0] += 1
                #expect(counts[window]! <= 30, "seed \(seed)")
            } else if random.chance(1, in: 3) {
                let before = budget.theoreticalArrival
                budget.book(at: now, isPush: true, terms: terms)
                #expect(budget.theoreticalArrival! >= before ?? now, "seed \(seed)")
                #expect(budget.theoreticalArrival! <= now + terms.interval * 9, "seed \(seed)")
            }
            #expect(budget.charged(in: window) <= 40, "seed \(seed)")
        }
        Self.checkSpans(charges, burst: 8, interval: .minutes(45), seed: seed)
    }
}
