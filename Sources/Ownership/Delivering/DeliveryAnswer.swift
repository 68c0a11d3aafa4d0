package import WidgetModel

/// The result of a request.
package enum DeliveryAnswer: Hashable, Sendable {
    case response(DeliveryResponse)
    /// No answer came, or none that can be read.
    case failure(DeliveryFailure)
}

/// The parts of an HTTP answer that decide about a delivery.
package struct DeliveryResponse: Hashable, Sendable {
    package let status: Int
    /// The `apns-id` header.
    package let id: String?
    /// The wait in `retry-after`, at most a day; nil without one.
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
    /// The failure, always in the same words.
    package let reason: String
    /// The message of the layer below.
    package let detail: String

    package init(isFinal: Bool, reason: String, detail: String) {
        self.isFinal = isFinal
        self.reason = reason
        self.detail = detail
    }
}
