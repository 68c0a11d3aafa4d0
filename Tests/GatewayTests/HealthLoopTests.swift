import Dispatch
import Gateway
import HTTPTransport
import NIOCore
import NIOPosix
import Synchronization
import Testing

/// Probes wait for nothing: neither for partitions, nor for connections of senders, hosts and operators.
@Suite struct HealthLoopTests {
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

        /// Releases the loop that a failed test still holds.
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
        let gateway = try await RunningGateway()
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
        let gateway = try await RunningGateway()
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
        let gateway = try await RunningGateway()
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
