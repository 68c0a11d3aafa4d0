import Engine
import Journaling
import Serving
import TestSupport
import Testing
import WidgetModel

@Suite struct StreamHistoryTests {
    private static let partition = PartitionID(0)

    private static func event(_ number: UInt64, _ host: String = "a") -> HostEvent {
        .reload(Sports.reload(host, position: number))
    }

    /// The place behind so many events.
    private static func place(_ count: UInt64, log: UInt32 = 7) -> StreamCursor {
        StreamCursor(log: log, .app([EffectPlace(OutputPosition(count))]))
    }

    private static func host(_ count: UInt64, log: UInt32 = 7) -> StreamCursor {
        StreamCursor(log: log, .host(Self.partition, EffectPlace(OutputPosition(count))))
    }

    /// A history of four with so many events in it, in turn of hosts a and b: outputs from 0 on with one each.
    private static func history(_ count: UInt64, capacity: Int = 4) -> StreamHistory {
        var history = StreamHistory(log: 7, partitions: 1, capacity: capacity)
        _ = history.begin(Self.partition, at: OutputPosition(0))
        for number in 0..<count {
            let place = EffectPlace(OutputPosition(number + 1))
            history.append(Self.event(number, number.isMultiple(of: 2) ? "a" : "b"), at: place, of: Self.partition)
        }
        return history
    }

    private static func events(_ history: StreamHistory, _ cursor: StreamCursor, _ scope: HostStreams.Scope)
        -> [HostEvent]?
    {
        history.missed(after: cursor, for: scope)?.events
    }

    @Test func `at the edge of what is kept there is no gap, and one below it there is`() {
        for count in [UInt64(3), 4, 5, 9] {
            let history = Self.history(count)
            let oldest = count > 4 ? count - 4 : 0
            let kept = (oldest..<count).map { Self.event($0, $0.isMultiple(of: 2) ? "a" : "b") }
            #expect(Self.events(history, Self.place(oldest), .app(Sports.app)) == kept, "\(count)")
            #expect(Self.events(history, Self.place(count), .app(Sports.app)) == [], "\(count)")
            #expect(Self.events(history, Self.place(count + 1), .app(Sports.app)) == nil, "\(count)")
            if oldest > 0 { #expect(Self.events(history, Self.place(oldest - 1), .app(Sports.app)) == nil, "\(count)") }
        }
    }

    @Test func `each scope sees its own, and by its own places`() {
        let history = Self.history(4)
        #expect(Self.events(history, Self.host(0), .host(HostKey("a"))) == [Self.event(0), Self.event(2)])
        #expect(Self.events(history, Self.host(0), .host(HostKey("b"))) == [Self.event(1, "b"), Self.event(3, "b")])
        #expect(Self.events(history, Self.host(0), .host(HostKey("c"))) == [])
        #expect(Self.events(history, Self.place(0), .app(Sports.otherApp)) == [])
        #expect(Self.events(history, Self.place(0), .host(HostKey("a"))) == nil)
        #expect(Self.events(history, Self.host(0), .app(Sports.app)) == nil)
    }

    @Test func `another log is another history, and so is another number of partitions`() {
        #expect(Self.events(Self.history(4), Self.place(2, log: 8), .app(Sports.app)) == nil)
        let both = StreamCursor(log: 7, .app([EffectPlace(OutputPosition(2)), EffectPlace(OutputPosition(2))]))
        #expect(Self.events(Self.history(4), both, .app(Sports.app)) == nil)
        let away = StreamCursor(log: 7, .host(PartitionID(1), EffectPlace(OutputPosition(2))))
        #expect(Self.events(Self.history(4), away, .host(HostKey("a"))) == nil)
    }

    @Test func `a history of nothing knows only that nothing happened`() {
        let history = Self.history(2, capacity: 0)
        #expect(history.end(of: .app(Sports.app)) == Self.place(2))
        #expect(Self.events(history, Self.place(2), .app(Sports.app)) == [])
        #expect(Self.events(history, Self.place(1), .app(Sports.app)) == nil)
    }

    @Test func `what is not kept any more is a gap in its own partition, and in no other`() {
        var history = StreamHistory(log: 7, partitions: 2, capacity: 2)
        for partition in [PartitionID(0), PartitionID(1)] { _ = history.begin(partition, at: .first) }
        let start = history.end(of: .app(Sports.app))
        history.append(Self.event(1), at: EffectPlace(.first.next), of: PartitionID(0))
        let between = history.end(of: .app(Sports.app))
        for number in UInt64(2)...3 {
            history.append(Self.event(number, "b"), at: EffectPlace(OutputPosition(number)), of: PartitionID(1))
        }
        #expect(Self.events(history, start, .app(Sports.app)) == nil)
        #expect(Self.events(history, between, .app(Sports.app)) == [Self.event(2, "b"), Self.event(3, "b")])
        history.setLimit(capacity: 1)
        #expect(Self.events(history, between, .app(Sports.app)) == nil)
    }

    @Test func `a place amid an output is behind the effects that it counts`() {
        let output = OutputPosition(5)
        let places = [EffectPlace(output, effects: 1), EffectPlace(output, effects: 2), EffectPlace(output.next)]
        #expect((0..<3).map { EffectPlace(behind: $0, of: 3, in: output) } == places)
        var history = StreamHistory(log: 7, partitions: 1, capacity: 4)
        _ = history.begin(Self.partition, at: output)
        for index in 0..<3 {
            let place = EffectPlace(behind: index, of: 3, in: output)
            history.append(Self.event(UInt64(index)), at: place, of: Self.partition)
        }
        let amid = StreamCursor(log: 7, .host(Self.partition, EffectPlace(output, effects: 1)))
        #expect(Self.events(history, amid, .host(HostKey("a"))) == [Self.event(1), Self.event(2)])
    }

    @Test func `a cursor is what it says`() {
        let far = EffectPlace(OutputPosition(.max), effects: .max)
        let cursors = [
            Self.place(0), Self.host(12), StreamCursor(log: .max, .app([far, .start])),
            StreamCursor(log: 0, .host(PartitionID(63), far)),
        ]
        for cursor in cursors { #expect(StreamCursor(cursor.description) == cursor) }
        #expect(Self.host(12, log: 255).description == "ff-0.12.0")
        #expect(Self.place(12, log: 255).description == "ff-12.0")
        let wrong = [
            "", "-", "7", "7-", "7-1", "x-1.0", "100000000-1.0", "7--1.0", "7-1.0-", "7-01.0", "+7-1.0", "7-1.0.0.0",
            "7-65536.1.0", "7-0.1.4294967296", "7-1.0-0.1.0",
        ]
        for text in wrong { #expect(StreamCursor(text) == nil, "\(text)") }
    }
}
