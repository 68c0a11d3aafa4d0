import HTTP2
import NIOCore
import Synchronization
import Testing

@testable import HTTPTransport
import TransportSupport

/// A connection that shows many credentials that are refused is slowed down, and then ended.
@Suite struct RefusedCredentialsTests {
    /// A clock of whole seconds.
    private final class Clock: Sendable {
        let second = Atomic<UInt32>(1000)
    }

    private static let explanation = "more than 20 refused credentials at once, or 0 a second"

    @Test(arguments: [(10, false, false), (11, true, false), (20, true, false), (21, true, true), (22, true, true)])
    func `so many may be refused at once`(count: Int, isToBeSlowed: Bool, isExhausted: Bool) {
        let clock = Clock()
        let refused = RefusedCredentials { clock.second.load(ordering: .relaxed) }
        for _ in 0..<count { refused.count() }
        #expect(refused.isToBeSlowed == isToBeSlowed)
        #expect(refused.isExhausted == isExhausted)
        // Time gives back room for refusals; a limit that was passed stays passed.
        clock.second.add(1000, ordering: .relaxed)
        #expect(!refused.isToBeSlowed)
        #expect(refused.isExhausted == isExhausted)
    }

    @Test func `so many more may be refused every second`() {
        let clock = Clock()
        let refused = RefusedCredentials(max: 3, perSecond: 2) { clock.second.load(ordering: .relaxed) }
        for _ in 0..<3 { refused.count() }
        for _ in 0..<100 {
            clock.second.add(1, ordering: .relaxed)
            for _ in 0..<2 { refused.count() }
        }
        #expect(!refused.isExhausted)
        refused.count()
        #expect(refused.isExhausted)
    }

    /// A connection that gets no room back: these requests take as long as the machine needs for them.
    private func makeConnection(log: RecordedLog = RecordedLog()) throws -> EmbeddedConnection {
        try EmbeddedConnection(log: log) { $0.bounds.badCredentialsPerSecond = 0 }
    }

    /// Requests whose credentials are refused, each answered 401: one after the other, or all at once.
    private func refuse(_ count: Int, on connection: EmbeddedConnection, atOnce: Bool = false) throws {
        connection.handler.beforeAnswer = { connection in
            connection.refusedCredentials.count()
            connection.paceByCredentials()
        }
        connection.handler.status = 401
        for _ in 0..<count {
            connection.request("/a")
            if !atOnce { try connection.run() }
        }
        try connection.run()
    }

    @Test func `the connection has one stream at once with half of it used up`() throws {
        let connection = try self.makeConnection()
        try self.refuse(10, on: connection)
        let limits = connection.streamLimits()
        #expect(limits == [1000])
        try self.refuse(1, on: connection)
        #expect(connection.streamLimits() == [1000, 1])
        // A request without one changes nothing.
        connection.handler.beforeAnswer = { $0.paceByCredentials() }
        connection.request("/none")
        try connection.run()
        #expect(connection.streamLimits() == [1000, 1])
        #expect(connection.goAways() == [])
        #expect(connection.statuses() == Array(repeating: 401, count: 12))
    }

    @Test func `a good one lifts the limit for good, and one too many bad ones still end the connection`() throws {
        let connection = try self.makeConnection()
        try self.refuse(11, on: connection)
        #expect(connection.streamLimits() == [1000, 1])
        connection.handler.beforeAnswer = { connection in
            connection.refusedCredentials.acceptCredential()
            connection.paceByCredentials()
        }
        connection.request("/good")
        try connection.run()
        #expect(connection.streamLimits() == [1000, 1, 1000])
        try self.refuse(9, on: connection)
        #expect(connection.streamLimits() == [1000, 1, 1000])
        #expect(connection.goAways() == [])
        try self.refuse(1, on: connection)
        #expect(connection.goAways() == ["ENHANCE_YOUR_CALM \(Self.explanation)"])
    }

    @Test(arguments: [(20, false), (21, true)])
    func `the connection ends with the one too many, and its answer goes out`(count: Int, isEnded: Bool) throws {
        let log = RecordedLog()
        let connection = try self.makeConnection(log: log)
        try self.refuse(count, on: connection)
        #expect(connection.statuses() == Array(repeating: 401, count: count))
        #expect(connection.goAways() == (isEnded ? ["ENHANCE_YOUR_CALM \(Self.explanation)"] : []))
        let counters = connection.loop.currentCounters
        #expect(counters.listenerLimits[.maxBadCredentials] == (isEnded ? 1 : 0))
        #expect(counters.connectionsEndedByFault == (isEnded ? 1 : 0))
        let warning =
            "warning a connection is closed because it exceeded a limit limit=maxBadCredentials listener=test peer=127.0.0.1:1"
            + " reason=\(Self.explanation)"
        #expect(log.lines.filter { $0.hasPrefix("warning") } == (isEnded ? [warning] : []))
        #expect(connection.handler.events.contains(.connectionClosed) == isEnded)
    }

    @Test func `requests that wait are answered before the end`() throws {
        let connection = try self.makeConnection()
        connection.handler.status = nil
        connection.request("/slow")
        try connection.run()
        // Before the client knows that it may have one stream only.
        try self.refuse(21, on: connection, atOnce: true)
        #expect(connection.goAways().count == 1)
        #expect(!connection.handler.events.contains(.connectionClosed))
        let owner = try #require(connection.handler.connection)
        #expect(owner.respond(1, status: 200, fields: ResponseFields()))
        owner.flush()
        try connection.run()
        #expect(connection.statuses().sorted() == [200] + Array(repeating: 401, count: 21))
        #expect(connection.handler.events.contains(.connectionClosed))
    }
}
