import HTTPTransport
import WidgetModel

extension Gateway {
    /// What tells senders what became of their pushes.
    func makeReceipts(_ plans: LiveDeliveryPlans, _ client: HTTPClient, _ log: CommandLog) -> ReceiptSender {
        ReceiptSender(
            plans: plans,
            settings: self.configuration.deliveries,
            client: client,
            log: log,
            archive: self.receiptArchive,
            delivers: self.delivers,
            clock: { self.clock.now() },
            logger: self.logs.logger(.deliveries)
        )
    }
}
