import HTTP2
import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPTransport

@Suite struct ServerConnectionTests {
    @Test func `requests of one wakeup are one batch, and their answers one write`() throws {
        let connection = try EmbeddedConnection()
        try connection.run()
        connection.writes = 0
        let paths = (0..<50).map { "/\($0)" }
        for path in paths {
            connection.request(path)
        }
        try connection.run()
        #expect(connection.handler.events == [.batch(paths)])
        #expect(connection.statuses() == Array(repeating: 200, count: 50))
        #expect(connection.writes == 1)
        #expect(connection.loop.currentCounters.requests == 50)
    }

    @Test func `requests of a connection that ends right behind them do not become the next one's`() throws {
        let connection = try EmbeddedConnection()
        try connection.run()
        connection.request("/a")
        try connection.send(closes: true)
        #expect(connection.loop.batch.isEmpty)
        #expect(!connection.handler.events.contains(.batch(["/a"])))
    }

    @Test func `requests right before a breach of the protocol do not become the next connection's`() throws {
        let connection = try EmbeddedConnection()
        try connection.run()
        connection.request("/a")
        // DATA on an idle stream.
        try connection.send([0, 0, 0, 0, 0, 0, 0, 0, 9])
        #expect(connection.loop.batch.isEmpty)
    }

    @Test func `an answer may come in a later turn of the loop`() throws {
        let connection = try EmbeddedConnection()
        connection.handler.status = nil
        connection.request("/a")
        connection.request("/b")
        try connection.run()
        #expect(connection.statuses() == [])
        let owner = try #require(connection.handler.connection)
        #expect(owner.respond(3, status: 429, fields: ResponseFields()))
        #expect(owner.respond(1, status: 200, fields: ResponseFields()))
        try connection.run()
        #expect(connection.statuses() == [])
        owner.flush()
        try connection.run()
        #expect(connection.statuses() == [429, 200])
    }

    @Test func `an answer is timed from the whole request until it begins`() throws {
        let connection = try EmbeddedConnection()
        connection.handler.status = nil
        connection.request("/a")
        connection.request("/b")
        try connection.run()
        #expect(connection.loop.currentCounters.answers == HTTPAnswers())
        let owner = try #require(connection.handler.connection)
        connection.eventLoop.advanceTime(by: .milliseconds(10))
        #expect(owner.respond(3, status: 429, fields: ResponseFields()))
        connection.eventLoop.advanceTime(by: .milliseconds(15))
        #expect(owner.beginStreaming(1, status: 200, fields: ResponseFields()))
        // The rest of a stream may take hours.
        connection.eventLoop.advanceTime(by: .seconds(3))
        owner.finish(1)
        // Answered already.
        #expect(!owner.respond(3, status: 200, fields: ResponseFields()))
        var expected = HTTPAnswers()
        expected.add(status: 429, nanoseconds: 10_000_000)
        expected.add(status: 200, nanoseconds: 25_000_000)
        #expect(connection.loop.currentCounters.answers == expected)
    }

    @Test func `a request that is refused by its head is timed from there`() throws {
        let connection = try EmbeddedConnection()
        try connection.run()
        connection.handler.judgement = .refused(403)
        connection.eventLoop.advanceTime(by: .seconds(5))
        try connection.requestBeyondWindow("/a")
        var expected = HTTPAnswers()
        expected.add(status: 403, nanoseconds: 0)
        #expect(connection.loop.currentCounters.answers == expected)
    }

    @Test func `answers are counted by the class of their status and by bounds, each of which includes itself`() {
        var answers = HTTPAnswers()
        for (status, nanoseconds) in [(200, 500_000), (204, 500_001), (404, 10_000_000_000), (503, 10_000_000_001)]
            as [(Int, UInt64)]
        {
            answers.add(status: status, nanoseconds: nanoseconds)
        }
        var all = HTTPAnswers()
        all += answers
        all += answers
        #expect(all.byStatus.map { "\($0.name) \($0.count)" } == ["2xx 4", "3xx 0", "4xx 2", "5xx 2"])
        #expect(all.cumulated.map(\.bound) == HTTPAnswers.bounds)
        #expect(all.cumulated.map(\.count) == [2] + Array(repeating: 4, count: 12) + [6])
        #expect(all.count == 8 && abs(all.seconds - 40.002) < 0.001)
    }

    @Test func `an answer to a connection that has gone is dropped and counted`() throws {
        let connection = try EmbeddedConnection()
        connection.handler.status = nil
        connection.request("/a")
        try connection.run()
        let owner = try #require(connection.handler.connection)
        try connection.channel.close().wait()
        #expect(connection.handler.events == [.batch(["/a"]), .connectionClosed])
        #expect(!owner.isOpen)
        #expect(!owner.respond(1, status: 200, fields: ResponseFields()))
        owner.flush()
        owner.close()
        #expect(owner.droppedAnswers == 1)
    }

    @Test func `nothing is read while the socket does not take what was written`() throws {
        let connection = try EmbeddedConnection()
        try connection.run()
        connection.setWritable(false)
        let before = connection.reads.count
        connection.channel.read()
        #expect(connection.reads.count == before)
        connection.request("/a")
        try connection.run()
        #expect(connection.statuses() == [])
        connection.setWritable(true)
        #expect(connection.reads.count == before + 1)
        try connection.run()
        #expect(connection.statuses() == [200])
    }

    @Test func `a streamed answer waits for a slow reader`() throws {
        let connection = try EmbeddedConnection()
        connection.handler.status = nil
        connection.request("/events")
        try connection.run()
        let owner = try #require(connection.handler.connection)
        #expect(owner.beginStreaming(1, status: 200, fields: ResponseFields()))
        connection.setWritable(false)
        let piece = [UInt8](repeating: 0x61, count: 40_000)
        #expect(owner.write(1, piece.span) == .accepted)
        #expect(owner.write(1, piece.span) == .full)
        owner.flush()
        #expect(connection.handler.events == [.batch(["/events"])])
        connection.setWritable(true)
        try connection.run()
        #expect(connection.handler.events == [.batch(["/events"]), .streamWritable(1)])
        owner.finish(1)
        owner.flush()
        try connection.run()
        #expect(connection.statuses() == [200])
    }

    @Test func `a reset stream is told to its owner`() throws {
        let connection = try EmbeddedConnection()
        connection.handler.status = nil
        connection.request("/a")
        try connection.run()
        connection.session.cancel(1)
        try connection.run()
        #expect(connection.handler.events == [.batch(["/a"]), .streamClosed(1)])
    }

    @Test func `a flood ends the connection with a reason, and the socket a moment later`() throws {
        let connection = try EmbeddedConnection()
        try connection.run()
        for _ in 0..<101 {
            connection.session.ping(1)
        }
        try connection.run()
        let reason = "more than 100 PING, SETTINGS or GOAWAY frames at once, or 10 a second"
        #expect(connection.goAways() == ["ENHANCE_YOUR_CALM \(reason)"])
        #expect(connection.handler.events == [.connectionClosed])
        #expect(connection.loop.currentCounters.connectionsEndedByFault == 1)
        connection.advance(seconds: 3)
        #expect(!connection.channel.isActive)
        #expect(connection.loop.currentCounters.connections == 0)
    }

    @Test func `GOAWAY by the owner lets open streams finish, then closes`() throws {
        let connection = try EmbeddedConnection()
        connection.handler.status = nil
        connection.request("/a")
        try connection.run()
        let owner = try #require(connection.handler.connection)
        owner.goAway(debug: "{\"reason\":\"Shutdown\"}")
        owner.flush()
        try connection.run()
        #expect(connection.goAways() == ["NO_ERROR {\"reason\":\"Shutdown\"}"])
        #expect(owner.isOpen)
        #expect(owner.respond(1, status: 200, fields: ResponseFields()))
        owner.flush()
        try connection.run()
        #expect(connection.statuses() == [200])
        #expect(!owner.isOpen)
    }

    @Test func `a listener that drains waits for the last answer`() throws {
        let connection = try EmbeddedConnection()
        connection.handler.status = nil
        connection.request("/a")
        try connection.run()
        let drained = connection.loop.drain()
        try connection.run()
        #expect(connection.goAways() == ["NO_ERROR ", "NO_ERROR {\"reason\":\"Shutdown\"}"])
        #expect(!connection.loop.admit(2, from: nil))
        let owner = try #require(connection.handler.connection)
        #expect(owner.respond(1, status: 200, fields: ResponseFields()))
        owner.flush()
        try connection.run()
        #expect(connection.statuses() == [200])
        connection.advance(seconds: 3)
        try drained.wait()
    }
}
