import APNSWire
import HTTP2
package import HTTPTransport
import HostAPI
import Ingest
import NIOCore
import OperatorAPI
import Serving
package import Settings
import WidgetModel

extension HTTPListenerConfiguration.Bounds {
    /// A configuration's bounds of connections, and how long they may take.
    ///
    /// - Parameter listener: Its name; its routes say which bodies it takes.
    package init(of listener: String, _ configuration: GatewayConfiguration) {
        let (limits, timeouts) = (configuration.limits, configuration.timeouts)
        self.init()
        self.limits = configuration.http2
        self.limits.concurrentStreamsMax = UInt32(limits.concurrentStreamsMax)
        self.limits.headerListBytesMax = limits.headerBytesMax
        self.limits.heldBytesMax = limits.connectionBytesMax
        let (hosts, pushes) = (HostRouteLimits(limits), PushIntakeLimits(configuration))
        self.limits.bodyBytesMax = Self.routes(of: listener).map { $0.body.bytesMax(hosts, pushes) }.max() ?? 0
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

    private static func routes(of listener: String) -> [RouteSummary] {
        switch listener {
        // Hosts' requests may come to the push listener, and targeted pushes to the hosts'.
        case "push", "host": PushHandler.routes + HostRoutes.routes
        case "manage": PushHandler.routes.filter { $0.body == .push(.channel) }
        case "ops": OperatorRoutes.routes
        default: HealthRoutes.routes
        }
    }
}
