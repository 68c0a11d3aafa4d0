import TestSupport
import Testing
import Timelines
import WidgetModel

@Suite struct ReloadBudgetTests {
    private let hash: UInt64 = 0x8000_0000_0000_0000

    private func earliest(
        _ budget: ReloadBudget,
        _ reloadClass: ReloadClass = .urgent,
        isPush: Bool = true,
        at now: Instant,
        terms: BudgetTerms = terms
    ) -> Instant {
        budget.earliest(reloadClass, isPush: isPush, now: now, terms: terms, spreadHash: self.hash)
    }

    @Test func `a budget takes 24 bytes`() {
        #expect(MemoryLayout<ReloadBudget>.stride == 24)
    }

    @Test func `a fresh budget lets everything run at once`() {
        let budget = ReloadBudget()
        #expect(self.earliest(budget, .urgent, at: noon) == noon)
        #expect(self.earliest(budget, .paced, at: noon) == noon)
        #expect(budget.exemptEarliest(now: noon, policy: .widgetkit) == noon)
        #expect(budget.lastReload == nil && budget.lastCharge == nil && budget.theoreticalArrival == nil)
    }

    @Test func `an urgent reload waits for the minimum interval, a paced one for the pace`() {
        var budget = ReloadBudget()
        budget.charge(at: noon, isPush: true, terms: terms)
        #expect(budget.theoreticalArrival == noon + .minutes(45))
        #expect(self.earliest(budget, .urgent, at: noon) == noon + .minutes(5))
        #expect(self.earliest(budget, .paced, at: noon) == noon + .minutes(45))
        let edge = noon + .minutes(5)
        #expect(!budget.conforms(.urgent, isPush: true, at: edge - .milliseconds(1), terms: terms))
        #expect(budget.conforms(.urgent, isPush: true, at: edge, terms: terms))
        #expect(self.earliest(budget, .urgent, at: edge) == edge)
        #expect(self.earliest(budget, .urgent, at: edge + .milliseconds(1)) == edge + .milliseconds(1))
        #expect(!budget.conforms(.paced, isPush: true, at: noon + .minutes(45) - .milliseconds(1), terms: terms))
        #expect(budget.conforms(.paced, isPush: true, at: noon + .minutes(45), terms: terms))
    }

    @Test func `the burst is nine urgent reloads in a row, then the pace rules`() {
        var budget = ReloadBudget()
        for number in 0..<9 {
            let at = noon + .minutes(5 * Int64(number))
            #expect(self.earliest(budget, at: at) == at)
            budget.charge(at: at, isPush: true, terms: terms)
        }
        let last = noon + .minutes(40)
        // TAT is 9 * 45 min after the first; urgent may be 8 * 45 min ahead of it: 45 min after the first.
        #expect(budget.theoreticalArrival == noon + .minutes(405))
        #expect(self.earliest(budget, at: last) == noon + .minutes(45))
        budget.charge(at: noon + .minutes(45), isPush: true, terms: terms)
        #expect(self.earliest(budget, at: noon + .minutes(45)) == noon + .minutes(90))
    }

    @Test func `what the window no longer pays waits for the next one, spread over the pace interval`() {
        var budget = ReloadBudget()
        let small = BudgetTerms(policy: .widgetkit, window: today, allowance: 2)
        let spread = Interval.hours(12)
        budget.charge(at: noon, isPush: false, terms: small)
        budget.charge(at: noon + .minutes(5), isPush: false, terms: small)
        let now = noon + .minutes(20)
        #expect(budget.isSpent(isPush: false, terms: small))
        // The hash is in the middle: half of T = 24 h after the window's end, but TAT - T is later for urgent reloads.
        #expect(self.earliest(budget, .urgent, isPush: false, at: now, terms: small) == today.end + .hours(12))
        #expect(small.spread(self.hash) == spread)
        #expect(self.earliest(budget, .paced, isPush: false, at: now, terms: small) == noon + .hours(48))
    }

    @Test func `a push waits when the pushes' share is used up, the timeline does not`() {
        let few = terms.limited(to: 4)
        var budget = ReloadBudget()
        for number in 0..<3 { budget.charge(at: noon + .minutes(5 * Int64(number)), isPush: true, terms: few) }
        let now = noon + .minutes(30)
        #expect(few.pushLimit == 3)
        #expect(self.earliest(budget, isPush: true, at: now, terms: few) == today.end + .minutes(22) + .seconds(30))
        #expect(self.earliest(budget, isPush: false, at: now, terms: few) == now)
        budget.charge(at: now, isPush: false, terms: few)
        #expect(self.earliest(budget, isPush: false, at: now, terms: few) >= today.end)
        #expect(budget.charged(in: today) == 4)
        #expect(budget.pushesCharged(in: today) == 3)
    }

    @Test func `a grant pays for what the window would not`() {
        let few = terms.limited(to: 1)
        var budget = ReloadBudget()
        budget.charge(at: noon, isPush: true, terms: few)
        #expect(self.earliest(budget, at: noon + .hours(1), terms: few) >= today.end)
        #expect(self.earliest(budget, at: noon + .hours(1), terms: few.granting(1)) == noon + .hours(1))
    }

    @Test func `counts start again with the next window, distance and pace do not`() {
        var budget = ReloadBudget()
        let end = today.end
        for number in (0..<9).reversed() {
            budget.charge(at: end - .minutes(5 * Int64(number)) - .milliseconds(1), isPush: true, terms: terms)
        }
        let next = BudgetTerms(policy: .widgetkit, window: today.next)
        #expect(budget.charged(in: today) == 9)
        #expect(budget.charged(in: today.next) == 0)
        let first = end - .minutes(40) - .milliseconds(1)
        #expect(self.earliest(budget, .urgent, at: end, terms: next) == first + .minutes(45))
        #expect(self.earliest(budget, .paced, at: end, terms: next) == first + .minutes(405))
        budget.charge(at: first + .minutes(45), isPush: false, terms: next)
        #expect(budget.charged(in: today.next) == 1)
        #expect(budget.pushesCharged(in: today.next) == 0)
        // A window that moved back finds the later count still standing.
        #expect(budget.charged(in: today) == 1)
    }

    @Test func `unlimited terms hold nothing back and still count`() {
        let unlimited = BudgetTerms(policy: .unlimited, window: today)
        var budget = ReloadBudget()
        for _ in 0..<100 {
            #expect(self.earliest(budget, .paced, at: noon, terms: unlimited) == noon)
            budget.charge(at: noon, isPush: true, terms: unlimited)
        }
        #expect(budget.charged(in: today) == 100)
        #expect(budget.theoreticalArrival == nil)
        #expect(budget.exemptEarliest(now: noon, policy: .unlimited) == noon)
    }

    @Test func `budgets that came to be one give back no more than the larger count holds`() throws {
        var (one, other) = (ReloadBudget(), ReloadBudget())
        let terms = BudgetTerms(policy: .unlimited, window: today)
        for minute in 0..<3 as Range<Int64> {
            one.charge(at: today.start + .minutes(minute), isPush: minute == 2, terms: terms)
            if minute < 2 { other.charge(at: today.start + .minutes(minute), isPush: true, terms: terms) }
        }
        one.tighten(to: other)
        #expect(one.charged(in: today) == 3 && one.pushesCharged(in: today) == 2)
        #expect(one.refund(in: today, isPush: false) == true)
        #expect(one.refund(in: today, isPush: false) == false)
        #expect(one.charged(in: today) == 2 && one.pushesCharged(in: today) == 2)
        var writer = ByteWriter()
        one.encode(into: &writer)
        var reader = ByteReader(writer.bytes)
        #expect(try ReloadBudget(from: &reader) == one)
    }

    @Test func `a refund gives the count back in its window only, and never the pace`() {
        var budget = ReloadBudget()
        #expect(budget.refund(in: today, isPush: true) == false)
        budget.charge(at: noon, isPush: true, terms: terms)
        let charged = budget
        #expect(budget.refund(in: today, isPush: true) == true)
        #expect(budget.charged(in: today) == 0)
        #expect(budget.pushesCharged(in: today) == 0)
        #expect(budget.lastCharge == noon)
        #expect(budget.theoreticalArrival == noon + .minutes(45))
        #expect(self.earliest(budget, .urgent, at: noon) == noon + .minutes(5))
        #expect(budget.refund(in: today, isPush: true) == false)
        budget = charged
        budget.charge(at: today.end, isPush: true, terms: BudgetTerms(policy: .widgetkit, window: today.next))
        #expect(budget.refund(in: today, isPush: true) == false)
        #expect(budget.charged(in: today.next) == 1)
    }

    @Test func `an exempt reload holds back only the next exempt one`() {
        var budget = ReloadBudget()
        budget.charge(at: noon, isPush: true, terms: terms)
        #expect(budget.exemptEarliest(now: noon, policy: .widgetkit) == noon + .seconds(15))
        budget.noteExempt(at: noon + .minutes(4))
        #expect(budget.lastReload == noon + .minutes(4))
        #expect(budget.lastCharge == noon)
        #expect(budget.theoreticalArrival == noon + .minutes(45))
        #expect(budget.charged(in: today) == 1)
        #expect(self.earliest(budget, .urgent, at: noon + .minutes(4)) == noon + .minutes(5))
        let edge = noon + .minutes(4) + .seconds(15)
        #expect(budget.exemptEarliest(now: edge - .milliseconds(1), policy: .widgetkit) == edge)
        #expect(budget.exemptEarliest(now: edge, policy: .widgetkit) == edge)
        #expect(budget.exemptEarliest(now: edge + .milliseconds(1), policy: .widgetkit) == edge + .milliseconds(1))
    }

    @Test func `exempt reloads for months leave nothing of the last charge that matters`() {
        var budget = ReloadBudget()
        budget.charge(at: noon, isPush: true, terms: terms)
        for day in 1...60 { budget.noteExempt(at: noon + .days(Int64(day))) }
        #expect(budget.lastCharge == nil)
        #expect(budget.theoreticalArrival == nil)
        let now = noon + .days(60)
        #expect(
            self.earliest(
                budget,
                .paced,
                at: now,
                terms: BudgetTerms(policy: .widgetkit, window: .containing(now, anchoredAt: 0))
            ) == now
        )
    }

    @Test func `booking what did not conform saturates count and pace`() {
        let few = terms.limited(to: 3)
        var budget = ReloadBudget()
        for second in 0..<20 {
            let at = noon + .seconds(Int64(second))
            budget.book(at: at, isPush: true, terms: few)
            let ceiling = at + terms.interval * 9
            #expect(budget.theoreticalArrival! <= ceiling)
        }
        #expect(budget.charged(in: today) == 3)
        #expect(budget.pushesCharged(in: today) == 3)
        #expect(budget.lastCharge == noon + .seconds(19))
        #expect(budget.theoreticalArrival == noon + .seconds(19) + terms.interval * 9)
    }

    @Test func `a clock that steps back gives nothing away`() {
        var budget = ReloadBudget()
        budget.charge(at: noon, isPush: true, terms: terms)
        budget.noteExempt(at: noon - .hours(1))
        budget.book(at: noon - .hours(1), isPush: true, terms: terms)
        #expect(budget.lastCharge == noon)
        #expect(budget.theoreticalArrival == noon + .minutes(90))
        #expect(budget.charged(in: today) == 2)
    }

    @Test func `a slower pace takes what was used along, measured in intervals`() {
        var budget = ReloadBudget()
        budget.charge(at: noon, isPush: true, terms: terms)
        budget.charge(at: noon + .minutes(5), isPush: true, terms: terms)
        let slow = BudgetTerms(policy: .widgetkit, window: today, allowance: 10)
        var same = budget
        same.carryOver(from: terms, to: terms, at: noon + .minutes(30))
        #expect(same == budget)
        // At 12:30 an hour is left of the two intervals of 45 min: a third more than one, so 4 of the 3 hours.
        budget.carryOver(from: terms, to: slow, at: noon + .minutes(30))
        #expect(budget.theoreticalArrival == noon + .minutes(30) + .hours(4))
        #expect(self.earliest(budget, .urgent, at: noon + .minutes(30), terms: slow) == noon + .minutes(30))
        #expect(self.earliest(budget, .paced, at: noon + .minutes(30), terms: slow) == noon + .minutes(270))
        budget.carryOver(from: slow, to: terms, at: noon + .minutes(30))
        #expect(budget.theoreticalArrival == noon + .minutes(90))
    }

    /// Two intervals of 45 minutes are ahead; by a pace of three hours each of them becomes one of three hours when it is
    /// charged, and not before.
    @Test func `who shares a budget at another pace measures what is ahead by the pace of the last charge`() {
        var budget = ReloadBudget()
        budget.charge(at: noon, isPush: true, terms: terms)
        budget.charge(at: noon + .minutes(5), isPush: true, terms: terms)
        let slow = BudgetTerms(policy: .widgetkit, window: today, allowance: 10).measured(in: terms.interval)
        #expect(slow.tolerance == terms.interval * Int64(slow.burst))
        let arrival = noon + .minutes(90)
        #expect(self.earliest(budget, .paced, at: noon + .minutes(6), terms: slow) == arrival)
        let urgent = max(arrival - slow.tolerance, noon + .minutes(10))
        #expect(self.earliest(budget, .urgent, at: noon + .minutes(6), terms: slow) == urgent)
        budget.charge(at: noon + .minutes(30), isPush: true, terms: slow)
        #expect(budget.theoreticalArrival == noon + .minutes(30) + .hours(4) + slow.interval)
    }

    @Test func `a budget comes back as it was written, and no truncation does`() throws {
        var used = ReloadBudget()
        used.charge(at: noon, isPush: true, terms: terms)
        used.charge(at: noon + .minutes(6), isPush: false, terms: terms)
        used.noteExempt(at: noon + .minutes(7))
        for budget in [ReloadBudget(), used] {
            let whole = bytes { budget.encode(into: &$0) }
            var reader = ByteReader(whole)
            #expect(try ReloadBudget(from: &reader) == budget)
            #expect(reader.isAtEnd)
            for length in whole.indices {
                var reader = ByteReader(Array(whole.prefix(length)))
                #expect(throws: ByteError.self) { try ReloadBudget(from: &reader) }
            }
        }
    }

    @Test(arguments: Extremes.integers)
    func `a budget that is read stands arithmetic at any time`(reloaded: Int64) {
        let whole = bytes { writer in
            writer.write(signed: reloaded)
            writer.write(fixed32: 0)
            writer.write(varint: UInt64(UInt32.max))
            writer.write(fixed32: .max)
            writer.write(varint: 1)
            writer.write(varint: 1)
        }
        var reader = ByteReader(whole)
        guard var budget = try? ReloadBudget(from: &reader) else { return #expect(abs(reloaded / 2) > 1 << 58) }
        #expect(budget.theoreticalArrival != nil && budget.lastCharge != nil)
        #expect(budget.exemptEarliest(now: .epoch, policy: .widgetkit) >= .epoch)
        let week = BudgetWindow(start: .epoch, length: .days(7))
        let slowest = BudgetTerms(policy: .widgetkit, window: week, allowance: 1)
        for now in Extremes.integers where abs(now / 2) < 1 << 60 {
            budget.carryOver(from: terms, to: slowest, at: Instant(milliseconds: now))
            budget.book(at: Instant(milliseconds: now), isPush: true, terms: terms)
        }
        #expect(budget.charged(in: terms.window) <= terms.limit)
    }
}
