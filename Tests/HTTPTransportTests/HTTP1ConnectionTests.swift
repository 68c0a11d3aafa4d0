import HTTP2
import Logging
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing

@testable import HTTPTransport

/// One plain-text HTTP/1.1 connection to a listener without a socket.
private final class EmbeddedHTTP1 {
    let eventLoop = EmbeddedEventLoop()
    let channel: EmbeddedChannel
    let loop: ListenerLoop
    let handler = RecordingHandler()

    init() throws {
        let configuration = HTTPListenerConfiguration(name: "test", port: 0, tls: nil)
        let shared = ListenerShared(logger: Logger(label: "test"))
        self.loop = ListenerLoop(
            eventLoop: self.eventLoop,
            shared: shared,
            configuration: configuration,
            handler: self.handler
        )
        self.loop.start()
        self.channel = EmbeddedChannel(loop: self.eventLoop)
        #expect(self.loop.admit(1, from: PeerAddress("127.0.0.1")))
        let connection = HTTPConnection(
            id: 1,
            remoteAddress: "127.0.0.1:1",
            eventLoop: self.eventLoop,
            version: .http1
        )
        try HTTP1ServerHandler.addHandlers(
            HTTP1ServerHandler(connection: connection, loop: self.loop),
            to: self.channel
        )
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    deinit {
        // A channel that a test leaves open ends with it; it may have been closed before.
        _ = try? self.channel.finish(acceptAlreadyClosed: true)
        self.loop.stop()
    }

    func send(_ text: String) throws {
        guard self.channel.isActive else { return }
        try self.channel.writeInbound(ByteBuffer(string: text))
    }

    func received() throws -> String {
        var text = ""
        while let buffer = try self.channel.readOutbound(as: ByteBuffer.self) {
            text += String(buffer: buffer)
        }
        return text
    }

    func advance(seconds: Int64) {
        for _ in 0..<seconds {
            self.eventLoop.advanceTime(by: .seconds(1))
        }
    }
}

@Suite struct HTTP1ConnectionTests {
    @Test func `an answer is timed from the whole request until it begins`() throws {
        let connection = try EmbeddedHTTP1()
        connection.handler.status = nil
        try connection.send("POST /a HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\na")
        connection.eventLoop.advanceTime(by: .seconds(1))
        try connection.send("b")
        connection.eventLoop.advanceTime(by: .milliseconds(30))
        let owner = try #require(connection.handler.connection)
        #expect(owner.respond(1, status: 503, fields: ResponseFields()))
        var expected = HTTPAnswers()
        expected.add(status: 503, nanoseconds: 30_000_000)
        #expect(connection.loop.currentCounters.answers == expected)
    }

    @Test func `requests of one connection are answered one after the other`() throws {
        let connection = try EmbeddedHTTP1()
        try connection.send(
            "GET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
        )
        #expect(connection.handler.events == [.batch(["/a"]), .batch(["/b"])])
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
        #expect(try connection.received() == answer + answer)
        #expect(connection.channel.isActive)
    }

    @Test func `a pipelined request waits until the one before it is answered`() throws {
        let connection = try EmbeddedHTTP1()
        connection.handler.status = nil
        try connection.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(connection.handler.events == [.batch(["/a"])])
        let owner = try #require(connection.handler.connection)
        #expect(!owner.respond(2, status: 200, fields: ResponseFields()))
        #expect(owner.respond(1, status: 200, fields: ResponseFields()))
        owner.flush()
        #expect(connection.handler.events == [.batch(["/a"]), .batch(["/b"])])
    }

    @Test func `bytes that come one by one are one request`() throws {
        let connection = try EmbeddedHTTP1()
        for byte in "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n" {
            try connection.send(String(byte))
        }
        #expect(connection.handler.events == [.batch(["/a"])])
    }

    @Test func `a request is judged before its body, and refused without it`() throws {
        let connection = try EmbeddedHTTP1()
        connection.handler.judgement = .refused(401)
        try connection.send("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\nExpect: 100-continue\r\n\r\n")
        let answer = "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        #expect(try connection.received() == answer)
        try connection.send(String(repeating: "x", count: 9000) + "GET /b HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(connection.handler.heads == ["/a"])
        #expect(connection.handler.events.filter { $0 != .connectionClosed } == [])
        #expect(connection.loop.shared.heldBytes.load(ordering: .relaxed) == 0)
    }

    @Test(arguments: ["Content-Length: 2\r\n", "Transfer-Encoding: chunked\r\n"])
    func `a request that is let pass is asked for its body and comes whole`(field: String) throws {
        let connection = try EmbeddedHTTP1()
        connection.handler.judgement = .accepted(bodyBytesMax: 2)
        try connection.send("PUT /a HTTP/1.1\r\nHost: x\r\n\(field)Expect: 100-continue\r\n\r\n")
        #expect(try connection.received() == "HTTP/1.1 100 Continue\r\n\r\n")
        try connection.send(field.hasPrefix("C") ? "hi" : "2\r\nhi\r\n0\r\n\r\n")
        #expect(try connection.received() == "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        #expect(connection.handler.heads == ["/a"])
        #expect(connection.handler.events == [.batch(["/a"])])
        #expect(connection.handler.flags == [[]])
    }

    @Test func `a body that is longer than the owner takes is refused as soon as that is known`() throws {
        for body in ["Content-Length: 3\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"] {
            let connection = try EmbeddedHTTP1()
            connection.handler.judgement = .accepted(bodyBytesMax: 2)
            connection.handler.status = 413
            try connection.send("PUT /a HTTP/1.1\r\nHost: x\r\n\(body)")
            #expect(connection.handler.flags == [.bodyTooLarge])
            #expect(try connection.received().hasPrefix("HTTP/1.1 413 "))
            #expect(connection.loop.currentCounters.connectionLimits[.maxBodyBytes] == 1)
        }
    }

    @Test(arguments: ["9223372036854775807", "9223372036854775808", "18446744073709551615"])
    func `a length that no body has is refused by its head`(length: String) throws {
        let connection = try EmbeddedHTTP1()
        connection.handler.judgement = .accepted(bodyBytesMax: 2)
        connection.handler.status = 413
        try connection.send("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n")
        #expect(connection.handler.flags == [.bodyTooLarge])
        #expect(try connection.received().hasPrefix("HTTP/1.1 413 "))
    }

    @Test(arguments: ["18446744073709551616", "-1", "1e3"])
    func `a length that is no number is answered 400`(length: String) throws {
        let connection = try EmbeddedHTTP1()
        try? connection.send("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n")
        #expect(try connection.received().hasPrefix("HTTP/1.1 400 "))
        #expect(connection.handler.heads == [])
    }

    @Test func `what has come of a body is let go when its head is refused`() throws {
        let connection = try EmbeddedHTTP1()
        connection.handler.judgement = .refused(401)
        let body = String(repeating: "x", count: 4000)
        try connection.send("PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n\(body)")
        #expect(try connection.received().hasPrefix("HTTP/1.1 401 "))
        #expect(connection.loop.shared.heldBytes.load(ordering: .relaxed) == 0)
    }

    @Test(arguments: ["\r\n", "Content-Length: 0\r\n\r\n", "Content-Length: 2\r\nExpect: 100-continue\r\n\r\nhi"])
    func `a request that is there whole is not judged by its head`(rest: String) throws {
        let connection = try EmbeddedHTTP1()
        connection.handler.judgement = .refused(401)
        try connection.send("GET /a HTTP/1.1\r\nHost: x\r\n\(rest)")
        #expect(connection.handler.heads == [])
        #expect(connection.handler.events == [.batch(["/a"])])
    }

    @Test func `HTTP/1.0 is answered and closed`() throws {
        let connection = try EmbeddedHTTP1()
        try connection.send("GET /a HTTP/1.0\r\n\r\n")
        let answer = try connection.received()
        #expect(answer == "HTTP/1.0 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        #expect(!connection.channel.isActive)
        #expect(connection.handler.events == [.batch(["/a"]), .connectionClosed])
    }

    @Test func `what is no HTTP is answered 400 and closed`() throws {
        let connection = try EmbeddedHTTP1()
        try connection.send("\u{16}\u{3}\u{1} hello\r\n\r\n")
        #expect(
            try connection.received() == "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
        #expect(!connection.channel.isActive)
    }

    @Test func `a header list without end is answered 431 and closed`() throws {
        let connection = try EmbeddedHTTP1()
        try connection.send("GET / HTTP/1.1\r\nHost: x\r\n")
        for index in 0..<100 {
            try connection.send("x-\(index): \(String(repeating: "v", count: 1000))\r\n")
        }
        #expect(try connection.received().hasPrefix("HTTP/1.1 431 Request Header Fields Too Large\r\n"))
        #expect(!connection.channel.isActive)
    }

    @Test func `a body above the limit is handed out early, and the connection closes after the answer`() throws {
        let connection = try EmbeddedHTTP1()
        connection.handler.status = 413
        try connection.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        try connection.send(String(repeating: "b", count: 65_537))
        #expect(connection.handler.flags == [.bodyTooLarge])
        let answer = try connection.received()
        #expect(answer == "HTTP/1.1 413 Payload Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        // The client's further bytes are thrown away for a moment.
        try connection.send(String(repeating: "b", count: 10_000))
        connection.advance(seconds: 2)
        #expect(!connection.channel.isActive)
        #expect(try connection.received() == "")
    }

    @Test func `a client that waits for 100 is told to go on`() throws {
        let connection = try EmbeddedHTTP1()
        try connection.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        #expect(try connection.received() == "HTTP/1.1 100 Continue\r\n\r\n")
        try connection.send("hi")
        #expect(try connection.received() == "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    }

    @Test func `a head that drips is given up like no request at all`() throws {
        let connection = try EmbeddedHTTP1()
        for character in "POST /long" {
            try connection.send(String(character))
            connection.advance(seconds: 1)
        }
        #expect(!connection.channel.isActive)
        #expect(connection.loop.currentCounters.deadlines[.firstRequest] == 1)
    }

    @Test func `a body that does not come is answered 408`() throws {
        let connection = try EmbeddedHTTP1()
        connection.handler.status = 408
        try connection.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nh")
        connection.advance(seconds: 30)
        #expect(connection.handler.flags == [.timedOut])
        #expect(try connection.received().hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
        #expect(!connection.channel.isActive)
    }

    @Test func `a connection is kept for 75 s between requests`() throws {
        let connection = try EmbeddedHTTP1()
        try connection.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        connection.advance(seconds: 74)
        #expect(connection.channel.isActive)
        connection.advance(seconds: 1)
        #expect(!connection.channel.isActive)
        #expect(connection.loop.currentCounters.deadlines[.idleHTTP1] == 1)
    }

    @Test func `the task of a stream is cancelled when its client hangs up`() async throws {
        let began = Gate()
        let ended = Gate()
        let respond: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
            HTTPResponse(
                status: 200,
                body: .stream { writer in
                    try await writer.write("data: 1\n\n")
                    await began.open()
                    await withTaskCancellationHandler {
                        await ended.wait()
                    } onCancel: {
                        Task { await ended.open() }
                    }
                }
            )
        }
        try await TestServer.with({ $0.tls = nil }, respond: respond) { server in
            let client = try await ClientBootstrap(group: server.group)
                .connect(host: "127.0.0.1", port: server.port).get()
            try await client.writeAndFlush(ByteBuffer(string: "GET /events HTTP/1.1\r\nHost: x\r\n\r\n")).get()
            await began.wait()
            try await client.close().get()
            // Only the cancellation of the server's task opens this gate.
            await ended.wait()
        }
    }
}
