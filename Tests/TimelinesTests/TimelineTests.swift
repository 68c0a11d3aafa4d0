import Testing
import Timelines
import WidgetModel

@Suite struct TimelineTests {
    private let pace = Interval.minutes(45)

    private func entries(_ dates: Instant...) -> [TimelineEntry] {
        dates.map { TimelineEntry(date: $0) }
    }

    @Test func `atEnd asks again at the latest date, wherever it is listed`() {
        let timeline = Timeline(entries: self.entries(noon + .hours(2), noon, noon + .hours(1)), policy: .atEnd)
        #expect(timeline.nextRequest(receivedAt: noon, pace: self.pace) == noon + .hours(2))
    }

    @Test func `after asks again at its date, whether before or after the last entry`() {
        for date in [noon + .minutes(30), noon + .hours(9)] {
            let timeline = Timeline(entries: self.entries(noon, noon + .hours(2)), policy: .after(date))
            #expect(timeline.nextRequest(receivedAt: noon, pace: self.pace) == date)
        }
    }

    @Test func `never asks again by itself`() {
        let timeline = Timeline(entries: self.entries(noon), policy: .never)
        #expect(timeline.nextRequest(receivedAt: noon, pace: self.pace) == nil)
    }

    @Test(arguments: [-1000, -1, 0] as [Int64])
    func `a request that is not after the receipt waits for the pace`(milliseconds: Int64) {
        let date = noon + .milliseconds(milliseconds)
        for policy in [ReloadPolicy.atEnd, .after(date)] {
            let timeline = Timeline(entries: self.entries(date), policy: policy)
            #expect(timeline.nextRequest(receivedAt: noon, pace: self.pace) == noon + .minutes(45))
            #expect(timeline.nextRequest(receivedAt: noon, pace: .minutes(2)) == noon + .minutes(15))
        }
    }

    @Test func `a request one millisecond after the receipt stays`() {
        let date = noon + .milliseconds(1)
        let timeline = Timeline(entries: self.entries(date), policy: .atEnd)
        #expect(timeline.nextRequest(receivedAt: noon, pace: self.pace) == date)
    }

    @Test func `an empty timeline asks again after the pace, or at its date`() {
        #expect(
            Timeline(entries: [], policy: .atEnd).nextRequest(receivedAt: noon, pace: .zero) == noon + .minutes(15)
        )
        let date = noon + .minutes(1)
        #expect(Timeline(entries: [], policy: .after(date)).nextRequest(receivedAt: noon, pace: .zero) == date)
    }

    @Test func `the entry shown is the one with the latest date that has come`() {
        let first = TimelineEntry(date: noon, relevance: EntryRelevance(score: 1))
        let second = TimelineEntry(date: noon + .hours(1))
        let again = TimelineEntry(date: noon, relevance: EntryRelevance(score: 2))
        let timeline = Timeline(entries: [second, first, again], policy: .never)
        #expect(timeline.entry(at: noon - .milliseconds(1)) == nil)
        #expect(timeline.entry(at: noon) == again)
        #expect(timeline.entry(at: noon + .hours(1) - .milliseconds(1)) == again)
        #expect(timeline.entry(at: noon + .hours(1)) == second)
        #expect(timeline.end == noon + .hours(1))
    }

    @Test func `limits hold at their edges`() throws {
        var limits = TimelineLimits()
        limits.entriesMax = 2
        let full = Timeline(entries: self.entries(noon, noon), policy: .never, digest: Array(repeating: 1, count: 128))
        try full.validate(limits)
        #expect(throws: TimelineError.tooManyEntries(count: 3, max: 2)) {
            try Timeline(entries: self.entries(noon, noon, noon), policy: .never).validate(limits)
        }
        for count in [0, 129] {
            #expect(throws: TimelineError.digestLength(bytes: count, max: 128)) {
                try Timeline(entries: [], policy: .never, digest: Array(repeating: 1, count: count)).validate(limits)
            }
        }
    }

    @Test(arguments: [Float.nan, .infinity, -.infinity])
    func `a score that cannot be ordered is refused`(score: Float) {
        let entry = TimelineEntry(date: noon, relevance: EntryRelevance(score: score))
        let timeline = Timeline(entries: self.entries(noon) + [entry], policy: .never)
        #expect(throws: TimelineError.scoreNotFinite(index: 1)) { try timeline.validate() }
    }

    @Test func `a negative duration is refused, a negative score is not`() throws {
        try Timeline(entries: [TimelineEntry(date: noon, relevance: EntryRelevance(score: -1))], policy: .never)
            .validate()
        let relevance = EntryRelevance(score: 1, duration: .milliseconds(-1))
        #expect(throws: TimelineError.negativeDuration(index: 0)) {
            try Timeline(entries: [TimelineEntry(date: noon, relevance: relevance)], policy: .never).validate()
        }
    }

    @Test(arguments: [ReloadPolicy.atEnd, .after(noon + .hours(3)), .after(.distantFuture), .never])
    func `a timeline comes back as it was written, and no truncation does`(policy: ReloadPolicy) throws {
        let timeline = Timeline(
            entries: [
                TimelineEntry(date: noon, relevance: EntryRelevance(score: 0.25, duration: .minutes(20))),
                TimelineEntry(date: noon - .days(1)),
                TimelineEntry(date: .distantFuture),
                TimelineEntry(date: Instant(milliseconds: .min)),
            ],
            policy: policy,
            digest: [1, 2, 3]
        )
        let whole = bytes { timeline.encode(into: &$0) }
        var reader = ByteReader(whole)
        #expect(try Timeline(from: &reader) == timeline)
        #expect(reader.isAtEnd)
        for length in whole.indices {
            var reader = ByteReader(Array(whole.prefix(length)))
            #expect(throws: ByteError.self) { try Timeline(from: &reader) }
        }
    }
}
