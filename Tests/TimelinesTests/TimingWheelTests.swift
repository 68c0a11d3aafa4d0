import Testing
import Timelines
import WidgetModel

@Suite struct TimingWheelTests {
    private func second(_ number: Int64) -> Instant { Instant(seconds: number) }

    @Test func `an instant is rounded up to a whole second and never fires before it`() {
        var wheel = TimingWheel(startingAt: noon)
        wheel.arm(3, at: noon + .milliseconds(1))
        #expect(wheel.dueTime(of: 3) == noon + .seconds(1))
        #expect(wheel.nextDue == noon + .seconds(1))
        #expect(wheel.takeDue(upTo: noon + .milliseconds(999)) == [])
        #expect(wheel.takeDue(upTo: noon + .milliseconds(1000)) == [3])
        #expect(wheel.dueTime(of: 3) == nil)
        #expect(wheel.nextDue == nil)
        #expect(wheel.count == 0)
        wheel.arm(3, at: noon + .seconds(5))
        #expect(wheel.dueTime(of: 3) == noon + .seconds(5))
    }

    @Test func `timers fire by second, then by id, however they were armed`() {
        var wheel = TimingWheel(startingAt: noon)
        for id in [9, 2, 7, 4] as [UInt32] { wheel.arm(id, at: noon + .seconds(10)) }
        wheel.arm(8, at: noon + .seconds(9))
        wheel.arm(1, at: noon + .hours(30))
        wheel.arm(0, at: noon + .days(400))
        #expect(wheel.takeDue(upTo: noon + .days(1000)) == [8, 2, 4, 7, 9, 1, 0])
    }

    @Test func `arming again moves, disarming disarms, and disarming twice is nothing`() {
        var wheel = TimingWheel(startingAt: noon)
        wheel.arm(1, at: noon + .seconds(10))
        wheel.arm(1, at: noon + .hours(10))
        wheel.arm(2, at: noon + .seconds(10))
        wheel.disarm(2)
        wheel.disarm(2)
        wheel.disarm(77)
        #expect(wheel.count == 1)
        #expect(wheel.takeDue(upTo: noon + .hours(9)) == [])
        #expect(wheel.nextDue == noon + .hours(10))
        wheel.arm(1, at: noon + .hours(9) + .seconds(1))
        #expect(wheel.takeDue(upTo: noon + .hours(24)) == [1])
    }

    @Test func `a timer disarmed and armed for the same second fires once`() {
        for distance in [Interval.seconds(10), .hours(5), .days(200)] {
            var wheel = TimingWheel(startingAt: noon)
            for _ in 0..<5 {
                wheel.arm(6, at: noon + distance)
                wheel.disarm(6)
            }
            wheel.arm(5, at: noon + distance)
            wheel.arm(6, at: noon + distance)
            #expect(wheel.checkInvariants() == [])
            #expect(wheel.takeDue(upTo: noon + .days(300)) == [5, 6])
            #expect(wheel.checkInvariants() == [])
        }
    }

    @Test func `what is armed in the past fires next, in its order`() {
        var wheel = TimingWheel(startingAt: noon)
        wheel.arm(4, at: noon + .seconds(1))
        wheel.arm(3, at: noon - .seconds(5))
        wheel.arm(2, at: noon - .seconds(5))
        wheel.arm(1, at: noon - .days(50))
        wheel.arm(0, at: Instant(milliseconds: .min))
        #expect(wheel.nextDue == .epoch)
        #expect(wheel.checkInvariants() == [])
        #expect(wheel.takeDue(upTo: noon - .seconds(10)) == [0, 1])
        #expect(wheel.nextDue == noon - .seconds(5))
        #expect(wheel.checkInvariants() == [])
        #expect(wheel.takeDue(upTo: noon + .seconds(1)) == [2, 3, 4])
        wheel.arm(9, at: noon + .seconds(1))
        #expect(wheel.takeDue(upTo: noon + .seconds(1)) == [9])
    }

    @Test func `the distant future is held at the last second there is`() {
        var wheel = TimingWheel()
        wheel.arm(1, at: .distantFuture)
        #expect(wheel.dueTime(of: 1) == self.second(Int64(UInt32.max) - 1))
        #expect(wheel.takeDue(upTo: noon) == [])
        #expect(wheel.checkInvariants() == [])
        #expect(wheel.takeDue(upTo: .distantFuture) == [1])
        #expect(wheel.takeDue(upTo: .distantFuture) == [])
        wheel.arm(1, at: .distantFuture)
        #expect(wheel.takeDue(upTo: .distantFuture) == [1])
        #expect(wheel.checkInvariants() == [])
    }

    @Test func `a wheel that starts at the epoch reaches the present in one step`() {
        var wheel = TimingWheel()
        wheel.arm(1, at: noon)
        wheel.arm(2, at: noon + .days(97))
        wheel.arm(3, at: noon + .days(98))
        #expect(wheel.nextDue == noon)
        #expect(wheel.takeDue(upTo: noon) == [1])
        #expect(wheel.checkInvariants() == [])
        #expect(wheel.takeDue(upTo: noon + .days(98)) == [2, 3])
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
            var all = TimingWheel(startingAt: self.second(start))
            for (index, distance) in distances.enumerated() {
                let due = self.second(start + distance)
                var alone = TimingWheel(startingAt: self.second(start))
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
        var wheel = TimingWheel(startingAt: noon)
        wheel.arm(5, at: noon + .hours(2))
        for id in [UInt32(0), 5, 6, .max] { wheel.prefetch(id) }
        #expect(wheel.count == 1 && wheel.dueTime(of: 5) == noon + .hours(2))
        #expect(wheel.nextDue == noon + .hours(2))
        #expect(wheel.checkInvariants() == [])
        #expect(wheel.takeDue(upTo: noon + .hours(2)) == [5])
    }

    /// Ring places that were used by an earlier group, with time going second by second, block by block and far.
    @Test(arguments: [Interval.seconds(1), .seconds(64), .hours(1), .days(60), .days(200)])
    func `groups follow each other in the same places`(step: Interval) {
        var wheel = TimingWheel(startingAt: noon)
        var now = noon
        for round in Int64(0)..<40 {
            let distances: [Interval] = [
                .seconds(1), .seconds(63), .seconds(64), .hours(1), .hours(2), .days(50), .days(97), .days(98),
                .days(150),
            ]
            for (id, distance) in distances.enumerated() { wheel.arm(UInt32(id), at: now + distance) }
            now = now + step
            let due = distances.indices.filter { distances[$0] <= step }.map { UInt32($0) }
            #expect(wheel.takeDue(upTo: now) == due, "round \(round)")
            #expect(wheel.checkInvariants() == [], "round \(round)")
        }
    }

    @Test func `arming again for ever takes bounded memory`() {
        var wheel = TimingWheel(startingAt: noon)
        for id in UInt32(0)..<1000 { wheel.arm(id, at: noon + .days(1)) }
        var bytes = 0
        for round in Int64(0)..<100 {
            for id in UInt32(0)..<1000 {
                // Between two places, so that each leaves stale entries behind.
                wheel.arm(id, at: noon + .hours(round % 2 == 0 ? 30 : 60) + .seconds(Int64(id)))
                if id % 3 == 0 {
                    wheel.disarm(id)
                    wheel.arm(id, at: noon + .hours(61))
                }
            }
            if round == 10 { bytes = wheel.byteCount }
        }
        #expect(wheel.byteCount == bytes)
        #expect(wheel.checkInvariants() == [])
        #expect(wheel.takeDue(upTo: noon + .days(10)).count == 1000)
    }

    @Test(arguments: [Interval.seconds(10), .hours(5), .days(200)])
    func `disarming and arming again in one bucket takes bounded memory`(distance: Interval) {
        var wheel = TimingWheel(startingAt: noon)
        for id in UInt32(0)..<100 { wheel.arm(id, at: noon + distance) }
        let bytes = wheel.byteCount
        for _ in 0..<200 {
            for id in UInt32(0)..<100 {
                wheel.disarm(id)
                wheel.arm(id, at: noon + distance)
            }
        }
        // Never more than twice the live entries and a chunk; a chunk is 256 bytes, and columns grow by doubling.
        #expect(wheel.byteCount <= bytes + 8 * 256)
        #expect(wheel.checkInvariants() == [])
        #expect(wheel.takeDue(upTo: noon + distance) == Array(0..<100))
    }

    @Test func `entries that one timer left behind go when its neighbours do`() {
        var wheel = TimingWheel(startingAt: noon)
        let due = noon + .hours(5)
        for id in UInt32(0)..<100 { wheel.arm(id, at: due) }
        for _ in 0..<150 {
            wheel.disarm(0)
            wheel.arm(0, at: due)
        }
        for id in UInt32(1)..<100 {
            wheel.disarm(id)
            #expect(wheel.checkInvariants() == [])
        }
        #expect(wheel.takeDue(upTo: due) == [0])
    }

    @Test func `equal schedules look equal, whatever led to them`() {
        var one = TimingWheel(startingAt: noon)
        var other = TimingWheel()
        for id in UInt32(0)..<50 { one.arm(id, at: noon + .minutes(Int64(id * 7 % 50))) }
        for id in (UInt32(0)..<50).reversed() {
            other.arm(id, at: noon + .days(300))
            other.disarm(id)
            other.arm(id, at: noon + .minutes(Int64(id * 7 % 50)))
        }
        for id in UInt32(0)..<50 { #expect(one.dueTime(of: id) == other.dueTime(of: id)) }
        #expect(one.count == 50 && other.count == 50)
        #expect(one.takeDue(upTo: noon + .days(1)) == other.takeDue(upTo: noon + .days(1)))
    }
}
