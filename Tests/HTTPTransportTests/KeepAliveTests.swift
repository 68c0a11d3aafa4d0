import HTTP2
import NIOCore
import NIOEmbedded
import TLS
import Testing

@testable import HTTPTransport

@Suite struct KeepAliveTests {
    private func connection(idle: Int64 = 3600) throws -> EmbeddedConnection {
        let connection = try EmbeddedConnection {
            $0.bounds.deadlines.idle = .seconds(idle)
            $0.bounds.deadlines.keepAlive = .seconds(60)
            $0.bounds.deadlines.keepAliveAnswer = .seconds(10)
        }
        connection.request("/a")
        try connection.run()
        return connection
    }

    @Test func `a silent peer is asked by a PING whether it is there, and stays if it answers`() throws {
        let connection = try self.connection()
        connection.writes = 0
        connection.advance(seconds: 59)
        try connection.run()
        #expect(connection.writes == 0)
        connection.advance(seconds: 1)
        try connection.run()
        #expect(connection.writes == 1)
        // Again a minute after the answer, not earlier.
        connection.advance(seconds: 59)
        try connection.run()
        #expect(connection.writes == 1)
        connection.advance(seconds: 1)
        try connection.run()
        #expect(connection.writes == 2)
        #expect(connection.channel.isActive)
    }

    @Test func `a peer that does not answer the PING is cut off`() throws {
        let connection = try self.connection()
        connection.advance(seconds: 69)
        #expect(connection.channel.isActive)
        connection.advance(seconds: 1)
        #expect(!connection.channel.isActive)
        #expect(connection.loop.currentCounters.deadlines[.keepAliveAnswer] == 1)
        #expect(connection.handler.events == [.batch(["/a"]), .connectionClosed])
    }

    @Test func `a peer that waits for an answer is asked too`() throws {
        let connection = try EmbeddedConnection {
            $0.bounds.deadlines.keepAlive = .seconds(60)
            $0.bounds.deadlines.keepAliveAnswer = .seconds(10)
        }
        connection.handler.status = nil
        connection.request("/slow")
        try connection.run()
        connection.advance(seconds: 70)
        #expect(!connection.channel.isActive)
    }

    @Test func `an answered PING does not make a connection less idle`() throws {
        let connection = try self.connection(idle: 150)
        for _ in 0..<149 {
            connection.advance(seconds: 1)
            try connection.run()
        }
        #expect(connection.goAways() == [])
        connection.advance(seconds: 1)
        try connection.run()
        #expect(connection.goAways() == ["NO_ERROR {\"reason\":\"IdleTimeout\"}"])
    }

    @Test func `a request between PING and answer makes it active`() throws {
        let connection = try self.connection(idle: 150)
        connection.advance(seconds: 60)
        connection.request("/b")
        try connection.run()
        for _ in 0..<149 {
            connection.advance(seconds: 1)
            try connection.run()
        }
        #expect(connection.goAways() == [])
        connection.advance(seconds: 1)
        try connection.run()
        #expect(connection.goAways() == ["NO_ERROR {\"reason\":\"IdleTimeout\"}"])
    }

    @Test func `a drain says Shutdown in its second GOAWAY`() throws {
        let connection = try self.connection()
        connection.handler.status = nil
        connection.request("/last")
        try connection.run()
        _ = connection.loop.drain()
        try connection.run()
        #expect(connection.goAways() == ["NO_ERROR ", "NO_ERROR {\"reason\":\"Shutdown\"}"])
        let owner = try #require(connection.handler.connection)
        #expect(owner.respond(3, status: 200, fields: ResponseFields()))
        owner.flush()
        try connection.run()
        #expect(connection.statuses() == [200, 200])
        #expect(!connection.channel.isActive)
    }

    @Test func `a drain goes on after two seconds without an acknowledgement`() throws {
        let connection = try self.connection()
        connection.handler.status = nil
        connection.request("/last")
        try connection.run()
        _ = connection.loop.drain()
        // The client reads nothing meanwhile.
        connection.advance(seconds: 3)
        try connection.run()
        #expect(connection.goAways() == ["NO_ERROR ", "NO_ERROR {\"reason\":\"Shutdown\"}"])
    }

    @Test(arguments: [true, false])
    func `at the end of a drain a client that reads is given a moment to go, a silent one is not`(reads: Bool) throws {
        let connection = try self.connection()
        let drained = connection.loop.drain()
        if reads { try connection.run() }
        connection.advance(seconds: 2)
        #expect(connection.reads.closes.first == (reads ? .output : .all))
        connection.advance(seconds: 3)
        try drained.wait()
    }
}
