import HTTP2
import HTTPTransport
import Logging
import NIOCore
import NIOPosix
import TLS

/// A listener on a free port of 127.0.0.1, drained when the test is over.
struct TestServer {
    let server: HTTPServer
    let group: MultiThreadedEventLoopGroup

    var port: Int { self.server.port }
    var url: String { "https://localhost:\(self.port)" }

    /// The answer for most tests: it repeats the request.
    static let echo: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
        var response = HTTPResponse(
            status: 200,
            text: "\(request.version) \(request.method) \(request.path.joined(separator: "|")) \(request.body.count)"
        )
        response.headers["x-authority"] = request.authority
        response.headers["x-certificate"] = request.peerCertificate?.commonName
        return response
    }

    static func with<Result>(
        _ configure: (inout HTTPListenerConfiguration) throws -> Void = { _ in },
        respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse = TestServer.echo,
        _ body: (TestServer) async throws -> Result
    ) async throws -> Result {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var configuration = HTTPListenerConfiguration(
            name: "test",
            port: 0,
            tls: try TestCertificates.shared.serverContext(alpn: ["h2", "http/1.1"])
        )
        configuration.protocols = .http2AndHTTP1
        // A test may wait long for its turn on a busy machine. Deadlines have tests of their own, in embedded time.
        configuration.bounds.deadlines.handshake = .hours(1)
        configuration.bounds.deadlines.firstRequest = .hours(1)
        configuration.bounds.deadlines.request = .hours(1)
        configuration.bounds.deadlines.idleHTTP1 = .hours(1)
        try configure(&configuration)
        let server = try await HTTPServer.start(
            configuration,
            on: group,
            logger: Logger(label: "test"),
            respond: respond
        )
        let test = TestServer(server: server, group: group)
        do {
            let result = try await body(test)
            await server.drain(within: .seconds(5))
            try await group.shutdownGracefully()
            return result
        } catch {
            await server.drain(within: .zero)
            try await group.shutdownGracefully()
            throw error
        }
    }

    /// A client that gives nothing up because the machine is busy.
    static let patient = {
        var configuration = HTTP2ClientConfiguration()
        configuration.connectTimeout = .hours(1)
        configuration.handshakeTimeout = .hours(1)
        configuration.pingTimeout = .hours(1)
        return configuration
    }()

    func client(_ configuration: HTTP2ClientConfiguration = Self.patient) async throws
        -> HTTP2ClientConnection
    {
        try await HTTP2ClientConnection.connect(
            host: "127.0.0.1",
            port: self.port,
            tls: try TestCertificates.shared.clientContext(),
            serverName: "localhost",
            on: self.group,
            configuration: configuration
        )
    }

    func curl(_ arguments: String...) async throws -> Program.Result {
        try await Program.run(
            ["curl", "-sS", "--max-time", "240", "--cacert", TestCertificates.shared.authorityFile] + arguments
        )
    }
}

/// A gate that tasks wait at until it is opened; a cancelled task goes on.
actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func open() {
        self.isOpen = true
        for continuation in self.waiting {
            continuation.resume()
        }
        self.waiting = []
    }

    func wait() async {
        guard !self.isOpen else { return }
        await withCheckedContinuation { self.waiting.append($0) }
    }
}
