import NIOCore
import NIOPosix
import TLS

/// Makes one connection: name, TCP over happy eyeballs (RFC 8305), TLS, and the server's SETTINGS.
struct HTTP2Dial: Sendable {
    let origin: HTTPOrigin
    let tls: TLSContext
    let serverName: String?
    let addresses: HTTPAddressRule
    let configuration: HTTP2ClientConfiguration

    typealias Made = (channel: any Channel, handler: NIOLoopBound<HTTP2ClientHandler>)

    /// - Returns: On the loop given; fails with ``HTTPTransportError``.
    func run(on eventLoop: any EventLoop) -> EventLoopFuture<Made> {
        let name = self.serverName ?? self.origin.host
        // By channel: by the time it is known which of them connected first, TLS may have failed and emptied its pipeline.
        let none: [ObjectIdentifier: HTTP2ClientHandler] = [:]
        let handlers = NIOLoopBoundBox.makeBoxSendingValue(none, eventLoop: eventLoop)
        return ClientBootstrap(group: eventLoop)
            .connectTimeout(self.configuration.connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.maxMessagesPerRead, value: 4)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(AddressGuardHandler(self.addresses))
                    let handler = HTTP2ClientHandler(
                        tls: try TLSSession.client(self.tls, serverName: name),
                        origin: self.origin,
                        serverName: name,
                        configuration: self.configuration,
                        eventLoop: channel.eventLoop
                    )
                    handlers.value[ObjectIdentifier(channel)] = handler
                    try pipeline.addHandler(handler)
                }
            }
            .connect(host: self.origin.host, port: self.origin.port)
            .flatMapErrorThrowing { throw self.failure($0) }
            .flatMap { channel in
                // Happy eyeballs makes a channel for every address; this is the one that connected first.
                guard let handler = handlers.value[ObjectIdentifier(channel)] else {
                    preconditionFailure("a channel that connects was made by the initializer")
                }
                let bound = NIOLoopBound(handler, eventLoop: eventLoop)
                return handler.isReady.map { (channel, bound) }.flatMapErrorThrowing { error in
                    channel.close(promise: nil)
                    throw error
                }
            }
    }

    private func failure(_ error: any Error) -> HTTPTransportError {
        let peer = "\(self.origin.host):\(self.origin.port)"
        switch error {
        case let error as HTTPTransportError:
            return error
        case let error as TLSError:
            return HTTPTransportError(.tls, "cannot begin TLS with \(peer): \(error.message)")
        case let error as NIOConnectionError:
            let refusals = error.connectionErrors.compactMap { $0.error as? HTTPTransportError }
            if let refusal = refusals.first, refusals.count == error.connectionErrors.count { return refusal }
            return HTTPTransportError(.connect, "cannot connect to \(peer): \(ConnectionFailure.sentence(error))")
        default:
            let code: HTTPTransportError.Code =
                if case ChannelError.connectTimeout = error { .connectTimeout } else { .connect }
            return HTTPTransportError(code, "cannot connect to \(peer): \(ConnectionFailure.sentence(error))")
        }
    }
}
