import HTTPTransport
import NIOCore
import NIOPosix
import TestSupport
import Testing

/// The words for people about a network that fails.
@Suite struct ConnectionFailureTests {
    @Test(arguments: [
        (ECONNREFUSED, "connection refused: nothing listens there"), (ECONNRESET, "it closed the connection"),
        (EPIPE, "it closed the connection"), (ETIMEDOUT, "it did not answer in time"),
        (ENETUNREACH, "it cannot be reached from this network"), (EADDRINUSE, "another program listens there"),
        (EADDRNOTAVAIL, "this machine has no such address"), (EACCES, "the system does not allow it"),
        (EMFILE, "too many files and connections are open"), (ENOTTY, "the system's error 25"),
    ])
    func `the system's errors are sentences`(code: CInt, sentence: String) {
        #expect(ConnectionFailure.sentence(IOError(errnoCode: code, reason: "connect(2)")) == sentence)
    }

    @Test func `libraries' errors are sentences`() {
        let ours = HTTPTransportError(.timeout, "as it is")
        #expect(ConnectionFailure.sentence(ours) == "as it is")
        #expect(ConnectionFailure.sentence(ChannelError.connectTimeout(.seconds(1))) == "it did not answer in time")
        #expect(ConnectionFailure.sentence(ChannelError.ioOnClosedChannel) == "the connection was closed")
    }

    @Test func `of an error that is not known, our words come first`() {
        struct Unknown: Error {}
        #expect(ConnectionFailure.sentence(Unknown()) == "the connection failed: Unknown()")
        #expect(ConnectionFailure.known(Unknown()) == nil)
    }

    @Test func `what nothing listens for, and what is taken, is told without a library's words`() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let taken = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(taken.localAddress?.port)
        await #expect {
            try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: port).get()
        } throws: {
            ConnectionFailure.sentence($0) == "another program listens there"
        }
        try await taken.close()
        let closed = try LonePort.find()
        let client = PlainHTTPClient(on: group)
        let request = HTTPClientRequest(method: "GET", path: "/", timeout: .hours(1))
        let error = await #expect(throws: HTTPTransportError.self) {
            try await client.send(request, host: "127.0.0.1", port: closed)
        }
        #expect(error?.message == "no connection to 127.0.0.1:\(closed): connection refused: nothing listens there")
    }
}
