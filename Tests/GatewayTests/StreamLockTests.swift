import Engine
import NIOCore
import NIOPosix
import OperatorAPI
import Serving
import TestSupport
import Testing
import WidgetModel

/// Readers go at any instant, also at the one at which they are told something: none may wait for another then.
///
/// A thread that cancels a task holds a lock of that task while its stream is taken out. A thread that wakes a task
/// needs that lock. So a test that fails here does not end.
@Suite(.timeLimit(.minutes(60))) struct StreamLockTests {
    private static let rounds = 1000

    /// How often each of two threads tells readers something in a round: about as long as the round takes. Threads that told for as long as the
    /// rounds go on would keep the machine from all other tests.
    private static let tellings = 8

    /// Cancels readers while others tell them something.
    private func cancel(
        whileTelling tell: @escaping @Sendable () -> Void,
        reading read: @escaping @Sendable () async -> Void
    ) async throws {
        // Threads of their own, since readers are woken from partitions' loops.
        let threads = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        for _ in 0..<Self.rounds {
            let readers = (0..<3).map { _ in Task { await read() } }
            let told = (0..<2).map { _ in threads.next().submit { for _ in 0..<Self.tellings { tell() } } }
            await Task.yield()
            for reader in readers { reader.cancel() }
            for reader in readers { await reader.value }
            for one in told { try await one.get() }
        }
        try await threads.shutdownGracefully()
    }

    @Test func `a host's reader goes while it is sent a reload`() async throws {
        let streams = HostStreams.begun()
        try await self.cancel {
            streams.publish([HostEvent.reload(Sports.reload("a"))])
            streams.beat()
        } reading: {
            guard let stream = try? streams.subscribe(.host(HostKey("a"))) else { return }
            for await _ in stream.events {}
            streams.cancel(stream)
        }
        #expect(streams.count == 0)
    }

    @Test func `an operator's reader goes while it is told something`() async throws {
        let feed = OperatorFeed(epoch: 7)
        try await self.cancel {
            feed.publish(.note(.order, .int(1)))
        } reading: {
            guard let stream = try? feed.subscribe(after: nil) else { return }
            for await _ in stream.events {}
            feed.cancel(stream)
        }
        #expect(feed.count == 0)
    }

    @Test func `a follower of a push goes while it is woken`() async throws {
        let followers = PushFollowers(max: 4)
        try await self.cancel {
            followers.wake(.applied)
        } reading: {
            guard let stream = try? followers.subscribe() else { return }
            for await _ in stream.wakes {}
            followers.cancel(stream)
        }
        #expect(followers.count == 0)
    }
}
