package import NIOCore
import NIOPosix
import Synchronization
package import TLS

/// One HTTP/2 connection to a server, from this side.
///
/// Any task may use it. Requests above the server's limit of concurrent streams wait for their turn. It does not
/// connect again by itself: when ``isUsable`` is false, make another.
package final class HTTP2ClientConnection: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<HTTP2ClientHandler>
    private let lastToken = Atomic<UInt64>(0)

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
        let name = serverName ?? host
        let peer = "\(host):\(port)"
        let authority = port == 443 ? name : "\(name):\(port)"
        let eventLoop = group.next()
        let ready = eventLoop.makePromise(of: NIOLoopBound<HTTP2ClientHandler>.self)
        let deadline = eventLoop.scheduleTask(in: configuration.connectTimeout) {
            ready.fail(HTTPTransportError(.timeout, "no HTTP/2 connection to \(peer) in time"))
        }
        defer { deadline.cancel() }
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: eventLoop)
                .connectTimeout(configuration.connectTimeout)
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelOption(.maxMessagesPerRead, value: 4)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let session = try TLSSession.client(tls, serverName: name)
                        let handler = HTTP2ClientHandler(
                            tls: session,
                            peer: peer,
                            authority: authority,
                            configuration: configuration,
                            ready: ready
                        )
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                }
                .connect(host: host, port: port)
                .get()
        } catch {
            let failure = Self.connectFailure(error, peer)
            ready.fail(failure)
            throw failure
        }
        do {
            return HTTP2ClientConnection(channel: channel, handler: try await ready.futureResult.get())
        } catch {
            channel.close(promise: nil)
            throw error
        }
    }

    /// Sends a request and waits for the whole response.
    ///
    /// Cancelling the task resets the stream.
    package func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        try Self.check(request)
        let token = self.lastToken.add(1, ordering: .relaxed).newValue
        let handler = self.handler
        try Task.checkCancellation()
        return try await withTaskCancellationHandler {
            try await handler.eventLoop.flatSubmit { handler.value.send(request, token) }.get()
        } onCancel: {
            handler.eventLoop.execute { handler.value.cancel(token) }
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

    private static func connectFailure(_ error: any Error, _ peer: String) -> HTTPTransportError {
        switch error {
        case let error as TLSError:
            return HTTPTransportError(.tls, "cannot begin TLS with \(peer): \(error.message)")
        case let error as NIOConnectionError:
            let causes = error.connectionErrors.map { "\($0.error)" }
            let resolution = [error.dnsAError, error.dnsAAAAError].compactMap { $0 }.map { "\($0)" }
            let all = causes.isEmpty ? resolution : causes
            let refused = causes.contains { $0.contains("Connection refused") }
            let cause = refused ? "connection refused: nothing listens there" : all.joined(separator: "; ")
            return HTTPTransportError(.connect, "cannot connect to \(peer): \(cause)")
        default:
            return HTTPTransportError(.connect, "cannot connect to \(peer): \(error)")
        }
    }

    /// What nghttp2 would send as it is, and the server's parser would rightly refuse.
    private static func check(_ request: HTTPClientRequest) throws(HTTPTransportError) {
        guard !request.method.isEmpty, request.method.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw HTTPTransportError(.request, "\"\(request.method)\" is no method", isUnprocessed: true)
        }
        guard request.path.utf8.first == UInt8(ascii: "/"), request.path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            throw HTTPTransportError(.request, "a path begins with a slash and is percent-encoded", isUnprocessed: true)
        }
        for field in request.headers.all {
            let isName = !field.name.isEmpty && field.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }
            guard isName, field.value.utf8.allSatisfy({ $0 != 0x0A && $0 != 0x0D && $0 != 0 }) else {
                throw HTTPTransportError(.request, "header field \"\(field.name)\" is not valid", isUnprocessed: true)
            }
        }
    }
}
