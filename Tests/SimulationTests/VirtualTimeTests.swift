import Simulation
import Testing

/// Dates, time zones and counts over them.
@Suite struct VirtualTimeTests {
    @Test func `dates and seconds are the same thing twice`() throws {
        for second in stride(from: 0, to: 4_000_000_000, by: 12_345_678) {
            #expect(CivilTime(seconds: second).seconds == second)
        }
        #expect(CivilTime("2026-02-28T23:59:59Z")?.seconds == 1_772_323_199)
        #expect(CivilTime("2024-02-29")?.text == "2024-02-29T00:00:00Z")
        for text in ["2026-02-29", "2026-13-01", "2026-1-1", "2026-01-01T24:00Z", "2026-01-01 10:00Z", "soon"] {
            #expect(CivilTime(text) == nil, "\(text)")
        }
    }

    /// The zone, the last second before its clocks change, and how far they are ahead of UTC before and after.
    @Test(arguments: [
        ("America/New_York", "2026-03-08T06:59:59Z", -5, -4), ("America/New_York", "2026-11-01T05:59:59Z", -4, -5),
        ("America/Los_Angeles", "2026-11-01T08:59:59Z", -7, -8), ("Europe/Berlin", "2026-03-29T00:59:59Z", 1, 2),
        ("Europe/London", "2026-10-25T00:59:59Z", 1, 0), ("Australia/Sydney", "2026-04-04T15:59:59Z", 11, 10),
        ("Australia/Sydney", "2026-10-03T15:59:59Z", 10, 11),
    ])
    func `clocks change when they do`(name: String, last: String, before: Int, after: Int) throws {
        let rule = try #require(TimeZoneRule.all.first { $0.name == name })
        let second = try #require(CivilTime(last)).seconds
        let clocks = rule.clocks(over: second - 90 * 86_400..<second + 90 * 86_400)
        #expect(clocks.offset(at: second) == before * 3600)
        #expect(clocks.offset(at: second + 1) == after * 3600)
        #expect(rule.clocks(over: second + 1..<second + 100).offset(at: second + 2) == after * 3600)
        // Local times lead back to instants, also around the change, where an hour is skipped or shown twice.
        for instant in stride(from: second - 7200, through: second + 7200, by: 600) {
            let back = clocks.instant(local: clocks.local(instant))
            #expect(back == instant || clocks.local(back) == clocks.local(instant))
        }
    }

    @Test func `a zone without summer time never changes`() throws {
        let rule = try #require(TimeZoneRule.all.first { $0.name == "Asia/Kolkata" })
        let clocks = rule.clocks(over: 1_700_000_000..<1_800_000_000)
        #expect(clocks.changeCount == 0)
        #expect(clocks.offset(at: 1_750_000_000) == 19_800)
    }

    @Test func `percentiles are within three percent`() throws {
        var waits = WaitHistogram()
        #expect(waits.percentile(50) == nil)
        for second in 1...100_000 { waits.noteWait(second) }
        for percent in [1, 5, 50, 95, 99] {
            let found = try #require(waits.percentile(percent))
            #expect(abs(found - percent * 1000) <= percent * 30, "\(percent): \(found)")
        }
        #expect(waits.percentile(100) == 100_000 || (waits.percentile(100) ?? 0) > 97_000)
        #expect(waits.max == 100_000)
        #expect(waits.mean == 50_000)
        var twice = waits
        twice.add(waits)
        #expect(twice.count == 200_000)
        #expect(twice.percentile(50) == waits.percentile(50))
    }

    @Test func `each rhythm has its hours`() {
        for rhythm in Rhythm.allCases {
            for isWeekend in [false, true] { #expect(rhythm.weights(isWeekend: isWeekend).count == 24) }
            #expect(rhythm.views > 0)
        }
        let night = Rhythm.nightWorker.weights(isWeekend: false)
        #expect(night[0..<6].reduce(0, +) > night[9..<15].reduce(0, +))
        #expect(Rhythm.standBy.standBy != nil)
    }
}
