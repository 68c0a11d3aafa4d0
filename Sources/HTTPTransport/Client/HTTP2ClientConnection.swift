package import NIOCore
package import TLS

/// One HTTP/2 connection to a server, from this side.
///
/// Any task may use it. Requests above the server's limit of concurrent streams wait for their turn. It does not
/// connect again by itself: when ``isUsable`` is false, make another.
package final class HTTP2ClientConnection: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<HTTP2ClientHandler>

    private init(channel: any Channel, handler: NIOLoopBound<HTTP2ClientHandler>) {
        self.channel = channel
        self.handler = handler
    }

    /// Connects, does the TLS handshake and waits for the server's SETTINGS.
    ///
    /// - Parameters:
    ///   - tls: a client's context that offers `h2` by ALPN.
    ///   - serverName: the name that the server's certificate must be for, if it is not `host`.
    /// - Throws: ``HTTPTransportError``; the message says what to do about a certificate that is not trusted.
    package static func connect(
        host: String,
        port: Int,
        tls: TLSContext,
        serverName: String? = nil,
        on group: any EventLoopGroup,
        configuration: HTTP2ClientConfiguration = HTTP2ClientConfiguration()
    ) async throws -> HTTP2ClientConnection {
        let target = HTTPTarget(HTTPOrigin(host: host, port: port), tls: tls, serverName: serverName)
        return try await Self.connect(to: target, on: group, configuration: configuration)
    }

    /// The same to a target, at the addresses that it allows.
    package static func connect(
        to target: HTTPTarget,
        on group: any EventLoopGroup,
        configuration: HTTP2ClientConfiguration = HTTP2ClientConfiguration()
    ) async throws -> HTTP2ClientConnection {
        let dial = HTTP2Dial(
            origin: target.origin,
            tls: target.tls,
            serverName: target.serverName,
            addresses: target.addresses,
            configuration: configuration
        )
        let (channel, handler) = try await dial.run(on: group.next()).get()
        return HTTP2ClientConnection(channel: channel, handler: handler)
    }

    /// Sends a request and waits for the whole response.
    ///
    /// Cancelling the task resets the stream.
    package func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        try request.check()
        let handler = self.handler
        let cancellation = RequestCancellation()
        return try await withTaskCancellationHandler {
            try await handler.eventLoop.flatSubmit { handler.value.send(request, cancellation) }.get()
        } onCancel: {
            cancellation.cancel()
            handler.eventLoop.execute { handler.value.cancel(cancellation) }
        }
    }

    /// Sends a PING and returns the time until its acknowledgement.
    package func ping() async throws -> Duration {
        let handler = self.handler
        let start = ContinuousClock.now
        try await handler.eventLoop.flatSubmit { handler.value.ping() }.get()
        return ContinuousClock.now - start
    }

    /// False once the connection has closed or the server has said GOAWAY: new requests would fail.
    package func isUsable() async -> Bool {
        let handler = self.handler
        return (try? await handler.eventLoop.submit { handler.value.isUsable }.get()) ?? false
    }

    /// Waits until the connection has gone and says why; nil if it was closed from this side.
    package func closed() async -> HTTPTransportError? {
        // The future of a channel's close does not fail.
        try? await self.channel.closeFuture.get()
        let handler = self.handler
        return try? await handler.eventLoop.submit {
            handler.value.isClosedByOwner ? nil : handler.value.reason
        }.get()
    }

    /// Says GOAWAY and closes; requests in work fail.
    package func close() async {
        let handler = self.handler
        handler.eventLoop.execute { handler.value.close() }
        // The future of a channel's close does not fail.
        try? await self.channel.closeFuture.get()
    }
}
