import HTTPTransport
import NIOCore
import NIOPosix
import TLS

/// Makes the generator's connections, all on one event loop.
struct LoadDialer {
    let target: LoadTarget
    let eventLoop: any EventLoop

    /// Connects to a listener; the owner is told when the server's SETTINGS have come, and when it ends.
    ///
    /// - Parameters:
    ///   - index: The number by which the owner knows it.
    ///   - streams: Requests at once on it.
    ///   - failed: Called with the reason if there is no connection; the owner is told nothing then.
    func dial(
        _ listener: Lane.Listener,
        index: Int,
        streams: Int,
        owner: any LoadConnectionOwner,
        failed: @escaping (String) -> Void
    ) -> LoadConnection? {
        let connection: LoadConnection
        do {
            let tls = try TLSSession.client(self.target.tls, serverName: self.target.serverName)
            connection = LoadConnection(index: index, tls: tls, streams: streams, owner: owner)
        } catch {
            failed(ConnectionFailure.sentence(error))
            return nil
        }
        let port = listener == .push ? self.target.pushPort : self.target.hostPort ?? self.target.pushPort
        let bound = NIOLoopBound(connection, eventLoop: self.eventLoop)
        let failure = NIOLoopBound(failed, eventLoop: self.eventLoop)
        ClientBootstrap(group: self.eventLoop)
            .connectTimeout(.seconds(10))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.maxMessagesPerRead, value: 4)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(bound.value) }
            }
            .connect(host: self.target.address, port: port)
            .whenFailure { error in failure.value(ConnectionFailure.sentence(error)) }
        return connection
    }
}
