import Partitions
import Testing

/// How fast a partition is taken to work.
@Suite struct WorkPaceTests {
    @Test func `a partition that has done nothing is assumed to be of the usual pace`() {
        #expect(WorkPace().perSecond(at: 0) == WorkPace.assumed)
    }

    @Test func `much work tells the pace, little work hardly changes it`() {
        var pace = WorkPace()
        pace.add(units: 10, nanoseconds: 1_000_000, in: 5)
        #expect(abs(pace.perSecond(at: 5) - WorkPace.assumed) < WorkPace.assumed / 100)
        for second in 0..<60 { pace.add(units: 3_000_000, nanoseconds: 1_000_000_000, in: second) }
        #expect(abs(pace.perSecond(at: 59) - 3_000_000) < 30_000)
    }

    @Test func `what was done more than a minute ago counts no more`() {
        var pace = WorkPace()
        pace.add(units: 9_000_000, nanoseconds: 1_000_000_000, in: 7)
        #expect(pace.perSecond(at: 66) > 2 * WorkPace.assumed)
        #expect(pace.perSecond(at: 67) == WorkPace.assumed)
        // The same place of the minute, one minute later.
        pace.add(units: 0, nanoseconds: 0, in: 67)
        #expect(pace.perSecond(at: 67) == WorkPace.assumed)
    }

    @Test func `it is never taken for slower than the least`() {
        var pace = WorkPace()
        for second in 0..<60 { pace.add(units: 1, nanoseconds: 1_000_000_000, in: second) }
        #expect(pace.perSecond(at: 59) == WorkPace.min)
    }
}
