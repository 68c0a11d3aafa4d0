import Testing
import Timelines
import WidgetModel

@Suite struct TimelineFindingTests {
    /// Entries at so many minutes from noon.
    private func timeline(_ minutes: [Int64], _ policy: ReloadPolicy = .atEnd) -> Timeline {
        Timeline(entries: minutes.map { TimelineEntry(date: noon + .minutes($0)) }, policy: policy)
    }

    @Test func `a timeline as Apple's articles show it has no finding`() {
        #expect(self.timeline([0, 60, 120, 180]).lint(receivedAt: noon + .seconds(3)) == [])
        #expect(self.timeline([0], .after(noon + .hours(1))).lint(receivedAt: noon) == [])
    }

    @Test(arguments: [12, 24])
    func `entries for every hour of a day or a half are as they should be, for every minute of an hour a clock`(
        hours: Int64
    ) {
        #expect(self.timeline((0..<hours).map { $0 * 60 }).lint(receivedAt: noon) == [])
        #expect(
            self.timeline(Array(0..<60)).lint(receivedAt: noon)
                == [.tooClose(count: 59, nearest: .minutes(1)), .ticking(count: 59, every: .minutes(1))]
        )
    }

    @Test func `an empty timeline is a finding`() {
        #expect(self.timeline([], .never).lint(receivedAt: noon) == [.empty])
    }

    @Test func `the first entry dated before its predecessor is named`() {
        #expect(self.timeline([0, 30, 20, 10]).lint(receivedAt: noon) == [.outOfOrder(index: 2)])
    }

    @Test func `entries that a later one had replaced at the receipt are counted`() {
        #expect(self.timeline([-20, -10, 0, 10]).lint(receivedAt: noon) == [.inThePast(count: 2)])
        #expect(self.timeline([-60, 10]).lint(receivedAt: noon) == [])
        #expect(self.timeline([-61, 10]).lint(receivedAt: noon) == [.inThePast(count: 1)])
    }

    @Test func `neighbours nearer than five minutes are counted, at five they are not`() {
        #expect(self.timeline([0, 5, 10]).lint(receivedAt: noon) == [])
        #expect(
            self.timeline([0, 4, 8, 10, 20]).lint(receivedAt: noon) == [.tooClose(count: 3, nearest: .minutes(2))]
        )
    }

    @Test func `five steps of a minute are a clock, four are not`() {
        let four = self.timeline([0, 1, 2, 3, 4]).lint(receivedAt: noon)
        #expect(four == [.tooClose(count: 4, nearest: .minutes(1))])
        let five = self.timeline([0, 1, 2, 3, 4, 5]).lint(receivedAt: noon)
        #expect(five == [.tooClose(count: 5, nearest: .minutes(1)), .ticking(count: 5, every: .minutes(1))])
        let seconds = Timeline(entries: (0..<7).map { TimelineEntry(date: noon + .seconds($0)) }, policy: .never)
        #expect(
            seconds.lint(receivedAt: noon)
                == [.tooClose(count: 6, nearest: .seconds(1)), .ticking(count: 6, every: .seconds(1))]
        )
    }

    @Test func `a gap between the last entry and the after date is told`() {
        let date = noon + .minutes(90)
        #expect(self.timeline([0, 60], .after(date)).lint(receivedAt: noon) == [.endsBeforeReload(by: .minutes(30))])
        #expect(self.timeline([0, 90], .after(date)).lint(receivedAt: noon) == [])
        #expect(self.timeline([0], .after(date)).lint(receivedAt: noon) == [])
    }

    @Test func `never is a finding only where nothing else reloads the kind`() {
        var context = LintContext()
        #expect(self.timeline([0], .never).lint(receivedAt: noon, context: context) == [])
        context.isReloadedOtherwise = false
        #expect(self.timeline([0], .never).lint(receivedAt: noon, context: context) == [.neverReloaded])
        #expect(self.timeline([60]).lint(receivedAt: noon, context: context) == [])
    }

    @Test func `the third timeline in a row with one digest is a finding`() {
        let timeline = Timeline(entries: [TimelineEntry(date: noon)], policy: .never, digest: [7])
        var context = LintContext()
        context.equalDigestsBefore = 1
        #expect(timeline.lint(receivedAt: noon, context: context) == [])
        context.equalDigestsBefore = 2
        #expect(timeline.lint(receivedAt: noon, context: context) == [.unchanged(count: 3)])
    }

    @Test func `a single entry that is replaced within the hour polls`() {
        let polling = self.timeline([0], .after(noon + .minutes(59)))
        #expect(polling.lint(receivedAt: noon) == [.pollsTooOften(every: .minutes(59))])
        #expect(self.timeline([0]).lint(receivedAt: noon) == [.pollsTooOften(every: .minutes(15))])
        var context = LintContext()
        context.pace = .hours(1)
        #expect(self.timeline([0]).lint(receivedAt: noon, context: context) == [])
        // As WWDC21 has it, the time that the system picks comes on top of the entry's date.
        context.pace = .minutes(15)
        #expect(self.timeline([50]).lint(receivedAt: noon, context: context) == [.pollsTooOften(every: .minutes(50))])
        context.atEnd = .wwdc21
        #expect(self.timeline([50]).lint(receivedAt: noon, context: context) == [])
    }

    @Test func `entries and bytes above what is advised are findings`() {
        var limits = TimelineLimits()
        limits.entriesAdvised = 2
        var context = LintContext()
        context.contentBytes = 10_000_001
        #expect(
            self.timeline([0, 10, 20]).lint(receivedAt: noon, context: context, limits: limits)
                == [.manyEntries(count: 3, advised: 2), .manyBytes(bytes: 10_000_001, advised: 10_000_000)]
        )
        context.contentBytes = 10_000_000
        #expect(self.timeline([0, 10]).lint(receivedAt: noon, context: context, limits: limits) == [])
    }
}
