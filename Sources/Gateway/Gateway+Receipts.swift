import Delivery
import HTTPTransport
import Partitions
import Settings
import WidgetModel

extension Gateway {
    /// What tells senders what became of their pushes.
    func makeReceipts(_ plans: LiveDeliveryPlans, _ client: HTTPClient) -> ReceiptSender {
        ReceiptSender(
            plans: plans,
            settings: self.configuration.deliveries,
            client: client,
            log: self.log,
            archive: self.stores.receipts,
            notes: self.stores.notes,
            delivers: self.delivers,
            clock: { [clock = self.clock] in clock.now() },
            logger: self.logs.logger(.deliveries)
        )
    }
}
