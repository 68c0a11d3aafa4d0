import Engine
import HTTPTransport
import Partitions
import Serving
import Settings

/// The asker of an operators' route.
struct OperatorAsker: Sendable {
    let caller: OperatorCaller
    let reach: Reach
    let source: OperatorSource
}

typealias OperatorCall = Call<OperatorAsker>

/// The handler of an operators' route, and the scope that it needs.
struct OperatorEndpoint: Sendable {
    typealias Question = @Sendable (OperatorRoutes) -> (OperatorCall) async throws(Problem) -> HTTPResponse
    typealias Preparation = @Sendable (OperatorRoutes) -> (OperatorCall) throws(Problem) -> OperatorRoutes.Change

    typealias Page = @Sendable (DashboardFiles, HTTPRequest) -> HTTPResponse?

    enum Handler: Sendable {
        /// A part of the dashboard, which tells nothing by itself: for every caller.
        case page(Page)
        /// Nothing is changed.
        case question(Question)
        /// A change is understood first, and carried out once the log has the operator who asked for it.
        case change(Preparation, Audit)
    }

    /// How it gets into the log.
    enum Audit: Sendable {
        /// Before it is done, and how it was answered afterwards.
        case notes
        /// The same, and no partition's owner is waited for: it may be about one that has none.
        case durableNotes
        /// The record that it logs names the caller itself.
        case ownRecord
    }

    let scope: OperatorScope
    /// Its access for a sender's key that reads.
    let teams: TeamAccess
    let handler: Handler

    /// The scope in a word, and whether teams are let in.
    var right: String {
        if case .page = self.handler { return "every caller" }
        if case .none = self.teams { return self.scope.rawValue }
        return "\(self.scope.rawValue) or a team's key"
    }

    static func shows(_ page: @escaping Page) -> OperatorEndpoint {
        OperatorEndpoint(scope: .read, teams: .none, handler: .page(page))
    }

    static func asks(
        _ scope: OperatorScope,
        teams: TeamAccess = .none,
        _ question: @escaping Question
    ) -> OperatorEndpoint {
        OperatorEndpoint(scope: scope, teams: teams, handler: .question(question))
    }

    static func changes(
        _ scope: OperatorScope,
        audit: Audit = .notes,
        _ change: @escaping Preparation
    ) -> OperatorEndpoint {
        OperatorEndpoint(scope: scope, teams: .none, handler: .change(change, audit))
    }

    /// Whether the gateway's own log tells of requests, also of those that are refused.
    var isTold: Bool { if case .change = self.handler { true } else { false } }
}
