import LoadGenerator
import TestSupport
import Testing

/// The generator's reading of an event stream.
@Suite struct EventStreamTests {
    private static let run: UInt64 = 0x3F1C_9E52_7A60_4B1D
    private static let text = """
        retry: 2500

        id: 5f0c2a1b-1206

        id: 5f0c2a1b-1207
        event: reload
        data: {"id":"0-42-load-17:w1","app":"com.example.scores","host":"load-17","instance":"w1","kind":"scores",\
        "family":"systemSmall","causes":["push"],"charged":true,"push":"3f1c9e52-7a60-4b1d-8000-00000000002a","pushes":1}

        : heartbeat
        id: 5f0c2a1b-1207

        event: reload
        data: {"id":"0-43-load-3:w0","host":"load-3","causes":["appRequest"],"redelivered":true}

        event: entry
        data: {"reload":"0-44-load-5:w2","host":"load-5","date":"2026-11-21T12:00:00.000Z","content":{"id":"x"}}

        event: gap
        data: {}


        """

    private static var notices: [EventStreamReader.Notice] {
        var first = EventStreamReader.Notice(kind: .reload)
        first.reload = Array("0-42-load-17:w1".utf8)
        first.host = 17
        first.push = 42
        var second = EventStreamReader.Notice(kind: .reload)
        second.reload = Array("0-43-load-3:w0".utf8)
        second.host = 3
        second.isRedelivered = true
        var third = EventStreamReader.Notice(kind: .entry)
        third.reload = Array("0-44-load-5:w2".utf8)
        third.date = Array("2026-11-21T12:00:00.000Z".utf8)
        third.host = 5
        return [first, second, third, EventStreamReader.Notice(kind: .other)]
    }

    @Test func `reloads and entries are found with host, push and date`() {
        var reader = EventStreamReader(run: Self.run)
        var notices: [EventStreamReader.Notice] = []
        #expect(!reader.hasBegun)
        reader.read(Array(Self.text.utf8).span, into: &notices)
        #expect(notices == Self.notices)
        #expect(reader.hasBegun)
        #expect(String(decoding: reader.lastID, as: UTF8.self) == "5f0c2a1b-1207")
    }

    @Test func `where the pieces are cut makes no difference`() {
        let bytes = Array(Self.text.utf8)
        for length in [1, 2, 3, 7, 64, 100] {
            var reader = EventStreamReader(run: Self.run)
            var notices: [EventStreamReader.Notice] = []
            for start in stride(from: 0, to: bytes.count, by: length) {
                reader.read(bytes.span.extracting(start..<min(start + length, bytes.count)), into: &notices)
            }
            #expect(notices == Self.notices, "pieces of \(length)")
        }
    }

    @Test func `a push of another run is not this one's`() {
        var reader = EventStreamReader(run: Self.run + 1)
        var notices: [EventStreamReader.Notice] = []
        reader.read(Array(Self.text.utf8).span, into: &notices)
        #expect(notices.map(\.push) == [nil, nil, nil, nil])
    }

    @Test func `a stream that begins anew keeps the id to come back with, and nothing half read`() {
        var reader = EventStreamReader(run: Self.run)
        var notices: [EventStreamReader.Notice] = []
        reader.read(Array("id: 7\nevent: reload\ndata: {\"id\":\"half".utf8).span, into: &notices)
        reader.begin()
        #expect(!reader.hasBegun)
        reader.read(Array("\n\nretry: 1\n\n".utf8).span, into: &notices)
        #expect(notices == [])
        #expect(reader.lastID == Array("7".utf8))
    }
}
