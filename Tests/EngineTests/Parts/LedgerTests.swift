import Storage
import TestSupport
import Testing
import WidgetModel

@testable import Engine

/// The part alone: the outcomes of a push add up to its matches, its sender's account to its pushes, and repeats are known.
@Suite struct LedgerTests {
    private static let start = Instant(seconds: 1_793_638_800)
    private static let team = TeamNumber(0)

    private static func push(_ number: UInt64, at now: Instant = start) -> Ledger.Push {
        Ledger.Push(
            id: PushID(high: 1, low: number),
            team: Self.team,
            app: AppNumber(0),
            priority: .high,
            contentHash: number,
            position: LogPosition(number),
            acceptedAt: now,
            expiresAt: now + .hours(1),
            notBefore: .epoch,
            hasCollapseID: false
        )
    }

    /// Opens a push with so many matches that wait, and closes it.
    private static func accept(_ ledger: inout Ledger, _ number: UInt64, matched: Int, at now: Instant = start)
        -> PushNumber
    {
        let (push, slot) = ledger.openPush(Self.push(number, at: now), collapseID: [], key: number)
        for _ in 0..<matched { ledger.countMatch(of: push, as: .deferred) }
        #expect(ledger.closePush(push, repeatSlot: slot, isCounted: true, at: now) == matched)
        return push
    }

    private static func stats(_ ledger: borrowing Ledger) -> EngineStats {
        var stats = EngineStats()
        ledger.count(into: &stats)
        return stats
    }

    @Test(arguments: [UInt64(1), 2, 3]) func `outcomes add up to matches on every way`(seed: UInt64) {
        var dice = SplitMix64(seed: seed)
        var ledger = Ledger(seed: seed)
        // By push, how many of its matches have each outcome.
        var model: [(push: PushNumber, counts: [PushOutcome: Int])] = []
        for number in 0..<UInt64(40) {
            let matched = dice.below(6)
            model.append((Self.accept(&ledger, number, matched: matched), [.deferred: matched]))
        }
        for _ in 0..<1_000 {
            let index = dice.below(model.count)
            let from = dice.below(2) == 0 ? PushOutcome.deferred : .issued
            guard model[index].counts[from, default: 0] > 0 else { continue }
            let to =
                from == .deferred && dice.below(2) == 0
                ? .issued : PushOutcome.allCases[2 + dice.below(PushOutcome.allCases.count - 2)]
            ledger.moveOutcome(of: model[index].push, from: from, to: to, at: Self.start)
            if to == .failed {
                ledger.countFailure(
                    of: model[index].push,
                    FailureReason.allCases[dice.below(FailureReason.allCases.count)]
                )
            }
            model[index].counts[from, default: 0] -= 1
            model[index].counts[to, default: 0] += 1
        }
        #expect(ledger.checkInvariants(isRecordDone: true) == [])
        for (push, counts) in model {
            for outcome in PushOutcome.allCases {
                let count = ledger[push].counts[Int(outcome.rawValue)]
                #expect(count == UInt32(counts[outcome, default: 0]))
            }
        }
        let complete = model.count { $0.counts[.deferred, default: 0] + $0.counts[.issued, default: 0] == 0 }
        #expect(ledger.completed.count == complete)
        let stats = Self.stats(ledger)
        #expect(stats.pushesRetained == 40 && stats.pushesIncomplete == 40 - complete)
    }

    @Test func `no outcome follows a final one`() async {
        await #expect(processExitsWith: .failure) {
            var ledger = Ledger(seed: 1)
            let push = LedgerTests.accept(&ledger, 1, matched: 1)
            ledger.moveOutcome(of: push, from: .deferred, to: .expired, at: LedgerTests.start)
            ledger.moveOutcome(of: push, from: .expired, to: .removed, at: LedgerTests.start)
        }
    }

    @Test func `pushes that completed first are forgotten first, those under way never`() {
        var ledger = Ledger(seed: 1)
        let pushes = (0..<UInt64(4)).map { Self.accept(&ledger, $0, matched: 1) }
        for (index, push) in [(2, pushes[2]), (0, pushes[0]), (1, pushes[1])] {
            ledger.moveOutcome(of: push, from: .deferred, to: .expired, at: Self.start + .seconds(Int64(10 - index)))
        }
        #expect((ledger.completed.first, ledger.completed.last) == (pushes[2], pushes[1]))
        var units = 1
        ledger.evictPushes(above: 1, completedBefore: .distantPast, atMost: &units)
        #expect(units == 0 && ledger.completed.count == 2, "no more at once than was asked for")
        units = 10
        ledger.evictPushes(above: 1, completedBefore: .distantPast, atMost: &units)
        #expect(units == 9 && ledger.completed.first == pushes[1])
        ledger.evictPushes(above: 0, completedBefore: .distantFuture, atMost: &units)
        #expect(ledger.completed.count == 0)
        #expect(ledger.pushes.rows.usedNumbers() == [pushes[3]])
        #expect(Self.stats(ledger).matched == 4, "totals are over all pushes ever")
    }

    private static func head(_ number: UInt64) throws -> PushHead {
        var writer = ByteWriter()
        PushRecord(id: PushID(high: 1, low: number), team: Scene.team, contentHash: 7, target: .app(Scene.sports))
            .encode(into: &writer)
        var reader = ByteReader(writer.bytes)
        return try PushHead(from: &reader)
    }

    @Test func `a repeat is counted for the push and its sender, a push of the same id with another key is none`()
        throws
    {
        var ledger = Ledger(seed: 1)
        let push = Self.accept(&ledger, 7, matched: 3)
        let (seven, eight) = (try Self.head(7), try Self.head(8))
        #expect(ledger.countRepeat(seven, key: 7, team: Self.team, isCounted: true) == 3)
        #expect(ledger.countRepeat(seven, key: 7, team: Self.team, isCounted: false) == 3)
        #expect(ledger.countRepeat(seven, key: 8, team: Self.team, isCounted: true) == nil)
        #expect(ledger.countRepeat(eight, key: 7, team: Self.team, isCounted: true) == nil)
        let repeats = (ledger[push].repeats, ledger.accounts[Self.team].repeats)
        #expect(repeats == (2, 1))
        let known = [7, 8].map { ledger.isRepeat(PushID(high: 1, low: 7), key: $0) }
        #expect(known == [true, false])
    }

    @Test func `a sender is charged for what its pushes bring`() {
        var ledger = Ledger(seed: 1)
        let push = Self.accept(&ledger, 1, matched: 2)
        ledger.chargeSender(of: push, isExempt: false)
        ledger.chargeSender(of: push, isExempt: true)
        ledger.chargeCollateral(of: push, conforming: 3, over: 4)
        let account = ledger.accounts[Self.team]
        #expect((account.charged, account.exempt, account.collateral, account.collateralOver) == (1, 1, 3, 4))
        #expect(account.pushes == 1 && account.matched == 2)
        #expect(ledger.accounts[TeamNumber(9)].pushes == 0)
    }

    @Test func `a sender's pause ends at its instant, and can be lifted`() {
        var ledger = Ledger(seed: 1)
        #expect(!ledger.hasPausedSenders && ledger.pausedUntil(Self.team) == .distantPast)
        ledger.pauseSender(Self.team, until: Self.start)
        ledger.endPauses(at: Self.start - .milliseconds(1))
        #expect(ledger.pausedUntil(Self.team) == Self.start)
        ledger.endPauses(at: Self.start)
        #expect(ledger.hasPausedSenders == false)
        ledger.pauseSender(Self.team, until: Self.start)
        ledger.pauseSender(Self.team, until: .distantPast)
        #expect(ledger.hasPausedSenders == false)
    }
}
