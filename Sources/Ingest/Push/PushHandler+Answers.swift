import APNSWire
import HTTP2
import HTTPTransport
import Partitions
import Serving
import WidgetModel

/// Answers of the push listener.
extension PushHandler {
    // MARK: Pushes that were logged

    /// Answers the pushes of a submission that is durable.
    func answer(_ flight: PushFlight) {
        for noted in flight.kinds { self.intake.judge.apps[number: noted.app].pushedKinds.noteKinds(noted.kinds) }
        let placeholder = AnswerID.placeholder
        var fields = ResponseFields()
        fields.append(name: "apns-id", value: placeholder.span, indexed: false)
        flight.answer { connection, streamID, id, isInDevelopment in
            if isInDevelopment { return self.answer(connection, streamID, uniquely: id) }
            fields.replaceLastValue(id)
            connection.respond(streamID, status: 200, fields: fields)
        }
        self.services.counters.add(accepted: flight.count)
        for trace in flight.traces { trace.end(status: 200, errorsFrom: 500) }
    }

    /// The answer to an app in development, with the id by which the operators' routes know the push.
    private func answer(_ connection: HTTPConnection, _ streamID: Int32, uniquely id: Span<UInt8>) {
        self.fields.removeAll()
        self.fields.append(name: "apns-id", value: id, indexed: false)
        if let push = PushID(id) {
            self.fields.append(name: "apns-unique-id", value: push.description, indexed: false)
        }
        connection.respond(streamID, status: 200, fields: self.fields)
    }

    /// Answers the pushes of a submission that is not known to be durable.
    func answerUnavailable(_ flight: PushFlight) {
        let body = RejectionAnswer(.serviceUnavailable).body
        flight.answer { connection, streamID, id, _ in
            self.fields.removeAll()
            self.fields.append(name: "apns-id", value: id, indexed: false)
            self.fields.append(name: "retry-after", value: String(Problem.retryAfterSeconds))
            connection.respond(streamID, status: 503, fields: self.fields, body: body.span)
        }
        self.services.counters.add(unavailable: flight.count)
        for trace in flight.traces { trace.end(status: 503, errorsFrom: 500) }
    }

    // MARK: Pushes that were not

    /// Refuses a push, which its connection may be slowed down for.
    func refuse(_ answer: RejectionAnswer, _ push: borrowing PushContext) {
        push.trace?.set("freshet.reason", answer.rejection.rawValue)
        self.slowDown(push.state, for: answer)
        self.reject(answer, push)
    }

    func reject(_ answer: RejectionAnswer, _ push: borrowing PushContext) {
        self.respond(answer, PendingAnswer(push, id: self.answerID(of: push)))
    }

    /// The request's own id if it is a UUID, else a new one.
    private func answerID(of push: borrowing PushContext) -> [UInt8] {
        if let given = push.head.id, PushID(push.bytes.extracting(given.bounds)) != nil { return push.copy(of: given) }
        return AnswerID.generated(self.intake.ids.next()).text(push.bytes)
    }

    func respond(_ answer: RejectionAnswer, _ pending: PendingAnswer) {
        self.count(answer.rejection)
        switch answer.rejection {
        case .badCertificate, .expiredProviderToken, .invalidProviderToken:
            self.services.counters.add(badCredentialOf: pending.connection.remoteAddress, at: PushCounters.second)
        default: break
        }
        self.fields.removeAll()
        self.fields.append(name: "apns-id", value: pending.id.span, indexed: false)
        self.fields.append(name: "content-type", value: "application/json")
        if let seconds = answer.retryAfter {
            self.fields.append(name: "retry-after", value: String(seconds))
        }
        // RFC 9110, 15.5.6: a 405 names the allowed method.
        if answer.rejection == .methodNotAllowed { self.fields.append(name: "allow", value: "POST") }
        self.send(answer.status, answer.body, pending)
    }

    /// Refuses a push that is more than one may be.
    func refuse(_ problem: Problem, _ pending: PendingAnswer) {
        if problem.code == .tooManyMatched { self.services.counters.add(tooManyMatched: 1) }
        self.fields.removeAll()
        self.fields.append(name: "apns-id", value: pending.id.span, indexed: false)
        self.fields.append(name: "content-type", value: "application/problem+json")
        self.send(problem.code.status, problem.json.jsonText, pending)
    }

    /// Answers with the fields that are gathered, and ends the trace.
    func send(_ status: Int, _ body: [UInt8], _ pending: PendingAnswer) {
        pending.connection.respond(pending.streamID, status: status, fields: self.fields, body: body.span)
        pending.trace?.end(status: status, errorsFrom: 500)
    }

    func count(_ rejection: Rejection) {
        if rejection == .serviceUnavailable {
            self.services.counters.add(unavailable: 1)
        } else {
            self.services.counters.add(rejected: rejection)
        }
    }

    /// Answers a request that did not come whole: 431 if its header list is too large, else 408. APNs documents no reason
    /// for either; the request's id comes back if it was read.
    func refuseUnread(_ push: borrowing PushContext) {
        let status = push.request.flags.contains(.headersTooLarge) ? 431 : 408
        self.fields.removeAll()
        if case .channels = PushRoute(path: push.head.path ?? .empty, in: push.bytes) {
            let id = self.channelRequestID(push).text
            self.fields.append(name: "apns-request-id", value: id.span, indexed: false)
        } else {
            self.fields.append(name: "apns-id", value: self.answerID(of: push).span, indexed: false)
        }
        push.connection.respond(push.request.streamID, status: status, fields: self.fields)
    }
}
