import APNSWire
import HTTP2
import HTTPTransport

/// How many streams a connection may have open, where apps ask for what APNs does.
///
/// Sources: Apple, "Sending notification requests to APNs" (one stream before the first good token) and "Handling
/// notification responses from APNs" (answers of 400 to 499 slow a connection down, 410 does not); how far is not
/// documented: what was seen is 1.
extension PushHandler {
    /// What a connection has that was slowed down.
    private static let slowStreamsMax: UInt32 = 1

    /// Notes a refusal: whether the connection is to be slowed down is told by whose it is.
    func slowDown(_ state: PushConnection, for answer: RejectionAnswer) {
        guard (400...499).contains(answer.status), answer.status != 410 else { return }
        if let sender = state.sender, sender.isSlowedByRefusals { state.isSlowed = true }
    }

    /// Announces what the requests of a batch have led to.
    func announceStreamLimit(of connection: HTTPConnection, _ state: PushConnection) {
        if state.isSlowed {
            connection.lowerStreamLimit(to: Self.slowStreamsMax)
        } else if state.sender != nil {
            connection.liftStreamLimit()
        }
        // A connection with a good token may have bad ones beside it, but not for ever.
        if state.sender == nil || connection.refusedCredentials.isExhausted { connection.paceByCredentials() }
    }
}

extension PushHandler {
    /// Answers a request that did not come whole: 431 if its header list is too large, else 408. APNs documents no reason
    /// for either; the request's id comes back if it was among what was read.
    func refuseUnread(
        _ request: RequestBatch.Request,
        _ batch: borrowing RequestBatch,
        _ head: PushRequestHead,
        _ connection: HTTPConnection
    ) {
        let bytes = batch.bytes.span
        let route = head.path.map { PushRoute(path: $0, in: bytes) } ?? .unknown
        let isAboutChannels = route == .channels
        let status = request.flags.contains(.headersTooLarge) ? 431 : 408
        self.fields.removeAll()
        if isAboutChannels {
            let id = self.channelRequestID(request, batch, head).text
            self.fields.append(name: "apns-request-id", value: id.span, indexed: false)
        } else {
            let id = self.answerID(of: head, bytes)
            self.fields.append(name: "apns-id", value: id.span, indexed: false)
        }
        connection.respond(request.streamID, status: status, fields: self.fields)
    }
}
