import APNSWire
import HTTP2
package import HTTPTransport
import NIOCore
package import Settings
import WidgetModel

extension HTTPListenerConfiguration {
    /// Takes over a configuration's bounds of connections, and how long they may take; which bodies are taken depends on the
    /// listener's name.
    package mutating func useBounds(of configuration: GatewayConfiguration) {
        let (limits, timeouts) = (configuration.limits, configuration.timeouts)
        let bodyBytesMax = self.limits.bodyBytesMax
        self.limits = configuration.http2
        self.limits.concurrentStreamsMax = UInt32(limits.concurrentStreamsMax)
        self.limits.headerListBytesMax = limits.headerBytesMax
        self.limits.heldBytesMax = limits.connectionBytesMax
        self.limits.bodyBytesMax =
            switch self.name {
            case "push":
                max(
                    limits.deviceBodyBytesMax,
                    limits.targetedBodyBytesMax,
                    limits.bulkBytesMax,
                    ChannelValidation.bodyBytesMax
                )
            case "manage": ChannelValidation.bodyBytesMax
            case "host": max(limits.hostBodyBytesMax, limits.importBytesMax, limits.bulkBytesMax)
            case "ops": limits.hostBodyBytesMax
            case "health": limits.unreadBodyBytesMax
            default: bodyBytesMax
            }
        self.connectionsMax = limits.connectionsMax
        self.connectionsPerAddressMax = limits.connectionsPerAddressMax
        self.handshakesMax = limits.handshakesMax
        self.heldBytesMax = limits.listenerBytesMax
        self.badCredentialsMax = limits.badCredentialsMax
        self.badCredentialsPerSecond = limits.badCredentialsPerSecond
        self.deadlines.handshake = .milliseconds(timeouts.handshake.milliseconds)
        self.deadlines.firstRequest = .milliseconds(timeouts.firstRequest.milliseconds)
        self.deadlines.headers = .milliseconds(timeouts.headers.milliseconds)
        self.deadlines.request = .milliseconds(timeouts.request.milliseconds)
        self.deadlines.idle = .milliseconds(timeouts.idle.milliseconds)
        self.deadlines.idleHTTP1 = .milliseconds(timeouts.idleHTTP1.milliseconds)
        self.deadlines.writeStall = .milliseconds(timeouts.writeStall.milliseconds)
        self.deadlines.keepAlive = .milliseconds(timeouts.keepAlive.milliseconds)
        self.deadlines.keepAliveAnswer = .milliseconds(timeouts.keepAliveAnswer.milliseconds)
    }
}
