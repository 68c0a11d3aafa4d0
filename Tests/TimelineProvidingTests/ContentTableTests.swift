import Engine
import TestSupport
import Testing
import TimelineProviding
import WidgetModel

@Suite struct ContentTableTests {
    private static let start = Fixtures.start

    private static func minute(_ minute: Int64) -> Instant { Self.start + .minutes(minute) }

    private static func texts(_ due: [ContentTable.Due]) -> [String] {
        due.map { "\($0.timeline.address.host.id) \(String(decoding: $0.entry.content, as: UTF8.self))" }
    }

    @Test func `the entry of now is shown at once, the others on their dates and not before`() {
        var table = ContentTable(bytesMax: 1_000_000)
        let change = table.store(
            Fixtures.timeline(1, [(-5, "old"), (0, "now"), (10, "next"), (20, "last")]),
            record: 7,
            at: Self.start
        )
        #expect(change.shows.map { Self.texts([$0]) } == ["host-1 now"])
        #expect(table.nextDue == Self.minute(10))
        #expect(table.due(upTo: Self.minute(10) - .milliseconds(1)) == [])
        #expect(Self.texts(table.due(upTo: Self.minute(10))) == ["host-1 next"])
        #expect(Self.texts(table.due(upTo: Self.minute(60))) == ["host-1 last"])
        #expect(table.nextDue == nil)
    }

    @Test func `however far time has jumped, only the newest entry of each is shown`() {
        var table = ContentTable(bytesMax: 1_000_000)
        for number in [2, 1] {
            _ = table.store(Fixtures.timeline(number, [(10, "a"), (20, "b"), (30, "c")]), record: 7, at: Self.start)
        }
        #expect(Self.texts(table.due(upTo: Self.minute(25))) == ["host-2 b", "host-1 b"])
        #expect(Self.texts(table.due(upTo: Self.minute(30))) == ["host-2 c", "host-1 c"])
    }

    @Test func `content that is shown already is not shown again`() {
        var table = ContentTable(bytesMax: 1_000_000)
        _ = table.store(Fixtures.timeline(1, [(0, "same"), (10, "same"), (20, "other")]), record: 7, at: Self.start)
        #expect(table.due(upTo: Self.minute(10)) == [])
        let again = table.store(Fixtures.timeline(1, [(0, "same"), (20, "other")]), record: 8, at: Self.minute(12))
        #expect(again.shows == nil)
        #expect(Self.texts(table.due(upTo: Self.minute(20))) == ["host-1 other"])
    }

    @Test func `a new timeline takes the place of the old one, dates and all`() {
        var table = ContentTable(bytesMax: 1_000_000)
        let first = table.store(Fixtures.timeline(1, [(0, "a"), (10, "old")]), record: 7, at: Self.start)
        let second = table.store(Fixtures.timeline(1, [(5, "b"), (30, "new")]), record: 8, at: Self.minute(1))
        #expect(first.released == [] && second.released == [7] && second.shows == nil)
        #expect(Self.texts(table.due(upTo: Self.minute(29))) == ["host-1 b"])
        #expect(Self.texts(table.due(upTo: Self.minute(30))) == ["host-1 new"])
        #expect(table.count == 1)
    }

    @Test func `entries out of order are shown by date, and of two at one date the later listed`() {
        var table = ContentTable(bytesMax: 1_000_000)
        _ = table.store(Fixtures.timeline(1, [(20, "c"), (10, "a"), (10, "b")]), record: 7, at: Self.start)
        #expect(Self.texts(table.due(upTo: Self.minute(10))) == ["host-1 b"])
        #expect(Self.texts(table.due(upTo: Self.minute(20))) == ["host-1 c"])
    }

    @Test func `what is removed shows nothing any more, and its place is used again`() {
        var table = ContentTable(bytesMax: 1_000_000)
        _ = table.store(Fixtures.timeline(1, [(10, "a")]), record: 7, at: Self.start)
        #expect(table.remove(Fixtures.address(1)) == 7)
        #expect(table.remove(Fixtures.address(1)) == nil)
        #expect(table.bytes == 0 && table.count == 0 && table.addresses == [])
        _ = table.store(Fixtures.timeline(2, [(20, "b")]), record: 7, at: Self.start)
        #expect(Self.texts(table.due(upTo: Self.minute(60))) == ["host-2 b"])
    }

    @Test func `with less room those that were stored longest ago go, and with more none`() {
        let timelines = (0..<4).map { Fixtures.timeline($0, [(10, "content \($0)")]) }
        let size = timelines[0].bytes
        var table = ContentTable(bytesMax: 4 * size)
        for (number, timeline) in timelines.enumerated() {
            #expect(table.store(timeline, record: UInt64(number), at: Self.start).released == [])
        }
        let less = table.setLimit(bytesMax: 3 * size - 1)
        #expect(less == [0, 1])
        #expect(table.count == 2)
        let more = table.setLimit(bytesMax: 9 * size)
        #expect(more == [])
        let none = table.setLimit(bytesMax: 1)
        #expect(none == [2, 3])
    }

    @Test func `at the limit nothing goes, one byte above it the one that was stored longest ago`() {
        let timelines = (0..<4).map { Fixtures.timeline($0, [(10, "content \($0)")]) }
        let size = timelines[0].bytes
        for excess in 0...1 {
            var table = ContentTable(bytesMax: 3 * size - excess)
            var released: [UInt64] = []
            for (number, timeline) in timelines[..<3].enumerated() {
                released += table.store(timeline, record: UInt64(number), at: Self.start).released
            }
            #expect(released == (excess == 0 ? [] : [0]))
            #expect(table.evicted == excess)
        }
        // Stored anew counts as new.
        var table = ContentTable(bytesMax: 3 * size)
        for (number, timeline) in timelines[..<3].enumerated() {
            _ = table.store(timeline, record: UInt64(number), at: Self.start)
        }
        _ = table.store(timelines[0], record: 3, at: Self.start)
        #expect(table.store(timelines[3], record: 4, at: Self.start).released == [1])
        #expect(table.addresses.map(\.host.id.rawValue) == ["host-0", "host-2", "host-3"])
    }

    @Test func `one that is larger than the limit is kept alone`() {
        var table = ContentTable(bytesMax: 10)
        _ = table.store(Fixtures.timeline(1, [(10, "a")]), record: 7, at: Self.start)
        #expect(table.count == 1)
        #expect(table.store(Fixtures.timeline(2, [(10, "a")]), record: 7, at: Self.start).released == [7])
        #expect(table.count == 1)
    }

    @Test func `a stored timeline reads back as it was written`() throws {
        let timeline = Fixtures.timeline(1, [(0, #"{"home":1}"#), (10, "")])
        var writer = ByteWriter(reserving: 100)
        timeline.encode(into: &writer)
        var reader = ByteReader(writer.bytes, in: writer.bytes.indices)
        #expect(try StoredTimeline(from: &reader) == timeline)
    }

    @Test(arguments: [UInt64(1), 2, 3, 4])
    func `whatever comes, bytes are counted right and the limit holds`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var table = ContentTable(bytesMax: 20_000)
        var now = Self.start
        for _ in 0..<3000 {
            let number = Int(random.next() % 60)
            now = now + .seconds(Int64(random.next() % 50))
            switch random.next() % 4 {
            case 0: table.remove(Fixtures.address(number))
            case 1: _ = table.due(upTo: now)
            default:
                let first = Int((now - Self.start).milliseconds / 60_000)
                let entries = (0..<Int(random.next() % 5)).map { (first + $0 * 3, "\(random.next() % 1000)") }
                _ = table.store(Fixtures.timeline(number, entries), record: 7, at: now)
            }
            let sum = table.addresses.reduce(0) { $0 + (table[$1]?.bytes ?? 0) }
            #expect(table.bytes == sum && sum <= 20_000 && table.count == table.addresses.count, "seed \(seed)")
        }
    }
}
