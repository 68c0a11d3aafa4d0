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
    let loop: any EventLoop
    let services: PushServices
    /// Routes of the push listener that are no pushes, such as asking what became of one.
    private let others: any RequestBatchHandler
    let role: Role
    var intake: PushIntake
    var fields = ResponseFields()
    private var flights: [UInt64: PushFlight] = [:]
    private var flightNumber: UInt64 = 0
    private let landings = PushLandings()
    /// Those that are being taken.
    var bulks: [BulkKey: BulkExchange] = [:]
    private var isFlushScheduled = false
    /// The verifications that are counted already.
    private var verificationsTold = 0

    /// What a listener is for.
    package enum Role: Hashable, Sendable {
        /// Everything.
        case pushes
        /// Managing channels, and nothing else: APNs has hosts and ports of their own for that.
        case channelManagement
        /// Targeted pushes beside what hosts ask, for senders that speak HTTP/1.1 only. All else is for others, and what a
        /// connection may do is for them to say.
        case targetedPushes
    }

    package init(
        loop: any EventLoop,
        services: PushServices,
        others: any RequestBatchHandler,
        role: Role = .pushes
    ) {
        self.loop = loop
        self.role = role
        self.services = services
        self.others = others
        self.intake = PushIntake(services)
    }

    package func admit(_ connection: HTTPConnection) -> HTTPAdmission {
        guard self.role != .targetedPushes else { return self.others.admit(connection) }
        switch self.state(of: connection).certificate?.verdict {
        case .revoked?: return .refused(debug: Rejection.badCertificate.json)
        case .wrongEnvironment?: return .refused(debug: Rejection.badCertificateEnvironment.json)
        // A certificate that speaks for a sender is proof enough; a token has to be seen first.
        case .sender?: return .accepted(streamsMax: nil)
        case .unknown?, nil: return .accepted(streamsMax: self.services.apps.bounds.intake.streamsBeforeTokenMax)
        }
    }

    package func receive(_ batch: borrowing RequestBatch, from connection: HTTPConnection) {
        let now = self.services.clock.now()
        let state = self.state(of: connection)
        self.intake.prefetch(batch)
        for number in batch.requests.indices {
            self.receive(number, batch, connection, state, now)
        }
        self.countVerifications()
        if self.role != .targetedPushes {
            self.announceStreamLimit(of: connection, state)
            // In order when it connected; the table has changed since.
            if let reason = state.certificate?.verdict.refusal { connection.goAway(.noError, debug: reason.json) }
        }
        connection.flush()
        self.scheduleFlush()
    }

    package func judge(_ heads: borrowing RequestBatch, from connection: HTTPConnection) {
        let now = self.services.clock.now()
        let state = self.state(of: connection)
        for number in heads.requests.indices {
            self.judge(heads.requests[number], heads, connection, state, now)
        }
        self.countVerifications()
        if self.role != .targetedPushes { self.announceStreamLimit(of: connection, state) }
        connection.flush()
    }

    private func countVerifications() {
        let verifications = self.intake.judge.verifications
        guard verifications > self.verificationsTold else { return }
        self.services.counters.add(verified: verifications - self.verificationsTold)
        self.verificationsTold = verifications
    }

    package func connectionClosed(_ connection: HTTPConnection) {
        for bulk in self.bulks.filter({ $0.key.connection == connection.id }).values { bulk.end() }
        self.others.connectionClosed(connection)
    }

    package func streamClosed(_ streamID: Int32, on connection: HTTPConnection) {
        self.bulks[BulkKey(connection: connection.id, stream: streamID)]?.end()
        self.others.streamClosed(streamID, on: connection)
    }

    package func streamWritable(_ streamID: Int32, on connection: HTTPConnection) {
        self.bulks[BulkKey(connection: connection.id, stream: streamID)]?.becameWritable()
        self.others.streamWritable(streamID, on: connection)
    }
}

// MARK: - One request

extension PushHandler {
    /// What is remembered of a connection; its client certificate is looked at once.
    private func state(of connection: HTTPConnection) -> PushConnection {
        if let state = connection.context as? PushConnection { return state }
        let certificate = connection.peerCertificate.map { CertificateStanding($0, self.services.senders.certificates) }
        let state = PushConnection(certificate: certificate, refusedCredentials: connection.refusedCredentials)
        connection.context = state
        return state
    }

    private static let methodName = Array(":method".utf8)
    private static let pathName = Array(":path".utf8)

    @inline(__always)
    private static func head(of request: RequestBatch.Request, _ batch: borrowing RequestBatch) -> PushRequestHead {
        let bytes = batch.bytes.span
        var head = PushRequestHead()
        head.receive(name: Self.methodName.span, value: request.method.wire, in: bytes)
        head.receive(name: Self.pathName.span, value: request.path.wire, in: bytes)
        for index in request.fields {
            let field = batch.fields[Int(index)]
            head.receive(name: bytes.extracting(field.name.indices), value: field.value.wire, in: bytes)
        }
        return head
    }

    private func receive(
        _ number: Int,
        _ batch: borrowing RequestBatch,
        _ connection: HTTPConnection,
        _ state: PushConnection,
        _ now: Instant
    ) {
        let request = batch.requests[number]
        let bytes = batch.bytes.span
        let head = Self.head(of: request, batch)
        if self.role == .targetedPushes, !Self.isTargetedPush(request, batch) {
            return self.passOn(request, batch) { self.others.receive($0, from: connection) }
        }
        // One by one: across targets a set that is written as a literal is made of an array, each time.
        if request.flags.contains(.headersTooLarge) || request.flags.contains(.timedOut) {
            return self.refuseUnread(request, batch, head, connection)
        }
        if self.role == .channelManagement || head.path.map({ !PushRoute.isBelowDevice($0, in: bytes) }) ?? false,
            self.receiveOther(request, batch, head, connection, state, now)
        {
            return
        }
        // Where traces are off, this is all that they cost.
        let trace = self.services.tracing?.begin(request, in: batch)
        do throws(RejectionAnswer) {
            switch try self.intake.take(request, number, head, bytes, from: connection, state, at: now, trace) {
            case .taken: break
            case .full: self.submit()
            case .question(let question): self.ask(question, connection, request.streamID)
            case .refused(let problem, let id):
                self.refuse(problem, id, connection, request.streamID)
                trace?.end(status: problem.code.status, errorsFrom: 500)
            case .relay(let relayed): self.relay(relayed, request, head, bytes, connection, trace)
            }
        } catch {
            trace?.set("freshet.reason", error.rejection.rawValue)
            trace?.end(status: error.status, errorsFrom: 500)
            self.slowDown(state, for: error)
            self.reject(error, head, bytes, connection, request.streamID)
        }
    }

    /// Judges a request whose body has not come: its credentials, and how long the body may be.
    private func judge(
        _ request: RequestBatch.Request,
        _ batch: borrowing RequestBatch,
        _ connection: HTTPConnection,
        _ state: PushConnection,
        _ now: Instant
    ) {
        let bytes = batch.bytes.span
        let head = Self.head(of: request, batch)
        if self.role == .targetedPushes, !Self.isTargetedPush(request, batch) {
            return self.passOn(request, batch) { self.others.judge($0, from: connection) }
        }
        let route = head.path.map { PushRoute(path: $0, in: bytes) } ?? .unknown
        if route == .channels { return self.judgeChannelRequest(request, batch, head, connection, state, now) }
        if self.role == .channelManagement {
            return self.reject(RejectionAnswer(.badPath), head, bytes, connection, request.streamID)
        }
        guard route != .other else { return self.passOn(request, batch) { self.others.judge($0, from: connection) } }
        if case .bulk(let path) = route {
            return self.judgeBulk(request, bytes, head, to: path, connection, state, now)
        }
        do throws(RejectionAnswer) {
            let bodyBytesMax = try self.intake.judge.judgeHead(head, in: bytes, on: state, at: now)
            connection.limitBody(of: request.streamID, to: bodyBytesMax)
        } catch {
            let trace = self.services.tracing?.begin(request, in: batch)
            trace?.set("freshet.reason", error.rejection.rawValue)
            trace?.end(status: error.status, errorsFrom: 500)
            self.slowDown(state, for: error)
            self.reject(error, head, bytes, connection, request.streamID)
        }
    }

    /// Takes what is no push: requests about channels, and what others answer.
    ///
    /// - Returns: false if it is to be judged as a push, if only to be refused as one.
    private func receiveOther(
        _ request: RequestBatch.Request,
        _ batch: borrowing RequestBatch,
        _ head: PushRequestHead,
        _ connection: HTTPConnection,
        _ state: PushConnection,
        _ now: Instant
    ) -> Bool {
        let bytes = batch.bytes.span
        let route = head.path.map { PushRoute(path: $0, in: bytes) } ?? .unknown
        if route == .channels {
            self.receiveChannelRequest(request, batch, head, connection, state, now)
        } else if self.role == .channelManagement {
            self.reject(RejectionAnswer(.badPath), head, bytes, connection, request.streamID)
        } else if route == .other {
            self.passOn(request, batch) { self.others.receive($0, from: connection) }
        } else if case .bulk(let path) = route {
            self.receiveBulk(request, batch, head, to: path, connection, state, now)
        } else {
            return false
        }
        return true
    }

    /// Whether a request is to the path of pushes to an app, and no web page's: a page is no sender, and browsers show a client
    /// certificate for any of them.
    private static func isTargetedPush(_ request: RequestBatch.Request, _ batch: borrowing RequestBatch) -> Bool {
        switch PushRoute(path: request.path.wire, in: batch.bytes.span) {
        case .targeted, .bulk: break
        // With a query that is not understood, of which it is told.
        case .unknown where batch.string(request.path).hasPrefix("/v1/apps/"): break
        case .device, .missingDeviceToken, .channels, .other, .unknown: return false
        }
        for index in request.fields where batch.string(batch.fields[Int(index)].name) == "origin" { return false }
        return true
    }

    private func passOn(
        _ request: RequestBatch.Request,
        _ batch: borrowing RequestBatch,
        to others: (borrowing RequestBatch) -> Void
    ) {
        var single = RequestBatch()
        single.bytes = batch.bytes
        single.fields = batch.fields
        single.requests = [request]
        others(single)
    }
}

// MARK: - Logging and answering

extension PushHandler {
    /// Hands this turn's records to the journal once the loop has served every connection that had something.
    private func scheduleFlush() {
        guard !self.isFlushScheduled, !self.intake.isEmpty else { return }
        self.isFlushScheduled = true
        self.loop.assumeIsolated().execute {
            self.isFlushScheduled = false
            self.submit()
        }
    }

    private func submit() {
        guard !self.intake.isEmpty else { return }
        let turn = self.intake.takeTurn()
        let bound = NIOLoopBound(self, eventLoop: self.loop)
        let (work, landings) = (self.services.work, self.landings)
        for (submission, load) in turn.loads {
            let (number, charges) = (self.begin(load.flight), load.charges)
            self.services.journal.append(submission) { result in
                work?.end(charges, with: result)
                landings.add(number, result.map { _ in () }, for: bound)
            }
        }
        if let (submission, load) = turn.toAll {
            let (number, charges) = (self.begin(load.flight), load.charges)
            let told: @Sendable (Result<Void, JournalError>) -> Void = { result in
                if case .failure = result { work?.end(charges) }
                landings.add(number, result, for: bound)
            }
            self.services.journal.appendToAll(
                submission,
                whenDurable: told,
                whenPlaced: { work?.log(charges, at: $0) }
            )
        }
    }

    /// Has pushes wait for their commit.
    private func begin(_ flight: PushFlight) -> UInt64 {
        self.flightNumber += 1
        self.services.senderLimits.backlog.add(flight.count)
        self.flights[self.flightNumber] = flight
        return self.flightNumber
    }

    /// Answers what was committed since the last call.
    func land() {
        var landed: [PushFlight] = []
        for (number, result) in self.landings.take() {
            guard let flight = self.flights.removeValue(forKey: number) else { continue }
            self.land(flight, result)
            landed.append(flight)
        }
        for flight in landed { flight.flush() }
    }

    private func land(_ flight: PushFlight, _ result: Result<Void, JournalError>) {
        self.services.senderLimits.backlog.remove(flight.count)
        switch result {
        case .success:
            for noted in flight.kinds { self.intake.judge.apps[number: noted.app].pushedKinds.note(noted.kinds) }
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
        case .failure:
            // The commit failed or its outcome is unknown: the sender repeats with the same id, which is charged once.
            let body = RejectionAnswer(.serviceUnavailable).body
            flight.answer { connection, streamID, id, _ in
                self.fields.removeAll()
                self.fields.append(name: "apns-id", value: id, indexed: false)
                self.fields.append(name: "retry-after", value: String(SenderLimits.retryAfterSeconds))
                connection.respond(streamID, status: 503, fields: self.fields, body: body.span)
            }
            self.services.counters.add(unavailable: flight.count)
            for trace in flight.traces { trace.end(status: 503, errorsFrom: 500) }
        }
    }

    /// What an app in development gets in addition: what the operators' routes know the push by.
    private func answer(_ connection: HTTPConnection, _ streamID: Int32, uniquely id: Span<UInt8>) {
        self.fields.removeAll()
        self.fields.append(name: "apns-id", value: id, indexed: false)
        if let push = PushID(id) {
            self.fields.append(name: "apns-unique-id", value: push.description, indexed: false)
        }
        connection.respond(streamID, status: 200, fields: self.fields)
    }

    private func reject(
        _ answer: RejectionAnswer,
        _ head: PushRequestHead,
        _ bytes: Span<UInt8>,
        _ connection: HTTPConnection,
        _ streamID: Int32
    ) {
        self.respond(answer, self.answerID(of: head, bytes), connection, streamID)
    }

    /// The request's own id if it is a UUID, else a new one.
    func answerID(of head: PushRequestHead, _ bytes: Span<UInt8>) -> [UInt8] {
        var given = head.id
        if let range = given, PushID(bytes.extracting(range.bounds)) == nil { given = nil }
        let id = given.map { AnswerID.given($0.bounds) } ?? .generated(self.intake.ids.next())
        return id.text(bytes)
    }

    func respond(_ answer: RejectionAnswer, _ id: [UInt8], _ connection: HTTPConnection, _ streamID: Int32) {
        self.count(answer.rejection)
        self.fields.removeAll()
        self.fields.append(name: "apns-id", value: id.span, indexed: false)
        self.fields.append(name: "content-type", value: "application/json")
        if let seconds = answer.retryAfter {
            self.fields.append(name: "retry-after", value: String(seconds))
        }
        // RFC 9110, 15.5.6: a 405 says what would be allowed.
        if answer.rejection == .methodNotAllowed { self.fields.append(name: "allow", value: "POST") }
        connection.respond(streamID, status: answer.status, fields: self.fields, body: answer.body.span)
    }

    func count(_ rejection: Rejection) {
        if rejection == .serviceUnavailable {
            self.services.counters.add(unavailable: 1)
        } else {
            self.services.counters.add(rejected: rejection)
        }
    }

    /// Asks every partition whom a targeted push would match, and then answers or logs it.
    private func ask(_ question: PushIntake.Question, _ connection: HTTPConnection, _ streamID: Int32) {
        let services = self.services
        let bound = NIOLoopBound((handler: self, connection: connection), eventLoop: self.loop)
        services.senderLimits.backlog.add(1)
        let promise = self.loop.makePromise(of: PushServices.QuestionAnswer.self)
        promise.completeWithTask { try await services.answer(question) }
        promise.futureResult.whenComplete { result in
            let (handler, connection) = bound.value
            handler.services.senderLimits.backlog.remove(1)
            handler.services.work?.end(question.charges)
            switch result {
            case .failure(let problem as Problem) where problem.code == .tooManyMatched:
                handler.refuse(problem, question.id, connection, streamID)
                question.trace?.end(status: problem.code.status, errorsFrom: 500)
            case .failure:
                let answer = RejectionAnswer(.serviceUnavailable, retryAfter: SenderLimits.retryAfterSeconds)
                handler.respond(answer, question.id, connection, streamID)
                question.trace?.end(status: answer.status, errorsFrom: 500)
            case .success(.dryRun(let summary)):
                handler.fields.removeAll()
                handler.fields.append(name: "apns-id", value: question.id.span, indexed: false)
                handler.fields.append(name: "content-type", value: "application/json")
                connection.respond(streamID, status: 200, fields: handler.fields, body: summary.json.jsonText.span)
                question.trace?.end(status: 200, errorsFrom: 500)
            case .success(.matched(let matched)):
                handler.take(question, matching: matched, connection, streamID)
            }
            connection.flush()
        }
    }

    /// Logs a push that was asked about, if it may be.
    private func take(
        _ question: PushIntake.Question,
        matching matched: MatchedInstances,
        _ connection: HTTPConnection,
        _ streamID: Int32
    ) {
        do throws(RejectionAnswer) {
            switch try self.intake.take(question, matching: matched, from: connection, streamID) {
            case .full: self.submit()
            case .refused(let problem, let id):
                self.refuse(problem, id, connection, streamID)
                question.trace?.end(status: problem.code.status, errorsFrom: 500)
            case .taken, .question, .relay: break
            }
        } catch {
            self.respond(error, question.id, connection, streamID)
            question.trace?.end(status: error.status, errorsFrom: 500)
        }
        self.scheduleFlush()
    }

    private func refuse(_ problem: Problem, _ id: [UInt8], _ connection: HTTPConnection, _ streamID: Int32) {
        if problem.code == .tooManyMatched { self.services.counters.add(tooManyMatched: 1) }
        self.fields.removeAll()
        self.fields.append(name: "apns-id", value: id.span, indexed: false)
        self.fields.append(name: "content-type", value: "application/problem+json")
        connection.respond(streamID, status: problem.code.status, fields: self.fields, body: problem.json.jsonText.span)
    }
}

extension PushServices {
    /// What the partitions said of a push.
    fileprivate enum QuestionAnswer: Sendable {
        case dryRun(DryRunSummary)
        /// It may be logged; how many it matches in each partition, and may match.
        case matched(MatchedInstances)
    }

    fileprivate func answer(_ question: PushIntake.Question) async throws(Problem) -> QuestionAnswer {
        if question.isDryRun {
            return .dryRun(try await self.log.dryRun(question.record, decidedMax: self.apps.bounds.decidedMax))
        }
        return .matched(try await self.log.matched(question.record, atMost: question.matchedMax))
    }
}

extension HTTP2.ByteRange {
    /// The same place, in the words of the target that reads it.
    var wire: APNSWire.ByteRange { APNSWire.ByteRange(offset: self.offset, count: self.length) }
}
