import HTTP2
import Logging
import NIOCore
import NIOEmbedded
import Synchronization
import TLS
import Testing

@testable import HTTPTransport

/// How many connections a listener takes, and what all of them may make it hold.
@Suite struct ConnectionLimitTests {
    private static func loop(_ configure: (inout HTTPListenerConfiguration) -> Void) -> ListenerLoop {
        var configuration = HTTPListenerConfiguration(name: "test", port: 0, tls: nil)
        configure(&configuration)
        let shared = ListenerShared(logger: Logger(label: "test"))
        return ListenerLoop(
            eventLoop: EmbeddedEventLoop(),
            shared: shared,
            configuration: configuration,
            handler: RecordingHandler()
        )
    }

    @Test func `a listener takes so many connections`() {
        let loop = Self.loop { $0.bounds.connectionsMax = 3 }
        #expect((1...4).map { loop.admit($0, from: PeerAddress("127.0.0.\($0)")) } == [true, true, true, false])
        #expect(loop.currentCounters.listenerLimits[.maxConnections] == 1)
        #expect(loop.currentCounters.connectionsRefused == 1)
        loop.leave(2)
        #expect(loop.admit(5, from: nil))
        #expect(loop.currentCounters.connections == 3)
    }

    @Test func `other bounds hold for the connections that come then`() {
        let loop = Self.loop { $0.bounds.connectionsMax = 1 }
        #expect((1...2).map { loop.admit($0, from: nil) } == [true, false])
        var more = HTTPListenerConfiguration.Bounds()
        more.connectionsMax = 2
        more.deadlines.idle = .seconds(7)
        more.limits.bodyBytesMax = 8
        loop.useBounds(more)
        #expect((3...4).map { loop.admit($0, from: nil) } == [true, false])
        #expect(loop.configuration.bounds.deadlines.idle == .seconds(7))
        #expect(loop.configuration.bounds.limits.bodyBytesMax == 8)
        #expect(loop.configuration.name == "test")
        // Of fewer, those that are here stay.
        more.connectionsMax = 1
        loop.useBounds(more)
        #expect(loop.currentCounters.connections == 2)
        loop.leave(1)
        #expect(!loop.admit(5, from: nil))
        loop.leave(3)
        #expect(loop.admit(6, from: nil))
    }

    @Test func `an address has so many connections, others are not in its way`() {
        let loop = Self.loop { $0.bounds.connectionsPerAddressMax = 2 }
        let first = PeerAddress("192.0.2.1")
        #expect((1...3).map { loop.admit($0, from: first) } == [true, true, false])
        #expect(loop.admit(4, from: PeerAddress("192.0.2.2")))
        #expect(loop.currentCounters.listenerLimits[.maxConnectionsPerAddress] == 1)
        loop.leave(1)
        // Leaving twice gives no second place.
        loop.leave(1)
        #expect((5...6).map { loop.admit($0, from: first) } == [true, false])
        #expect(loop.currentCounters.connections == 3)
    }

    @Test(arguments: [
        ("192.0.2.1", "::ffff:192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::9", true),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:3::9", false),
        ("2001:db8::1", "2001:db8:0:0:ffff::1", true),
        ("2001:db8::1", "2001:db8:0:1::1", false),
        ("::1", "::2", true),
        ("1::2:3:4:5:6:7", "1:0:2:3:9:9:9:9", true),
        ("fe80::1%eth0", "fe80::2", true),
        ("fe80::", "fe80::1", true),
    ])
    func `an IPv6 address is its network`(one: String, other: String, isSame: Bool) {
        #expect((PeerAddress(one) == PeerAddress(other)) == isSame)
    }

    @Test func `of too many handshakes the one that has taken longest makes room`() {
        let loop = Self.loop { $0.bounds.handshakesMax = 2 }
        let members = (1...5).map { _ in Member() }
        let begin = { (id: UInt64) in
            #expect(loop.admit(id, from: nil))
            loop.join(id, members[Int(id) - 1])
            loop.beginHandshake(id)
        }
        begin(1)
        begin(2)
        #expect(members.map(\.isAborted) == [false, false, false, false, false])
        begin(3)
        #expect(members.map(\.isAborted) == [true, false, false, false, false])
        loop.leave(1)
        // One that is made takes no room any more.
        loop.endHandshake(2)
        begin(4)
        #expect(members.map(\.isAborted) == [true, false, false, false, false])
        begin(5)
        #expect(members.map(\.isAborted) == [true, false, true, false, false])
        #expect(loop.currentCounters.listenerLimits[.maxHandshakes] == 2)
        #expect(loop.shared.handshakeCount.load(ordering: .relaxed) == 2)
    }

    @Test(arguments: [(99, 0), (100, 0), (101, 1)])
    func `above what all may hold, the connection with the most ends`(bytes: Int, ended: Int) {
        let loop = Self.loop { $0.bounds.heldBytesMax = 100 }
        let members = [Member(), Member(), Member()]
        for (index, member) in members.enumerated() {
            #expect(loop.admit(UInt64(index), from: nil))
            loop.join(UInt64(index), member)
        }
        members[0].heldBytes = 20
        loop.hold(20)
        members[1].heldBytes = 60
        loop.hold(60)
        members[2].heldBytes = bytes - 80
        loop.hold(bytes - 80)
        #expect(members.map(\.isEndedForHeldBytes) == [false, ended == 1, false])
        #expect(loop.currentCounters.listenerLimits[.maxListenerBytes] == ended)
    }

    @Test func `a connection that holds too much with the others is told so`() throws {
        let connection = try EmbeddedConnection { $0.bounds.heldBytesMax = 1000 }
        connection.handler.status = nil
        try connection.run()
        try connection.requestBeyondWindow("/slow")
        try connection.run()
        let reason = "the listener holds too many bytes, most of them for this connection"
        #expect(connection.goAways() == ["ENHANCE_YOUR_CALM \(reason)"])
        #expect(connection.handler.events == [.connectionClosed])
        #expect(connection.loop.shared.heldBytes.load(ordering: .relaxed) == 0)
        #expect(connection.loop.currentCounters.listenerLimits[.maxListenerBytes] == 1)
    }

    @Test func `what a connection held is counted out when it goes`() throws {
        let connection = try EmbeddedConnection()
        connection.handler.status = nil
        try connection.run()
        try connection.requestBeyondWindow("/slow")
        let held = connection.loop.shared.heldBytes.load(ordering: .relaxed)
        #expect((65_535...66_000).contains(held))
        _ = try connection.channel.finish()
        #expect(connection.loop.shared.heldBytes.load(ordering: .relaxed) == 0)
    }

    @Test(arguments: [(9, true), (10, false)])
    func `a header block has 10 s`(seconds: Int64, isOpen: Bool) throws {
        let connection = try EmbeddedConnection()
        try connection.run()
        // The beginning of a HEADERS frame: 16 bytes are promised, none comes.
        try connection.tls.write(([0, 0, 16, 1, 5, 0, 0, 0, 1] as [UInt8]).span)
        try connection.channel.writeInbound(ByteBuffer(bytes: connection.tls.drainAll()))
        connection.advance(seconds: seconds)
        try connection.run()
        #expect(connection.goAways() == (isOpen ? [] : ["ENHANCE_YOUR_CALM a header block took more than 10 s"]))
        #expect(connection.loop.currentCounters.deadlines[.headers] == (isOpen ? 0 : 1))
    }

    @Test(arguments: [true, false])
    func `a socket that breaks before it is active is counted out`(hasTLS: Bool) throws {
        let loop = Self.loop { _ in }
        let channel = EmbeddedChannel()
        #expect(loop.admit(1, from: PeerAddress("192.0.2.1")))
        if hasTLS {
            let tls = try TLSSession.server(try TestCertificates.shared.serverContext())
            try channel.pipeline.syncOperations.addHandler(
                SecureServerHandler(id: 1, loop: loop, tls: tls, remoteAddress: "192.0.2.1:1")
            )
        } else {
            let connection = HTTPConnection(
                id: 1,
                remoteAddress: "192.0.2.1:1",
                eventLoop: channel.eventLoop,
                version: .http1
            )
            try HTTP1ServerHandler.addHandlers(HTTP1ServerHandler(connection: connection, loop: loop), to: channel)
        }
        #expect(loop.currentCounters.connections == 1)
        _ = try? channel.finish()
        #expect(loop.currentCounters.connections == 0)
        #expect(loop.shared.handshakeCount.load(ordering: .relaxed) == 0)
        #expect(loop.shared.connectionCount.load(ordering: .relaxed) == 0)
    }

    @Test func `limits of one connection are counted by name`() throws {
        let connection = try EmbeddedConnection { $0.bounds.limits.bodyBytesMax = 10 }
        connection.request("/large", body: [UInt8](repeating: 0, count: 11))
        try connection.run()
        #expect(connection.handler.flags == [.bodyTooLarge])
        #expect(connection.loop.currentCounters.connectionLimits[.maxBodyBytes] == 1)
        #expect(connection.loop.currentCounters.connectionLimits.total == 1)
        for _ in 0..<101 { connection.session.ping(1) }
        try connection.run()
        #expect(connection.loop.currentCounters.connectionLimits[.maxControlFrames] == 1)
        #expect(connection.loop.currentCounters.connectionsEndedByFault == 1)
    }

    @Test func `a request is judged at the end of the wakeup that brought its head, and refused without its body`()
        throws
    {
        let connection = try EmbeddedConnection { $0.bounds.limits.bodyBytesMax = 1_000_000 }
        connection.handler.judgement = .refused(401)
        try connection.run()
        try connection.requestBeyondWindow("/large")
        #expect(connection.handler.heads == ["/large"])
        #expect(connection.loop.shared.heldBytes.load(ordering: .relaxed) == 0)
        try connection.run()
        #expect(connection.statuses() == [401])
        // One that comes whole at once is judged with its body.
        connection.request("/small", body: [1, 2, 3])
        try connection.run()
        #expect(connection.handler.heads == ["/large"])
        #expect(connection.handler.events == [.batch(["/small"])])
    }

    @Test(arguments: [(65_534, true), (65_535, false)])
    func `a body that is longer than the owner takes is refused at once`(bytes: Int, isCut: Bool) throws {
        let connection = try EmbeddedConnection { $0.bounds.limits.bodyBytesMax = 1_000_000 }
        connection.handler.judgement = .accepted(bodyBytesMax: bytes)
        try connection.run()
        try connection.requestBeyondWindow("/large")
        #expect(connection.handler.flags == (isCut ? [.bodyTooLarge] : []))
        #expect(connection.loop.currentCounters.connectionLimits[.maxBodyBytes] == (isCut ? 1 : 0))
    }

    @Test func `a fault that nghttp2 finds is counted`() throws {
        let connection = try EmbeddedConnection()
        try connection.run()
        // DATA on an idle stream.
        try connection.tls.write(([0, 0, 0, 0, 0, 0, 0, 0, 1] as [UInt8]).span)
        try connection.run()
        #expect(connection.loop.currentCounters.connectionsEndedByFault == 1)
    }
}

/// A connection that remembers the calls to it.
private final class Member: ListenerMember {
    var heldBytes = 0
    var isAborted = false
    var isEndedForHeldBytes = false

    func checkDeadlines(at second: UInt32) {}
    func beginDrain() {}
    func abort() { self.isAborted = true }
    func endForHeldBytes() { self.isEndedForHeldBytes = true }
}
