import HTTP2
import NIOCore
import NIOPosix
import ScriptedServer
import TLS
import Testing

@testable import HTTPTransport

@Suite struct HTTPClientTests {
    private static func with<Result>(
        streamsMax: UInt32 = 1000,
        _ configure: (inout HTTPClientConfiguration) -> Void = { _ in },
        script: @escaping ScriptedServer.Script = { _ in [.answer(200)] },
        _ body: (HTTPClient, HTTPTarget, ScriptedServer) async throws -> Result
    ) async throws -> Result {
        let server = try await ScriptedServer.start(
            tls: try TestCertificates.shared.serverContext(),
            streamsMax: streamsMax,
            script: script
        )
        var configuration = HTTPClientConfiguration()
        configuration.reconnectDelayMin = .milliseconds(1)
        // No deadline passes that a test is not about; they have tests of their own.
        configuration.connection.connectTimeout = .hours(1)
        configuration.connection.handshakeTimeout = .hours(1)
        configuration.connection.pingAfterSilence = .hours(1)
        configure(&configuration)
        let client = HTTPClient(configuration, on: MultiThreadedEventLoopGroup.singleton)
        let target = HTTPTarget(
            HTTPOrigin(host: "localhost", port: server.port),
            tls: try TestCertificates.shared.clientContext()
        )
        do {
            let result = try await body(client, target, server)
            await client.close()
            await server.stop()
            return result
        } catch {
            await client.close()
            await server.stop()
            throw error
        }
    }

    private static func post(_ path: String = "/", timeout: TimeAmount = .hours(1)) -> HTTPClientRequest {
        HTTPClientRequest(method: "POST", path: path, body: Array("body".utf8), timeout: timeout)
    }

    private static func get(_ path: String = "/", timeout: TimeAmount = .hours(1)) -> HTTPClientRequest {
        HTTPClientRequest(method: "GET", path: path, timeout: timeout)
    }

    /// The statuses or errors of so many requests at once.
    private static func many(_ count: Int, _ client: HTTPClient, _ target: HTTPTarget) async -> [String] {
        await withTaskGroup(of: String.self) { group in
            for index in 0..<count {
                group.addTask {
                    do {
                        return "\(try await client.send(Self.post("/\(index)"), to: target).status)"
                    } catch {
                        return "\(error)"
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private static func error(_ body: () async throws -> HTTPClientResponse) async -> HTTPTransportError? {
        await #expect(throws: HTTPTransportError.self) { _ = try await body() }
    }

    @Test func `requests share a connection, and what came back is whole`() async throws {
        try await Self.with(script: { request in
            [.answer(201, ["x-path": request.path], "\(request.method) \(request.text)")]
        }) { client, target, server in
            let response = try await client.send(Self.post("/a?b"), to: target)
            #expect(
                response
                    == HTTPClientResponse(status: 201, headers: ["x-path": "/a?b"], body: Array("POST body".utf8))
            )
            #expect(await Self.many(100, client, target) == Array(repeating: "201", count: 100))
            #expect(server.connections == 1)
            let counters = client.counters()
            #expect(
                [counters.targets, counters.connections, counters.requests, counters.responses] == [1, 1, 101, 101]
            )
            #expect(counters.requestsInWork == 0)
        }
    }

    @Test func `lanes and contexts do not share a connection`() async throws {
        try await Self.with { client, target, server in
            let lane = HTTPTarget(target.origin, tls: target.tls, lane: "another team")
            let identity = HTTPTarget(target.origin, tls: try TestCertificates.shared.clientContext())
            for target in [target, lane, identity, target] {
                #expect(try await client.send(Self.post(), to: target).status == 200)
            }
            #expect(server.connections == 3)
        }
    }

    @Test func `a server's limit that moves is kept: 1, 1000, 1 again`() async throws {
        try await Self.with(
            streamsMax: 1,
            { $0.connectionsMax = 1 },
            script: { request in
                switch request.number {
                case 1: [.answer(200), .streamsMax(1000)]
                case 100: [.streamsMax(1), .answer(200)]
                default: [.answer(200)]
                }
            }
        ) { client, target, server in
            #expect(await Self.many(300, client, target) == Array(repeating: "200", count: 300))
            #expect(server.requests.count == 300)
            #expect(server.connections == 1)
        }
    }

    @Test func `streams above a limit that was lowered come again and none is lost`() async throws {
        try await Self.with(
            { $0.connectionsMax = 1 },
            script: { request in
                // Every fifth of the first hundred is refused, as APNs does to requests that were on their way.
                request.number <= 100 && request.number % 5 == 0
                    ? [.streamsMax(1), .reset(.refusedStream)] : [.answer(200)]
            }
        ) { client, target, server in
            #expect(await Self.many(200, client, target) == Array(repeating: "200", count: 200))
            #expect(server.requests.count == 220)
            #expect(client.counters().refused == 20)
            #expect(client.counters().resent == 20)
        }
    }

    @Test func `a request that is refused again and again ends, as one that was not acted on`() async throws {
        try await Self.with({ $0.resendsMax = 2 }, script: { _ in [.reset(.refusedStream)] }) {
            client,
            target,
            server in
            let error = await Self.error { try await client.send(Self.post(), to: target) }
            #expect(error?.code == .streamReset(.refusedStream))
            #expect(error?.isUnprocessed == true)
            #expect(server.requests.count == 3)
            #expect(client.counters().limits[.maxResends] == 1)
        }
    }

    @Test func `GOAWAY in one piece: what is above its last stream goes to a new connection`() async throws {
        try await Self.with(script: { request in
            guard request.connection == 1 else { return [.answer(200)] }
            // The first is acted on and answered, the third brings the GOAWAY that cuts off the second and itself.
            return request.place < 3 ? [.hold] : [.goAway(last: 1, .noError, debug: "{\"reason\":\"Shutdown\"}")]
        }) { client, target, server in
            async let statuses = Self.many(3, client, target)
            try await Self.until { server.requests.count >= 5 && server.heldCount == 2 }
            server.release(.answer(202))
            #expect(await statuses.sorted() == ["200", "200", "202"])
            #expect(server.connections == 2)
            #expect(client.counters().goAways == 1)
        }
    }

    @Test func `GOAWAY in two pieces: what is open finishes, what comes later goes elsewhere`() async throws {
        try await Self.with(script: { request in
            request.connection == 1 ? (request.place == 1 ? [.hold] : [.hold, .drain]) : [.answer(201)]
        }) { client, target, server in
            async let first = client.send(Self.post("/1"), to: target).status
            async let second = client.send(Self.post("/2"), to: target).status
            try await Self.until { client.counters().goAways >= 1 }
            #expect(try await client.send(Self.post("/3"), to: target).status == 201)
            server.release(.answer(200))
            #expect(try await [first, second] == [200, 200])
            #expect(server.connections == 2)
        }
    }

    @Test func `a connection that breaks: POST fails as perhaps acted on, GET is sent again`() async throws {
        // One connection at once, or the second request could go over another, and nothing would break the first.
        try await Self.with(
            { $0.connectionsMax = 1 },
            script: { $0.connection == 1 ? ($0.place == 2 ? [.hangUp] : [.hold]) : [.answer(200)] }
        ) { client, target, server in
            async let posted = Self.error { try await client.send(Self.post(), to: target) }
            try await Self.until { server.requests.count == 1 }
            #expect(try await client.send(Self.get(), to: target).status == 200)
            let error = await posted
            #expect(error?.code == .connectionClosed)
            #expect(error?.isUnprocessed == false)
        }
    }

    @Test func `a server that falls silent is noticed by PING`() async throws {
        try await Self.with(
            {
                $0.connection.pingAfterSilence = .milliseconds(20)
                // Long enough for the request to be sent before, however busy the machine is.
                $0.connection.pingTimeout = .seconds(5)
            },
            script: { $0.connection == 1 ? [.fallSilent] : [.answer(200)] }
        ) { client, target, server in
            let error = await Self.error { try await client.send(Self.post(), to: target) }
            #expect(error?.code == .timeout)
            #expect(error?.isUnprocessed == false)
            #expect(client.counters().limits[.ping] == 1)
        }
    }

    @Test func `a slow server that answers PINGs is waited for`() async throws {
        try await Self.with(
            {
                // Far enough apart that a server which bounds the rate of PINGs takes them.
                $0.connection.pingAfterSilence = .milliseconds(50)
                $0.connection.pingTimeout = .hours(1)
            },
            script: { _ in [.hold] }
        ) { client, target, server in
            async let status = client.send(Self.post(), to: target).status
            try await Self.until { server.heldCount == 1 }
            try await Self.until { client.counters().pings >= 3 }
            server.release(.answer(200))
            #expect(try await status == 200)
        }
    }

    @Test func `a request ends at its deadline, and its stream with it`() async throws {
        try await Self.with(
            streamsMax: 1,
            { $0.connectionsMax = 1 },
            script: { $0.path == "/late" ? [.hold] : [.answer(200)] }
        ) { client, target, server in
            let warm = try await client.send(Self.post(), to: target).status
            #expect(warm == 200)
            // A busy machine may take longer than that to send it: then it has more time the next time.
            var timeouts: Int64 = 0
            var late: HTTPTransportError?
            repeat {
                let timeout = TimeAmount.milliseconds(500 << min(timeouts, 10))
                late = await Self.error { try await client.send(Self.post("/late", timeout: timeout), to: target) }
                timeouts += 1
                #expect(late?.code == .timeout)
            } while late?.code == .timeout && late?.isUnprocessed == true
            #expect(late?.isUnprocessed == false)
            // The one stream that the server allows is free again.
            let after = try await client.send(Self.post(), to: target).status
            #expect(after == 200)
            #expect(client.counters().limits[.request] == Int(timeouts))
        }
    }

    @Test func `a request that never got its turn ends as one that was not acted on`() async throws {
        try await Self.with(streamsMax: 1, { $0.connectionsMax = 1 }, script: { _ in [.hold] }) {
            client,
            target,
            server in
            async let first = client.send(Self.post(), to: target).status
            try await Self.until { server.heldCount == 1 }
            let error = await Self.error {
                try await client.send(Self.post("/", timeout: .milliseconds(20)), to: target)
            }
            #expect(error?.code == .timeout)
            #expect(error?.isUnprocessed == true)
            server.release(.answer(200))
            #expect(try await first == 200)
        }
    }

    @Test func `a cancelled task gives its stream up`() async throws {
        try await Self.with(
            streamsMax: 1,
            { $0.connectionsMax = 1 },
            script: { $0.number == 1 ? [.hold] : [.answer(200)] }
        ) {
            client,
            target,
            server in
            let task = Task { try await client.send(Self.post(), to: target).status }
            try await Self.until { server.heldCount == 1 }
            task.cancel()
            await #expect(throws: HTTPTransportError.self) { try await task.value }
            #expect(try await client.send(Self.post(), to: target).status == 200)
            let gate = Gate()
            let cancelled = Task {
                await gate.wait()
                return try await client.send(Self.post("/never"), to: target).status
            }
            cancelled.cancel()
            await gate.open()
            await #expect(throws: HTTPTransportError.self) { try await cancelled.value }
            #expect(server.requests.map(\.path).contains("/never") == false)
        }
    }

    @Test(arguments: [0, 1, 7])
    func `a queue refuses what is above its limit, and only that`(more: Int) async throws {
        try await Self.with(
            streamsMax: 1,
            {
                $0.connectionsMax = 1
                $0.queueMax = 5
            },
            script: { _ in [.hold] }
        ) { client, target, server in
            async let first = client.send(Self.post(), to: target).status
            try await Self.until { server.heldCount == 1 }
            async let rest = Self.many(5 + more, client, target)
            try await Self.until { client.counters().requestsInWork + client.counters().limits[.maxQueue] == 6 + more }
            #expect(client.counters().limits[.maxQueue] == more)
            for _ in 0...5 {
                try await Self.until { server.heldCount == 1 }
                server.release(.answer(200))
            }
            #expect(try await first == 200)
            #expect(await rest.count { $0 == "200" } == 5)
        }
    }

    @Test func `targets are bounded, and those that are empty make room`() async throws {
        try await Self.with({
            $0.targetsMax = 1
            $0.idleTimeout = .milliseconds(1)
        }) { client, target, server in
            let other = HTTPTarget(target.origin, tls: target.tls, lane: "b")
            #expect(try await client.send(Self.post(), to: target).status == 200)
            try await Self.until { client.counters().targets == 0 }
            // Before another connection may be idle, too.
            #expect(client.counters().limits[.idle] == 1)
            #expect(try await client.send(Self.post(), to: other).status == 200)
        }
        try await Self.with({ $0.targetsMax = 1 }) { client, target, server in
            let other = HTTPTarget(target.origin, tls: target.tls, lane: "b")
            let status = try await client.send(Self.post(), to: target).status
            #expect(status == 200)
            let error = await Self.error { try await client.send(Self.post(), to: other) }
            #expect(error?.code == .queueFull)
            #expect(client.counters().limits[.maxTargets] == 1)
        }
    }

    @Test func `a name that leads to an address of this machine is refused where only public ones may be reached`()
        async throws
    {
        try await Self.with { client, target, server in
            let guarded = HTTPTarget(target.origin, tls: target.tls, addresses: .publicOnly(allowed: []))
            let error = await Self.error { try await client.send(Self.post(), to: guarded) }
            #expect(error?.code == .addressRefused)
            #expect(error?.isUnprocessed == true)
            #expect(server.connections == 0)
            #expect(client.counters().limits[.address] == 1)
            let networks = try ["127.0.0.0/8", "::1"].map { try #require(IPNetwork($0)) }
            let allowed = HTTPTarget(target.origin, tls: target.tls, addresses: .publicOnly(allowed: networks))
            #expect(try await client.send(Self.post(), to: allowed).status == 200)
        }
    }

    @Test func `a server that is not there fails what waits at once, and is found when it comes`() async throws {
        let client = HTTPClient(on: MultiThreadedEventLoopGroup.singleton)
        let tls = try TestCertificates.shared.clientContext()
        // On this port nothing ever listens.
        let target = HTTPTarget(HTTPOrigin(host: "127.0.0.1", port: 1), tls: tls)
        let error = await Self.error { try await client.send(Self.post(), to: target) }
        #expect(error?.code == .connect)
        #expect(error?.isUnprocessed == true)
        #expect(client.counters().connectsFailed == 1)
        await client.close()
        let closed = await Self.error { try await client.send(Self.post(), to: target) }
        #expect(closed?.code == .connectionClosed)
    }

    @Test func `a server whose queue of connections is full is given up, and counted`() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let full = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1).serverChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(full.localAddress)
        // So many connections the system takes for a queue of one.
        var waiting: [any Channel] = []
        for _ in 0..<2 { waiting.append(try await ClientBootstrap(group: group).connect(to: address).get()) }
        var configuration = HTTPClientConfiguration()
        configuration.connection.connectTimeout = .milliseconds(20)
        let client = HTTPClient(configuration, on: group)
        let target = HTTPTarget(
            HTTPOrigin(host: "127.0.0.1", port: address.port ?? 0),
            tls: try TestCertificates.shared.clientContext()
        )
        let error = await Self.error { try await client.send(Self.post(), to: target) }
        #expect(error?.code == .connectTimeout)
        #expect(error?.message == "cannot connect to 127.0.0.1:\(address.port ?? 0): it did not answer in time")
        #expect(error?.isUnprocessed == true)
        #expect(client.counters().limits[.connect] == 1)
        await client.close()
        for channel in waiting + [full] { try await channel.close() }
    }

    @Test func `a server that takes TCP and says nothing is given up`() async throws {
        let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        var configuration = HTTPClientConfiguration()
        configuration.connection.handshakeTimeout = .milliseconds(20)
        let client = HTTPClient(configuration, on: MultiThreadedEventLoopGroup.singleton)
        let target = HTTPTarget(
            HTTPOrigin(host: "127.0.0.1", port: silent.localAddress?.port ?? 0),
            tls: try TestCertificates.shared.clientContext()
        )
        let error = await Self.error { try await client.send(Self.post(), to: target) }
        #expect(error?.code == .timeout)
        #expect(error?.isUnprocessed == true)
        #expect(client.counters().limits[.handshake] == 1)
        await client.close()
        try await silent.close()
    }

    @Test func `a certificate that is not trusted fails the request`() async throws {
        try await Self.with { client, target, server in
            let other = try CertificateAuthority.make(commonName: "Another", validity: CertificateValidity(days: 1))
            let tls = try TLSContext.client(
                TLSClientConfiguration(trust: .roots(.text(other.certificatePEM)), alpn: ["h2"])
            )
            let error = await Self.error { try await client.send(Self.post(), to: HTTPTarget(target.origin, tls: tls)) }
            #expect(error?.code == .tls)
            #expect(error?.isUnprocessed == true)
        }
    }

    /// Waits for a condition; gives up after minutes.
    private static func until(_ condition: () -> Bool) async throws {
        for _ in 0..<60_000 {
            if condition() { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        Issue.record("the condition did not come about")
    }
}
