import HTTP2
import NIOCore
import TLS
import Testing

@testable import HTTPTransport
import TransportSupport

/// Connections that pass a limit: the log warns of them, and they are counted with the last peer.
@Suite struct CutOffTests {
    private static let message = "warning a connection is closed because it exceeded a limit"

    @Test func `a connection that passes a limit is warned of, with the limit and the peer`() throws {
        let log = RecordedLog()
        let connection = try EmbeddedConnection(log: log)
        for _ in 0..<101 { connection.session.ping(1) }
        try connection.run()
        let reason = "more than 100 PING, SETTINGS or GOAWAY frames at once, or 10 a second"
        #expect(connection.goAways() == ["ENHANCE_YOUR_CALM \(reason)"])
        #expect(
            log.lines.filter { $0.hasPrefix("warning") } == [
                "\(Self.message) limit=maxControlFrames listener=test peer=127.0.0.1:1 reason=\(reason)"
            ]
        )
        let second = connection.loop.second
        #expect(
            connection.loop.shared.cutOff(at: second + 7) == [
                HTTPCutOff(limit: "maxControlFrames", times: 1, peer: "127.0.0.1:1", secondsAgo: 7)
            ]
        )
    }

    @Test func `a connection that holds too much with the others is warned of`() throws {
        let log = RecordedLog()
        let connection = try EmbeddedConnection(log: log) { $0.bounds.heldBytesMax = 1000 }
        connection.handler.status = nil
        try connection.run()
        try connection.requestBeyondWindow("/slow")
        try connection.run()
        let reason = "the listener holds too many bytes, most of them for this connection"
        #expect(
            log.lines.filter { $0.hasPrefix("warning") } == [
                "\(Self.message) limit=maxListenerBytes listener=test peer=127.0.0.1:1 reason=\(reason)"
            ]
        )
    }

    @Test func `what breaks the protocol, or a limit of a stream, is no cause for a warning`() throws {
        let log = RecordedLog()
        let connection = try EmbeddedConnection(log: log) { $0.bounds.limits.bodyBytesMax = 10 }
        connection.request("/large", body: [UInt8](repeating: 0, count: 11))
        try connection.run()
        // DATA on an idle stream.
        try connection.tls.write(([0, 0, 0, 0, 0, 0, 0, 0, 9] as [UInt8]).span)
        try connection.run()
        #expect(connection.loop.currentCounters.connectionsEndedByFault == 1)
        #expect(log.lines.filter { $0.hasPrefix("warning") } == [])
        #expect(connection.loop.shared.cutOff(at: 0) == [])
    }

    @Test func `each limit has its own count, and the last peer`() {
        let shared = ListenerShared(logger: RecordedLog().logger)
        shared.noteCutOff("maxResets", of: "192.0.2.1:5", at: 10)
        shared.noteCutOff("maxEmptyData", of: "192.0.2.2:5", at: 20)
        shared.noteCutOff("maxResets", of: "192.0.2.3:5", at: 30)
        #expect(
            shared.cutOff(at: 30) == [
                HTTPCutOff(limit: "maxEmptyData", times: 1, peer: "192.0.2.2:5", secondsAgo: 10),
                HTTPCutOff(limit: "maxResets", times: 2, peer: "192.0.2.3:5", secondsAgo: 0),
            ]
        )
    }
}
