package import WidgetModel

/// What came of a request.
package enum DeliveryAnswer: Hashable, Sendable {
    case response(DeliveryResponse)
    /// No answer came, or none that can be read.
    case failure(DeliveryFailure)
}

/// An HTTP answer, as far as it says what becomes of a delivery.
package struct DeliveryResponse: Hashable, Sendable {
    package let status: Int
    /// The `apns-id` header.
    package let id: String?
    /// What `retry-after` asks for; nil if it asks for nothing.
    package let retryAfter: Interval?
    package let body: [UInt8]

    package init(status: Int, id: String? = nil, retryAfter: Interval? = nil, body: [UInt8] = []) {
        self.status = status
        self.id = id
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// Why no answer came, or none that can be read.
package struct DeliveryFailure: Hashable, Sendable {
    /// Whether every other try would fail in the same way.
    package let isFinal: Bool
    /// What failed, in words that are the same each time.
    package let reason: String
    /// What the layer below said.
    package let detail: String

    package init(isFinal: Bool, reason: String, detail: String) {
        self.isFinal = isFinal
        self.reason = reason
        self.detail = detail
    }
}
