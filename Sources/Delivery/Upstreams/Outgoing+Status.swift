import HTTPTransport
package import Ownership
package import Serving
import Synchronization
package import WidgetModel

extension Outgoing: DeliveryStatus {
    package func upstream(of app: BundleID) -> UpstreamView? {
        self.plans.upstreams[app].map { plan in
            UpstreamView(
                origin: plan.target.origin.description,
                relay: plan.relay,
                tokens: plan.tokens.map { .init(keyID: $0.keyID, minted: $0.minted, mintedAt: $0.mintedAt) }
            )
        }
    }

    package func webhookOrigin(of app: BundleID) -> String? {
        self.plans.webhooks[app].map { $0.target.origin.description }
    }

    package func figures() async -> DeliveryFigures {
        let stats = await self.deliverer.stats()
        var figures = DeliveryFigures(client: self.client.counters())
        figures.counters = stats.counters
        figures.waiting = stats.waiting
        figures.inWork = stats.inWork
        figures.tokensMinted = self.plans.tokens.reduce(0) { $0 + $1.tokens.minted }
        figures.relayed = self.relayed.answered.load(ordering: .relaxed)
        figures.relaysUnanswered = self.relayed.unanswered.load(ordering: .relaxed)
        return figures
    }

    package func targets() async -> [DeliveryTarget: TargetView] { await self.deliverer.targets() }

    package func receiptsOrigin(of app: BundleID) -> String? {
        self.plans.receipts[app].map { $0.target.origin.description }
    }

    package func receivers() async -> [BundleID: ReceiptView] { await self.receipts.views() }

    package func tryReceiversNow(_ apps: Set<BundleID>) async { await self.receipts.tryNow(apps) }

    package func tryNow(_ targets: Set<DeliveryTarget>) async { await self.deliverer.tryNow(targets) }
}
