import HTTP2
import HTTPTransport
import Testing

/// Programs that we did not write: our own client shares our mistakes.
@Suite struct ForeignClientTests {
    @Test func `curl speaks HTTP/2 as Apple's recipe has it`() async throws {
        try await TestServer.with { server in
            let result = try await server.curl(
                "--http2",
                "--write-out",
                " %{http_code} %{http_version}",
                "--header",
                "apns-topic: com.example.app",
                "--header",
                "apns-push-type: widgets",
                "--header",
                "authorization: bearer a.b.c",
                "--data",
                "{\"aps\":{\"content-changed\":true}}",
                "\(server.url)/3/device/00ff"
            )
            #expect(result.output == "http2 POST 3|device|00ff 32 200 2")
        }
    }

    @Test func `curl speaks HTTP/1.1 where the listener offers it`() async throws {
        try await TestServer.with { server in
            let result = try await server.curl(
                "--http1.1",
                "--write-out",
                " %{http_code} %{http_version}\n",
                "--data",
                "abc",
                "\(server.url)/a",
                "\(server.url)/b"
            )
            #expect(result.output == "http1 POST a 3 200 1.1\nhttp1 POST b 3 200 1.1\n")
            // Both went over one connection.
            let counters = await server.server.counters()
            #expect(counters.connectionsAccepted == 1)
        }
    }

    @Test(arguments: ["--http2", "--http1.1"])
    func `curl gets the answers of the limits`(version: String) async throws {
        try await TestServer.with({ $0.bounds.limits.bodyBytesMax = 1000 }) { server in
            let long = String(repeating: "b", count: 1001)
            let body = try await server.curl(version, "-o", "/dev/null", "-w", "%{http_code}", "-d", long, server.url)
            #expect(body.output == "413")
            let header = try await server.curl(
                version,
                "-o",
                "/dev/null",
                "-w",
                "%{http_code}",
                "-H",
                "x-fill: " + String(repeating: "v", count: 9000),
                server.url
            )
            #expect(header.output == "431")
            // Far more than the socket's buffers hold: the answer comes while curl is still sending.
            let file = try await server.curl(
                version,
                "-o",
                "/dev/null",
                "-w",
                "%{http_code}",
                "-H",
                "expect:",
                "-T",
                "/usr/bin/curl",
                server.url
            )
            #expect(file.output.hasPrefix("413"))
        }
    }

    @Test(arguments: ["--http2", "--http1.1"])
    func `curl reads a stream to its end`(version: String) async throws {
        let respond: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
            HTTPResponse(
                status: 200,
                headers: ["content-type": "text/event-stream"],
                body: .stream { writer in
                    for index in 0..<3 {
                        try await writer.write("data: \(index)\n\n")
                    }
                }
            )
        }
        try await TestServer.with(respond: respond) { server in
            let result = try await server.curl(version, "--no-buffer", server.url)
            #expect(result.output == "data: 0\n\ndata: 1\n\ndata: 2\n\n")
        }
    }

    @Test(arguments: [["--http1.1"], ["--http1.1", "--no-alpn"]])
    func `an HTTP/1 client of an HTTP/2 listener reads why it is refused`(options: [String]) async throws {
        try await TestServer.with({ $0.protocols = .http2 }) { server in
            let result = try await Program.run(
                [
                    "curl", "-sS", "--max-time", "240", "--cacert", TestCertificates.shared.authorityFile,
                    "--write-out",
                    "\n%{http_code} %{content_type}", "--data", "{}",
                ] + options + ["\(server.url)/3/device/00ff"]
            )
            let lines = result.output.split(separator: "\n")
            #expect(lines.last == "505 application/problem+json", "\(result.output)")
            #expect(lines.first?.contains("this listener speaks HTTP/2 only; offer h2 by ALPN") == true)
            let counters = await server.server.counters()
            #expect(counters.connectionsEndedByFault == 1)
        }
    }

    @Test func `nghttp posts and reads`() async throws {
        try await TestServer.with { server in
            let result = try await Program.run([
                "nghttp", "--no-verify-peer", "--data", TestCertificates.shared.authorityFile,
                "\(server.url)/3/device/00ff",
            ])
            #expect(result.status == 0)
            #expect(result.output.contains("http2 POST 3|device|00ff"))
        }
    }

    @Test func `nghttp with padding, CONTINUATION and priorities is served`() async throws {
        try await TestServer.with { server in
            let result = try await Program.run([
                "nghttp", "--no-verify-peer", "--padding=64", "--continuation", "--weight=200", "--multiply=20",
                "--data", TestCertificates.shared.authorityFile, "--null-out", "--stat", "\(server.url)/x",
            ])
            #expect(result.status == 0)
            let counters = await server.server.counters()
            #expect(counters.requests == 20)
        }
    }

    @Test func `h2load loses no request`() async throws {
        try await TestServer.with { server in
            let result = try await Program.run([
                "h2load", "--requests=5000", "--clients=4", "--max-concurrent-streams=100",
                "--data=\(TestCertificates.shared.authorityFile)", "\(server.url)/3/device/00ff",
            ])
            #expect(result.status == 0)
            #expect(result.output.contains("5000 total, 5000 started, 5000 done, 5000 succeeded, 0 failed"))
            #expect(result.output.contains("status codes: 5000 2xx"))
        }
    }
}
