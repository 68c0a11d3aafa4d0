import Serving
import TestSupport
import Testing
import WidgetModel

@Suite struct StreamHistoryTests {
    private static func event(_ number: UInt64, _ host: String = "a") -> HostEvent {
        .reload(Sports.reload(host, position: number))
    }

    private static func place(_ sequence: UInt64, epoch: UInt32 = 7) -> StreamCursor {
        StreamCursor(epoch: epoch, sequence: sequence)
    }

    /// A history of four with so many events in it, in turn of hosts a and b.
    private static func history(_ count: UInt64, capacity: Int = 4) -> StreamHistory {
        var history = StreamHistory(epoch: 7, capacity: capacity)
        for number in 0..<count { history.append(Self.event(number, number.isMultiple(of: 2) ? "a" : "b")) }
        return history
    }

    @Test func `at the edge of what is kept there is no gap, and one below it there is`() {
        for count in [UInt64(3), 4, 5, 9] {
            let history = Self.history(count)
            let oldest = count > 4 ? count - 4 : 0
            let kept = (oldest..<count).map { Self.event($0, $0.isMultiple(of: 2) ? "a" : "b") }
            #expect(history.events(after: Self.place(oldest), for: .app(Sports.app)) == kept, "\(count)")
            #expect(history.events(after: Self.place(count), for: .app(Sports.app)) == [], "\(count)")
            #expect(history.events(after: Self.place(count + 1), for: .app(Sports.app)) == nil, "\(count)")
            if oldest > 0 {
                #expect(history.events(after: Self.place(oldest - 1), for: .app(Sports.app)) == nil, "\(count)")
            }
        }
    }

    @Test func `each scope sees its own`() {
        let history = Self.history(4)
        let start = Self.place(0)
        #expect(history.events(after: start, for: .host(HostKey("a"))) == [Self.event(0), Self.event(2)])
        #expect(history.events(after: start, for: .host(HostKey("b"))) == [Self.event(1, "b"), Self.event(3, "b")])
        #expect(history.events(after: start, for: .host(HostKey("c"))) == [])
        #expect(history.events(after: start, for: .app(Sports.otherApp)) == [])
    }

    @Test func `another epoch is another history`() {
        #expect(Self.history(4).events(after: Self.place(2, epoch: 8), for: .app(Sports.app)) == nil)
    }

    @Test func `a history of nothing knows only that nothing happened`() {
        let history = Self.history(2, capacity: 0)
        #expect(history.end == Self.place(2))
        #expect(history.events(after: Self.place(2), for: .app(Sports.app)) == [])
        #expect(history.events(after: Self.place(1), for: .app(Sports.app)) == nil)
    }

    @Test func `a place is what it says`() {
        for place in [Self.place(0), Self.place(.max, epoch: .max), StreamCursor(epoch: 0, sequence: 12)] {
            #expect(StreamCursor(place.description) == place)
        }
        #expect(Self.place(12, epoch: 255).description == "ff-12")
        for text in ["", "-", "7", "7-", "7-1-1", "x-1", "100000000-1", "7--1"] {
            #expect(StreamCursor(text) == nil, "\(text)")
        }
    }
}
