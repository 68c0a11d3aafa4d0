import JournalStreams
import Testing
import WidgetModel

@Suite struct EntryTimeTests {
    private static func at(_ seconds: Int64, _ milliseconds: Int64 = 0) -> Instant {
        Instant(milliseconds: seconds * 1000 + milliseconds)
    }

    @Test(arguments: [(1_999, 1_999), (2_000, 2_000), (2_001, 2_000)] as [(Int64, Int64)])
    func `a broker's clock that is ahead counts up to two seconds`(lead: Int64, counted: Int64) {
        var time = EntryTime()
        #expect(time.next(stamp: Self.at(100, lead), writtenAt: Self.at(100)) == Self.at(100, counted))
        #expect(time.disagreements == 0)
    }

    @Test func `time never goes back, whosever clock does`() {
        var time = EntryTime()
        #expect(time.next(stamp: Self.at(100), writtenAt: Self.at(100)) == Self.at(100))
        #expect(time.next(stamp: Self.at(90), writtenAt: Self.at(100)) == Self.at(100))
        #expect(time.next(stamp: Self.at(101), writtenAt: Self.at(90)) == Self.at(100))
        #expect(time.next(stamp: Self.at(101), writtenAt: Self.at(101)) == Self.at(101))
    }

    @Test(arguments: [-300_001, -300_000, 300_000, 300_001] as [Int64])
    func `clocks that are more than five minutes apart move no time, and are counted`(apart: Int64) {
        var time = EntryTime(after: Self.at(10))
        let later = time.next(stamp: Self.at(1_000, apart), writtenAt: Self.at(1_000))
        let isApart = abs(apart) > 300_000
        #expect(time.disagreements == (isApart ? 1 : 0))
        #expect((later == Self.at(10)) == isApart)
        #expect(time.last == later)
    }

    @Test func `the time of one entry and those behind it are all that the next ones need`() {
        var whole = EntryTime()
        let clocks: [(Int64, Int64)] = [(5, 5), (9, 4), (3, 3), (1_000, 7), (8, 8)]
        let all = clocks.map { whole.next(stamp: Self.at($0), writtenAt: Self.at($1)) }
        var rest = EntryTime(after: all[1])
        #expect(clocks[2...].map { rest.next(stamp: Self.at($0), writtenAt: Self.at($1)) } == Array(all[2...]))
    }
}
