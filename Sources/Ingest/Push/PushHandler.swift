import APNSWire
package import HTTP2
package import HTTPTransport
import Journaling
package import NIOCore
import Partitions
import Serving
import WidgetModel

/// The push listener on one event loop: judges, logs and answers the pushes of each wakeup.
///
/// The way of a push is in this file. Each step takes a value that only the step before it gives:
///
/// | step | | gives |
/// |---|---|---|
/// | it is read | ``PushContext/read(_:_:)`` | where its parts are; all steps borrow that |
/// | its sender is authorised | ``PushJudge/authorize(_:)`` | ``AuthorizedPush`` |
/// | it is judged | ``PushJudge/judge(_:_:)`` | ``JudgedPush``: in order, with its destination |
/// | limits and shares are asked | ``PushIntake/admit(_:_:)`` | ``AdmittedPush``: its id and its course |
/// | it is logged | ``PushIntake/log(_:_:)`` | a record of this turn's submission, a place in its ``PushFlight`` |
/// | it is answered | ``land(_:_:)`` | 200 when the submission is durable |
///
/// Nothing here waits: verified tokens are cached, the directory is a table, the journal calls back.
package final class PushHandler: RequestBatchHandler {
    let loop: any EventLoop
    let services: PushServices
    /// Routes of the push listener that are no pushes, such as the question for a push's outcomes.
    let others: any RequestBatchHandler
    let role: Role
    var intake: PushIntake
    var fields = ResponseFields()
    private var flights: [UInt64: PushFlight] = [:]
    private var flightNumber: UInt64 = 0
    private let landings = PushLandings()
    /// Pushes to tokens that no host here has.
    var tokenSearch = TokenSearch()
    /// Those that are being taken.
    var bulks: [BulkKey: BulkExchange] = [:]
    private var isFlushScheduled = false
    /// The verifications that are counted already.
    var verificationsTold = 0

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

    package func receive(_ batch: borrowing RequestBatch, from connection: HTTPConnection) {
        let (state, now) = (self.state(of: connection), self.services.clock.now())
        self.intake.prefetch(batch)
        var push = PushContext(of: batch, from: connection, state, at: now)
        for number in batch.requests.indices {
            push.read(batch.requests[number], number)
            switch self.course(of: push) {
            case .push: self.receive(&push)
            case .bulk(let path):
                push.move(to: path)
                self.receiveBulk(push)
            case .channels(let route): self.receiveChannelRequest(push, route)
            case .unread: self.refuseUnread(push)
            case .nowhere: self.reject(RejectionAnswer(.badPath), push)
            case .others: self.passOn(number, of: batch) { self.others.receive($0, from: connection) }
            }
        }
        self.endRound(of: connection, state, hasBodies: true)
        self.seekTokens()
        self.scheduleFlush()
    }

    private func receive(_ push: inout PushContext) {
        // Where traces are off, this is all that they cost.
        push.trace = self.services.tracing?.begin(push.fields, in: push.bytes)
        do throws(RejectionAnswer) {
            switch try self.intake.admitPush(push) {
            case .taken: break
            case .full: self.submit()
            case .question(let question, let answer): self.ask(question, answer)
            case .sought(let sought, let answer): self.tokenSearch.add(sought, answer)
            case .relay(let relayed, let answer): self.relay(relayed, push, answer)
            case .refused(let problem, let answer): self.refuse(problem, answer)
            }
        } catch {
            self.refuse(error, push)
        }
    }

    /// Hands this turn's records to the journal once the loop has served every connection that had something.
    func scheduleFlush() {
        guard !self.isFlushScheduled, !self.intake.isEmpty else { return }
        self.isFlushScheduled = true
        self.loop.assumeIsolated().execute {
            self.isFlushScheduled = false
            self.submit()
        }
    }

    func submit() {
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

    /// Answers the pushes that were committed since the last call.
    func land() {
        var landed: [PushFlight] = []
        for (number, result) in self.landings.takeAll() {
            guard let flight = self.flights.removeValue(forKey: number) else { continue }
            self.land(flight, result)
            landed.append(flight)
        }
        for flight in landed { flight.flush() }
    }

    private func land(_ flight: PushFlight, _ result: Result<Void, JournalError>) {
        self.services.senderLimits.backlog.remove(flight.count)
        switch result {
        case .success: self.answer(flight)
        // The commit failed or its outcome is unknown: the sender repeats with the same id, which is charged once.
        case .failure: self.answerUnavailable(flight)
        }
    }
}

extension PushIntake {
    /// The steps of a push up to the log. In one function, so that they are one access to the event loop's state.
    ///
    /// - Throws: The answer instead.
    fileprivate mutating func admitPush(_ push: borrowing PushContext) throws(RejectionAnswer) -> Outcome {
        let authorized = try self.judge.authorize(push)
        let judged = try self.judge.judge(authorized, push)
        let admitted = try self.admit(judged, push)
        return self.log(admitted, push)
    }
}
