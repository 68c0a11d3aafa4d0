import APNSWire
import Engine
package import HTTP2
package import HTTPTransport
import IntentMatching
import Journaling
package import NIOCore
import WidgetModel

/// The push listener on one event loop: judges, logs and answers the pushes of each wakeup.
///
/// A push that is in order becomes a record of this turn's submission and is answered when that is durable. Nothing
/// here waits: verified tokens are cached, the directory is a table, the journal calls back.
package final class PushHandler: RequestBatchHandler {
    private let loop: any EventLoop
    private let services: PushServices
    private let reader = JSONReader()
    /// Routes of the push listener that are no pushes, such as asking what became of one.
    private let others: any RequestBatchHandler
    private var tokens: ProviderTokenCache<VerifiedSender>
    private var ids = PushIDGenerator()
    private var fields = ResponseFields()
    private var builder: SubmissionBuilder
    private var flight = PushFlight()
    private var flights: [UInt64: PushFlight] = [:]
    private var flightNumber: UInt64 = 0
    private var isFlushScheduled = false

    package init(loop: any EventLoop, services: PushServices, others: any RequestBatchHandler) {
        self.loop = loop
        self.services = services
        self.others = others
        self.tokens = ProviderTokenCache(capacity: services.limits.verifiedTokensMax, seed: services.seed)
        self.builder = SubmissionBuilder(partitions: services.partitions)
    }

    package func receive(_ batch: borrowing RequestBatch, from connection: HTTPConnection) {
        let now = self.services.clock.now()
        for request in batch.requests {
            self.receive(request, batch, connection, now)
        }
        connection.flush()
        self.scheduleFlush()
    }

    package func connectionClosed(_ connection: HTTPConnection) {
        self.others.connectionClosed(connection)
    }

    package func streamClosed(_ streamID: Int32, on connection: HTTPConnection) {
        self.others.streamClosed(streamID, on: connection)
    }

    package func streamWritable(_ streamID: Int32, on connection: HTTPConnection) {
        self.others.streamWritable(streamID, on: connection)
    }
}

// MARK: - One request

extension PushHandler {
    private static let methodName = Array(":method".utf8)
    private static let pathName = Array(":path".utf8)

    private func receive(
        _ request: RequestBatch.Request,
        _ batch: borrowing RequestBatch,
        _ connection: HTTPConnection,
        _ now: Instant
    ) {
        if request.flags.contains(.headersTooLarge) || request.flags.contains(.timedOut) {
            self.fields.removeAll()
            let status = request.flags.contains(.headersTooLarge) ? 431 : 408
            connection.respond(request.streamID, status: status, fields: self.fields)
            return
        }
        let bytes = batch.bytes.span
        var head = PushRequestHead()
        head.receive(name: Self.methodName.span, value: request.method.wire, in: bytes)
        head.receive(name: Self.pathName.span, value: request.path.wire, in: bytes)
        for index in request.fields {
            let field = batch.fields[Int(index)]
            head.receive(name: bytes.extracting(field.name.indices), value: field.value.wire, in: bytes)
        }
        if let path = head.path, PushRoute(path: path, in: bytes) == .other {
            self.passOn(request, batch, connection)
            return
        }
        do throws(RejectionAnswer) {
            try self.accept(request, head, bytes, connection, now)
        } catch {
            self.reject(error, head, bytes, connection, request.streamID)
        }
    }

    private func passOn(
        _ request: RequestBatch.Request,
        _ batch: borrowing RequestBatch,
        _ connection: HTTPConnection
    ) {
        var single = RequestBatch()
        single.bytes = batch.bytes
        single.fields = batch.fields
        single.requests = [request]
        self.others.receive(single, from: connection)
    }

    private func accept(
        _ request: RequestBatch.Request,
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ connection: HTTPConnection,
        _ now: Instant
    ) throws(RejectionAnswer) {
        let push: ValidatedPush
        let sender: Sender
        do throws(Rejection) {
            let certificate = self.certificateSender(connection)
            let target = try PushValidation.beforeCredentials(head, in: bytes, hasCertificate: certificate != nil)
            if let certificate {
                sender = certificate
            } else {
                sender = try self.sender(head, bytes, now)
            }
            let isTooLarge = request.flags.contains(.bodyTooLarge)
            push = try PushValidation.afterCredentials(
                head,
                in: bytes,
                target: target,
                bodyBytes: isTooLarge ? .max : Int(request.body.length),
                topics: sender.topics,
                limits: self.services.limits.push(target)
            )
        } catch {
            throw RejectionAnswer(error)
        }
        let body = bytes.extracting(request.body.indices)
        let payload: PushPayload
        do throws(PayloadFault) {
            payload = try PushPayload.parse(body, reader: self.reader)
        } catch {
            throw RejectionAnswer(.badPayload, detail: error.description)
        }
        let app = self.services.apps.apps[push.app]
        let pattern = try self.pattern(payload, app)
        let target = try self.target(push, app, bytes)
        try self.services.senderLimits.admit(
            sender,
            app.meter,
            push.target,
            in: bytes,
            beside: self.flight.count,
            at: now
        )
        let id = push.id ?? self.ids.next()
        let record = PushRecord(
            id: id,
            team: sender.team,
            contentHash: push.contentHash(in: bytes, body: body),
            priority: push.priority,
            expiration: push.expiration,
            collapseID: push.collapseID.flatMap { CollapseID(bytes: Array(copying: bytes.extracting($0.bounds))) },
            notBefore: payload.notBefore,
            digest: payload.digest.map { Array($0.utf8) },
            target: target,
            kind: payload.kind,
            pattern: pattern
        )
        let answerID = push.idText.map { AnswerID.given($0.bounds) } ?? .generated(id)
        if case .targeted(_, let isDryRun) = push.target {
            let matchedMax = Self.smaller(payload.maxMatched, app.matchedMax)
            if isDryRun || matchedMax != nil {
                let text = answerID.text(bytes)
                self.ask(record, isDryRun: isDryRun, matchedMax: matchedMax, connection, request.streamID, text)
                return
            }
        }
        self.append(record, connection, request.streamID, answerID, bytes)
    }

    private static func smaller(_ left: Int?, _ right: Int?) -> Int? {
        guard let left, let right else { return left ?? right }
        return min(left, right)
    }

    private func pattern(_ payload: PushPayload, _ app: ServedApps.App) throws(RejectionAnswer) -> MatchPattern? {
        if let kind = payload.kind, app.schema(of: kind) == nil {
            throw RejectionAnswer(.badPayload, detail: "freshet.kind: the app has no kind \"\(kind)\"")
        }
        guard let match = payload.match else { return nil }
        do throws(PatternFault) {
            let pattern = try MatchPattern.parse(match)
            try pattern.check(against: app.schemas, kind: payload.kind)
            return pattern
        } catch {
            throw RejectionAnswer(.badPayload, detail: "freshet.\(error.description)")
        }
    }

    /// Whom the record is for.
    private func target(
        _ push: ValidatedPush,
        _ app: ServedApps.App,
        _ bytes: Span<UInt8>
    ) throws(RejectionAnswer) -> PushDestination {
        guard case .device(let range) = push.target else { return .app(app.bundle) }
        let digits = bytes.extracting(range.bounds)
        if let entry = try self.resolve(digits, push.type, app) { return .host(entry.host, entry.instance) }
        // An unknown token where the app accepts those: logged like any push, and matches nothing.
        return .host(HostID(derivedFrom: DeviceToken(bytes: DeviceToken.decode(hex: digits) ?? [])), nil)
    }

    /// The host or control that a token stands for, nil if it is unknown and the app accepts that.
    private func resolve(
        _ digits: Span<UInt8>,
        _ type: PushType,
        _ app: ServedApps.App
    ) throws(RejectionAnswer) -> HostDirectory.Entry? {
        guard let token = DeviceToken.decode(hex: digits) else { throw RejectionAnswer(.badDeviceToken) }
        switch self.services.directory.lookup(token.span) {
        case .bound(let entry):
            guard entry.app == app.bundle, (type == .controls) == (entry.instance != nil) else {
                throw RejectionAnswer(.deviceTokenNotForTopic)
            }
            return entry
        case .removed(let removedApp, let at):
            guard removedApp == app.bundle else { throw RejectionAnswer(.deviceTokenNotForTopic) }
            throw RejectionAnswer(.unregistered, timestamp: at)
        case .unknown:
            guard app.acceptsUnknownTokens else { throw RejectionAnswer(.badDeviceToken) }
            return nil
        }
    }
}

// MARK: - Credentials

extension PushHandler {
    /// The sender that the connection's client certificate speaks for; looked up once per connection.
    private func certificateSender(_ connection: HTTPConnection) -> Sender? {
        guard let certificate = connection.peerCertificate else { return nil }
        if let known = connection.context as? Sender { return known }
        let sender = self.services.senders.sender(of: certificate)
        connection.context = sender
        return sender
    }

    private func sender(_ head: PushRequestHead, _ bytes: Span<UInt8>, _ now: Instant) throws(Rejection) -> Sender {
        guard let range = head.authorization else { throw .missingProviderToken }
        let authorization = bytes.extracting(range.bounds)
        if let verified = self.tokens.value(for: authorization) {
            try self.services.senders.check(verified, now: now)
            return verified.sender
        }
        let token: ProviderToken
        do throws(ProviderTokenFault) {
            token = try ProviderToken.parse(authorization: authorization, reader: self.reader)
        } catch {
            throw error.rejection
        }
        let verified = try self.services.senders.verify(token, now: now)
        self.tokens.insert(verified, for: authorization)
        return verified.sender
    }
}

// MARK: - Logging and answering

extension PushHandler {
    private func append(
        _ record: PushRecord,
        _ connection: HTTPConnection,
        _ streamID: Int32,
        _ id: AnswerID,
        _ bytes: Span<UInt8>
    ) {
        switch record.target {
        case .host(let host, _): _ = self.builder.append(.push(record), for: host)
        case .app: _ = self.builder.appendToAll(.push(record))
        }
        self.flight.append(connection: connection, streamID: streamID, id: id, in: bytes)
        if self.builder.isFull { self.submit() }
    }

    /// Hands this turn's records to the journal once the loop has served every connection that had something.
    private func scheduleFlush() {
        guard !self.isFlushScheduled, !self.builder.isEmpty else { return }
        self.isFlushScheduled = true
        self.loop.assumeIsolated().execute {
            self.isFlushScheduled = false
            self.submit()
        }
    }

    private func submit() {
        guard !self.builder.isEmpty else { return }
        let submission = self.builder.take()
        self.flightNumber += 1
        let number = self.flightNumber
        self.services.senderLimits.backlog.add(self.flight.count)
        self.flights[number] = self.flight
        self.flight = PushFlight()
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        self.services.journal.append(submission) { result in
            bound.eventLoop.execute {
                bound.value.land(number, result.map { _ in () })
            }
        }
    }

    private func land(_ number: UInt64, _ result: Result<Void, JournalError>) {
        guard let flight = self.flights.removeValue(forKey: number) else { return }
        self.services.senderLimits.backlog.remove(flight.count)
        switch result {
        case .success:
            flight.answer { connection, streamID, id in
                self.fields.removeAll()
                self.fields.append(name: "apns-id", value: id, indexed: false)
                connection.respond(streamID, status: 200, fields: self.fields)
            }
            self.services.counters.add(accepted: flight.count)
        case .failure:
            // The commit failed or its outcome is unknown: the sender repeats with the same id, which is charged once.
            let body = RejectionAnswer(.serviceUnavailable).body
            flight.answer { connection, streamID, id in
                self.fields.removeAll()
                self.fields.append(name: "apns-id", value: id, indexed: false)
                self.fields.append(name: "retry-after", value: String(SenderLimits.retryAfterSeconds))
                connection.respond(streamID, status: 503, fields: self.fields, body: body.span)
            }
            self.services.counters.add(unavailable: flight.count)
        }
    }

    private func reject(
        _ answer: RejectionAnswer,
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ connection: HTTPConnection,
        _ streamID: Int32
    ) {
        var given = head.id
        if let range = given, PushID(bytes.extracting(range.bounds)) == nil { given = nil }
        let id = given.map { AnswerID.given($0.bounds) } ?? .generated(self.ids.next())
        self.respond(answer, id.text(bytes), connection, streamID)
    }

    private func respond(_ answer: RejectionAnswer, _ id: [UInt8], _ connection: HTTPConnection, _ streamID: Int32) {
        if answer.rejection == .serviceUnavailable {
            self.services.counters.add(unavailable: 1)
        } else {
            self.services.counters.add(rejected: answer.rejection)
        }
        self.fields.removeAll()
        self.fields.append(name: "apns-id", value: id.span, indexed: false)
        self.fields.append(name: "content-type", value: "application/json")
        if let seconds = answer.retryAfter {
            self.fields.append(name: "retry-after", value: String(seconds))
        }
        connection.respond(streamID, status: answer.status, fields: self.fields, body: answer.body.span)
    }

    /// Asks every partition who a targeted push would reach, and then answers or logs it.
    private func ask(
        _ record: PushRecord,
        isDryRun: Bool,
        matchedMax: Int?,
        _ connection: HTTPConnection,
        _ streamID: Int32,
        _ id: [UInt8]
    ) {
        let services = self.services
        let bound = NIOLoopBound((handler: self, connection: connection), eventLoop: self.loop)
        services.senderLimits.backlog.add(1)
        let promise = self.loop.makePromise(of: DryRunSummary.self)
        promise.completeWithTask { try await services.dryRun(record) }
        promise.futureResult.whenComplete { result in
            let (handler, connection) = bound.value
            handler.services.senderLimits.backlog.remove(1)
            switch result {
            case .failure:
                let answer = RejectionAnswer(.serviceUnavailable, retryAfter: SenderLimits.retryAfterSeconds)
                handler.respond(answer, id, connection, streamID)
            case .success(let summary) where isDryRun:
                handler.fields.removeAll()
                handler.fields.append(name: "apns-id", value: id.span, indexed: false)
                handler.fields.append(name: "content-type", value: "application/json")
                connection.respond(streamID, status: 200, fields: handler.fields, body: summary.json.jsonText.span)
            case .success(let summary):
                if let matchedMax, summary.matched > matchedMax {
                    handler.refuse(summary.matched, over: matchedMax, id, connection, streamID)
                } else {
                    handler.append(record, connection, streamID, .given(0..<id.count), id.span)
                    handler.scheduleFlush()
                }
            }
            connection.flush()
        }
    }

    private func refuse(_ matched: Int, over max: Int, _ id: [UInt8], _ connection: HTTPConnection, _ streamID: Int32) {
        let problem = Problem(
            .tooManyMatched,
            "the push matches \(matched) instances, more than the \(max) allowed; narrow freshet.match or raise maxMatched",
            matched: matched
        )
        self.fields.removeAll()
        self.fields.append(name: "apns-id", value: id.span, indexed: false)
        self.fields.append(name: "content-type", value: "application/problem+json")
        connection.respond(streamID, status: problem.code.status, fields: self.fields, body: problem.json.jsonText.span)
    }
}

extension HTTP2.ByteRange {
    /// The same place, in the words of the target that reads it.
    fileprivate var wire: APNSWire.ByteRange { APNSWire.ByteRange(offset: self.offset, count: self.length) }
}

extension Array where Element == UInt8 {
    fileprivate init(copying span: Span<UInt8>) {
        self.init()
        self.reserveCapacity(span.count)
        for index in span.indices { self.append(span[index]) }
    }
}
