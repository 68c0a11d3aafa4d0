import TestSupport
import Testing
import Timelines
import WidgetModel

@Suite struct RollingDayTests {
    @Test func `a charge counts for a day and the rest of its slot`() {
        var day = RollingDay()
        let at = noon + .minutes(2)
        day.charge(at: at)
        #expect(day.count(at: at) == 1)
        #expect(day.count(at: noon + .day + .minutes(5) - .milliseconds(1)) == 1)
        #expect(day.count(at: noon + .day + .minutes(5)) == 0)
        #expect(day.earliest(now: at, limit: 1) == noon + .day + .minutes(5))
        #expect(day.earliest(now: at, limit: 2) == at)
    }

    @Test func `what is taken back no longer counts`() {
        var day = RollingDay()
        day.charge(at: noon)
        day.charge(at: noon + .hours(3))
        day.refund(chargedAt: noon)
        #expect(day.count(at: noon + .hours(3)) == 1)
        day.refund(chargedAt: noon - .days(3))
        #expect(day.count(at: noon + .hours(3)) == 1)
    }

    @Test(arguments: Extremes.integers)
    func `a day that is read stands any time of the clock`(newest: Int64) {
        var writer = ByteWriter()
        writer.write(signed: newest)
        for _ in 0..<5 { writer.write(fixed64: .max) }
        var reader = ByteReader(writer.bytes)
        guard var day = try? RollingDay(from: &reader) else {
            return #expect(newest < 0 || newest > 1 << 40)
        }
        for now in Extremes.integers {
            day.refund(chargedAt: Instant(milliseconds: now))
            #expect(day.count(at: Instant(milliseconds: now)) <= 289)
            #expect(day.earliest(now: Instant(milliseconds: now), limit: 1).milliseconds >= now)
            day.charge(at: Instant(milliseconds: now))
        }
    }

    /// Against the whole history: never more than the limit in any 24 hours, and early by at most a slot.
    @Test(arguments: Seeds.from(0, count: 40))
    func `no 24 hours hold more than the limit, and no reload is held back more than five minutes too long`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        let limit = Int.random(in: 1...70, using: &random)
        var day = RollingDay()
        var charges: [Instant] = []
        var now = noon
        for _ in 0..<600 {
            now =
                now
                + .milliseconds(Int64.random(in: 0...(random.chance(1, in: 40) ? 90_000_000 : 900_000), using: &random))
            if let last = charges.last, now - last < .minutes(5) { continue }
            let earliest = day.earliest(now: now, limit: limit)
            let model = charges.count { $0 > now - .day - .minutes(5) }
            let exact = charges.count { $0 > now - .day }
            #expect(exact <= limit, "seed \(seed)")
            if earliest > now {
                #expect(model >= limit, "seed \(seed)")
                #expect(day.count(at: earliest) == limit - 1, "seed \(seed)")
                #expect(day.count(at: earliest - .milliseconds(1)) >= limit, "seed \(seed)")
                if random.chance(1, in: 2) { now = earliest } else { continue }
            }
            #expect(day.count(at: now) < limit, "seed \(seed)")
            if random.chance(1, in: 15), let last = charges.popLast() { day.refund(chargedAt: last) }
            day.charge(at: now)
            charges.append(now)
        }
        #expect(charges.count > limit, "seed \(seed)")
    }
}
