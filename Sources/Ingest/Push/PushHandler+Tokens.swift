import APNSWire
import HTTP2
import HTTPTransport
import NIOCore
import Partitions
import Serving
import WidgetModel

/// Pushes to tokens that no host here has, while partitions are other nodes'.
extension PushHandler {
    /// Asks whose the tokens are that wait for that, unless it is being asked of others: then these are next.
    func seekTokens() {
        guard let batch = self.tokenSearch.begin() else { return }
        let services = self.services
        let bound = NIOLoopBound((handler: self, batch: batch), eventLoop: self.loop)
        let tokens = batch.map(\.sought.token)
        services.senderLimits.backlog.add(batch.count)
        services.counters.add(tokensSought: batch.count)
        let promise = self.loop.makePromise(of: [Result<TokenLookup, Problem>].self)
        promise.completeWithTask { await services.log.lookups(tokens, in: services.directory) }
        promise.futureResult.whenSuccess { lookups in
            let (handler, batch) = bound.value
            handler.services.senderLimits.backlog.remove(batch.count)
            for (item, lookup) in zip(batch, lookups) { handler.takeLookup(item.sought, lookup, item.answer) }
            for item in batch { item.answer.connection.flush() }
            handler.tokenSearch.end()
            handler.seekTokens()
            handler.scheduleFlush()
        }
    }

    private func takeLookup(
        _ sought: PushIntake.Sought,
        _ lookup: Result<TokenLookup, Problem>,
        _ pending: PendingAnswer
    ) {
        do throws(RejectionAnswer) {
            switch lookup {
            case .success(let lookup):
                if case .full = try self.intake.log(sought, found: lookup, pending) { self.submit() }
            case .failure(let problem):
                self.services.counters.add(tokensUnanswered: 1)
                throw RejectionAnswer(
                    .serviceUnavailable,
                    detail:
                        "no host of this gateway has this push token, and another gateway did not answer; send it again",
                    retryAfter: problem.retryAfter ?? Problem.retryAfterSeconds
                )
            }
        } catch {
            self.respond(error, pending)
        }
    }
}

/// Pushes whose tokens are asked about: those that come while it is asked are asked about together, next.
struct TokenSearch {
    typealias Item = (sought: PushIntake.Sought, answer: PendingAnswer)

    /// As many as one question has room for by far.
    private static let batchMax = 4096

    private var waiting: [Item] = []
    private var isUnderWay = false

    mutating func add(_ sought: PushIntake.Sought, _ answer: PendingAnswer) { self.waiting.append((sought, answer)) }

    /// Those to ask about now; nil for none.
    mutating func begin() -> [Item]? {
        guard !self.isUnderWay, !self.waiting.isEmpty else { return nil }
        self.isUnderWay = true
        let batch = Array(self.waiting.prefix(Self.batchMax))
        self.waiting.removeFirst(batch.count)
        return batch
    }

    mutating func end() { self.isUnderWay = false }
}
