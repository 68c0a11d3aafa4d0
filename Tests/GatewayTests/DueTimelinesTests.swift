import OperatorAPI
import Testing
import WidgetModel

/// Timelines that ask for the next one, added up second by second from surveys of the coming hour.
@Suite struct DueTimelinesTests {
    private static let start = Instant(seconds: 1_793_638_800)

    private static func sums(_ due: DueTimelines) -> [Int] { [due.asked, due.smoothed] }

    @Test func `each second that has passed is counted once, and none that is to come`() {
        var due = DueTimelines()
        let survey: DueTimelines.Seconds = (Self.start, [5, 0, 1, 7], [0, 2, 3, 1])
        due.count(until: Self.start, by: survey)
        #expect(Self.sums(due) == [0, 0])
        due.count(until: Self.start + .milliseconds(999), by: survey)
        #expect(Self.sums(due) == [0, 0])
        due.count(until: Self.start + .milliseconds(1_000), by: survey)
        #expect(Self.sums(due) == [5, 0])
        due.count(until: Self.start + .milliseconds(1_500), by: survey)
        #expect(Self.sums(due) == [5, 0])
        due.count(until: Self.start + .seconds(3), by: survey)
        #expect(Self.sums(due) == [6, 5])
    }

    @Test func `what passed before the first survey is not known, and what lies behind its end is not counted`() {
        var due = DueTimelines()
        due.count(until: Self.start + .seconds(1), by: (Self.start, [9, 1], [9, 1]))
        #expect(Self.sums(due) == [0, 0])
        due.count(until: Self.start + .hours(9), by: (Self.start, [9, 1], [9, 1]))
        #expect(Self.sums(due) == [1, 1])
    }

    @Test func `a newer survey goes on where the one before was left`() {
        var due = DueTimelines()
        due.count(until: Self.start, by: (Self.start, [1, 1, 1], [0, 0, 0]))
        due.count(until: Self.start + .seconds(1), by: (Self.start, [1, 1, 1], [0, 0, 0]))
        due.count(until: Self.start + .seconds(3), by: (Self.start + .seconds(1), [4, 4], [2, 2]))
        #expect(Self.sums(due) == [9, 4])
    }

    @Test func `a clock that goes back counts nothing twice`() {
        var due = DueTimelines()
        let survey: DueTimelines.Seconds = (Self.start, [1, 1, 1], [1, 1, 1])
        for second in [0, 2, 1, 2, 3] { due.count(until: Self.start + .seconds(Int64(second)), by: survey) }
        #expect(Self.sums(due) == [3, 3])
    }
}
