import Ownership
import Testing
import WidgetModel

/// When an owner's ticks and a partition's snapshots are due, by tables.
@Suite struct OwnerTimingTests {
    /// A moment: how long before the timer is due by the log's clock, the driver's uptime, and the answers.
    struct Moment: Sendable {
        let early: Int64
        let uptime: Int64
        let delay: Int64
        /// Whether a tick is appended now.
        let isTaken: Bool
    }

    @Test func `a tick comes when a timer is due by the log's clock, and not soon after another`() throws {
        var log = OwnerLog(hosts: 1)
        try log.machine.start(newest: nil)
        try log.writeAll()
        let first = log.tickDelay
        let due = OwnerLog.start + (try #require(first))
        let day = Interval.day.milliseconds
        let moments = [
            Moment(early: 2 * day, uptime: 0, delay: day, isTaken: false),
            Moment(early: 5000, uptime: 10, delay: 5000, isTaken: false),
            // The driver has waited for so long, and the log's clock was slower.
            Moment(early: 1, uptime: 5010, delay: 1, isTaken: false),
            Moment(early: 0, uptime: 5011, delay: 0, isTaken: true),
            // It has failed, or is on its way.
            Moment(early: 0, uptime: 5012, delay: 249, isTaken: false),
            Moment(early: 0, uptime: 5260, delay: 1, isTaken: false),
            Moment(early: 300, uptime: 5260, delay: 300, isTaken: false),
            Moment(early: -700, uptime: 5261, delay: 0, isTaken: true),
            Moment(early: -800, uptime: 5361, delay: 150, isTaken: false),
        ]
        for moment in moments {
            let (time, uptime) = (due - .milliseconds(moment.early), Interval.milliseconds(moment.uptime))
            let delay = log.machine.tickDelay(at: time, uptime: uptime)
            #expect(delay == .milliseconds(moment.delay), "\(moment)")
            let isTaken = log.machine.takeTick(at: time, uptime: uptime)
            #expect(isTaken == moment.isTaken, "\(moment)")
        }
    }

    private static func step(_ timing: inout SnapshotTiming, _ bytes: Int, _ now: Instant) -> SnapshotTiming.Step {
        timing.step(applied: bytes, at: now, every: .minutes(10), orAfter: 1000, history: .hours(1))
    }

    @Test(
        arguments: [
            // (minutes since the last one, bytes applied since, the step)
            (0, 0, .wait), (9, 0, .wait), (10, 0, .wait), (29, 0, .wait), (30, 0, .stir),
            (0, 1, .wait), (9, 1, .wait), (10, 1, .write), (0, 999, .wait), (0, 1000, .write),
        ] as [(Int64, Int, SnapshotTiming.Step)]
    )
    func `a snapshot is due after a time or an amount of log`(minutes: Int64, bytes: Int, step: SnapshotTiming.Step) {
        var first = SnapshotTiming(from: OwnerLog.start)
        var later = SnapshotTiming(from: OwnerLog.start - .hours(5))
        later.written(applied: 777, at: OwnerLog.start)
        let now = OwnerLog.start + .minutes(minutes)
        let steps = [Self.step(&first, bytes, now), Self.step(&later, 777 + bytes, now)]
        #expect(steps == [step, step])
    }

    @Test func `entries are unsaved from when they were seen until a snapshot has them`() {
        let start = OwnerLog.start
        var timing = SnapshotTiming(from: start)
        _ = Self.step(&timing, 0, start)
        #expect(timing.unsavedSince == nil)
        _ = Self.step(&timing, 5, start + .minutes(1))
        let due = Self.step(&timing, 6, start + .minutes(10))
        #expect(due == .write)
        timing.failed(at: start + .minutes(10))
        let next = Self.step(&timing, 7, start + .minutes(11))
        #expect(next == .wait, "the next attempt comes in its turn")
        #expect(timing.unsavedSince == start + .minutes(1))
        timing.written(applied: 6, at: start + .minutes(12))
        #expect(timing.unsavedSince == nil)
        _ = Self.step(&timing, 7, start + .minutes(13))
        #expect(timing.unsavedSince == start + .minutes(13))
        timing.suspend()
        #expect(timing.unsavedSince == nil)
    }
}
