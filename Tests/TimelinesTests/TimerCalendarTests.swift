import Testing
import Timelines
import WidgetModel

@Suite struct TimerCalendarTests {
    private func second(_ number: Int64) -> Instant { Instant(seconds: number) }

    @Test func `an instant is rounded up to a whole second and never fires before it`() {
        var calendar = TimerCalendar(startingAt: noon)
        calendar.arm(3, at: noon + .milliseconds(1))
        #expect(calendar.armed(3) == noon + .seconds(1))
        #expect(calendar.nextDue == noon + .seconds(1))
        #expect(calendar.takeDue(upTo: noon + .milliseconds(999)) == [])
        #expect(calendar.takeDue(upTo: noon + .milliseconds(1000)) == [3])
        #expect(calendar.armed(3) == nil)
        #expect(calendar.nextDue == nil)
        #expect(calendar.count == 0)
        calendar.arm(3, at: noon + .seconds(5))
        #expect(calendar.armed(3) == noon + .seconds(5))
    }

    @Test func `timers fire by second, then by id, however they were armed`() {
        var calendar = TimerCalendar(startingAt: noon)
        for id in [9, 2, 7, 4] as [UInt32] { calendar.arm(id, at: noon + .seconds(10)) }
        calendar.arm(8, at: noon + .seconds(9))
        calendar.arm(1, at: noon + .hours(30))
        calendar.arm(0, at: noon + .days(400))
        #expect(calendar.takeDue(upTo: noon + .days(1000)) == [8, 2, 4, 7, 9, 1, 0])
    }

    @Test func `arming again moves, cancelling disarms, and cancelling twice is nothing`() {
        var calendar = TimerCalendar(startingAt: noon)
        calendar.arm(1, at: noon + .seconds(10))
        calendar.arm(1, at: noon + .hours(10))
        calendar.arm(2, at: noon + .seconds(10))
        calendar.cancel(2)
        calendar.cancel(2)
        calendar.cancel(77)
        #expect(calendar.count == 1)
        #expect(calendar.takeDue(upTo: noon + .hours(9)) == [])
        #expect(calendar.nextDue == noon + .hours(10))
        calendar.arm(1, at: noon + .hours(9) + .seconds(1))
        #expect(calendar.takeDue(upTo: noon + .hours(24)) == [1])
    }

    @Test func `a timer cancelled and armed for the same second fires once`() {
        for distance in [Interval.seconds(10), .hours(5), .days(200)] {
            var calendar = TimerCalendar(startingAt: noon)
            for _ in 0..<5 {
                calendar.arm(6, at: noon + distance)
                calendar.cancel(6)
            }
            calendar.arm(5, at: noon + distance)
            calendar.arm(6, at: noon + distance)
            #expect(calendar.checkInvariants() == [])
            #expect(calendar.takeDue(upTo: noon + .days(300)) == [5, 6])
            #expect(calendar.checkInvariants() == [])
        }
    }

    @Test func `what is armed in the past fires next, in its order`() {
        var calendar = TimerCalendar(startingAt: noon)
        calendar.arm(4, at: noon + .seconds(1))
        calendar.arm(3, at: noon - .seconds(5))
        calendar.arm(2, at: noon - .seconds(5))
        calendar.arm(1, at: noon - .days(50))
        calendar.arm(0, at: Instant(milliseconds: .min))
        #expect(calendar.nextDue == .epoch)
        #expect(calendar.checkInvariants() == [])
        #expect(calendar.takeDue(upTo: noon - .seconds(10)) == [0, 1])
        #expect(calendar.nextDue == noon - .seconds(5))
        #expect(calendar.checkInvariants() == [])
        #expect(calendar.takeDue(upTo: noon + .seconds(1)) == [2, 3, 4])
        calendar.arm(9, at: noon + .seconds(1))
        #expect(calendar.takeDue(upTo: noon + .seconds(1)) == [9])
    }

    @Test func `the distant future is held at the last second there is`() {
        var calendar = TimerCalendar()
        calendar.arm(1, at: .distantFuture)
        #expect(calendar.armed(1) == self.second(Int64(UInt32.max) - 1))
        #expect(calendar.takeDue(upTo: noon) == [])
        #expect(calendar.checkInvariants() == [])
        #expect(calendar.takeDue(upTo: .distantFuture) == [1])
        #expect(calendar.takeDue(upTo: .distantFuture) == [])
        calendar.arm(1, at: .distantFuture)
        #expect(calendar.takeDue(upTo: .distantFuture) == [1])
        #expect(calendar.checkInvariants() == [])
    }

    @Test func `a calendar that starts at the epoch reaches the present in one step`() {
        var calendar = TimerCalendar()
        calendar.arm(1, at: noon)
        calendar.arm(2, at: noon + .days(97))
        calendar.arm(3, at: noon + .days(98))
        #expect(calendar.nextDue == noon)
        #expect(calendar.takeDue(upTo: noon) == [1])
        #expect(calendar.checkInvariants() == [])
        #expect(calendar.takeDue(upTo: noon + .days(98)) == [2, 3])
    }

    /// The edges of seconds, blocks and the horizon, each armed alone and all together.
    @Test func `no edge of a level loses a timer or fires it early`() {
        let (block, group) = (Int64(64), Int64(4_096))
        let starts = [0, 1, block - 1, block, group - 1, group, 437_000 * group, 437_000 * group + group - 1]
        let distances = [
            0, 1, block - 2, block - 1, block, block + 1, 2 * block, group - block - 1, group - block, group - 1, group,
            group + 1, group + block, 2047 * group - 1, 2047 * group, 2047 * group + 1, 2048 * group - block,
            2048 * group - 1, 2048 * group, 2048 * group + 1, 2048 * group + block, 2049 * group, 5000 * group,
        ]
        for start in starts {
            var all = TimerCalendar(startingAt: self.second(start))
            for (index, distance) in distances.enumerated() {
                let due = self.second(start + distance)
                var alone = TimerCalendar(startingAt: self.second(start))
                alone.arm(0, at: due)
                #expect(alone.takeDue(upTo: due - .milliseconds(1)) == [], "\(start) + \(distance)")
                #expect(alone.nextDue == due)
                #expect(alone.checkInvariants() == [], "\(start) + \(distance)")
                #expect(alone.takeDue(upTo: due) == [0], "\(start) + \(distance)")
                all.arm(UInt32(index), at: due)
            }
            for (index, distance) in distances.enumerated() {
                #expect(all.nextDue == self.second(start + distance))
                #expect(all.takeDue(upTo: self.second(start + distance)) == [UInt32(index)])
                #expect(all.checkInvariants() == [])
            }
        }
    }

    @Test func `looking ahead changes nothing, for ids that there are not either`() {
        var calendar = TimerCalendar(startingAt: noon)
        calendar.arm(5, at: noon + .hours(2))
        for id in [UInt32(0), 5, 6, .max] { calendar.approach(id) }
        #expect(calendar.armedEntries.map(\.id) == [5])
        #expect(calendar.nextDue == noon + .hours(2))
        #expect(calendar.checkInvariants() == [])
        #expect(calendar.takeDue(upTo: noon + .hours(2)) == [5])
    }

    /// Ring places that were used by an earlier group, with time going second by second, block by block and far.
    @Test(arguments: [Interval.seconds(1), .seconds(64), .hours(1), .days(60), .days(200)])
    func `groups follow each other in the same places`(step: Interval) {
        var calendar = TimerCalendar(startingAt: noon)
        var now = noon
        for round in Int64(0)..<40 {
            let distances: [Interval] = [
                .seconds(1), .seconds(63), .seconds(64), .hours(1), .hours(2), .days(50), .days(97), .days(98),
                .days(150),
            ]
            for (id, distance) in distances.enumerated() { calendar.arm(UInt32(id), at: now + distance) }
            now = now + step
            let due = distances.indices.filter { distances[$0] <= step }.map { UInt32($0) }
            #expect(calendar.takeDue(upTo: now) == due, "round \(round)")
            #expect(calendar.checkInvariants() == [], "round \(round)")
        }
    }

    @Test func `arming again for ever takes bounded memory`() {
        var calendar = TimerCalendar(startingAt: noon)
        for id in UInt32(0)..<1000 { calendar.arm(id, at: noon + .days(1)) }
        var footprint = 0
        for round in Int64(0)..<100 {
            for id in UInt32(0)..<1000 {
                // Between two places, so that each leaves stale entries behind.
                calendar.arm(id, at: noon + .hours(round % 2 == 0 ? 30 : 60) + .seconds(Int64(id)))
                if id % 3 == 0 {
                    calendar.cancel(id)
                    calendar.arm(id, at: noon + .hours(61))
                }
            }
            if round == 10 { footprint = calendar.footprint }
        }
        #expect(calendar.footprint == footprint)
        #expect(calendar.checkInvariants() == [])
        #expect(calendar.takeDue(upTo: noon + .days(10)).count == 1000)
    }

    @Test(arguments: [Interval.seconds(10), .hours(5), .days(200)])
    func `cancelling and arming again in one bucket takes bounded memory`(distance: Interval) {
        var calendar = TimerCalendar(startingAt: noon)
        for id in UInt32(0)..<100 { calendar.arm(id, at: noon + distance) }
        let footprint = calendar.footprint
        for _ in 0..<200 {
            for id in UInt32(0)..<100 {
                calendar.cancel(id)
                calendar.arm(id, at: noon + distance)
            }
        }
        // Never more than twice the live entries and a chunk; a chunk is 256 bytes, and arrays grow by doubling.
        #expect(calendar.footprint <= footprint + 8 * 256)
        #expect(calendar.checkInvariants() == [])
        #expect(calendar.takeDue(upTo: noon + distance) == Array(0..<100))
    }

    @Test func `entries that one timer left behind go when its neighbours do`() {
        var calendar = TimerCalendar(startingAt: noon)
        let due = noon + .hours(5)
        for id in UInt32(0)..<100 { calendar.arm(id, at: due) }
        for _ in 0..<150 {
            calendar.cancel(0)
            calendar.arm(0, at: due)
        }
        for id in UInt32(1)..<100 {
            calendar.cancel(id)
            #expect(calendar.checkInvariants() == [])
        }
        #expect(calendar.takeDue(upTo: due) == [0])
    }

    @Test func `equal schedules look equal, whatever led to them`() {
        var one = TimerCalendar(startingAt: noon)
        var other = TimerCalendar()
        for id in UInt32(0)..<50 { one.arm(id, at: noon + .minutes(Int64(id * 7 % 50))) }
        for id in (UInt32(0)..<50).reversed() {
            other.arm(id, at: noon + .days(300))
            other.cancel(id)
            other.arm(id, at: noon + .minutes(Int64(id * 7 % 50)))
        }
        #expect(one.armedEntries.map(\.id) == Array(0..<50))
        #expect(one.armedEntries.map(\.due) == other.armedEntries.map(\.due))
        #expect(one.armedEntries.map(\.id) == other.armedEntries.map(\.id))
        #expect(one.takeDue(upTo: noon + .days(1)) == other.takeDue(upTo: noon + .days(1)))
    }
}
