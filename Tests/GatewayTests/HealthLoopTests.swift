import Dispatch
import FoundationEssentials
import Gateway
import HTTPTransport
import Journaling
import NIOCore
import NIOPosix
import Partitions
import Settings
import Synchronization
import TLS
import Testing
import WidgetModel

/// Probes wait for nothing: neither for partitions, nor for connections of senders, hosts and operators.
@Suite struct HealthLoopTests {
    /// A gateway in this process, on threads of its own, without an app.
    private final class Running: Sendable {
        let loops: GatewayLoops
        let ports: Gateway.BoundPorts
        let authority: CertificateAuthority
        private let task: Task<Void, any Error>
        private let folder: URL

        init() async throws {
            self.folder = FileManager.default.temporaryDirectory.appending(path: "freshet-test-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
            self.authority = try CertificateAuthority.make(commonName: "Test root")
            let issued = try self.authority.issueServer(dnsNames: ["localhost"])
            var configuration = GatewayConfiguration()
            configuration.partitions = 2
            configuration.tls.certificate = self.folder.appending(path: "server.pem").path
            configuration.tls.key = self.folder.appending(path: "server.key").path
            try Data(issued.certificatePEM.utf8).write(to: URL(filePath: configuration.tls.certificate))
            try Data(issued.privateKeyPEM.utf8).write(to: URL(filePath: configuration.tls.key))
            configuration.listeners.push = .init(port: 0)
            configuration.listeners.manage = .init(port: 0)
            configuration.listeners.host = .init(port: 0)
            configuration.listeners.ops = .init(port: 0)
            configuration.listeners.health = .init(port: 0)
            configuration.operators.isOpen = true
            // A probe may wait for its turn on a busy machine, and must not be told that it was late.
            configuration.timeouts.handshake = .hours(1)
            configuration.timeouts.firstRequest = .hours(1)

            let connections = MultiThreadedEventLoopGroup(numberOfThreads: 2)
            let loops = GatewayLoops(partitions: configuration.partitions, connections: connections)
            let (ready, isReady) = AsyncStream.makeStream(of: Gateway.BoundPorts.self)
            let clock = LogClock()
            var process = GatewayProcess(clock: clock, logs: .none)
            process.loops = loops
            let journal = MemoryJournal(partitions: configuration.partitions, clock: { clock.now() })
            let gateway = Gateway(
                configuration: configuration,
                stores: GatewayStores(journal: journal),
                process: process,
                onReady: { isReady.yield($0) }
            )
            self.loops = loops
            self.task = Task {
                defer { isReady.finish() }
                try await gateway.run()
            }
            var ports: Gateway.BoundPorts?
            for await bound in ready {
                ports = bound
                break
            }
            self.ports = try #require(ports)
        }

        func stop() async throws {
            self.task.cancel()
            try await self.task.value
            try await self.loops.connections.shutdownGracefully()
            try FileManager.default.removeItem(at: self.folder)
        }

        func connect(_ port: Int?, on group: any EventLoopGroup) async throws -> HTTP2ClientConnection {
            let trust = TLSClientConfiguration(trust: .roots(.text(self.authority.certificatePEM)), alpn: ["h2"])
            var configuration = HTTP2ClientConfiguration()
            configuration.connectTimeout = .hours(1)
            return try await HTTP2ClientConnection.connect(
                host: "127.0.0.1",
                port: try #require(port),
                tls: try TLSContext.client(trust),
                serverName: "localhost",
                on: group,
                configuration: configuration
            )
        }
    }

    /// Event loops that do nothing until they are let go.
    private final class Held: Sendable {
        private let gate = DispatchSemaphore(value: 0)
        private let held: Atomic<Int>

        /// Returns when every loop of the groups is held.
        init(_ groups: [MultiThreadedEventLoopGroup]) async {
            let loops = groups.flatMap { Array($0.makeIterator()) }
            let (entered, enter) = AsyncStream.makeStream(of: Void.self)
            self.held = Atomic(loops.count)
            let gate = self.gate
            for loop in loops {
                loop.execute {
                    enter.yield()
                    gate.wait()
                }
            }
            var iterator = entered.makeAsyncIterator()
            for _ in loops { await iterator.next() }
        }

        /// What a test that fails has not let go goes with it.
        deinit { self.release() }

        func release() {
            for _ in 0..<self.held.exchange(0, ordering: .relaxed) { self.gate.signal() }
        }
    }

    private static func ask(_ path: String) -> HTTPClientRequest {
        HTTPClientRequest(method: "GET", path: path, timeout: .hours(1))
    }

    @Test func `probes are answered while every partition and every connection of senders and hosts is held`()
        async throws
    {
        let gateway = try await Running()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let open = try await gateway.connect(gateway.ports.ops, on: group)
        let held = await Held([gateway.loops.owners, gateway.loops.connections])
        // A connection that is made now is answered as one that was there.
        let new = try await gateway.connect(gateway.ports.ops, on: group)
        let plain = PlainHTTPClient(on: group)
        for path in ["/livez", "/readyz", "/version"] {
            let port = try #require(gateway.ports.health)
            #expect(try await plain.send(Self.ask(path), host: "127.0.0.1", port: port).status == 200)
            #expect(try await open.send(Self.ask(path)).status == 200)
            #expect(try await new.send(Self.ask(path)).status == 200)
        }
        held.release()
        await open.close()
        await new.close()
        try await gateway.stop()
        try await group.shutdownGracefully()
    }

    @Test func `the health listener answers while operators' connections are held, too`() async throws {
        let gateway = try await Running()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let held = await Held([gateway.loops.owners, gateway.loops.connections, gateway.loops.operators])
        let plain = PlainHTTPClient(on: group)
        for path in ["/livez", "/readyz"] {
            let port = try #require(gateway.ports.health)
            #expect(try await plain.send(Self.ask(path), host: "127.0.0.1", port: port).status == 200)
        }
        held.release()
        try await gateway.stop()
        try await group.shutdownGracefully()
    }

    @Test func `probes are not behind operators' questions that partitions have not answered`() async throws {
        let gateway = try await Running()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let connection = try await gateway.connect(gateway.ports.ops, on: group)
        let held = await Held([gateway.loops.owners])
        let questions = (0..<50).map { _ in Task { try await connection.send(Self.ask("/v1/partitions")).status } }
        #expect(try await connection.send(Self.ask("/livez")).status == 200)
        #expect(try await connection.send(Self.ask("/readyz")).status == 200)
        held.release()
        for question in questions { #expect(try await question.value == 200) }
        await connection.close()
        try await gateway.stop()
        try await group.shutdownGracefully()
    }
}
