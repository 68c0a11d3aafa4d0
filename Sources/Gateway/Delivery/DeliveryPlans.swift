import FoundationEssentials
package import HTTPTransport
package import TLS
package import WidgetModel

/// Where each app's reloads go by HTTP, with the credentials and certificates read.
package struct DeliveryPlans: Sendable {
    /// An app's APNs, or the gateway in its place.
    package struct Upstream: Sendable {
        package let target: HTTPTarget
        /// What the gateway's own provider tokens come from; nil if a client certificate speaks.
        package let tokens: UpstreamTokens?
        package let relay: GatewayConfiguration.Upstream.Relay
        /// Upstreams that get into trouble together: one team's at one origin.
        package let lane: Int
    }

    /// An app's webhook.
    package struct Webhook: Sendable {
        package let target: HTTPTarget
        package let path: String
        package let secret: [UInt8]
        package let lane: Int
    }

    package private(set) var upstreams: [BundleID: Upstream] = [:]
    package private(set) var webhooks: [BundleID: Webhook] = [:]
    /// Every signing key once, by team and id, in the order of the configuration.
    package private(set) var tokens: [(team: TeamID, keyID: KeyID, tokens: UpstreamTokens)] = []

    /// What two contexts have to agree on to be one.
    private struct ContextKey: Hashable {
        let authorities: String?
        let certificate: String?
        let certificateKey: String?
    }

    private var contexts: [ContextKey: TLSContext] = [:]

    /// Reads the keys, certificates and secrets that the configuration names.
    ///
    /// - Throws: ``TLSError`` that names the file.
    package init(_ configuration: GatewayConfiguration) throws(TLSError) {
        let networks = configuration.deliveries.allowedNetworks.compactMap { IPNetwork($0) }
        for (number, app) in configuration.apps.enumerated() {
            if let upstream = app.upstream {
                self.upstreams[app.bundleID] = try self.plan(upstream, of: app, configuration.deliveries)
            }
            if let webhook = app.webhook {
                // Lanes of upstreams are numbered from zero, those of webhooks downwards: they never meet.
                self.webhooks[app.bundleID] = try self.plan(webhook, lane: -1 - number, networks)
            }
        }
    }

    private mutating func plan(
        _ upstream: GatewayConfiguration.Upstream,
        of app: GatewayConfiguration.App,
        _ deliveries: GatewayConfiguration.Deliveries
    ) throws(TLSError) -> Upstream {
        let url = upstream.url ?? Self.apple(app.environment)
        guard let (origin, _) = HTTPOrigin.parse(url) else {
            throw TLSError(.configuration, "\(url) is no https URL")
        }
        let key = ContextKey(
            authorities: upstream.authorities,
            certificate: upstream.certificate,
            certificateKey: upstream.certificateKey
        )
        let tokens = try self.tokens(upstream, of: app.team, deliveries)
        let target = HTTPTarget(origin, tls: try self.context(key), lane: app.team.rawValue)
        let lane = self.upstreams.values.first { $0.target.isSameConnections(as: target) }?.lane ?? self.upstreams.count
        return Upstream(target: target, tokens: tokens, relay: upstream.relay, lane: lane)
    }

    private mutating func plan(
        _ webhook: GatewayConfiguration.Webhook,
        lane: Int,
        _ networks: [IPNetwork]
    ) throws(TLSError) -> Webhook {
        guard let (origin, path) = HTTPOrigin.parse(webhook.url) else {
            throw TLSError(.configuration, "\(webhook.url) is no https URL")
        }
        let key = ContextKey(authorities: webhook.authorities, certificate: nil, certificateKey: nil)
        return Webhook(
            target: HTTPTarget(
                origin,
                tls: try self.context(key),
                addresses: .publicOnly(allowed: networks),
                lane: "webhook"
            ),
            path: path,
            secret: try Self.secret(webhook.secretFile),
            lane: lane
        )
    }

    /// One token for all apps of a team that are signed for with the same key.
    private mutating func tokens(
        _ upstream: GatewayConfiguration.Upstream,
        of team: TeamID,
        _ deliveries: GatewayConfiguration.Deliveries
    ) throws(TLSError) -> UpstreamTokens? {
        guard let file = upstream.key, let keyID = upstream.keyID else { return nil }
        if let known = self.tokens.first(where: { $0.team == team && $0.keyID == keyID }) { return known.tokens }
        var window = UpstreamTokens.Window()
        window.age = deliveries.tokenAge
        let key = try ES256PrivateKey(pem: .file(file), what: "upstream key \(keyID)")
        let tokens = UpstreamTokens(keyID: keyID, team: team, key: key, window: window)
        self.tokens.append((team, keyID, tokens))
        return tokens
    }

    private mutating func context(_ key: ContextKey) throws(TLSError) -> TLSContext {
        if let known = self.contexts[key] { return known }
        var identity: TLSIdentity?
        if let certificate = key.certificate, let privateKey = key.certificateKey {
            identity = TLSIdentity(certificateChain: .file(certificate), privateKey: .file(privateKey))
        }
        let context = try TLSContext.client(
            TLSClientConfiguration(
                trust: key.authorities.map { .roots(.file($0)) } ?? .system,
                identity: identity,
                alpn: ["h2"]
            )
        )
        self.contexts[key] = context
        return context
    }

    private static func secret(_ file: String) throws(TLSError) -> [UInt8] {
        guard let data = try? Data(contentsOf: URL(filePath: file)) else {
            throw TLSError(.configuration, "webhook secret \(file): cannot be read")
        }
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        return Array(data.filter { !isSpace($0) })
    }

    /// Apple, "Sending notification requests to APNs".
    private static func apple(_ environment: GatewayConfiguration.App.Environment) -> String {
        switch environment {
        case .production: "https://api.push.apple.com"
        case .development: "https://api.sandbox.push.apple.com"
        }
    }
}
