import FoundationEssentials
package import HTTPTransport
package import Ownership
package import Settings
package import TLS
package import WidgetModel

/// Where each app's reloads go by HTTP, with the credentials and certificates read.
package struct DeliveryPlans: Sendable {
    /// An app's APNs, or the gateway in its place.
    package struct Upstream: Sendable {
        package let target: HTTPTarget
        /// The source of the gateway's own provider tokens; nil if a client certificate speaks.
        package let tokens: UpstreamTokens?
        package let relay: GatewayConfiguration.Upstream.Relay
        /// Upstreams that get into trouble together, one team's at one origin, have the same.
        package let number: Int
    }

    /// An app's webhook for reloads, or for receipts.
    package struct Webhook: Sendable {
        package let target: HTTPTarget
        package let path: String
        package let secret: [UInt8]
    }

    package private(set) var upstreams: [BundleID: Upstream] = [:]
    package private(set) var webhooks: [BundleID: Webhook] = [:]
    /// Where senders are told the outcomes of their pushes, by app.
    package private(set) var receipts: [BundleID: Webhook] = [:]
    /// Every signing key once, by team and id, in the order of the configuration.
    package private(set) var tokens: [(team: TeamID, keyID: KeyID, digest: [UInt8], tokens: UpstreamTokens)] = []

    /// The values that two contexts have to share to be one.
    private struct ContextKey: Hashable {
        let authorities: String?
        let certificate: String?
        let certificateKey: String?
        /// Of the contents of these files.
        let digest: [UInt8]

        init(authorities: String?, certificate: String? = nil, certificateKey: String? = nil) {
            self.authorities = authorities
            self.certificate = certificate
            self.certificateKey = certificateKey
            self.digest = DeliveryPlans.digest([authorities, certificate, certificateKey])
        }
    }

    private var contexts: [ContextKey: TLSContext] = [:]

    /// Reads the keys, certificates and secrets that the configuration names.
    ///
    /// - Parameter before: Plans whose connections and provider tokens are kept where nothing has changed.
    /// - Throws: ``TLSError`` that names the file.
    package init(_ configuration: GatewayConfiguration, before: DeliveryPlans? = nil) throws(TLSError) {
        let networks = configuration.deliveries.allowedNetworks.compactMap { IPNetwork($0) }
        var nextNumber = (before?.upstreams.values.map(\.number).max() ?? -1) + 1
        for app in configuration.apps {
            if let upstream = app.upstream {
                let plan = try self.plan(upstream, of: app, configuration.deliveries, before, nextNumber)
                nextNumber = max(nextNumber, plan.number + 1)
                self.upstreams[app.bundleID] = plan
            }
            if let webhook = app.webhook {
                self.webhooks[app.bundleID] = try self.plan(webhook, networks, before)
            }
            if let receipts = app.receipts {
                self.receipts[app.bundleID] = try self.plan(receipts, networks, before)
            }
        }
    }

    /// Where each target's deliveries go.
    package var destinations: [DeliveryTarget: Destination] {
        var all: [DeliveryTarget: Destination] = [:]
        for (app, plan) in self.upstreams { all[DeliveryTarget(kind: .upstream, app: app)] = .upstream(plan.number) }
        for app in self.webhooks.keys { all[DeliveryTarget(kind: .webhook, app: app)] = .webhook(app) }
        return all
    }

    /// The destinations that are spoken to otherwise than by these plans before: at another place, over other connections or with
    /// other credentials.
    package func destinations(differentFrom before: DeliveryPlans) -> Set<Destination> {
        let upstreams = self.upstreams.filter { app, plan in
            guard let old = before.upstreams[app] else { return false }
            return old.tokens !== plan.tokens || !old.target.isSameConnections(as: plan.target)
        }
        let webhooks = self.webhooks.filter { app, plan in
            guard let old = before.webhooks[app] else { return false }
            return old.secret != plan.secret || old.path != plan.path || !old.target.isSameConnections(as: plan.target)
        }
        return Set(upstreams.values.map { .upstream($0.number) } + webhooks.keys.map { .webhook($0) })
    }

    private mutating func plan(
        _ upstream: GatewayConfiguration.Upstream,
        of app: GatewayConfiguration.App,
        _ deliveries: GatewayConfiguration.Deliveries,
        _ before: DeliveryPlans?,
        _ nextNumber: Int
    ) throws(TLSError) -> Upstream {
        let url = upstream.url ?? Self.apple(app.environment)
        guard let (origin, _) = HTTPOrigin.parse(url) else {
            throw TLSError(.configuration, "\(url) is not an https URL")
        }
        let key = ContextKey(
            authorities: upstream.authorities,
            certificate: upstream.certificate,
            certificateKey: upstream.certificateKey
        )
        let tokens = try self.tokens(upstream, of: app.team, deliveries, before)
        let target = HTTPTarget(origin, tls: try self.context(key, before), lane: app.team.rawValue)
        let known = Array(self.upstreams.values) + (before.map { Array($0.upstreams.values) } ?? [])
        let number = known.first { $0.target.isSameConnections(as: target) }?.number ?? nextNumber
        return Upstream(target: target, tokens: tokens, relay: upstream.relay, number: number)
    }

    private mutating func plan(
        _ webhook: GatewayConfiguration.Webhook,
        _ networks: [IPNetwork],
        _ before: DeliveryPlans?
    ) throws(TLSError) -> Webhook {
        guard let (origin, path) = HTTPOrigin.parse(webhook.url) else {
            throw TLSError(.configuration, "\(webhook.url) is not an https URL")
        }
        let key = ContextKey(authorities: webhook.authorities)
        return Webhook(
            target: HTTPTarget(
                origin,
                tls: try self.context(key, before),
                addresses: .publicOnly(allowed: networks),
                lane: "webhook"
            ),
            path: path,
            secret: try Self.secret(webhook.secretFile)
        )
    }

    /// One token for all apps of a team that are signed for with the same key.
    private mutating func tokens(
        _ upstream: GatewayConfiguration.Upstream,
        of team: TeamID,
        _ deliveries: GatewayConfiguration.Deliveries,
        _ before: DeliveryPlans?
    ) throws(TLSError) -> UpstreamTokens? {
        guard let file = upstream.key, let keyID = upstream.keyID else { return nil }
        if let known = self.tokens.first(where: { $0.team == team && $0.keyID == keyID }) { return known.tokens }
        let digest = Self.digest([file])
        // Apple refuses tokens that are renewed too often: the same key goes on with its own.
        if let kept = before?.tokens.first(where: { $0.team == team && $0.keyID == keyID && $0.digest == digest }) {
            kept.tokens.setLimit(age: deliveries.tokenAge)
            self.tokens.append(kept)
            return kept.tokens
        }
        var window = UpstreamTokens.Window()
        window.age = deliveries.tokenAge
        let key = try ES256PrivateKey(pem: .file(file), what: "upstream key \(keyID)")
        let tokens = UpstreamTokens(keyID: keyID, team: team, key: key, window: window)
        self.tokens.append((team, keyID, digest, tokens))
        return tokens
    }

    private mutating func context(_ key: ContextKey, _ before: DeliveryPlans?) throws(TLSError) -> TLSContext {
        if let known = self.contexts[key] { return known }
        if let kept = before?.contexts[key] {
            self.contexts[key] = kept
            return kept
        }
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

    /// Of the contents of files. A file that cannot be read counts as empty here, and is reported where it is read.
    private static func digest(_ files: [String?]) -> [UInt8] {
        var all: [UInt8] = []
        for file in files {
            let contents = file.flatMap { try? Data(contentsOf: URL(filePath: $0)) } ?? Data()
            all += Digests.sha256(Array(contents).span)
        }
        return all
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
