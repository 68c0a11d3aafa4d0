import HTTP2
import NIOCore
import NIOEmbedded
import TLS
import Testing

@testable import HTTPTransport

/// An owner's admission of a connection before it is served.
@Suite struct AdmissionTests {
    private func limits(_ connection: EmbeddedConnection) -> [UInt32] {
        connection.clientEvents.compactMap { event in
            guard case .settings(let streams) = event else { return nil }
            return streams
        }
    }

    @Test func `a connection may begin with fewer streams, once`() throws {
        let handler = RecordingHandler()
        handler.admission = .accepted(streamsMax: 1)
        let connection = try EmbeddedConnection(handler)
        connection.request("/a")
        try connection.run()
        #expect(self.limits(connection) == [1])
        let owner = try #require(handler.connection)
        owner.liftStreamLimit()
        owner.liftStreamLimit()
        owner.flush()
        try connection.run()
        #expect(self.limits(connection) == [1, 1000])
    }

    @Test func `a connection that begins with the listener's limit hears nothing more of it`() throws {
        for streams in [nil, 1000, 1001] as [UInt32?] {
            let handler = RecordingHandler()
            handler.admission = .accepted(streamsMax: streams)
            let connection = try EmbeddedConnection(handler)
            connection.request("/a")
            try connection.run()
            let owner = try #require(handler.connection)
            owner.liftStreamLimit()
            owner.flush()
            try connection.run()
            #expect(self.limits(connection) == [1000])
        }
    }

    @Test func `a connection may be slowed down, and let go again`() throws {
        let handler = RecordingHandler()
        let connection = try EmbeddedConnection(handler)
        connection.request("/a")
        try connection.run()
        let owner = try #require(handler.connection)
        owner.lowerStreamLimit(to: 1)
        owner.lowerStreamLimit(to: 1)
        owner.flush()
        try connection.run()
        #expect(self.limits(connection) == [1000, 1])
        owner.liftStreamLimit()
        owner.lowerStreamLimit(to: 1)
        owner.liftStreamLimit()
        owner.lowerStreamLimit(to: 1000)
        owner.flush()
        try connection.run()
        #expect(self.limits(connection) == [1000, 1, 1000, 1, 1000])
    }

    @Test func `a peer that acknowledges nothing hears of four limits at most`() throws {
        let handler = RecordingHandler()
        let connection = try EmbeddedConnection(handler)
        connection.request("/a")
        try connection.run()
        let owner = try #require(handler.connection)
        for _ in 0..<10 {
            owner.lowerStreamLimit(to: 1)
            owner.liftStreamLimit()
        }
        owner.flush()
        try connection.run()
        #expect(self.limits(connection) == [1000, 1, 1000, 1, 1000])
        owner.lowerStreamLimit(to: 1)
        owner.flush()
        try connection.run()
        #expect(self.limits(connection).last == 1)
    }

    @Test func `streams beyond the first limit are refused, so that they may be sent again`() throws {
        let handler = RecordingHandler()
        handler.admission = .accepted(streamsMax: 1)
        handler.status = nil
        let connection = try EmbeddedConnection(handler)
        // Before the first SETTINGS have arrived, a client may think that it has 100.
        for path in ["/a", "/b", "/c"] { connection.request(path) }
        try connection.run()
        #expect(handler.events == [.batch(["/a"])])
        #expect(
            connection.clientEvents.filter { if case .streamClosed = $0 { true } else { false } }
                == [.streamClosed(3, .refusedStream), .streamClosed(5, .refusedStream)]
        )
    }

    @Test func `a connection that is not admitted is told why, and its requests are not read`() throws {
        let handler = RecordingHandler()
        handler.admission = .refused(debug: "{\"reason\":\"BadCertificateEnvironment\"}")
        let connection = try EmbeddedConnection(handler)
        connection.request("/a")
        try connection.run()
        let reason = Array("{\"reason\":\"BadCertificateEnvironment\"}".utf8)
        #expect(connection.clientEvents.contains(.goAway(lastStreamID: 0, .noError, debug: reason)))
        #expect(handler.events == [.connectionClosed])
        #expect(connection.loop.currentCounters.connectionsNotAdmitted == 1)
        connection.advance(seconds: 2)
        #expect(!connection.channel.isActive)
    }
}
