package import Logging
package import NIOCore
import NIOPosix
import Synchronization
package import TLS

/// One listener: a bound port, the connections that came in through it, and the owner's handler on every loop.
package final class HTTPServer: Sendable {
    /// The port that is bound.
    package let port: Int
    private let channel: any Channel
    private let shared: ListenerShared
    private let loops: [NIOLoopBound<ListenerLoop>]

    private init(
        port: Int,
        channel: any Channel,
        shared: ListenerShared,
        loops: [NIOLoopBound<ListenerLoop>]
    ) {
        self.port = port
        self.channel = channel
        self.shared = shared
        self.loops = loops
    }

    /// Binds the address and takes connections until ``drain(within:)``.
    ///
    /// - Parameter makeHandler: called once for every loop of the group, on that loop.
    /// - Throws: ``HTTPTransportError`` if the address cannot be bound.
    package static func start(
        _ configuration: HTTPListenerConfiguration,
        on group: any EventLoopGroup,
        logger: Logger,
        makeHandler: @escaping @Sendable (any EventLoop) -> any RequestBatchHandler
    ) async throws -> HTTPServer {
        let shared = ListenerShared(logger: logger)
        var loops: [NIOLoopBound<ListenerLoop>] = []
        for eventLoop in group.makeIterator() {
            let loop = try await eventLoop.submit {
                let loop = ListenerLoop(
                    eventLoop: eventLoop,
                    shared: shared,
                    configuration: configuration,
                    handler: makeHandler(eventLoop)
                )
                loop.start()
                return NIOLoopBound(loop, eventLoop: eventLoop)
            }.get()
            loops.append(loop)
        }
        do {
            let channel = try await Self.bind(configuration, group, loops)
            let port = channel.localAddress?.port ?? configuration.port
            return HTTPServer(port: port, channel: channel, shared: shared, loops: loops)
        } catch {
            for loop in loops {
                loop.eventLoop.execute { loop.value.stop() }
            }
            throw HTTPTransportError(
                .listen,
                """
                cannot listen on \(configuration.address):\(configuration.port) (\(configuration.name)): \
                \(ConnectionFailure.sentence(error))
                """
            )
        }
    }

    /// The same for handlers that take one request at a time and may wait.
    package static func start(
        _ configuration: HTTPListenerConfiguration,
        on group: any EventLoopGroup,
        logger: Logger,
        judge: @escaping @Sendable (HTTPRequest) -> HTTPHeadVerdict = { _ in .accepted(bodyBytesMax: nil) },
        respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) async throws -> HTTPServer {
        try await self.start(configuration, on: group, logger: logger) { eventLoop in
            AsyncRequestHandler(eventLoop: eventLoop, judge: judge, respond: respond)
        }
    }

    /// Serves the connections that come from now on under another context; those that are here keep theirs.
    package func replaceContext(_ tls: TLSContext) {
        for loop in self.loops {
            loop.eventLoop.execute { loop.value.replaceContext(tls) }
        }
    }

    /// Keeps other bounds from now on.
    ///
    /// Deadlines hold for every connection at once, and so do the bounds on the number of connections and on the bytes that they hold in
    /// all. The limits of one connection (``HTTPListenerConfiguration/Bounds/limits``) were agreed upon at its beginning: the next ones get
    /// the new limits.
    package func useBounds(_ bounds: HTTPListenerConfiguration.Bounds) {
        for loop in self.loops {
            loop.eventLoop.execute { loop.value.useBounds(bounds) }
        }
    }

    /// Takes no more connections, lets those that are here finish, and returns when all have gone.
    ///
    /// HTTP/2 connections get two GOAWAYs (RFC 9113, 6.8), so that no request that was on its way is lost. Streamed
    /// answers are finished by their owner; those that are not finished within the limit are cut off.
    package func drain(within limit: Duration) async {
        // It fails only if the listener has been closed before.
        try? await self.channel.close()
        let amount = TimeAmount(limit)
        let drained = self.loops.map { loop in
            loop.eventLoop.flatSubmit {
                let cutOff = loop.eventLoop.scheduleTask(in: amount) { loop.value.abortAll() }
                return loop.value.drain().map {
                    cutOff.cancel()
                    loop.value.stop()
                }
            }
        }
        for future in drained {
            // A loop that is shut down has no connections left.
            try? await future.get()
        }
    }

    /// The listener's counts, summed over its loops.
    package func counters() async -> HTTPListenerCounters {
        var sum = HTTPListenerCounters()
        for loop in self.loops {
            // A loop that is shut down counts nothing any more.
            guard let counters = try? await loop.eventLoop.submit({ loop.value.currentCounters }).get() else {
                continue
            }
            sum += counters
        }
        sum.handshakes = self.shared.handshakeCount.load(ordering: .relaxed)
        sum.heldBytes = self.shared.heldBytes.load(ordering: .relaxed)
        sum.cutOff = self.shared.cutOff(at: ListenerLoop.second)
        return sum
    }

    private static func bind(
        _ configuration: HTTPListenerConfiguration,
        _ group: any EventLoopGroup,
        _ loops: [NIOLoopBound<ListenerLoop>]
    ) async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: configuration.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let loop = Self.loop(of: channel, among: loops)
                    try channel.pipeline.syncOperations.addHandler(AcceptFailureHandler(loop: loop))
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // Few reads a wakeup keep one connection from starving the others; the allocator starts small because an
            // idle connection keeps its last buffer.
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 65_536)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try Self.acceptConnection(channel, Self.loop(of: channel, among: loops))
                }
            }
            .bind(host: configuration.address, port: configuration.port)
            .get()
    }

    private static func loop(of channel: any Channel, among loops: [NIOLoopBound<ListenerLoop>]) -> ListenerLoop {
        guard let loop = loops.first(where: { $0.eventLoop === channel.eventLoop })?.value else {
            preconditionFailure("a connection came on a loop that is not of the listener's group")
        }
        return loop
    }

    private static func acceptConnection(_ channel: any Channel, _ loop: ListenerLoop) throws {
        let id = ListenerShared.nextConnectionID()
        let peer = channel.remoteAddress
        let remoteAddress = peer.map { "\($0.ipAddress ?? "local"):\($0.port ?? 0)" } ?? "unknown"
        guard loop.admit(id, from: PeerAddress(peer)) else {
            throw HTTPTransportError(.connectionClosed, "the listener is full")
        }
        do {
            try Self.addHandlers(id, to: channel, loop, remoteAddress)
        } catch {
            loop.leave(id)
            throw error
        }
    }

    private static func addHandlers(
        _ id: UInt64,
        to channel: any Channel,
        _ loop: ListenerLoop,
        _ remoteAddress: String
    ) throws {
        if let tls = loop.configuration.tls {
            let session = try TLSSession.server(tls)
            try channel.pipeline.syncOperations.addHandler(
                SecureServerHandler(id: id, loop: loop, tls: session, remoteAddress: remoteAddress)
            )
        } else {
            let connection = loop.makeConnection(id, remoteAddress, .http1)
            try HTTP1ServerHandler.addHandlers(HTTP1ServerHandler(connection: connection, loop: loop), to: channel)
        }
    }
}
