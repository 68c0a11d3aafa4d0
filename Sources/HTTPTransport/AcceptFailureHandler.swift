import Logging
import NIOCore

/// Waits when the system cannot give a connection, or the listener's allowance is used up, before it asks again, and counts
/// that.
///
/// The connection stays in the kernel's queue, and without the wait the loop would do nothing but ask. NIO's own
/// `AcceptBackoffHandler` only holds reads back; an accept that fails at once leaves the listener registered for them, and
/// the loop spins. So reading is turned off here for the time, which takes the registration away.
final class AcceptFailureHandler: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let loop: ListenerLoop
    private var warnedAt: UInt32?

    /// Seconds between two lines in the log.
    private static let warningSeconds: UInt32 = 10

    init(loop: ListenerLoop) {
        self.loop = loop
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let allowance = self.loop.configuration.allowance
        allowance.takeOne()
        self.unwrapInboundIn(data).closeFuture.whenComplete { _ in allowance.giveBack() }
        context.fireChannelRead(data)
        if allowance.isUsedUp { self.holdBack(context.channel, "as many connections are open as descriptors allow") }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.holdBack(context.channel, ConnectionFailure.sentence(error))
    }

    private func holdBack(_ listener: any Channel, _ reason: String) {
        self.loop.counters.acceptsFailed += 1
        // A listener that is about to close wants no more connections: a failure changes nothing.
        try? listener.syncOptions?.setOption(.autoRead, value: false)
        self.resumeLater(listener)
        let second = self.loop.second
        guard self.warnedAt.map({ second &- $0 >= Self.warningSeconds }) ?? true else { return }
        self.warnedAt = second
        self.loop.shared.logger.warning(
            "no connection can be accepted; raise the limit of open files (LimitNOFILE) or lower limits.maxConnections",
            metadata: ["listener": "\(self.loop.configuration.name)", "error": "\(reason)"]
        )
    }

    private func resumeLater(_ channel: any Channel) {
        let bound = NIOLoopBound((handler: self, listener: channel), eventLoop: channel.eventLoop)
        channel.eventLoop.scheduleTask(in: self.loop.configuration.acceptBackoff) {
            let (handler, listener) = bound.value
            if listener.isActive, handler.loop.configuration.allowance.isUsedUp { return handler.resumeLater(listener) }
            try? listener.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}
