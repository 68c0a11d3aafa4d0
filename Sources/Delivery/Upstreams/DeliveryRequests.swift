import APNSWire
package import Engine
package import HTTPTransport
import NIOCore
package import Ownership
import Partitions
import Serving
package import WidgetModel

/// The requests that deliveries are: a push to one token, or a POST to a webhook.
package enum DeliveryRequests {
    /// A push that reloads the widgets, or the control, of a token.
    ///
    /// Its expiration is the delivery's, so that the upstream does not keep a push that is no longer wanted; 0 where the upstream is not to
    /// keep it at all.
    ///
    /// - Parameters:
    ///   - id: The same for every try, by which an upstream recognises a repeat.
    ///   - token: The gateway's provider token; nil with a client certificate.
    package static func push(
        _ push: OutgoingPush,
        app: BundleID,
        id: PushID,
        token: String?,
        expiresAt: Instant,
        timeout: Interval
    ) -> HTTPClientRequest {
        let type = push.isControl ? PushType.controls : .widgets
        var headers: HTTPFields = [
            "apns-topic": Topic.of(app, type: type), "apns-push-type": type.name, "apns-id": id.description,
            "apns-expiration": push.mayWait ? String(expiresAt.seconds) : "0",
        ]
        if let token { headers.append("authorization", "bearer \(token)") }
        if let priority = push.priority { headers.append("apns-priority", String(priority.rawValue)) }
        if let collapseID = push.collapseID, let text = String(utf8: collapseID.bytes.span) {
            headers.append("apns-collapse-id", text)
        }
        headers.append("content-type", "application/json")
        return HTTPClientRequest(
            method: "POST",
            path: "/3/device/\(push.token.hex)",
            headers: headers,
            body: PushPayload.plain.jsonText,
            timeout: .milliseconds(timeout.milliseconds)
        )
    }

    /// A signed POST that tells of the reloads of one host.
    package static func webhook(
        _ webhook: DeliveryPlans.Webhook,
        _ reloads: [ReloadEffect],
        id: PushID,
        at now: Instant,
        timeout: Interval
    ) -> HTTPClientRequest {
        let body = JSONValue.object(of: [
            ("type", .string("reload")),
            ("reloads", .array(reloads.map { Views.reload($0) })),
        ])
        return Self.signed(body.jsonText, to: webhook, id: id, at: now, timeout: timeout)
    }

    /// A signed POST that tells an app's senders the outcomes of pushes.
    package static func receipts(
        _ receiver: DeliveryPlans.Webhook,
        _ request: ReceiptRequest,
        at now: Instant
    ) -> HTTPClientRequest {
        let body = JSONValue.object(of: [
            ("type", .string("receipts")),
            ("app", .string(request.app.rawValue)),
            ("receipts", .array(request.receipts.map { Views.receipt($0) })),
            ("mayMiss", request.mayMiss ? .bool(true) : nil),
        ])
        return Self.signed(body.jsonText, to: receiver, id: request.id, at: now, timeout: request.timeout)
    }

    private static func signed(
        _ body: [UInt8],
        to webhook: DeliveryPlans.Webhook,
        id: PushID,
        at now: Instant,
        timeout: Interval
    ) -> HTTPClientRequest {
        HTTPClientRequest(
            method: "POST",
            path: webhook.path,
            headers: [
                WebhookSignature.idHeader: id.description,
                WebhookSignature.header: WebhookSignature.value(
                    secret: webhook.secret,
                    id: id.description,
                    body: body,
                    at: now
                ),
                "content-type": "application/json",
            ],
            body: body,
            timeout: .milliseconds(timeout.milliseconds)
        )
    }
}

extension DeliveryPlans {
    /// A delivery as an HTTP request, and its target; nil if that is not configured any more.
    ///
    /// - Throws: If the provider token cannot be signed.
    package func request(
        for delivery: DeliveryRequest,
        now: Instant
    ) throws -> (request: HTTPClientRequest, target: HTTPTarget)? {
        switch delivery.target.kind {
        case .webhook:
            guard let webhook = self.webhooks[delivery.app] else { return nil }
            let request = DeliveryRequests.webhook(
                webhook,
                delivery.reloads,
                id: delivery.id,
                at: now,
                timeout: delivery.timeout
            )
            return (request, webhook.target)
        case .upstream:
            guard let upstream = self.upstreams[delivery.app] else { return nil }
            let request = DeliveryRequests.push(
                delivery.push,
                app: delivery.app,
                id: delivery.id,
                token: try upstream.tokens?.token(now: LogClock.wallTime()),
                expiresAt: delivery.expiresAt,
                timeout: delivery.timeout
            )
            return (request, upstream.target)
        }
    }
}
