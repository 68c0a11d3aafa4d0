import APNSWire
import HTTP2
package import HTTPTransport
import NIOCore
package import TLS
import WidgetModel

/// The listeners that a configuration asks for, certificates read and checked; nil for one that is off.
package struct ListenerPlans: Sendable {
    package let push: HTTPListenerConfiguration?
    package let manage: HTTPListenerConfiguration?
    package let host: HTTPListenerConfiguration?
    package let ops: HTTPListenerConfiguration?
    package let health: HTTPListenerConfiguration?
    /// The certificates of the listeners with TLS, in the order push, manage, host, ops.
    package let certificates: [Certificate]

    /// Where a listener has its certificate from.
    package struct Certificate: Sendable {
        /// The listener's name in the configuration.
        package let listener: String
        package let files: GatewayConfiguration.TLSFiles
        /// As it was read at the start.
        package let context: TLSContext
        /// Reads the files again.
        package let load: @Sendable () throws(TLSError) -> TLSContext
    }

    package init(_ configuration: GatewayConfiguration) throws {
        let listeners = configuration.listeners
        let allowance = DescriptorLimit.current?.allowance(open: DescriptorLimit.open) ?? ConnectionAllowance(max: nil)
        let push = try Self.certificate("push", listeners.push, configuration)
        self.push = Self.plan("push", listeners.push, configuration, push) { plan in
            plan.allowance = allowance
            plan.protocols = .http2
            plan.limits.bodyBytesMax = max(
                configuration.limits.deviceBodyBytesMax,
                configuration.limits.targetedBodyBytesMax,
                ChannelValidation.bodyBytesMax
            )
        }
        let manage = try Self.certificate("manage", listeners.manage, configuration)
        self.manage = Self.plan("manage", listeners.manage, configuration, manage) { plan in
            plan.allowance = allowance
            plan.protocols = .http2
            plan.limits.bodyBytesMax = ChannelValidation.bodyBytesMax
        }
        let host = try Self.certificate("host", listeners.host, configuration)
        self.host = Self.plan("host", listeners.host, configuration, host) { plan in
            plan.allowance = allowance
            plan.protocols = .http2AndHTTP1
            plan.limits.bodyBytesMax = max(configuration.limits.hostBodyBytesMax, configuration.limits.importBytesMax)
        }
        let ops = try Self.certificate("ops", listeners.ops, configuration)
        self.ops = Self.plan("ops", listeners.ops, configuration, ops) { plan in
            plan.protocols = .http2AndHTTP1
            plan.limits.bodyBytesMax = configuration.limits.hostBodyBytesMax
        }
        self.health = Self.plan("health", listeners.health, configuration, nil) { _ in }
        self.certificates = [push, manage, host, ops].compactMap { $0 }
    }

    private static func plan(
        _ name: String,
        _ listener: GatewayConfiguration.Listener,
        _ configuration: GatewayConfiguration,
        _ certificate: Certificate?,
        _ adjust: (inout HTTPListenerConfiguration) -> Void
    ) -> HTTPListenerConfiguration? {
        guard listener.isEnabled else { return nil }
        var plan = HTTPListenerConfiguration(
            name: name,
            address: listener.address,
            port: listener.port,
            tls: certificate?.context
        )
        plan.limits = configuration.http2
        plan.limits.concurrentStreamsMax = UInt32(configuration.limits.concurrentStreamsMax)
        plan.limits.headerListBytesMax = configuration.limits.headerBytesMax
        plan.limits.heldBytesMax = configuration.limits.connectionBytesMax
        plan.connectionsMax = configuration.limits.connectionsMax
        plan.connectionsPerAddressMax = configuration.limits.connectionsPerAddressMax
        plan.handshakesMax = configuration.limits.handshakesMax
        plan.heldBytesMax = configuration.limits.listenerBytesMax
        plan.deadlines.handshake = .milliseconds(configuration.timeouts.handshake.milliseconds)
        plan.deadlines.firstRequest = .milliseconds(configuration.timeouts.firstRequest.milliseconds)
        plan.deadlines.headers = .milliseconds(configuration.timeouts.headers.milliseconds)
        plan.deadlines.request = .milliseconds(configuration.timeouts.request.milliseconds)
        plan.deadlines.idle = .milliseconds(configuration.timeouts.idle.milliseconds)
        plan.deadlines.idleHTTP1 = .milliseconds(configuration.timeouts.idleHTTP1.milliseconds)
        plan.deadlines.writeStall = .milliseconds(configuration.timeouts.writeStall.milliseconds)
        plan.deadlines.keepAlive = .milliseconds(configuration.timeouts.keepAlive.milliseconds)
        plan.deadlines.keepAliveAnswer = .milliseconds(configuration.timeouts.keepAliveAnswer.milliseconds)
        adjust(&plan)
        return plan
    }

    private static func certificate(
        _ name: String,
        _ listener: GatewayConfiguration.Listener,
        _ configuration: GatewayConfiguration
    ) throws(TLSError) -> Certificate? {
        guard listener.isEnabled else { return nil }
        let files = configuration.tls(for: listener)
        let missingALPN: TLSServerConfiguration.MissingALPN =
            listener.acceptsPriorKnowledge ? .acceptAsPriorKnowledge : .refuse
        let load: @Sendable () throws(TLSError) -> TLSContext = { () throws(TLSError) in
            try TLSContext.server(
                TLSServerConfiguration(
                    identity: TLSIdentity(certificateChain: .file(files.certificate), privateKey: .file(files.key)),
                    // On the push listener "http/1.1" is there to be answered: who chooses it reads what is wanted.
                    alpn: ["h2", "http/1.1"],
                    missingALPN: missingALPN,
                    clientCertificate: files.clientAuthorities.map { .optional(trustRoots: .file($0)) } ?? .none
                )
            )
        }
        return Certificate(listener: name, files: files, context: try load(), load: load)
    }
}

/// Reads the files that a configuration names, as a start would, and opens nothing.
package enum GatewayCheck {
    /// - Throws: What is wrong with the first bad certificate or key.
    package static func files(of configuration: GatewayConfiguration) throws {
        _ = try SenderDirectory(configuration)
        _ = try ListenerPlans(configuration)
        _ = try DeliveryPlans(configuration)
    }
}
