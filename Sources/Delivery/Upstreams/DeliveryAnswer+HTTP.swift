package import HTTPTransport
package import Ownership
package import WidgetModel

extension DeliveryResponse {
    package init(_ response: HTTPClientResponse) {
        self.init(
            status: response.status,
            id: response.headers["apns-id"],
            retryAfter: response.retryAfter,
            body: response.body
        )
    }
}

extension DeliveryFailure {
    package init(_ error: any Error) {
        guard let error = error as? HTTPTransportError else {
            self.init(isFinal: false, reason: "no answer", detail: "\(error)")
            return
        }
        let isFinal =
            switch error.code {
            case .request, .responseTooLarge, .addressRefused: true
            default: false
            }
        self.init(isFinal: isFinal, reason: error.code.words, detail: error.message)
    }
}

extension TargetHealth.Answer {
    /// No answer came.
    package init(_ error: any Error, at instant: Instant) {
        let failure = DeliveryFailure(error)
        self.init(.failure, status: nil, reason: failure.reason, detail: failure.detail, at: instant)
    }
}

extension HTTPTransportError.Code {
    /// The fault in words, without the details that differ from one time to the next.
    var words: String {
        switch self {
        case .listen: "no address"
        case .connect, .connectTimeout: "no connection"
        case .tls: "TLS failed"
        case .applicationProtocol: "no HTTP/2"
        case .connectionClosed: "connection lost"
        case .goAway: "GOAWAY"
        case .streamReset: "stream reset"
        case .responseTooLarge: "answer too large"
        case .timeout: "no answer in time"
        case .queueFull: "queue full"
        case .addressRefused: "address not allowed"
        case .request: "request cannot be sent"
        }
    }
}
