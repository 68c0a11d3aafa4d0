import Delivery
package import HTTPTransport
import Serving
package import Settings
package import TLS

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
        /// As it was read at the start.
        package let context: TLSContext
    }

    package init(_ configuration: GatewayConfiguration) throws {
        let listeners = configuration.listeners.opened
        let allowance = DescriptorLimit.current?.allowance(open: DescriptorLimit.open) ?? ConnectionAllowance(max: nil)
        let push = try Self.certificate("push", listeners.push, configuration)
        self.push = Self.plan("push", listeners.push, configuration, push, allowance)
        let manage = try Self.certificate("manage", listeners.manage, configuration)
        self.manage = Self.plan("manage", listeners.manage, configuration, manage, allowance)
        let host = try Self.certificate("host", listeners.host, configuration)
        self.host = Self.plan("host", listeners.host, configuration, host, allowance)
        let ops = try Self.certificate("ops", listeners.ops, configuration)
        // Operators are to get in also when others do not.
        self.ops = Self.plan("ops", listeners.ops, configuration, ops, ConnectionAllowance(max: nil))
        self.health = Self.plan("health", listeners.health, configuration, nil, ConnectionAllowance(max: nil))
        self.certificates = [push, manage, host, ops].compactMap { $0 }
    }

    private static func plan(
        _ name: String,
        _ listener: GatewayConfiguration.Listener,
        _ configuration: GatewayConfiguration,
        _ certificate: Certificate?,
        _ allowance: ConnectionAllowance
    ) -> HTTPListenerConfiguration? {
        guard listener.isEnabled else { return nil }
        var plan = HTTPListenerConfiguration(
            name: name,
            address: listener.address,
            port: listener.port,
            tls: certificate?.context
        )
        plan.allowance = allowance
        let takesHTTP1 = name == "push" ? configuration.listeners.isMerged : name != "manage"
        plan.protocols = takesHTTP1 ? .http2AndHTTP1 : .http2
        plan.bounds = HTTPListenerConfiguration.Bounds(of: name, configuration)
        return plan
    }

    private static func certificate(
        _ name: String,
        _ listener: GatewayConfiguration.Listener,
        _ configuration: GatewayConfiguration
    ) throws(TLSError) -> Certificate? {
        guard listener.isEnabled else { return nil }
        return Certificate(listener: name, context: try TLSContext.server(configuration, listener))
    }
}

extension TLSContext {
    /// Reads the files of a listener's certificate.
    static func server(
        _ configuration: GatewayConfiguration,
        _ listener: GatewayConfiguration.Listener
    ) throws(TLSError) -> TLSContext {
        let files = configuration.tls(for: listener)
        return try TLSContext.server(
            TLSServerConfiguration(
                identity: TLSIdentity(certificateChain: .file(files.certificate), privateKey: .file(files.key)),
                // The push listener offers "http/1.1" only to answer it: a client that chooses it reads that HTTP/2 is
                // wanted.
                alpn: ["h2", "http/1.1"],
                missingALPN: listener.acceptsPriorKnowledge ? .acceptAsPriorKnowledge : .refuse,
                clientCertificate: files.clientAuthorities.map { .optional(trustRoots: .file($0)) } ?? .none
            )
        )
    }
}

/// Reads the files that a configuration names, as a start would, and opens nothing.
package enum GatewayCheck {
    /// - Throws: The fault of the first bad certificate or key.
    package static func files(of configuration: GatewayConfiguration) throws {
        _ = try SenderDirectory(configuration)
        _ = try ListenerPlans(configuration)
        _ = try DeliveryPlans(configuration)
    }
}
