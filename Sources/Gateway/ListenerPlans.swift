import HTTP2
package import HTTPTransport
import NIOCore
import TLS
import WidgetModel

/// The listeners that a configuration asks for, certificates read and checked; nil for one that is off.
package struct ListenerPlans: Sendable {
    package let push: HTTPListenerConfiguration?
    package let host: HTTPListenerConfiguration?
    package let ops: HTTPListenerConfiguration?
    package let health: HTTPListenerConfiguration?

    package init(_ configuration: GatewayConfiguration) throws {
        let listeners = configuration.listeners
        // "http/1.1" is there to be answered: who chooses it reads that HTTP/2 is wanted.
        self.push = try Self.plan("push", listeners.push, configuration, alpn: ["h2", "http/1.1"]) { plan in
            plan.protocols = .http2
            plan.limits.bodyBytesMax = max(
                configuration.limits.deviceBodyBytesMax,
                configuration.limits.targetedBodyBytesMax
            )
        }
        self.host = try Self.plan("host", listeners.host, configuration, alpn: ["h2", "http/1.1"]) { plan in
            plan.protocols = .http2AndHTTP1
            plan.limits.bodyBytesMax = max(configuration.limits.hostBodyBytesMax, configuration.limits.importBytesMax)
        }
        self.ops = try Self.plan("ops", listeners.ops, configuration, alpn: ["h2", "http/1.1"]) { plan in
            plan.protocols = .http2AndHTTP1
            plan.limits.bodyBytesMax = configuration.limits.hostBodyBytesMax
        }
        self.health = try Self.plan("health", listeners.health, configuration, alpn: []) { _ in }
    }

    private static func plan(
        _ name: String,
        _ listener: GatewayConfiguration.Listener,
        _ configuration: GatewayConfiguration,
        alpn: [String],
        _ adjust: (inout HTTPListenerConfiguration) -> Void
    ) throws -> HTTPListenerConfiguration? {
        guard listener.isEnabled else { return nil }
        let context = alpn.isEmpty ? nil : try Self.context(listener, configuration, alpn: alpn)
        var plan = HTTPListenerConfiguration(
            name: name,
            address: listener.address,
            port: listener.port,
            tls: context
        )
        plan.limits.concurrentStreamsMax = UInt32(configuration.limits.concurrentStreamsMax)
        plan.limits.headerListBytesMax = configuration.limits.headerBytesMax
        plan.connectionsMax = configuration.limits.connectionsMax
        plan.deadlines.handshake = .milliseconds(configuration.timeouts.handshake.milliseconds)
        plan.deadlines.firstRequest = .milliseconds(configuration.timeouts.firstRequest.milliseconds)
        plan.deadlines.request = .milliseconds(configuration.timeouts.request.milliseconds)
        plan.deadlines.idle = .milliseconds(configuration.timeouts.idle.milliseconds)
        plan.deadlines.idleHTTP1 = .milliseconds(configuration.timeouts.idleHTTP1.milliseconds)
        plan.deadlines.writeStall = .milliseconds(configuration.timeouts.writeStall.milliseconds)
        plan.deadlines.keepAlive = .milliseconds(configuration.timeouts.keepAlive.milliseconds)
        plan.deadlines.keepAliveAnswer = .milliseconds(configuration.timeouts.keepAliveAnswer.milliseconds)
        adjust(&plan)
        return plan
    }

    private static func context(
        _ listener: GatewayConfiguration.Listener,
        _ configuration: GatewayConfiguration,
        alpn: [String]
    ) throws -> TLSContext {
        let files = configuration.tls(for: listener)
        return try TLSContext.server(
            TLSServerConfiguration(
                identity: TLSIdentity(certificateChain: .file(files.certificate), privateKey: .file(files.key)),
                alpn: alpn,
                missingALPN: listener.acceptsPriorKnowledge ? .acceptAsPriorKnowledge : .refuse,
                clientCertificate: files.clientAuthorities.map { .optional(trustRoots: .file($0)) } ?? .none
            )
        )
    }
}

/// Reads the files that a configuration names, as a start would, and opens nothing.
package enum GatewayCheck {
    /// - Throws: What is wrong with the first bad certificate or key.
    package static func files(of configuration: GatewayConfiguration) throws {
        _ = try SenderDirectory(configuration)
        _ = try ListenerPlans(configuration)
    }
}
