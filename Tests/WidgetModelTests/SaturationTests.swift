import Testing
import WidgetModel

/// Times and lengths at the ends of their ranges: a peer may say any number.
@Suite struct SaturationTests {
    private static let ends: [Int64] = [1, 1000, 86_400_000].flatMap { unit -> [Int64] in
        [Int64.min / unit, Int64.max / unit, Int64.max / unit - 1, unit, -unit, unit - 1]
    }

    /// The number of 64 bits that is nearest to one of any size.
    private static func nearest(_ number: Int128) -> Int64 { Int64(clamping: number) }

    @Test func `lengths are made, added, subtracted and multiplied as far as there are numbers`() {
        for count in Self.ends {
            #expect(Interval.seconds(count).milliseconds == Self.nearest(Int128(count) * 1000))
            #expect(Interval.minutes(count).milliseconds == Self.nearest(Int128(count) * 60_000))
            #expect(Interval.hours(count).milliseconds == Self.nearest(Int128(count) * 3_600_000))
            #expect(Interval.days(count).milliseconds == Self.nearest(Int128(count) * 86_400_000))
            #expect(Instant(seconds: count).milliseconds == Self.nearest(Int128(count) * 1000))
            for other in Self.ends {
                let (left, right) = (Interval.milliseconds(count), Interval.milliseconds(other))
                #expect((left + right).milliseconds == Self.nearest(Int128(count) + Int128(other)))
                #expect((left - right).milliseconds == Self.nearest(Int128(count) - Int128(other)))
                #expect((left * other).milliseconds == Self.nearest(Int128(count) * Int128(other)))
            }
        }
    }

    @Test func `instants are moved and compared as far as there are numbers`() {
        for count in Self.ends {
            for other in Self.ends {
                let (instant, length) = (Instant(milliseconds: count), Interval.milliseconds(other))
                #expect((instant + length).milliseconds == Self.nearest(Int128(count) + Int128(other)))
                #expect((instant - length).milliseconds == Self.nearest(Int128(count) - Int128(other)))
                let apart = instant - Instant(milliseconds: other)
                #expect(apart.milliseconds == Self.nearest(Int128(count) - Int128(other)))
            }
        }
    }

    @Test func `seconds of any instant are rounded towards the past`() {
        for count in Self.ends {
            let seconds = Int128(Instant(milliseconds: count).seconds)
            #expect(seconds * 1000 <= Int128(count) && Int128(count) < (seconds + 1) * 1000)
        }
    }

    @Test func `unsigned numbers end at zero and at the largest`() {
        #expect(UInt64(3).subtractingSaturating(4) == 0)
        #expect(UInt64.max.addingSaturating(1) == .max)
        #expect(UInt8(100).multipliedSaturating(by: 3) == .max)
    }
}
