import NIOCore
package import NIOPosix

/// The threads that a gateway's parts run on. Parts that have nothing to do with each other do not wait for each other.
package struct GatewayLoops: Sendable {
    /// Partitions; one may be held for as long as its engine needs.
    package let owners: MultiThreadedEventLoopGroup
    /// Connections of senders and hosts, and those of the gateway to others.
    package let connections: MultiThreadedEventLoopGroup
    /// Connections of operators, and nothing else: their questions are worked out in tasks, and by partitions. Probes are answered
    /// here at once.
    package let operators = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    /// Connections of the health listener, and nothing else.
    package let health = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// - Parameters:
    ///   - partitions: How many there are; those above the number of cores share threads.
    ///   - connections: Shared with others in the process, and not shut down here.
    package init(partitions: Int, connections: MultiThreadedEventLoopGroup = .singleton) {
        self.owners = MultiThreadedEventLoopGroup(numberOfThreads: min(partitions, System.coreCount))
        self.connections = connections
    }

    /// Every loop of it.
    var all: [any EventLoop] {
        [self.owners, self.connections, self.operators, self.health].flatMap { Array($0.makeIterator()) }
    }

    /// Ends the threads, once nothing is left on them.
    func shutDown() async throws {
        for group in [self.owners, self.operators, self.health] { try await group.shutdownGracefully() }
    }
}
