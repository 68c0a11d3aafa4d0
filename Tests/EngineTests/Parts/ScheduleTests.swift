import Storage
import TestSupport
import Testing
import WidgetModel

@testable import Engine

/// The part alone: an instance comes from phase to phase, is counted while it is behind, and its timer is armed for its first date.
@Suite struct ScheduleTests {
    private static let start = Instant(seconds: 1_793_638_800)
    private static let kind = KindNumber(0)

    private static func schedule(_ count: Int) -> Schedule {
        var schedule = Schedule()
        for number in 0..<count {
            schedule.insert(InstanceNumber(number))
            schedule.countLive(Self.kind, 1)
        }
        return schedule
    }

    /// How many widgets are behind, by reason, and how many are late by a goal of ten minutes.
    private static func behind(_ schedule: borrowing Schedule, at now: Instant) -> (
        counts: [BehindReason: Int], late: Int
    ) {
        let read = schedule.countsBehind(Self.kind, now: UInt32(now.seconds), goal: 600)
        let counts = BehindReason.allCases.map { ($0, read.counts[Int($0.rawValue)]) }.filter { $0.1 > 0 }
        return (Dictionary(uniqueKeysWithValues: counts), read.late)
    }

    @Test func `an instance leaves rest with its first cause, and rests when its last reload has ended`() {
        var schedule = Self.schedule(2)
        let instance = InstanceNumber(1)
        var phases = [schedule.phase(of: instance)]
        schedule[active: instance].waiting = ReloadCauses(.added)
        schedule.settle(instance, as: .budget, of: Self.kind, at: Self.start)
        phases.append(schedule.phase(of: instance))
        schedule[active: instance].outstanding = ReloadList(
            first: ReloadNumber(0),
            last: ReloadNumber(0),
            expires: Self.start + .hours(1)
        )
        phases.append(schedule.phase(of: instance))
        schedule[active: instance].waiting = []
        schedule.settle(instance, as: .outToHost, of: Self.kind, at: Self.start + .minutes(1))
        phases.append(schedule.phase(of: instance))
        #expect(Self.behind(schedule, at: Self.start + .minutes(1)).counts == [.outToHost: 1])
        schedule[active: instance].outstanding = ReloadList()
        schedule.settle(instance, as: nil, of: Self.kind, at: Self.start + .minutes(2))
        phases.append(schedule.phase(of: instance))
        #expect(phases == [.atRest, .waiting, .waitingAndOutstanding, .outstanding, .atRest])
        #expect(Self.behind(schedule, at: Self.start + .minutes(2)).counts == [:])
        let isActive = (schedule[instance].isActive, schedule.active.count)
        #expect(isActive == (false, 0))
    }

    @Test(arguments: [UInt64(1), 2, 3]) func `those that are behind are counted as a walk over all counts them`(
        seed: UInt64
    ) {
        var dice = SplitMix64(seed: seed)
        let count = 30
        var schedule = Self.schedule(count)
        var model: [(reason: BehindReason?, since: Int64)] = Array(repeating: (nil, 0), count: count)
        var now = Self.start
        for _ in 0..<1_000 {
            now = now + .seconds(Int64(dice.below(40)))
            let number = dice.below(count)
            let instance = InstanceNumber(number)
            let reason = dice.below(3) == 0 ? nil : BehindReason.allCases[dice.below(BehindReason.allCases.count)]
            schedule[active: instance].waiting = reason == nil ? [] : ReloadCauses(.added)
            schedule.settle(instance, as: reason, of: Self.kind, at: now)
            if reason == nil || model[number].reason == nil { model[number].since = now.seconds }
            model[number].reason = reason
            let counted = (0..<count).map {
                Schedule.Counted(instance: InstanceNumber($0), kind: Self.kind, isLive: true, reason: model[$0].reason)
            }
            #expect(schedule.checkBehind(counted, now: now) == [])
            #expect(schedule.behindSince(instance)?.seconds == (reason == nil ? nil : model[number].since))
        }
        let late = model.count { $0.reason != nil && ($0.since / 60) * 60 + 59 + 600 < now.seconds }
        #expect(Self.behind(schedule, at: now).late == late)
        #expect(schedule.phase(of: InstanceNumber(0)).isWaiting == (model[0].reason != nil))
    }

    @Test func `one that has been shown something since is behind since then`() {
        var schedule = Self.schedule(1)
        let instance = InstanceNumber(0)
        schedule[active: instance].waiting = ReloadCauses(.added)
        schedule.settle(instance, as: .paused, of: Self.kind, at: Self.start)
        schedule.settle(
            instance,
            as: .paused,
            of: Self.kind,
            at: Self.start + .minutes(9),
            shownUpTo: Self.start + .minutes(5)
        )
        #expect(schedule.behindSince(instance) == Self.start + .minutes(5))
    }

    @Test func `one that is said to be shown something to come is behind since now`() {
        var schedule = Self.schedule(1)
        let instance = InstanceNumber(0)
        let now = Self.start + .minutes(9)
        schedule[active: instance].waiting = ReloadCauses(.added)
        schedule.settle(instance, as: .paused, of: Self.kind, at: Self.start)
        schedule.settle(instance, as: .paused, of: Self.kind, at: now, shownUpTo: now + .hours(1))
        #expect(schedule.behindSince(instance) == now)
        let counted = [Schedule.Counted(instance: instance, kind: Self.kind, isLive: true, reason: .paused)]
        #expect(schedule.checkBehind(counted, now: now) == [])
    }

    @Test(arguments: [0, 600, Int.max]) func `no widget is late by a goal that is longer than time`(goal: Int) {
        var schedule = Self.schedule(1)
        schedule[active: InstanceNumber(0)].waiting = ReloadCauses(.added)
        schedule.settle(InstanceNumber(0), as: .paused, of: Self.kind, at: Self.start)
        for day in 0..<3 {
            let now = UInt32((Self.start + .days(Int64(day))).seconds)
            let late = schedule.countsBehind(Self.kind, now: now, goal: goal).late
            #expect(late == (day > 0 && goal < .max ? 1 : 0))
        }
    }

    @Test func `a timer is armed for the first date, and not at all for none`() {
        var schedule = Self.schedule(1)
        let instance = InstanceNumber(0)
        schedule.arm(instance)
        #expect(schedule.dueTime(of: instance) == nil)
        schedule[active: instance].minExpiry = Self.start + .minutes(3)
        schedule[active: instance].wait(until: Self.start + .minutes(2), .pace)
        schedule[instance].timelineDue = Self.start + .minutes(1)
        schedule[active: instance].outstanding.expires = Self.start
        var dates: [Instant?] = []
        for step in 0..<5 {
            schedule.arm(instance)
            dates.append(schedule.dueTime(of: instance))
            switch step {
            case 0: schedule[active: instance].outstanding.expires = .distantFuture
            case 1: schedule[instance].timelineDue = .distantFuture
            case 2: schedule[active: instance].wait(until: .distantFuture, .waitsForAnother)
            default: schedule[active: instance].minExpiry = .distantFuture
            }
        }
        #expect(dates == [0, 1, 2, 3].map { Self.start + .minutes($0) } + [nil])
    }

    @Test func `a removed instance waits for nothing, and its number is given to another at rest`() {
        var schedule = Self.schedule(1)
        let instance = InstanceNumber(0)
        schedule[active: instance].waiting = ReloadCauses(.added)
        schedule[instance].hasScheduled = true
        schedule.settle(instance, as: .budget, of: Self.kind, at: Self.start)
        schedule.chargeRollingDay(of: instance, at: Self.start)
        schedule.remove(instance, of: Self.kind, at: Self.start)
        #expect(schedule.isIdle(instance, now: Self.start) == true)
        #expect(Self.behind(schedule, at: Self.start).counts == [:])
        schedule.release(instance)
        schedule.insert(instance)
        let hasDay = schedule.rollingDay(of: instance) != nil
        #expect(!hasDay && schedule.phase(of: instance) == .atRest)
    }
}
