import HTTP2
import NIOCore
import NIOEmbedded
import TLS
import Testing

@testable import HTTPTransport

@Suite struct DeadlineTests {
    @Test func `a handshake that is not made in 10 s is given up`() throws {
        let connection = try EmbeddedConnection()
        connection.advance(seconds: 9)
        #expect(connection.channel.isActive)
        connection.advance(seconds: 1)
        #expect(!connection.channel.isActive)
        // The owner never heard of it.
        #expect(connection.handler.events == [])
        #expect(connection.loop.currentCounters.handshakesFailed == 1)
    }

    @Test func `a client that says nothing after the handshake is given up after 10 s`() throws {
        let connection = try EmbeddedConnection()
        // The handshake alone, without the HTTP/2 preface behind it.
        while connection.tls.state != .ready {
            try connection.channel.writeInbound(ByteBuffer(bytes: connection.tls.drainAll()))
            while let down = try connection.channel.readOutbound(as: ByteBuffer.self) {
                try connection.tls.receive(down.readableBytesUInt8Span)
            }
        }
        try connection.channel.writeInbound(ByteBuffer(bytes: connection.tls.drainAll()))
        connection.advance(seconds: 9)
        #expect(connection.channel.isActive)
        connection.advance(seconds: 1)
        #expect(!connection.channel.isActive)
        #expect(connection.handler.events == [.connectionClosed])
        #expect(connection.loop.currentCounters.deadlines[.firstRequest] == 1)
    }

    @Test func `an idle connection is told so and closed`() throws {
        let connection = try EmbeddedConnection { $0.bounds.deadlines.idle = .seconds(60) }
        connection.request("/a")
        try connection.run()
        connection.advance(seconds: 59)
        try connection.run()
        #expect(connection.goAways() == [])
        connection.advance(seconds: 1)
        try connection.run()
        #expect(connection.goAways() == ["NO_ERROR {\"reason\":\"IdleTimeout\"}"])
        #expect(connection.handler.events == [.batch(["/a"]), .connectionClosed])
    }

    @Test func `a connection that waits for an answer is not idle`() throws {
        let connection = try EmbeddedConnection {
            $0.bounds.deadlines.idle = .seconds(60)
            // No bytes are carried meanwhile, so that a PING would stay unanswered.
            $0.bounds.deadlines.keepAlive = .hours(1)
        }
        connection.handler.status = nil
        connection.request("/a")
        try connection.run()
        connection.advance(seconds: 600)
        try connection.run()
        #expect(connection.goAways() == [])
        #expect(connection.channel.isActive)
    }

    @Test func `a request that does not arrive whole is handed out as late`() throws {
        let connection = try EmbeddedConnection()
        connection.handler.status = 408
        try connection.run()
        try connection.requestBeyondWindow("/slow")
        #expect(connection.handler.events == [])
        connection.advance(seconds: 29)
        #expect(connection.handler.events == [])
        connection.advance(seconds: 1)
        #expect(connection.handler.events == [.batch(["/slow"])])
        #expect(connection.handler.flags == [.timedOut])
        try connection.run()
        #expect(connection.statuses() == [408])
    }

    @Test func `a socket that takes nothing for 30 s is closed`() throws {
        let connection = try EmbeddedConnection()
        try connection.run()
        connection.setWritable(false)
        connection.advance(seconds: 29)
        #expect(connection.channel.isActive)
        connection.advance(seconds: 1)
        #expect(!connection.channel.isActive)
        #expect(connection.handler.events == [.connectionClosed])
    }

    @Test func `a stream whose reader gives no credit is reset after 30 s`() throws {
        let connection = try EmbeddedConnection()
        connection.handler.status = nil
        connection.request("/events")
        try connection.run()
        let owner = try #require(connection.handler.connection)
        #expect(owner.beginStreaming(1, status: 200, fields: ResponseFields()))
        #expect(owner.write(1, [UInt8](repeating: 0x61, count: 100_000).span) == .full)
        // The bytes within the window go out; the client never answers with credit.
        owner.flush()
        connection.advance(seconds: 31)
        #expect(connection.handler.events == [.batch(["/events"]), .streamClosed(1)])
        #expect(connection.channel.isActive)
    }
}
