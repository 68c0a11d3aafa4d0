package import Engine
package import HTTPTransport
package import Ownership
package import Settings
package import WidgetModel

/// How upstreams and webhooks do, as operators see it and can have them tried again.
package protocol DeliveryStatus: Sendable {
    /// Whether anything goes out at all.
    var delivers: Bool { get }
    /// Where an app's reloads go as pushes; nil if they do not.
    func upstream(of app: BundleID) -> UpstreamView?
    /// The origin of an app's webhook; nil if it has none.
    func webhookOrigin(of app: BundleID) -> String?
    /// The counts until now.
    func figures() async -> DeliveryFigures
    /// The health of each upstream and each webhook.
    func targets() async -> [DeliveryTarget: TargetView]
    /// Tries at once the deliveries that wait for some targets, and ends the pauses of these targets.
    func tryNow(_ targets: Set<DeliveryTarget>) async
    /// The origin of an app's receiver of receipts; nil if it has none.
    func receiptsOrigin(of app: BundleID) -> String?
    /// The health of each app's receiver of receipts.
    func receivers() async -> [BundleID: ReceiptView]
    /// Tries at once the receipts that wait for the receivers of some apps.
    func tryReceiversNow(_ apps: Set<BundleID>) async
}

/// An app's upstream.
package struct UpstreamView: Sendable {
    /// The gateway's own provider tokens.
    package struct Tokens: Sendable {
        package let keyID: KeyID
        /// How many were minted.
        package let minted: Int
        /// When the one in use was made, by wall time; nil if there is none.
        package let mintedAt: Instant?

        package init(keyID: KeyID, minted: Int, mintedAt: Instant?) {
            self.keyID = keyID
            self.minted = minted
            self.mintedAt = mintedAt
        }
    }

    package let origin: String
    package let relay: GatewayConfiguration.Upstream.Relay
    /// Nil if a client certificate speaks.
    package let tokens: Tokens?

    package init(origin: String, relay: GatewayConfiguration.Upstream.Relay, tokens: Tokens?) {
        self.origin = origin
        self.relay = relay
        self.tokens = tokens
    }
}

/// The counts of outgoing HTTP requests.
package struct DeliveryFigures: Sendable {
    /// By the way of delivering.
    package var counters: [HostDelivery: DeliveryCounters] = [:]
    package var waiting = 0
    package var inWork = 0
    package var tokensMinted = 0
    /// Pushes that an upstream answered, whatever it said.
    package var relayed = 0
    /// Pushes that the gateway answered with 503, because no upstream did.
    package var relaysUnanswered = 0
    package var client: HTTPClientCounters

    package init(client: HTTPClientCounters) {
        self.client = client
    }
}
