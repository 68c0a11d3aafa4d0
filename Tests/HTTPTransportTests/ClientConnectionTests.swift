import HTTP2
import HTTPTransport
import NIOCore
import TLS
import Testing

@Suite struct ClientConnectionTests {
    private func failure(
        _ server: TestServer,
        port: Int? = nil,
        tls: TLSContext,
        serverName: String = "localhost"
    ) async -> HTTPTransportError? {
        await #expect(throws: HTTPTransportError.self) {
            _ = try await HTTP2ClientConnection.connect(
                host: "127.0.0.1",
                port: port ?? server.port,
                tls: tls,
                serverName: serverName,
                on: server.group
            )
        }
    }

    @Test func `a certificate that is not trusted names what to pass`() async throws {
        try await TestServer.with { server in
            let other = try CertificateAuthority.make(commonName: "Another", validity: CertificateValidity(days: 1))
            let tls = try TLSContext.client(
                TLSClientConfiguration(trust: .roots(.text(other.certificatePEM)), alpn: ["h2"])
            )
            let error = await self.failure(server, tls: tls)
            #expect(error?.code == .tls)
            #expect(error?.message.contains("is not trusted") == true)
            #expect(
                error?.message.hasSuffix("; pass the certificate file of the authority that issued it") == true
            )
        }
    }

    @Test func `a certificate for another name says so`() async throws {
        try await TestServer.with { server in
            let error = await self.failure(
                server,
                tls: try TestCertificates.shared.clientContext(),
                serverName: "elsewhere.example"
            )
            #expect(error?.code == .tls)
            #expect(error?.message.contains("is for another name") == true)
        }
    }

    @Test func `a server without HTTP/2 is told apart`() async throws {
        try await TestServer.with({ $0.tls = try TestCertificates.shared.serverContext(alpn: ["http/1.1"]) }) {
            server in
            let error = await self.failure(server, tls: try TestCertificates.shared.clientContext())
            #expect(error?.code == .applicationProtocol)
            #expect(error?.message == "127.0.0.1:\(server.port) speaks TLS but does not offer HTTP/2 (ALPN h2)")
        }
    }

    @Test func `a server without TLS is told apart`() async throws {
        try await TestServer.with({ $0.tls = nil }) { server in
            let error = await self.failure(server, tls: try TestCertificates.shared.clientContext())
            #expect(error?.code == .tls)
        }
    }

    @Test func `a port where nothing listens is an error in plain words`() async throws {
        // A port that another test let go of could be taken again; on this one nothing ever listens.
        let port = 1
        try await TestServer.with { server in
            let error = await self.failure(server, port: port, tls: try TestCertificates.shared.clientContext())
            #expect(error?.code == .connect)
            #expect(error?.message == "cannot connect to 127.0.0.1:\(port): connection refused: nothing listens there")
        }
    }

    @Test func `requests above the server's limit wait for their turn`() async throws {
        try await TestServer.with({ $0.bounds.limits.concurrentStreamsMax = 2 }) { server in
            let client = try await server.client()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<50 {
                    group.addTask {
                        try await client.send(
                            HTTPClientRequest(method: "GET", path: "/\(index)", timeout: .hours(1))
                        ).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: 50))
            await client.close()
        }
    }

    @Test func `a request without an answer ends at its timeout`() async throws {
        let gate = Gate()
        let respond: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
            await gate.wait()
            return HTTPResponse(status: 200)
        }
        try await TestServer.with(respond: respond) { server in
            let client = try await server.client()
            let error = await #expect(throws: HTTPTransportError.self) {
                _ = try await client.send(
                    HTTPClientRequest(method: "GET", path: "/", timeout: .milliseconds(20))
                )
            }
            #expect(error?.code == .timeout)
            await gate.open()
            await client.close()
        }
    }

    @Test func `a request on a closed connection fails as unprocessed`() async throws {
        try await TestServer.with { server in
            let client = try await server.client()
            await client.close()
            let error = await #expect(throws: HTTPTransportError.self) {
                _ = try await client.send(HTTPClientRequest(method: "GET", path: "/", timeout: .hours(1)))
            }
            #expect(error?.code == .connectionClosed)
            #expect(error?.isUnprocessed == true)
            await #expect(throws: HTTPTransportError.self) { _ = try await client.ping() }
        }
    }

    @Test(arguments: [
        HTTPClientRequest(method: "G ET", path: "/"), HTTPClientRequest(method: "GET", path: "x"),
        HTTPClientRequest(method: "GET", path: "/a b"),
        HTTPClientRequest(method: "GET", path: "/", headers: ["x": "a\r\nb: c"]),
        HTTPClientRequest(method: "GET", path: "/", headers: ["a b": "c"]),
    ])
    func `a request that could smuggle is not sent`(request: HTTPClientRequest) async throws {
        try await TestServer.with { server in
            let client = try await server.client()
            let error = await #expect(throws: HTTPTransportError.self) { _ = try await client.send(request) }
            #expect(error?.code == .request)
            await client.close()
        }
    }
}
