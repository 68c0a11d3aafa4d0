import HTTP2
import HTTPTransport
import NIOCore
import Testing

@Suite struct DrainTests {
    @Test func `a drain waits for the answer that is owed, and refuses what comes later`() async throws {
        let began = Gate()
        let gate = Gate()
        let respond: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
            await began.open()
            await gate.wait()
            return HTTPResponse(status: 200, text: "late but whole")
        }
        try await TestServer.with(respond: respond) { server in
            let client = try await server.client()
            async let response = client.send(HTTPClientRequest(method: "GET", path: "/", timeout: .hours(1)))
            await began.wait()
            async let drained: Void = server.server.drain(within: .seconds(600))
            // The GOAWAY has arrived when the client is no longer usable.
            while await client.isUsable() {
                await Task.yield()
            }
            let error = await #expect(throws: HTTPTransportError.self) {
                _ = try await client.send(HTTPClientRequest(method: "GET", path: "/", timeout: .hours(1)))
            }
            #expect(error?.code == .goAway(.noError))
            #expect(error?.isUnprocessed == true)
            await gate.open()
            #expect(try await response.text == "late but whole")
            await drained
            await #expect(throws: HTTPTransportError.self) { _ = try await server.client() }
        }
    }

    @Test func `a drain cuts off what does not end in time`() async throws {
        let began = Gate()
        let gate = Gate()
        let respond: @Sendable (HTTPRequest) async -> HTTPResponse = { _ in
            await began.open()
            await gate.wait()
            return HTTPResponse(status: 200)
        }
        try await TestServer.with(respond: respond) { server in
            let client = try await server.client()
            let request = Task {
                try await client.send(HTTPClientRequest(method: "GET", path: "/", timeout: .hours(1)))
            }
            await began.wait()
            await server.server.drain(within: .milliseconds(50))
            await #expect(throws: HTTPTransportError.self) { _ = try await request.value }
            await gate.open()
        }
    }

    @Test func `a drain closes idle HTTP/1 connections`() async throws {
        try await TestServer.with({ $0.tls = nil }) { server in
            let result = try await Program.run(["curl", "-sS", "http://127.0.0.1:\(server.port)/livez"])
            #expect(result.output == "http1 GET livez 0")
            await server.server.drain(within: .seconds(600))
            let counters = await server.server.counters()
            #expect(counters.connections == 0)
        }
    }
}
