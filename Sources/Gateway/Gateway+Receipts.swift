import Delivery
import HTTPTransport
import Partitions
import Settings
import WidgetModel

extension Gateway {
    /// The part that tells senders the outcomes of their pushes.
    func makeReceipts(_ plans: LiveDeliveryPlans, _ client: HTTPClient) -> ReceiptSender {
        ReceiptSender(
            plans: plans,
            settings: self.configuration.deliveries,
            client: client,
            log: self.log,
            store: self.stores.notes.map { .notes($0) } ?? .archive(self.stores.receipts),
            delivers: self.delivers,
            clock: { [clock = self.clock] in clock.now() },
            logger: self.logs.logger(.deliveries)
        )
    }
}
