@testable import Engine
import TestSupport
import Testing
import Timelines
import WidgetModel

/// A decision, as a function of values.
@Suite struct DecidingTests {
    private static let now = Instant(seconds: 1_700_000_000)
    private static let next = Self.now + .milliseconds(1)
    private static let window = BudgetWindow(start: Self.now - .hours(6), length: .day)

    /// Nothing in the way: an instance that has never reloaded, under 40 reloads a day.
    private struct Values {
        var pausedUntil = Instant.distantPast
        var held: Plan?
        var exemption: Exemption?
        var freeSetupAt = Instant.distantPast
        var terms = BudgetTerms(policy: .widgetkit, window: DecidingTests.window, allowance: 40)
        var budget = ReloadBudget()
        var rollingEarliest: Instant?
        var timelineDue = Instant.distantFuture
        var isPolicyPaced = false
        var isHostDriven = false

        func plan(_ demand: Demand) -> Plan {
            DecisionGrounds(
                now: DecidingTests.now,
                pausedUntil: self.pausedUntil,
                held: self.held,
                exemption: self.exemption,
                lastReload: self.budget.lastReload,
                exemptEarliest: self.budget.exemptEarliest(now: DecidingTests.now, policy: .widgetkit),
                freeSetupAt: self.freeSetupAt,
                minimumInterval: BudgetPolicy.widgetkit.minimumInterval,
                terms: self.terms,
                budget: self.budget,
                rollingEarliest: self.rollingEarliest,
                timelineDue: self.timelineDue,
                isPolicyPaced: self.isPolicyPaced,
                isHostDriven: self.isHostDriven
            ).plan(demand, spreadHash: 0)
        }

        /// Charges a reload some time ago.
        func charging(_ ago: Interval) -> Values {
            var values = self
            values.budget.charge(at: DecidingTests.now - ago, isPush: true, terms: self.terms)
            return values
        }

        func with(_ change: (inout Values) -> Void) -> Values {
            var values = self
            change(&values)
            return values
        }
    }

    private static func demand(
        high: Bool = false,
        normal: Bool = false,
        _ causes: [ReloadCause] = [],
        expires: Instant = .distantFuture
    ) -> Demand {
        let waiting = causes.reduce(into: ReloadCauses(rawValue: 0)) { $0.insert(ReloadCauses($1)) }
        return Demand(high: high, normal: normal, waiting: waiting, minExpiry: expires)
    }

    private static let high = Self.demand(high: true)
    private static let normal = Self.demand(normal: true)

    @Test func `with nothing in the way a push reloads now and is charged to the pushes' share`() {
        #expect(Values().plan(Self.high) == .issue(nil, isPush: true))
        #expect(Values().plan(Self.normal) == .issue(nil, isPush: true))
        #expect(Values().plan(Self.demand(high: true, [.appRequest])) == .issue(nil, isPush: false))
    }

    @Test func `what is held or paused waits, whatever exempts it`() {
        let exempt = Values().with { $0.exemption = .appForeground }
        #expect(exempt.plan(Self.high) == .issue(.appForeground, isPush: false))
        let paused = exempt.with { $0.pausedUntil = Self.next }
        #expect(paused.plan(Self.high) == .wait(until: Self.next, .paused))
        #expect(exempt.with { $0.pausedUntil = Self.now }.plan(Self.high) == .issue(.appForeground, isPush: false))
        let held = exempt.with { $0.held = .wait(until: .distantFuture, .otherEnvironment) }
        #expect(held.plan(Self.high) == .wait(until: .distantFuture, .otherEnvironment))
    }

    @Test func `an instance reloads once at an instant`() {
        let before = Values().with {
            $0.terms = BudgetTerms(policy: .unlimited, window: Self.window)
            $0.budget.noteExempt(at: Self.now)
        }
        #expect(before.plan(Self.high) == .wait(until: Self.next, .pace))
    }

    @Test(arguments: [(Interval.seconds(14), true), (.seconds(15), false)])
    func `an exempt reload keeps its interval`(ago: Interval, waits: Bool) {
        let values = Values().with {
            $0.budget.noteExempt(at: Self.now - ago)
            $0.exemption = .mediaSession
        }
        let due = Self.now - ago + .seconds(15)
        let expected: Plan = waits ? .wait(until: due, .exemptInterval) : .issue(.mediaSession, isPush: false)
        #expect(values.plan(Self.high) == expected)
        // A demand that would expire before then is charged instead.
        let hasty = Self.demand(high: true, expires: due)
        #expect(values.plan(hasty) == (waits ? .issue(nil, isPush: true) : .issue(.mediaSession, isPush: false)))
        let patient = Self.demand(high: true, expires: due + .milliseconds(1))
        #expect(values.plan(patient) == expected)
    }

    @Test func `an urgent reload waits for the minimum interval, a paced one for the pace`() {
        let values = Values().charging(.minutes(4))
        #expect(values.plan(Self.high) == .wait(until: Self.now + .minutes(1), .minimumInterval))
        #expect(Values().charging(.minutes(5)).plan(Self.high) == .issue(nil, isPush: true))
        guard case .wait(let until, .pace) = values.plan(Self.normal) else {
            Issue.record("a push of priority 5 does not wait for the pace")
            return
        }
        #expect(until == values.budget.theoreticalArrival)
        let asked = Self.demand(normal: true, [.appRequest])
        #expect(values.plan(asked) == .wait(until: Self.now + .minutes(1), .minimumInterval))
    }

    @Test func `a budget that is used up waits for the next window`() {
        let values = Values().with { values in
            values.terms = values.terms.limited(to: 1)
        }.charging(.hours(5))
        #expect(values.plan(Self.high) == .wait(until: Self.window.end, .allowance))
    }

    @Test func `the last 24 hours are waited for where they are counted`() {
        let values = Values().with { $0.rollingEarliest = Self.next }
        #expect(values.plan(Self.high) == .wait(until: Self.next, .allowance))
        #expect(values.with { $0.rollingEarliest = Self.now }.plan(Self.high) == .issue(nil, isPush: true))
    }

    @Test(arguments: [(Interval.milliseconds(1), true), (.minutes(5), true), (.milliseconds(300_001), false)])
    func `a push of priority 5 joins the policy reload of the next five minutes`(ahead: Interval, joins: Bool) {
        let due = Self.now + ahead
        let values = Values().with { $0.timelineDue = due }.charging(.hours(5))
        #expect(values.plan(Self.normal) == (joins ? .wait(until: due, .joinsPolicy) : .issue(nil, isPush: true)))
        #expect(values.plan(Self.high) == .issue(nil, isPush: true))
        #expect(values.with { $0.isHostDriven = true }.plan(Self.normal) == .issue(nil, isPush: true))
        #expect(values.plan(Self.demand(normal: true, expires: due)) == .issue(nil, isPush: true))
    }

    @Test func `what sets a widget up is free again after the minimum interval`() {
        let values = Values().with {
            $0.freeSetupAt = Self.now - .minutes(1)
            $0.budget.noteExempt(at: Self.now - .minutes(1))
            $0.terms = $0.terms.limited(to: 1)
        }.charging(.minutes(1))
        let added = Self.demand([.added])
        #expect(values.plan(added) == .wait(until: Self.now + .minutes(4), .minimumInterval))
    }

    @Test func `what is put off by its sender or a hold shortens no other wait`() {
        var demand = Self.high
        demand.heldUntil = Self.now + .seconds(30)
        #expect(Values().charging(.minutes(4)).plan(demand) == .wait(until: Self.now + .seconds(30), .minimumInterval))
        #expect(Values().plan(demand) == .issue(nil, isPush: true))
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `a plan issues what conforms, and waits for later`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            var values = Values()
            var at = Self.window.start
            while at < Self.now, Bool.random(using: &random) || Bool.random(using: &random) {
                at = min(Self.now, at + .seconds(Int64.random(in: 0..<7200, using: &random)))
                guard values.budget.conforms(.urgent, isPush: true, at: at, terms: values.terms) else { continue }
                values.budget.charge(at: at, isPush: true, terms: values.terms)
            }
            if Int.random(in: 0..<8, using: &random) == 0 { values.pausedUntil = Self.now + .milliseconds(7) }
            if Int.random(in: 0..<4, using: &random) == 0 { values.exemption = .appForeground }
            if Bool.random(using: &random) {
                values.timelineDue = Self.now + .milliseconds(Int64.random(in: 1..<600_000, using: &random))
                values.isPolicyPaced = Bool.random(using: &random)
            }
            var demand = Self.demand(high: Bool.random(using: &random), normal: true)
            demand.minExpiry = Self.now + .milliseconds(Int64.random(in: 1..<600_000, using: &random))
            switch values.plan(demand) {
            case .wait(let until, _):
                #expect(until > Self.now)
            case .issue(nil, let isPush):
                #expect(values.pausedUntil <= Self.now)
                #expect(isPush)
                let reloadClass: ReloadClass = demand.high ? .urgent : .paced
                #expect(values.budget.conforms(reloadClass, isPush: true, at: Self.now, terms: values.terms))
            case .issue(let exemption?, let isPush):
                #expect(values.pausedUntil <= Self.now)
                #expect(exemption == values.exemption && !isPush)
                #expect(values.budget.exemptEarliest(now: Self.now, policy: .widgetkit) == Self.now)
            }
        }
    }
}
