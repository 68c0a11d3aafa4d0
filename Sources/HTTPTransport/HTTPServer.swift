package import Logging
package import NIOCore
import NIOPosix
import Synchronization
import TLS

/// One listener: a bound port, the connections that came in through it, and the owner's handler on every loop.
package final class HTTPServer: Sendable {
    /// The port that is bound.
    package let port: Int
    private let channel: any Channel
    private let loops: [NIOLoopBound<ListenerLoop>]
    private let logger: Logger

    private init(port: Int, channel: any Channel, loops: [NIOLoopBound<ListenerLoop>], logger: Logger) {
        self.port = port
        self.channel = channel
        self.loops = loops
        self.logger = logger
    }

    /// Binds the address and takes connections until ``drain(within:)``.
    ///
    /// - Parameter makeHandler: called once for every loop of the group, on that loop.
    package static func start(
        _ configuration: HTTPListenerConfiguration,
        on group: any EventLoopGroup,
        logger: Logger,
        makeHandler: @escaping @Sendable (any EventLoop) -> any RequestBatchHandler
    ) async throws -> HTTPServer {
        preconditionFailure("written next")
    }

    /// The same for handlers that take one request at a time and may wait.
    package static func start(
        _ configuration: HTTPListenerConfiguration,
        on group: any EventLoopGroup,
        logger: Logger,
        respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) async throws -> HTTPServer {
        try await self.start(configuration, on: group, logger: logger) { eventLoop in
            AsyncRequestHandler(eventLoop: eventLoop, respond: respond)
        }
    }

    /// Takes no more connections, lets those that are here finish, and returns when all have gone.
    ///
    /// HTTP/2 connections get two GOAWAYs (RFC 9113, 6.8), so that no request that was on its way is lost. What is not
    /// finished within the limit is closed.
    package func drain(within limit: Duration) async {
        preconditionFailure("written next")
    }

    /// What the listener has counted, summed over its loops.
    package func counters() async -> HTTPListenerCounters {
        preconditionFailure("written next")
    }
}
