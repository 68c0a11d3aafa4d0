import APNSWire
import HTTP2
import HTTPTransport
import NIOCore
import Partitions
import Serving
import WidgetModel

extension PushHandler {
    /// The answers' fields that are handed back; the rest is between the upstream and this gateway.
    private static let answerFields: Set<String> = ["apns-id", "apns-unique-id", "content-type", "retry-after"]

    /// Sends a push of a type that is not handled here to the app's upstream and hands its answer back byte for byte.
    func relay(_ relayed: PushIntake.Relayed, _ push: borrowing PushContext, _ pending: PendingAnswer) {
        guard let relay = self.services.relay, let path = push.head.path else {
            return self.respond(RejectionAnswer(.invalidPushType), pending)
        }
        // Counted in the backlog: an upstream that is slow holds senders back.
        self.services.senderLimits.backlog.add(1)
        let bound = NIOLoopBound((handler: self, pending: pending), eventLoop: self.loop)
        let loop = self.loop
        relay.send(
            path: String(decoding: push.copy(of: path), as: UTF8.self),
            headers: push.relayedFields,
            body: Array(copying: push.body),
            from: relayed.sender,
            app: relayed.app.bundle
        ) { result in
            loop.execute {
                let (handler, pending) = bound.value
                handler.services.senderLimits.backlog.remove(1)
                switch result {
                case .success(let response):
                    handler.fields.removeAll()
                    for field in response.headers.all where Self.answerFields.contains(field.name) {
                        handler.fields.append(name: field.name, value: field.value, indexed: false)
                    }
                    handler.send(response.status, response.body, pending)
                case .failure(let answer):
                    handler.respond(answer, pending)
                }
                pending.connection.flush()
            }
        }
    }
}

extension PushContext {
    /// The fields that APNs documents, as they came.
    fileprivate var relayedFields: HTTPFields {
        let all = [
            ("authorization", self.head.authorization), ("apns-id", self.head.id), ("apns-topic", self.head.topic),
            ("apns-push-type", self.head.pushType), ("apns-priority", self.head.priority),
            ("apns-expiration", self.head.expiration), ("apns-collapse-id", self.head.collapseID),
        ]
        var fields = HTTPFields()
        for (name, range) in all {
            guard let range else { continue }
            fields.append(name, String(decoding: self.copy(of: range), as: UTF8.self))
        }
        if let trace { fields.append("traceparent", trace.context.traceparent) }
        return fields
    }
}
