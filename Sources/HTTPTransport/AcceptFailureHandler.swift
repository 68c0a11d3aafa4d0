import Logging
import NIOCore

/// Counts connections that the system could not give.
///
/// It stands behind NIO's `AcceptBackoffHandler`, which waits before it asks again: the connection stays in the kernel's
/// queue, and without the wait the loop would do nothing but ask.
final class AcceptFailureHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let loop: ListenerLoop
    private var warnedAt: UInt32?

    /// Seconds between two lines in the log.
    private static let warningSeconds: UInt32 = 10

    init(loop: ListenerLoop) {
        self.loop = loop
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.loop.counters.acceptsFailed += 1
        let second = self.loop.second
        guard self.warnedAt.map({ second &- $0 >= Self.warningSeconds }) ?? true else { return }
        self.warnedAt = second
        self.loop.shared.logger.warning(
            "no connection can be accepted; raise the limit of open files (LimitNOFILE) or lower limits.maxConnections",
            metadata: ["listener": "\(self.loop.configuration.name)", "error": "\(error)"]
        )
    }
}
