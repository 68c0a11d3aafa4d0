import HTTP2
import HTTPTransport
import Logging
import NIOCore
import NIOPosix
import TLS
import Testing

@Suite struct HTTPServerTests {
    @Test func `a request of our own client is answered`() async throws {
        try await TestServer.with { server in
            let client = try await server.client()
            let response = try await client.send(
                HTTPClientRequest(method: "POST", path: "/a%2Fb/c?x=1", body: [1, 2, 3], timeout: .hours(1))
            )
            #expect(response.status == 200)
            #expect(response.text == "http2 POST a/b|c 3")
            #expect(response.headers["x-authority"] == "localhost:\(server.port)")
            #expect(response.headers["content-length"] == "18")
            #expect(try await client.ping() > .zero)
            await client.close()
            #expect(await client.closed() == nil)
        }
    }

    @Test func `another context serves the connections that come from then on`() async throws {
        let other = try CertificateAuthority.make(commonName: "Another root")
        let renewed = try other.issueServer(dnsNames: ["localhost"])
        let trustsOther = try TLSContext.client(
            TLSClientConfiguration(trust: .roots(.text(other.certificatePEM)), alpn: ["h2"])
        )
        try await TestServer.with { server in
            let connect = {
                try await HTTP2ClientConnection.connect(
                    host: "127.0.0.1",
                    port: server.port,
                    tls: trustsOther,
                    serverName: "localhost",
                    on: server.group
                )
            }
            let early = try await server.client()
            await #expect(throws: HTTPTransportError.self) { _ = try await connect() }
            server.server.replaceContext(
                try TLSContext.server(TLSServerConfiguration(identity: renewed.identity, alpn: ["h2", "http/1.1"]))
            )
            let late = try await connect()
            await #expect(throws: HTTPTransportError.self) { _ = try await server.client() }
            // The connection that was here keeps what it began with.
            for client in [early, late] {
                #expect(
                    try await client.send(HTTPClientRequest(method: "GET", path: "/", timeout: .hours(1))).status
                        == 200
                )
                await client.close()
            }
        }
    }

    @Test func `many requests at once are all answered`() async throws {
        try await TestServer.with { server in
            let client = try await server.client()
            let sum = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<2500 {
                    group.addTask {
                        let body = [UInt8](repeating: 0x61, count: index % 7)
                        let response = try await client.send(
                            HTTPClientRequest(method: "PUT", path: "/\(index)", body: body, timeout: .hours(1))
                        )
                        return response.text == "http2 PUT \(index) \(index % 7)" ? 1 : 0
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(sum == 2500)
            let counters = await server.server.counters()
            #expect(counters.requests == 2500)
            #expect(counters.connectionsAccepted == 1)
            await client.close()
        }
    }

    @Test func `a body above the limit is answered 413, a header list above it 431`() async throws {
        try await TestServer.with({ $0.bounds.limits.bodyBytesMax = 1000 }) { server in
            let client = try await server.client()
            func post(_ count: Int) -> HTTPClientRequest {
                HTTPClientRequest(
                    method: "POST",
                    path: "/",
                    body: [UInt8](repeating: 0, count: count),
                    timeout: .hours(1)
                )
            }
            let (atLimit, above) = (post(1000), post(1001))
            let wide = HTTPClientRequest(
                method: "GET",
                path: "/",
                headers: ["x-fill": String(repeating: "v", count: 9000)],
                timeout: .hours(1)
            )
            #expect(try await client.send(atLimit).status == 200)
            let refused = try await client.send(above)
            #expect(refused.status == 413)
            #expect(refused.text == "{\"type\":\"about:blank\",\"title\":\"Content Too Large\",\"status\":413}")
            #expect(try await client.send(wide).status == 431)
            #expect(try await client.send(atLimit).status == 200)
            await client.close()
        }
    }

    @Test func `HEAD has the length and no body`() async throws {
        try await TestServer.with { server in
            let client = try await server.client()
            let response = try await client.send(HTTPClientRequest(method: "HEAD", path: "/", timeout: .hours(1)))
            #expect(response.headers["content-length"] == "13")
            #expect(response.body == [])
            await client.close()
        }
    }

    @Test func `a client certificate is told to the handler`() async throws {
        let certificates = TestCertificates.shared
        let roots = PEMSource.text(certificates.authority.certificatePEM)
        let identity = try certificates.authority.issueClient(commonName: "sender one").identity
        try await TestServer.with({
            $0.tls = try certificates.serverContext(clients: .optional(trustRoots: roots))
        }) { server in
            for (identity, name) in [(identity, "sender one"), (nil, nil)] {
                let client = try await HTTP2ClientConnection.connect(
                    host: "localhost",
                    port: server.port,
                    tls: try certificates.clientContext(identity: identity),
                    on: server.group
                )
                let response = try await client.send(HTTPClientRequest(method: "GET", path: "/", timeout: .hours(1)))
                #expect(response.headers["x-certificate"] == name)
                await client.close()
            }
        }
    }

    @Test func `a streamed answer arrives whole, through back-pressure`() async throws {
        let respond: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
            HTTPResponse(
                status: 200,
                body: .stream { writer in
                    for index in 0..<200 {
                        try await writer.write([UInt8](repeating: UInt8(index), count: 10_000))
                    }
                }
            )
        }
        try await TestServer.with(respond: respond) { server in
            let client = try await server.client()
            let response = try await client.send(HTTPClientRequest(method: "GET", path: "/", timeout: .hours(1)))
            #expect(response.body == (0..<200).flatMap { [UInt8](repeating: UInt8($0), count: 10_000) })
            await client.close()
        }
    }

    @Test func `the task of a request is cancelled when its client goes`() async throws {
        let began = Gate()
        let cancelled = Gate()
        let respond: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
            await began.open()
            await withTaskCancellationHandler {
                await cancelled.wait()
            } onCancel: {
                Task { await cancelled.open() }
            }
            return HTTPResponse(status: 200)
        }
        try await TestServer.with(respond: respond) { server in
            let client = try await server.client()
            let request = Task {
                try await client.send(HTTPClientRequest(method: "GET", path: "/", timeout: .hours(1)))
            }
            await began.wait()
            request.cancel()
            // Only the cancellation of the server's task opens this gate.
            await cancelled.wait()
            await #expect(throws: HTTPTransportError.self) { _ = try await request.value }
            await client.close()
        }
    }

    @Test func `writing to a client that has gone throws`() async throws {
        let began = Gate()
        let threw = Gate()
        let respond: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
            HTTPResponse(
                status: 200,
                body: .stream { writer in
                    await began.open()
                    do {
                        while true {
                            try await writer.write([UInt8](repeating: 0, count: 30_000))
                        }
                    } catch {
                        await threw.open()
                        throw error
                    }
                }
            )
        }
        try await TestServer.with(respond: respond) { server in
            var configuration = TestServer.patient
            configuration.responseBodyBytesMax = 1_000_000
            let client = try await server.client(configuration)
            let error = await #expect(throws: HTTPTransportError.self) {
                _ = try await client.send(HTTPClientRequest(method: "GET", path: "/", timeout: .hours(1)))
            }
            #expect(error?.code == .responseTooLarge)
            await threw.wait()
            await client.close()
        }
    }

    @Test func `more connections than the limit are closed as they come`() async throws {
        try await TestServer.with({ $0.bounds.connectionsMax = 1 }) { server in
            let client = try await server.client()
            await #expect(throws: HTTPTransportError.self) { _ = try await server.client() }
            #expect(
                try await client.send(HTTPClientRequest(method: "GET", path: "/", timeout: .hours(1))).status == 200
            )
            let counters = await server.server.counters()
            #expect(counters.connectionsRefused == 1)
            await client.close()
        }
    }

    @Test func `an address in use is an error that names it`() async throws {
        try await TestServer.with { server in
            let configuration = HTTPListenerConfiguration(name: "second", port: server.port, tls: nil)
            let error = await #expect(throws: HTTPTransportError.self) {
                _ = try await HTTPServer.start(
                    configuration,
                    on: server.group,
                    logger: Logger(label: "test"),
                    respond: TestServer.echo
                )
            }
            #expect(error?.code == .listen)
            #expect(error?.message.hasPrefix("cannot listen on 127.0.0.1:\(server.port) (second): ") == true)
        }
    }
}
