import APNSWire
import Engine
import HTTPTransport
import History
import Partitions
import Serving
import WidgetModel

/// The pauses in force, wherever they show.
extension OperatorRoutes {
    /// The pauses in force now, in the order in which they were given.
    ///
    /// - Parameter isPresentOnly: Whether only this node's partitions are asked; if it has none, it knows of none.
    func standingOrders(isPresentOnly: Bool = false) async throws(Problem) -> [StandingOrder] {
        let now = self.clock.now()
        let question = InForceQuestion()
        let found = isPresentOnly ? try await self.log.askOwn(question) : try await self.log.askAnyPresent(question)
        return (found?.orders ?? [])
            .filter { $0.holds(at: now) && self.reach.includes($0.scope) }
    }

    /// A pause as it is told; operators' names and addresses are for operators.
    func pause(_ order: StandingOrder?) -> JSONValue? {
        order.map { Views.order($0, by: self.reach.isEverything ? $0.source : nil) }
    }

    /// `GET /v1/orders`.
    func orderList(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        try await self.answer([("orders", .array(try await self.standingOrders().compactMap { self.pause($0) }))])
    }

    /// How many apps, kinds and senders are paused.
    static func paused(_ orders: [StandingOrder]) -> [(name: String, count: Int)] {
        var counts = [("app", 0), ("kind", 0), ("sender", 0)]
        for order in orders {
            switch order.scope {
            case .app: counts[0].1 += 1
            case .kind: counts[1].1 += 1
            case .sender: counts[2].1 += 1
            case .host, .instance, .push: continue
            }
        }
        return counts
    }

    /// Refuses an order whose scope does not exist.
    ///
    /// - Throws: 404. A partition that does not answer refuses nothing: a logged order is carried out at its next
    ///   start.
    func checkThatThereIs(_ scope: OrderScope) async throws(Problem) {
        let question = ExistenceQuestion(of: scope)
        let isKnown =
            switch scope {
            case .app, .kind: try? await self.log.askAnyPresent(question)
            case .host(let host): try? await self.log.ask(self.log.partition(of: host), question)
            case .instance(let address): try? await self.log.ask(self.log.partition(of: address.host), question)
            case .sender, .push: try? await self.log.askAll(question).contains(true)
            }
        guard isKnown == false else { return }
        throw switch scope {
        case .app(let app): Problem(.notFound, "there is no app \(app); GET /v1/apps lists the apps")
        case .kind(let app, let kind):
            Problem(.notFound, "there is no kind \"\(kind)\" of \(app); GET /v1/kinds lists the kinds")
        case .sender(let team):
            Problem(.notFound, "there is no sender \(team): it has no app and has sent no push")
        case .host(let host): Problem(.unknownHost, "there is no host \(host)")
        case .instance(let address): Problem(.unknownInstance, "there is no instance \(address)")
        case .push(let push, _, _): Problem(.notFound, "there is no push \(push), or it is no longer kept")
        }
    }
}

extension [StandingOrder] {
    /// The pause that holds an app, a kind or a sender back the longest: its own, or its app's; nil if there is none.
    func holding(_ scope: OrderScope) -> StandingOrder? {
        self.filter { order in
            if case .kind(let app, _) = scope, order.scope == .app(app) { return true }
            return order.scope == scope
        }.max { left, right in
            guard let end = left.until else { return false }
            return right.until.map { end < $0 } ?? true
        }
    }
}
