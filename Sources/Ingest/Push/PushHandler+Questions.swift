import APNSWire
import HTTP2
import HTTPTransport
import NIOCore
import Partitions
import Serving

/// Pushes about which the partitions are asked: dry runs, and those that may match only so many instances.
extension PushHandler {
    /// Asks every partition whom a targeted push would match, and then answers or logs it.
    func ask(_ question: PushIntake.Question, _ pending: PendingAnswer) {
        let services = self.services
        let bound = NIOLoopBound((handler: self, pending: pending), eventLoop: self.loop)
        services.senderLimits.backlog.add(1)
        let promise = self.loop.makePromise(of: PushServices.QuestionAnswer.self)
        promise.completeWithTask { try await services.answer(question) }
        promise.futureResult.whenComplete { result in
            let (handler, pending) = bound.value
            handler.services.senderLimits.backlog.remove(1)
            handler.services.work?.end(question.charges)
            switch result {
            case .failure(let problem as Problem) where problem.code == .tooManyMatched:
                handler.refuse(problem, pending)
            case .failure:
                handler.respond(
                    RejectionAnswer(.serviceUnavailable, retryAfter: Problem.retryAfterSeconds),
                    pending
                )
            case .success(.dryRun(let summary)):
                handler.fields.removeAll()
                handler.fields.append(name: "apns-id", value: pending.id.span, indexed: false)
                handler.fields.append(name: "content-type", value: "application/json")
                handler.send(200, summary.json.jsonText, pending)
            case .success(.matched(let matched)):
                handler.log(question, matching: matched, pending)
            }
            pending.connection.flush()
        }
    }

    /// Logs a push that was asked about, if it may be.
    private func log(_ question: PushIntake.Question, matching matched: MatchedInstances, _ pending: PendingAnswer) {
        do throws(RejectionAnswer) {
            switch try self.intake.log(question, matching: matched, pending) {
            case .full: self.submit()
            case .refused(let problem, _): self.refuse(problem, pending)
            case .taken, .question, .sought, .relay: break
            }
        } catch {
            self.respond(error, pending)
        }
        self.scheduleFlush()
    }
}

extension PushServices {
    /// The partitions' answer about a push.
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
