import APNSWire
import HTTP2
import HTTPTransport
import NIOCore
import WidgetModel

extension PushHandler {
    /// The answers' fields that are handed back; the rest is between the upstream and this gateway.
    private static let answerFields: Set<String> = ["apns-id", "apns-unique-id", "content-type", "retry-after"]

    /// The fields that APNs documents, as they came.
    private static func fields(of head: PushRequestHead, _ bytes: Span<UInt8>, _ trace: TracedSpan?) -> HTTPFields {
        let all = [
            ("authorization", head.authorization), ("apns-id", head.id), ("apns-topic", head.topic),
            ("apns-push-type", head.pushType), ("apns-priority", head.priority), ("apns-expiration", head.expiration),
            ("apns-collapse-id", head.collapseID),
        ]
        var fields = HTTPFields()
        for (name, range) in all {
            guard let range else { continue }
            fields.append(name, String(decoding: Array(copying: bytes.extracting(range.bounds)), as: UTF8.self))
        }
        if let trace { fields.append("traceparent", trace.context.traceparent) }
        return fields
    }

    /// Sends a push of a type that is not handled here to the app's upstream and hands its answer back byte for byte.
    func relay(
        _ relayed: PushIntake.Relayed,
        _ request: RequestBatch.Request,
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ connection: HTTPConnection,
        _ trace: TracedSpan?
    ) {
        let streamID = request.streamID
        let id = relayed.id
        guard let relay = self.services.relay, let path = head.path else {
            let answer = RejectionAnswer(.invalidPushType)
            trace?.end(status: answer.status, errorsFrom: 500)
            return self.respond(answer, id, connection, streamID)
        }
        // Counted among what waits: an upstream that is slow holds senders back.
        self.services.senderLimits.backlog.add(1)
        let bound = NIOLoopBound((handler: self, connection: connection), eventLoop: self.loop)
        let loop = self.loop
        relay.send(
            path: String(decoding: Array(copying: bytes.extracting(path.bounds)), as: UTF8.self),
            headers: Self.fields(of: head, bytes, trace),
            body: Array(copying: bytes.extracting(request.body.indices)),
            from: relayed.sender,
            app: relayed.app.bundle
        ) { result in
            loop.execute {
                let (handler, connection) = bound.value
                handler.services.senderLimits.backlog.remove(1)
                switch result {
                case .success(let response):
                    trace?.end(status: response.status, errorsFrom: 500)
                    handler.fields.removeAll()
                    for field in response.headers.all where Self.answerFields.contains(field.name) {
                        handler.fields.append(name: field.name, value: field.value, indexed: false)
                    }
                    connection.respond(
                        streamID,
                        status: response.status,
                        fields: handler.fields,
                        body: response.body.span
                    )
                case .failure(let answer):
                    trace?.end(status: answer.status, errorsFrom: 500)
                    handler.respond(answer, id, connection, streamID)
                }
                connection.flush()
            }
        }
    }
}
