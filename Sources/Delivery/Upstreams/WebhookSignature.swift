import TLS
package import WidgetModel

/// The proof to the receiver of a webhook that it comes from this gateway, and when it was sent.
///
/// The header `freshet-signature` is `t=<UNIX seconds>,v1=<hex>`: HMAC-SHA256 with the webhook's secret over the seconds, a
/// dot, the value of `freshet-id`, a dot, and the body as sent. A receiver recomputes it, compares in constant time,
/// and refuses a webhook that is older than some minutes.
package enum WebhookSignature {
    package static let header = "freshet-signature"
    package static let idHeader = "freshet-id"

    package static func value(secret: [UInt8], id: String, body: [UInt8], at instant: Instant) -> String {
        let seconds = String(instant.seconds)
        let message = Array(seconds.utf8) + [UInt8(ascii: ".")] + Array(id.utf8) + [UInt8(ascii: ".")] + body
        let digest = Digests.hmacSHA256(key: secret.span, message: message.span)
        return "t=\(seconds),v1=\(Base16.text(of: digest))"
    }
}
