import Ownership
import TestSupport
import Testing
import WidgetModel

@Suite struct DeliveryScheduleTests {
    private static let start = Instant(seconds: 1_793_638_800)

    private static let here = Destination.upstream(1)
    private static let there = Destination.upstream(2)
    private static let hook = Destination.webhook(BundleID("com.example.scores"))

    private static func numbers(_ range: ClosedRange<UInt64>) -> [DeliveryNumber] { range.map { DeliveryNumber($0) } }

    private static func schedule(_ change: (inout DeliverySchedule.Limits) -> Void = { _ in }) -> DeliverySchedule {
        var limits = DeliverySchedule.Limits()
        change(&limits)
        return DeliverySchedule(limits)
    }

    @Test func `what is due first goes first, the older of two`() {
        var schedule = Self.schedule()
        for id in [3, 1, 2] as [DeliveryNumber] {
            let isTaken = schedule.add(id, to: Self.here, expiresAt: Self.start + .hours(1), now: Self.start)
            #expect(isTaken)
        }
        #expect(schedule.steps(now: Self.start) == [.start(1), .start(2), .start(3)])
        schedule.again(1, at: Self.start + .seconds(20))
        schedule.again(3, at: Self.start + .seconds(10))
        #expect(schedule.nextDue == Self.start + .seconds(10))
        #expect(schedule.steps(now: Self.start + .seconds(9)) == [])
        #expect(schedule.steps(now: Self.start + .seconds(20)) == [.start(3), .start(1)])
        #expect([schedule.count, schedule.inWork] == [3, 3])
        for id in [1, 2, 3] as [DeliveryNumber] { schedule.end(id) }
        #expect([schedule.count, schedule.inWork] == [0, 0])
        #expect(schedule.steps(now: Self.start + .hours(2)) == [])
    }

    @Test(arguments: [1, 2, 3])
    func `no more are in work than may be`(max: Int) {
        var schedule = Self.schedule { $0.inWorkMax = max }
        for id in Self.numbers(1...5) {
            _ = schedule.add(id, to: Self.here, expiresAt: Self.start + .hours(1), now: Self.start)
        }
        #expect(schedule.steps(now: Self.start) == (1...max).map { .start(DeliveryNumber(UInt64($0))) })
        #expect(schedule.nextDue == nil)
        schedule.end(1)
        #expect(schedule.steps(now: Self.start) == [.start(DeliveryNumber(UInt64(max + 1)))])
    }

    @Test func `with other limits more are started, or none until as many have ended`() {
        var schedule = Self.schedule { $0.inWorkMax = 1 }
        for id in Self.numbers(1...4) {
            _ = schedule.add(id, to: Self.here, expiresAt: Self.start + .hours(1), now: Self.start)
        }
        #expect(schedule.steps(now: Self.start) == [.start(1)])
        schedule.limits.inWorkMax = 3
        #expect(schedule.steps(now: Self.start) == [.start(2), .start(3)])
        schedule.limits.inWorkMax = 1
        schedule.end(1)
        #expect(schedule.steps(now: Self.start) == [])
        schedule.limits.knownMax = 2
        let isTaken = schedule.add(9, to: Self.here, expiresAt: Self.start + .hours(1), now: Self.start)
        #expect(!isTaken)
        for id in [2, 3] as [DeliveryNumber] { schedule.end(id) }
        #expect(schedule.steps(now: Self.start) == [.start(4)])
    }

    @Test func `no more are known than may be`() {
        var schedule = Self.schedule { $0.knownMax = 2 }
        let taken = Self.numbers(1...3).map { id in
            schedule.add(id, to: Self.here, expiresAt: Self.start + .hours(1), now: Self.start)
        }
        #expect(taken == [true, true, false])
        schedule.end(1)
        let isTaken = schedule.add(3, to: Self.here, expiresAt: Self.start + .hours(1), now: Self.start)
        #expect(isTaken)
    }

    @Test func `nothing is started at or after its expiration`() {
        var schedule = Self.schedule()
        _ = schedule.add(1, to: Self.here, expiresAt: Self.start, now: Self.start)
        _ = schedule.add(2, to: Self.here, expiresAt: Self.start + .milliseconds(1), now: Self.start)
        #expect(schedule.steps(now: Self.start) == [.expired(1), .start(2)])
        schedule.again(2, at: Self.start + .hours(1))
        #expect(schedule.nextDue == Self.start + .milliseconds(1))
        #expect(schedule.steps(now: Self.start + .milliseconds(1)) == [.expired(2)])
        #expect(schedule.count == 0)
    }

    @Test func `what goes where nothing may go waits, the others do not`() {
        var schedule = Self.schedule()
        _ = schedule.add(1, to: Self.here, expiresAt: Self.start + .hours(1), now: Self.start)
        _ = schedule.add(2, to: Self.there, expiresAt: Self.start + .hours(1), now: Self.start)
        _ = schedule.add(3, to: Self.here, expiresAt: Self.start + .seconds(5), now: Self.start)
        schedule.hold(Self.here, until: Self.start + .seconds(10))
        #expect(schedule.steps(now: Self.start) == [.start(2)])
        #expect(schedule.steps(now: Self.start + .seconds(5)) == [.expired(3)])
        #expect(schedule.steps(now: Self.start + .seconds(10)) == [.start(1)])
    }

    @Test func `a destination has what waits and what is in work, and the time of the oldest of it`() {
        var schedule = Self.schedule { $0.inWorkMax = 1 }
        #expect(schedule.queues() == [:])
        let end = Self.start + .hours(1)
        _ = schedule.add(1, to: Self.here, since: Self.start - .seconds(5), expiresAt: end, now: Self.start)
        _ = schedule.add(2, to: Self.here, expiresAt: end, now: Self.start)
        _ = schedule.add(3, to: Self.hook, expiresAt: end, now: Self.start)
        #expect(schedule.steps(now: Self.start) == [.start(1)])
        typealias Queue = DeliverySchedule.Queue
        let other = Queue(count: 1, oldest: Self.start)
        #expect(schedule.queues() == [Self.here: Queue(count: 2, oldest: Self.start - .seconds(5)), Self.hook: other])
        schedule.end(1)
        #expect(schedule.queues() == [Self.here: Queue(count: 1, oldest: Self.start), Self.hook: other])
    }

    @Test func `tried now, a destination is held back no longer, and what waits for it is due; others wait on`() {
        var schedule = Self.schedule()
        let end = Self.start + .hours(1)
        for id in Self.numbers(1...4) {
            _ = schedule.add(id, to: id == 4 ? Self.there : Self.here, expiresAt: end, now: Self.start)
        }
        #expect(schedule.steps(now: Self.start).count == 4)
        schedule.hold(Self.here, until: Self.start + .minutes(15))
        schedule.again(1, at: Self.start + .minutes(15))
        schedule.again(2, at: Self.start + .minutes(30))
        schedule.again(4, at: Self.start + .minutes(15))
        schedule.tryNow(Self.here, now: Self.start + .seconds(1))
        #expect(schedule.heldUntil(Self.here, now: Self.start) == nil)
        #expect(schedule.steps(now: Self.start + .seconds(1)) == [.start(1), .start(2)])
        #expect(schedule.inWork == 3)
        // A delivery in work is not begun twice, and is outdated until it is begun again.
        #expect(!schedule.isOutdated(1))
        schedule.tryNow(Self.here, now: Self.start + .seconds(2))
        #expect(schedule.steps(now: Self.start + .seconds(2)) == [])
        #expect(([1, 2, 3, 4] as [DeliveryNumber]).map { schedule.isOutdated($0) } == [true, true, true, false])
        schedule.again(1, at: Self.start + .seconds(2))
        #expect(schedule.steps(now: Self.start + .seconds(2)) == [.start(1)] && !schedule.isOutdated(1))
        #expect(schedule.steps(now: Self.start + .minutes(15)) == [.start(4)])
    }

    @Test func `what goes elsewhere now is due at once, and outdated if it is in work`() {
        var schedule = Self.schedule()
        let end = Self.start + .hours(1)
        for id in [1, 2] as [DeliveryNumber] { _ = schedule.add(id, to: Self.here, expiresAt: end, now: Self.start) }
        #expect(schedule.steps(now: Self.start) == [.start(1), .start(2)])
        schedule.again(1, at: Self.start + .minutes(15))
        for id in [1, 2] as [DeliveryNumber] { schedule.move(id, to: Self.here, now: Self.start) }
        #expect(schedule.steps(now: Self.start) == [] && !schedule.isOutdated(2))
        for id in [1, 2] as [DeliveryNumber] { schedule.move(id, to: nil, now: Self.start) }
        #expect(schedule.steps(now: Self.start) == [.start(1)])
        #expect(schedule.isOutdated(2) && !schedule.isOutdated(1))
    }

    @Test func `a hold is over at its end`() {
        var schedule = Self.schedule()
        schedule.hold(Self.here, until: Self.start + .seconds(10))
        #expect(schedule.heldUntil(Self.here, now: Self.start + .milliseconds(9999)) == Self.start + .seconds(10))
        #expect(schedule.heldUntil(Self.here, now: Self.start + .seconds(10)) == nil)
        #expect(schedule.heldUntil(Self.there, now: Self.start) == nil)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `every delivery ends once, in time and within the limits`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var schedule = Self.schedule {
            $0.inWorkMax = 5
            $0.knownMax = 40
        }
        var now = Self.start
        let places = [Self.here, Self.there, Self.hook]
        var expirations: [DeliveryNumber: Instant] = [:]
        var working: Set<DeliveryNumber> = []
        var ended: Set<DeliveryNumber> = []
        var last: UInt64 = 0
        for _ in 0..<4000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let expiresAt = now + .milliseconds(Int64.random(in: 0...5000, using: &random))
                let hasRoom = schedule.count < 40
                let isTaken = schedule.add(
                    DeliveryNumber(last + 1),
                    to: places[Int(last % 3)],
                    expiresAt: expiresAt,
                    now: now
                )
                #expect(isTaken == hasRoom)
                if hasRoom {
                    last += 1
                    expirations[DeliveryNumber(last)] = expiresAt
                }
            case 4..<6:
                guard let id = working.min() else { continue }
                working.remove(id)
                schedule.again(id, at: now + .milliseconds(Int64.random(in: 0...2000, using: &random)))
            case 6..<8:
                guard let id = working.max() else { continue }
                working.remove(id)
                schedule.end(id)
                #expect(ended.insert(id).inserted, "seed \(seed)")
            case 8:
                let place = places[Int.random(in: 0...2, using: &random)]
                schedule.hold(place, until: now + .milliseconds(500))
                if Bool.random(using: &random) { schedule.tryNow(place, now: now) }
                if Bool.random(using: &random) { schedule.move(DeliveryNumber(last), to: place, now: now) }
            default:
                now = now + .milliseconds(Int64.random(in: 0...1000, using: &random))
            }
            for step in schedule.steps(now: now) {
                switch step {
                case .start(let id):
                    #expect(working.insert(id).inserted && !ended.contains(id), "seed \(seed)")
                    #expect(expirations[id].map { $0 > now } == true, "seed \(seed)")
                case .expired(let id):
                    #expect(ended.insert(id).inserted && !working.contains(id), "seed \(seed)")
                    #expect(expirations[id].map { $0 <= now } == true, "seed \(seed)")
                }
            }
            #expect(schedule.inWork == working.count && working.count <= 5, "seed \(seed)")
            #expect(schedule.count == Int(last) - ended.count, "seed \(seed)")
        }
        for id in working { schedule.end(id) }
        let rest = schedule.steps(now: now + .hours(1)).count
        #expect(ended.count + working.count + rest == Int(last), "seed \(seed)")
    }
}
