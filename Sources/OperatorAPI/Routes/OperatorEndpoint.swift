import Engine
import HTTPTransport
import Partitions
import Serving
import Settings

/// Who asks for something on the ops listener.
struct OperatorAsker: Sendable {
    let caller: OperatorCaller
    let source: OperatorSource
}

typealias OperatorCall = Call<OperatorAsker>

/// Who answers an operators' route, and what it takes to be let in.
struct OperatorEndpoint: Sendable {
    typealias Question = @Sendable (OperatorRoutes) -> (OperatorCall) async throws(Problem) -> HTTPResponse
    typealias Preparation = @Sendable (OperatorRoutes) -> (OperatorCall) throws(Problem) -> OperatorRoutes.Change

    enum Handler: Sendable {
        /// Nothing is changed.
        case question(Question)
        /// A change is understood first, and carried out once it is in the log who asked for it.
        case change(Preparation, Audit)
    }

    /// How it gets into the log.
    enum Audit: Sendable {
        /// Before it is done, and how it was answered afterwards.
        case notes
        /// What it logs says itself who asked.
        case ownRecord
    }

    let scope: OperatorScope
    let handler: Handler

    static func asks(_ scope: OperatorScope, _ question: @escaping Question) -> OperatorEndpoint {
        OperatorEndpoint(scope: scope, handler: .question(question))
    }

    static func changes(
        _ scope: OperatorScope,
        audit: Audit = .notes,
        _ change: @escaping Preparation
    ) -> OperatorEndpoint {
        OperatorEndpoint(scope: scope, handler: .change(change, audit))
    }

    /// Whether the gateway's own log tells of requests, also of those that are refused.
    var isTold: Bool { if case .change = self.handler { true } else { false } }
}
